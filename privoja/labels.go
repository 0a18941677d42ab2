package privoja

import (
	"context"
	"fmt"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/privacy"
)

// labelBits is the quantum of the label matrix Z, whose entries lie within ±1.
const labelBits = 14

// ReadLabels publishes a label for every vertex: one exact product of A with the public
// matrix z (n×q, rows of range ≤ 1), then the read-out mechanism (privacy/readout.md). The
// slope and the clip follow from the plan's budget and the range of z alone.
func ReadLabels(ctx context.Context, plan *privacy.Plan, mul blockmatmul.Multiplier, grant *privacy.Grant, z []float64, q int) ([]int32, privacy.ReadOut, error) {
	p := plan.Params
	op, err := blockmatmul.Quantise(z, p.Vertices, q, 2, labelBits)
	if err != nil {
		return nil, privacy.ReadOut{}, fmt.Errorf("label matrix: %w", err)
	}
	var span int64
	for i := 0; i < len(op.Data()); i += q {
		lo, hi := op.Data()[i], op.Data()[i]
		for _, x := range op.Data()[i : i+q] {
			lo, hi = min(lo, x), max(hi, x)
		}
		span = max(span, int64(hi-lo))
	}
	r, err := privacy.NewReadOut(p.Unit, p.Vertices, q, span, p.DegreeBound, plan.OwnEpsilon, plan.LabelRho)
	if err != nil {
		return nil, r, err
	}
	scores, err := mul.Multiply(ctx, op, 0)
	if err != nil {
		return nil, r, err
	}
	labels, err := grant.Labels(r, scores.Data)
	return labels, r, err
}

// CountBlocks publishes the numbers of edges between placed communities (q×q row-major,
// upper triangle; within on the diagonal) with noise for rho.
func CountBlocks(ctx context.Context, plan *privacy.Plan, mul blockmatmul.Multiplier, grant *privacy.Grant, rho privacy.Decimal, placed []int32, q int) ([]int64, error) {
	n := plan.Params.Vertices
	one := make([]float64, n*q)
	for i, c := range placed {
		one[i*q+int(c)] = 1
	}
	op, err := blockmatmul.Quantise(one, n, q, 2, 0)
	if err != nil {
		return nil, err
	}
	sums, err := mul.Multiply(ctx, op, 0)
	if err != nil {
		return nil, err
	}
	// Classes of edges: unordered pairs of communities. Twice every class's count arrives.
	counts := make([]int64, q*q)
	for i, c := range placed {
		for b := range q {
			counts[min(int(c), b)*q+max(int(c), b)] += sums.Data[i*q+b]
		}
	}
	upper := counts[:0:0]
	for r := range q {
		for s := r; s < q; s++ {
			upper = append(upper, counts[r*q+s]/2)
		}
	}
	if _, err := grant.Counts(n, rho, upper); err != nil {
		return nil, err
	}
	out, at := make([]int64, q*q), 0
	for r := range q {
		for s := r; s < q; s++ {
			out[r*q+s], out[s*q+r] = upper[at], upper[at]
			at++
		}
	}
	return out, nil
}
