package partition

import (
	"encoding/binary"
	"hash"

	"github.com/privcom/privcom/blockmatmul"
)

// verifier goes over the shards in order.
type verifier struct {
	degrees, cols hash.Hash
	largest       int64
	balance       uint64
	buf           []byte
}

// add hashes degrees and columns as rows does, and adds up a fingerprint of
// every pair, with opposite signs above and below the diagonal: 0 at the end
// for a symmetric matrix, and for one that is damaged by accident with
// probability 2^-64.
func (v *verifier) add(part *blockmatmul.CSR) {
	for i := range part.Rows() {
		cols := part.Col[part.Ptr[i]:part.Ptr[i+1]]
		v.largest = max(v.largest, int64(len(cols)))
		v.buf = binary.LittleEndian.AppendUint32(v.buf, uint32(len(cols)))
		v.flush(v.degrees, pageBytes)
		row := uint64(part.First + i)
		for _, c := range cols {
			if col := uint64(c); row < col {
				v.balance += mix(row<<32 | col)
			} else {
				v.balance -= mix(col<<32 | row)
			}
		}
	}
	v.flush(v.degrees, 1)
	for _, c := range part.Col {
		v.buf = binary.LittleEndian.AppendUint32(v.buf, uint32(c))
		v.flush(v.cols, pageBytes)
	}
	v.flush(v.cols, 1)
}

func (v *verifier) flush(to hash.Hash, at int) {
	if len(v.buf) >= at {
		to.Write(v.buf)
		v.buf = v.buf[:0]
	}
}
