package cluster

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/privcom/privcom/blockmatmul"
)

// pieceRows is how many rows a core takes at a time: enough to hide the hand-over,
// few enough to even out rows of different degree.
const pieceRows = 256

// multiplyBlock computes the clipped rows [from, to) (counted in the whole graph)
// of A·V on the given number of cores.
func multiplyBlock(ctx context.Context, a *blockmatmul.CSR, v *blockmatmul.Packed, m matrix, from, to, cores int) ([]int64, error) {
	k := m.Cols
	out := make([]int64, (to-from)*k)
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			lo := from + int(next.Add(pieceRows)) - pieceRows
			if lo >= to {
				return
			}
			hi := min(lo+pieceRows, to)
			a.Multiply(out[(lo-from)*k:(hi-from)*k], v, lo-a.First, hi-a.First, m.Clip)
		}
	}
	var wg sync.WaitGroup
	for range min(cores, (to-from+pieceRows-1)/pieceRows) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
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
