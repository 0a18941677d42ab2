package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// parcel gathers the pieces of a long item or result.
type parcel struct {
	head  head // of the announcement: size, piece bytes, digest
	got   bitmap
	asked []time.Time // when each piece was last asked for
	again bitmap      // pieces asked for more than once
	data  [][]byte
}

// leastPiece bounds the number of pieces of a long item.
const leastPiece = 4096

func pieceCount(size int64, pieceBytes int) int {
	return int((size + int64(pieceBytes) - 1) / int64(pieceBytes))
}

func newParcel(h head) (*parcel, error) {
	if h.Pieces < leastPiece || h.Size < 0 || h.Size > maxItem {
		return nil, fmt.Errorf("cluster: an item of %d bytes in pieces of %d", h.Size, h.Pieces)
	}
	n := pieceCount(h.Size, h.Pieces)
	return &parcel{head: h, got: newBitmap(n), again: newBitmap(n), asked: make([]time.Time, n), data: make([][]byte, n)}, nil
}

// put takes one piece; a piece that is there already is ignored. How long it took
// goes to trip.
func (p *parcel) put(now time.Time, h head, data []byte, trip *roundTrip) error {
	if h.Size != p.head.Size || h.Pieces != p.head.Pieces || h.Piece >= p.got.size {
		return fmt.Errorf("cluster: piece %d of another item", h.Piece)
	}
	want := min(int64(h.Pieces), h.Size-int64(h.Piece)*int64(h.Pieces))
	if int64(len(data)) != want {
		return fmt.Errorf("cluster: piece %d holds %d bytes, want %d", h.Piece, len(data), want)
	}
	if !p.got.has(h.Piece) {
		p.got.add(h.Piece)
		if asked := p.asked[h.Piece]; !asked.IsZero() && !p.again.has(h.Piece) {
			trip.sample(now.Sub(asked))
		}
		p.data[h.Piece] = data
	}
	return nil
}

// want chooses up to most pieces to ask for: those never asked for, and those asked
// for longer than stale ago. n is how many.
func (p *parcel) want(now time.Time, most int, stale time.Duration) (wanted bitmap, n int) {
	wanted = newBitmap(p.got.size)
	for i := 0; i < p.got.size && n < most; i++ {
		if p.got.has(i) || !p.asked[i].IsZero() && now.Sub(p.asked[i]) < stale {
			continue
		}
		if !p.asked[i].IsZero() {
			p.again.add(i)
		}
		p.asked[i] = now
		wanted.add(i)
		n++
	}
	return wanted, n
}

// underway is the number of pieces that were asked for and may still come.
func (p *parcel) underway(now time.Time, stale time.Duration) int {
	n := 0
	for i := range p.asked {
		if !p.got.has(i) && !p.asked[i].IsZero() && now.Sub(p.asked[i]) < stale {
			n++
		}
	}
	return n
}

// open gives the whole, once it is there and its digest matches. A wrong digest
// empties the parcel: every piece is asked for again.
func (p *parcel) open() ([]byte, error) {
	all := bytes.Join(p.data, nil)
	if digest(all) == p.head.SHA256 {
		return all, nil
	}
	fresh, err := newParcel(p.head)
	if err != nil {
		return nil, err
	}
	*p = *fresh
	return nil, fmt.Errorf("cluster: %d bytes do not match their SHA-256", p.head.Size)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// piece cuts piece i out of data.
func piece(data []byte, pieceBytes, i int) []byte {
	from := i * pieceBytes
	return data[from:min(from+pieceBytes, len(data))]
}

// announce describes data in a header, and gives the payload that travels with
// the announcement: all of it where it is short.
func announce(h head, data []byte, pieceBytes int) (head, []byte) {
	h.Size, h.Pieces, h.SHA256 = int64(len(data)), pieceBytes, digest(data)
	if len(data) <= min(inlineBytes, pieceBytes) {
		return h, data
	}
	return h, nil
}

// inline reports whether the announcement carries everything.
func inline(h head, data []byte) bool {
	return h.Pieces > 0 && int64(len(data)) == h.Size && digest(data) == h.SHA256
}
