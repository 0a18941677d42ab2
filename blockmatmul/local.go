package blockmatmul

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Local multiplies with rows that are all in this process: the reference for every
// other Multiplier, and what a test or a tool without a cluster uses.
type Local struct {
	N      int
	Blocks []*CSR // disjoint, together all N rows
}

// rowsPerTask is how many rows a goroutine takes at a time.
const rowsPerTask = 4096

// Multiply implements Multiplier.
func (l *Local) Multiply(ctx context.Context, v *Operand, c int64) (*Product, error) {
	if v.Rows() != l.N {
		return nil, fmt.Errorf("%w: operand has %d rows, graph %d", ErrShape, v.Rows(), l.N)
	}
	if err := v.CheckOverflow(c); err != nil {
		return nil, err
	}
	k, packed := v.Cols(), Pack(v)
	q := &Product{Rows: l.N, Cols: k, Data: make([]int64, l.N*k)}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	covered := 0
	for _, a := range l.Blocks {
		if err := a.Check(l.N); err != nil {
			return nil, err
		}
		covered += a.Rows()
		for from := 0; from < a.Rows(); from += rowsPerTask {
			to := min(from+rowsPerTask, a.Rows())
			g.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				a.Multiply(q.Data[(a.First+from)*k:(a.First+to)*k], packed, from, to, c)
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if covered != l.N {
		return nil, fmt.Errorf("%w: blocks hold %d of %d rows", ErrShape, covered, l.N)
	}
	return q, nil
}
