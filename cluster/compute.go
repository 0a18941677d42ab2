package cluster

import (
	"context"
	"fmt"
	"math"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/internal/parallel"
)

// pieceRows is how many rows a core takes at a time: enough to hide the hand-over,
// few enough to even out rows of different degree.
const pieceRows = 256

// multiplyBlock computes the clipped rows [from, to) (counted in the whole graph)
// of A·V on the given number of cores.
func multiplyBlock(ctx context.Context, a *blockmatmul.CSR, v *blockmatmul.Packed, m matrix, from, to, cores int) ([]int64, error) {
	k := m.Cols
	out := make([]int64, (to-from)*k)
	parallel.Blocks(cores, to-from, pieceRows, func(_, lo, hi int) {
		if ctx.Err() == nil {
			a.Multiply(out[lo*k:hi*k], v, from+lo-a.First, from+hi-a.First, m.Clip)
		}
	})
	return out, ctx.Err()
}

// encodeProduct writes a row block of Q for the wire.
func encodeProduct(m matrix, from int, rows []int64) ([]byte, error) {
	if m.Wide {
		return encodeRows(from, m.Cols, rows)
	}
	narrow := make([]int32, len(rows))
	for i, x := range rows {
		if x > math.MaxInt32 || x < math.MinInt32 {
			// The public bound says that this cannot be: V or the program is wrong.
			return nil, fmt.Errorf("cluster: a product exceeds the public bound of its step")
		}
		narrow[i] = int32(x)
	}
	return encodeRows(from, m.Cols, narrow)
}
