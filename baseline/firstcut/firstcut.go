package firstcut

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/privcom/privcom/cholesky"
	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/privacy"
)

const mostVertices = 20_000

// Options steer a run. Epsilon and Delta must be set.
type Options struct {
	Epsilon, Delta float64
	Order          int                     // h; 0 means 1, the paper's
	Rank           int                     // k of Matrix and Vector; 0 means 4
	Steps          int                     // T of Matrix and Vector; 0 means 8
	Edges          int64                   // M, public; 0 means n
	Progress       func(done, total int64) // may be nil
}

func (o Options) withDefaults(n int) (Options, error) {
	if o.Order == 0 {
		o.Order = 1
	}
	if o.Rank == 0 {
		o.Rank = min(4, n)
	}
	if o.Steps == 0 {
		o.Steps = 8
	}
	if o.Edges == 0 {
		o.Edges = int64(n)
	}
	pairs := int64(n) * int64(n-1) / 2
	switch {
	case !(o.Epsilon > 0) || math.IsInf(o.Epsilon, 0):
		return o, fmt.Errorf("firstcut: epsilon is %v and must be a number above 0", o.Epsilon)
	case !(o.Delta > 0 && o.Delta < 1):
		return o, fmt.Errorf("firstcut: delta is %v and must lie between 0 and 1: Gaussian noise needs one", o.Delta)
	case n < 2 || n > mostVertices:
		return o, fmt.Errorf("firstcut: %d vertices: all pairs are visited, so it must be 2 to %d", n, mostVertices)
	case o.Order < 0 || o.Rank < 1 || o.Rank > n || o.Steps < 1:
		return o, fmt.Errorf("firstcut: order %d, rank %d, steps %d: need an order of at least 0, a rank from 1 to n, steps of at least 1", o.Order, o.Rank, o.Steps)
	case o.Edges < 1 || o.Edges > pairs:
		return o, fmt.Errorf("firstcut: %d edges: must be 1 to %d on %d vertices", o.Edges, pairs, n)
	}
	return o, nil
}

// Entries puts noise on every entry of H̃.
func Entries(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
	n := g.Vertices()
	o, err := o.withDefaults(n)
	if err != nil {
		return nil, err
	}
	square := float64(n) * float64(n)
	sigma := math.Sqrt(2*math.Log(1.25*square/o.Delta)) * square / o.Epsilon
	h := newKatz(g, 1/(2*float64(n-1)), o.Order)
	return largest(ctx, n, o, func(u int, row []float64) {
		h.row(u, row)
		for v := range u {
			row[v] += sigma * rng.NormFloat64()
		}
	})
}

// Matrix puts noise on H̃ in every step (eq. b).
func Matrix(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
	n := g.Vertices()
	o, err := o.withDefaults(n)
	if err != nil {
		return nil, err
	}
	sigma, err := gaussian(o, float64(n), o.Steps+1)
	if err != nil {
		return nil, err
	}
	h := newKatz(g, 1/(2*float64(n-1)), o.Order)
	v, err := oja(ctx, h, n, o, sigma, rng)
	if err != nil {
		return nil, err
	}
	w := h.times(v, o.Rank)
	lambda := make([]float64, o.Rank)
	for i := range w {
		lambda[i%o.Rank] += v[i] * (w[i] + sigma*rng.NormFloat64())
	}
	return fromVectors(ctx, n, v, lambda, o)
}

// Vector puts noise on H̃V in every step (eq. c).
func Vector(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
	n := g.Vertices()
	o, err := o.withDefaults(n)
	if err != nil {
		return nil, err
	}
	sigma, err := gaussian(o, 1, o.Steps+o.Rank)
	if err != nil {
		return nil, err
	}
	beta := 1 / (float64(n-1) * (math.Pow(float64(n), 1.5)*math.Sqrt(float64(o.Rank)) + 1))
	h := newKatz(g, beta, o.Order)
	v, err := oja(ctx, h, n, o, sigma, rng)
	if err != nil {
		return nil, err
	}
	lambda := make([]float64, o.Rank)
	for i, x := range h.times(v, o.Rank) {
		lambda[i%o.Rank] += x * x
	}
	for j, x := range lambda {
		lambda[j] = math.Sqrt(max(0, x+sigma*rng.NormFloat64()))
	}
	return fromVectors(ctx, n, v, lambda, o)
}

// gaussian is the σ with which so many Gaussian mechanisms of L2 sensitivity s are (ε, δ)
// together.
func gaussian(o Options, s float64, mechanisms int) (float64, error) {
	epsilon, err := privacy.ParseDecimal(strconv.FormatFloat(o.Epsilon, 'f', -1, 64))
	if err != nil {
		return 0, fmt.Errorf("firstcut: epsilon: %w", err)
	}
	delta, err := privacy.ParseDecimal(strconv.FormatFloat(o.Delta, 'f', -1, 64))
	if err != nil {
		return 0, fmt.Errorf("firstcut: delta: %w", err)
	}
	rho := privacy.RhoOf(epsilon, delta).Float()
	if rho <= 0 {
		return 0, fmt.Errorf("firstcut: (%v, %v) is too small a budget for any Gaussian noise", o.Epsilon, o.Delta)
	}
	return s * math.Sqrt(float64(mechanisms)/(2*rho)), nil
}

// oja runs V ← QR(V + η(H̃V + noise)) from a public random start.
func oja(ctx context.Context, h *katz, n int, o Options, sigma float64, rng *rand.Rand) ([]float64, error) {
	v := make([]float64, n*o.Rank)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	if _, err := cholesky.QR(v, n, o.Rank); err != nil {
		return nil, fmt.Errorf("firstcut: %w", err)
	}
	eta := 1 / (float64(o.Steps) * sigma * math.Sqrt(float64(n)))
	for step := range o.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(int64(step), int64(o.Steps))
		}
		for i, x := range h.times(v, o.Rank) {
			v[i] += eta * (x + sigma*rng.NormFloat64())
		}
		if _, err := cholesky.QR(v, n, o.Rank); err != nil {
			return nil, fmt.Errorf("firstcut: step %d: %w", step+1, err)
		}
	}
	return v, nil
}

func fromVectors(ctx context.Context, n int, v, lambda []float64, o Options) (*community.Graph, error) {
	k := o.Rank
	return largest(ctx, n, o, func(u int, row []float64) {
		scaled := make([]float64, k)
		for j := range k {
			scaled[j] = lambda[j] * v[u*k+j]
		}
		for w := range u {
			row[w] = 0
			for j, x := range scaled {
				row[w] += x * v[w*k+j]
			}
		}
	})
}
