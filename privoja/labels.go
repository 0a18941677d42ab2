package privoja

import (
	"context"
	"fmt"
	"math/big"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/privacy"
)

// labelBits is the quantum of the label matrix Z, whose entries lie within ±1.
const labelBits = 14

// ReadLabels publishes a label for every vertex: one exact product of A with the public
// matrix z (n×q, rows of range ≤ 1), then the read-out mechanism (privacy/readout.md). The
// slope and the clip follow from the plan's budget and the range of z alone. Labels that
// the transcript has are not read again.
func ReadLabels(ctx context.Context, plan *privacy.Plan, mul blockmatmul.Multiplier, grant *privacy.Grant, tr Transcript, z []float64, q int) ([]int32, privacy.ReadOut, error) {
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
	query, err := Question(op, "labels", r)
	if err != nil {
		return nil, r, err
	}
	a, err := answerOnce(ctx, tr, "labels", query, func() error { return grant.LabelsRecorded(r) }, func() (*Answer, error) {
		scores, err := mul.Multiply(ctx, op, 0)
		if err != nil {
			return nil, err
		}
		labels, err := grant.Labels(r, scores.Data)
		if err != nil {
			return nil, err
		}
		a := &Answer{Values: make([]int64, len(labels))}
		for i, l := range labels {
			a.Values[i] = int64(l)
		}
		return a, nil
	})
	if err != nil {
		return nil, r, err
	}
	labels := make([]int32, len(a.Values))
	for i, l := range a.Values {
		if l < 0 || l >= int64(q) || len(labels) != p.Vertices {
			return nil, r, &ReplayError{"labels"}
		}
		labels[i] = int32(l)
	}
	return labels, r, nil
}

// CountEdges publishes the number of edges with noise for rho, and its σ². An answer that
// the transcript has is not drawn again.
func CountEdges(ctx context.Context, plan *privacy.Plan, grant *privacy.Grant, tr Transcript, edges func() int64) (int64, *big.Int, error) {
	query, err := Question(nil, "count", plan.Params.Vertices, plan.CountRho)
	if err != nil {
		return 0, nil, err
	}
	count, sigma2, err := keepCounts(ctx, grant, tr, "count", query, plan.Params.Vertices, plan.CountRho, 1, func() ([]int64, error) { return []int64{edges()}, nil })
	if err != nil {
		return 0, nil, err
	}
	return count[0], sigma2, nil
}

// keepCounts is a recorded answer of the counts mechanism with a number of classes.
func keepCounts(ctx context.Context, grant *privacy.Grant, tr Transcript, name, query string, n int, rho privacy.Decimal, classes int,
	exact func() ([]int64, error)) ([]int64, *big.Int, error) {
	var sigma2 *big.Int
	booked := func() (err error) {
		sigma2, err = grant.CountsRecorded(n, rho)
		return err
	}
	a, err := answerOnce(ctx, tr, name, query, booked, func() (*Answer, error) {
		values, err := exact()
		if err != nil {
			return nil, err
		}
		if sigma2, err = grant.Counts(n, rho, values); err != nil {
			return nil, err
		}
		return &Answer{Values: values}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(a.Values) != classes {
		return nil, nil, &ReplayError{name}
	}
	return a.Values, sigma2, nil
}

// CountBlocks publishes the numbers of edges between placed communities (q×q row-major,
// upper triangle; within on the diagonal) with noise for rho, and its σ². An answer that
// the transcript has is not drawn again.
func CountBlocks(ctx context.Context, plan *privacy.Plan, mul blockmatmul.Multiplier, grant *privacy.Grant, tr Transcript, placed []int32, q int) ([]int64, *big.Int, error) {
	n := plan.Params.Vertices
	one := make([]float64, n*q)
	for i, c := range placed {
		one[i*q+int(c)] = 1
	}
	op, err := blockmatmul.Quantise(one, n, q, 2, 0)
	if err != nil {
		return nil, nil, err
	}
	query, err := Question(op, "counts", plan.CountRho)
	if err != nil {
		return nil, nil, err
	}
	upper, sigma2, err := keepCounts(ctx, grant, tr, "counts", query, n, plan.CountRho, q*(q+1)/2, func() ([]int64, error) {
		sums, err := mul.Multiply(ctx, op, 0)
		if err != nil {
			return nil, err
		}
		return countClasses(sums.Data, placed, q), nil
	})
	if err != nil {
		return nil, nil, err
	}
	out, at := make([]int64, q*q), 0
	for r := range q {
		for s := r; s < q; s++ {
			out[r*q+s], out[s*q+r] = upper[at], upper[at]
			at++
		}
	}
	return out, sigma2, nil
}

// countClasses counts edges by class, an unordered pair of communities, from the number of
// neighbours that every vertex has in every community.
func countClasses(neighbours []int64, placed []int32, q int) []int64 {
	counts := make([]int64, q*q) // twice every class's count arrives
	for i, c := range placed {
		for b := range q {
			counts[min(int(c), b)*q+max(int(c), b)] += neighbours[i*q+b]
		}
	}
	upper := counts[:0:0]
	for r := range q {
		for s := r; s < q; s++ {
			upper = append(upper, counts[r*q+s]/2)
		}
	}
	return upper
}
