package privacy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"math/big"
	"math/bits"
)

// stream is a source of uniform words: AES-256 in counter mode under a key that
// the operating system drew for this stream alone. It is never seeded, never
// shared between goroutines and never used again after close.
type stream struct {
	ctr cipher.Stream
	buf [4096]byte
	at  int
}

func newStream() *stream {
	var key [32]byte
	rand.Read(key[:]) // never fails: the runtime ends the program if it would
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // only for a wrong key length
	}
	var iv [aes.BlockSize]byte
	s := &stream{ctr: cipher.NewCTR(block, iv[:])}
	clear(key[:])
	s.at = len(s.buf)
	return s
}

// word is 64 uniform bits.
func (s *stream) word() uint64 {
	if s.at == len(s.buf) {
		clear(s.buf[:])
		s.ctr.XORKeyStream(s.buf[:], s.buf[:])
		s.at = 0
	}
	w := binary.LittleEndian.Uint64(s.buf[s.at:])
	s.at += 8
	return w
}

// below is uniform on [0, n), n > 0, by rejection: exact.
func (s *stream) below(n uint64) uint64 {
	// Lemire (2019): the low half is below 2^64 mod n with the bias's probability.
	hi, lo := bits.Mul64(s.word(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(s.word(), n)
		}
	}
	return hi
}

// belowBig is uniform on [0, n), n > 0, by rejection: exact.
func (s *stream) belowBig(n *big.Int) *big.Int {
	if n.IsUint64() {
		return new(big.Int).SetUint64(s.below(n.Uint64()))
	}
	size := n.BitLen()
	raw := make([]byte, (size+63)/64*8)
	for {
		for i := 0; i < len(raw); i += 8 {
			binary.BigEndian.PutUint64(raw[i:], s.word())
		}
		v := new(big.Int).SetBytes(raw)
		if v.Rsh(v, uint(len(raw)*8-size)).Cmp(n) < 0 {
			return v
		}
	}
}

// close overwrites the words that are still buffered. The key schedule lives in
// the standard library's cipher and goes with the garbage collector.
func (s *stream) close() {
	clear(s.buf[:])
	s.at = len(s.buf)
	s.ctr = nil
}
