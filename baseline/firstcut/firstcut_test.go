package firstcut

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/privcom/privcom/baseline/baselinetest"
	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/metrics"
)

// dense forms Σ βˡAˡ by matrix powers.
func dense(g *community.Graph, beta float64, terms int) *mat.Dense {
	n := g.Vertices()
	a, power, sum := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for u := range n {
		power.Set(u, u, 1)
		for _, v := range g.Neighbours(u) {
			a.Set(u, int(v), beta)
		}
	}
	for range terms {
		next := mat.NewDense(n, n, nil)
		next.Mul(power, a)
		power = next
		sum.Add(sum, power)
	}
	return sum
}

func TestKatzEqualsMatrixPowers(t *testing.T) {
	const n, k = 30, 3
	g := baselinetest.Random(t, n, 100, 1)
	for _, order := range []int{0, 1, 2} {
		h, want := newKatz(g, 0.02, order), dense(g, 0.02, 2*order+1)
		row := make([]float64, n)
		rng := baselinetest.Source(2)
		v := mat.NewDense(n, k, nil)
		for i := range n {
			for j := range k {
				v.Set(i, j, rng.NormFloat64())
			}
		}
		var product mat.Dense
		product.Mul(want, v)
		got := h.times(v.RawMatrix().Data, k)
		for i := range n {
			h.row(i, row)
			for j := range n {
				if math.Abs(row[j]-want.At(i, j)) > 1e-14 {
					t.Fatalf("order %d: H[%d,%d] = %v, want %v", order, i, j, row[j], want.At(i, j))
				}
			}
			for j := range k {
				if math.Abs(got[i*k+j]-product.At(i, j)) > 1e-12 {
					t.Fatalf("order %d: HV[%d,%d] = %v, want %v", order, i, j, got[i*k+j], product.At(i, j))
				}
			}
		}
	}
}

// The sensitivities that the package comment claims, at the worst pair of graphs there
// is: the complete one and the empty one.
func TestSensitivitiesHoldForAnyTwoGraphs(t *testing.T) {
	for _, n := range []int{2, 5, 20} {
		g := baselinetest.Random(t, n, int64(n)*int64(n-1)/2, 1)
		h := dense(g, 1/(2*float64(n-1)), 3)
		if largest := mat.Max(h); largest >= 1 {
			t.Errorf("n=%d: an entry of %v", n, largest)
		}
		if norm := mat.Norm(h, 2); norm >= float64(n) {
			t.Errorf("n=%d: Frobenius norm %v", n, norm)
		}
		for _, k := range []int{1, 2} {
			beta := 1 / (float64(n-1) * (math.Pow(float64(n), 1.5)*math.Sqrt(float64(k)) + 1))
			h := dense(g, beta, 3)
			if bound := mat.Norm(h, 2) * math.Sqrt(float64(k)); bound > 1 || bound*bound > 1 {
				t.Errorf("n=%d k=%d: ‖H̃V‖ may be %v", n, k, bound)
			}
		}
	}
}

// Without noise to speak of the largest entries of H̃ are the edges.
func TestAHugeBudgetKeepsTheEdges(t *testing.T) {
	g := baselinetest.Random(t, 60, 200, 3)
	out, err := Entries(t.Context(), g, Options{Epsilon: 1e15, Delta: 0.01, Edges: 200}, baselinetest.Source(1))
	if err != nil {
		t.Fatal(err)
	}
	for v := range g.Vertices() {
		for _, u := range g.Neighbours(v) {
			if !out.HasArc(int32(v), u) {
				t.Fatalf("edge %d-%d is lost", v, u)
			}
		}
	}
}

// Without noise to speak of both iterations find two planted blocks.
func TestAHugeBudgetKeepsTheCommunities(t *testing.T) {
	g, label := baselinetest.Blocks(t, 100, 2, 0.5, 0.02, 9)
	for name, run := range map[string]func(context.Context, *community.Graph, Options, *rand.Rand) (*community.Graph, error){"matrix": Matrix, "vector": Vector} {
		out, err := run(t.Context(), g, Options{Epsilon: 1e22, Delta: 0.01, Edges: g.Edges(), Rank: 2, Steps: 50}, baselinetest.Source(1))
		if err != nil {
			t.Fatal(name, err)
		}
		found, err := community.Louvain(t.Context(), out, community.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := metrics.Compare(found.Community, label); err != nil || s.AMI < 0.6 {
			t.Errorf("%s: AMI %v, %v", name, s.AMI, err)
		}
	}
}

// At ε = 1 the noise is all there is: a graph of the asked number of edges comes out.
func TestASmallBudgetStillMakesAGraph(t *testing.T) {
	g := baselinetest.Random(t, 50, 200, 4)
	for name, run := range map[string]func(context.Context, *community.Graph, Options, *rand.Rand) (*community.Graph, error){"entries": Entries, "matrix": Matrix, "vector": Vector} {
		out, err := run(t.Context(), g, Options{Epsilon: 0.1, Delta: 1e-5}, baselinetest.Source(1))
		if err != nil || out.Check() != nil || out.Edges() != 50 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefusalsAndCancellation(t *testing.T) {
	g := baselinetest.Random(t, 30, 60, 1)
	for _, o := range []Options{{Epsilon: 0, Delta: 0.1}, {Epsilon: math.NaN(), Delta: 0.1}, {Epsilon: 1}, {Epsilon: 1, Delta: 1},
		{Epsilon: 1, Delta: 0.1, Edges: 1000}, {Epsilon: 1, Delta: 0.1, Rank: 31}, {Epsilon: 1, Delta: 0.1, Order: -1}} {
		for _, run := range []func(context.Context, *community.Graph, Options, *rand.Rand) (*community.Graph, error){Entries, Matrix, Vector} {
			if _, err := run(t.Context(), g, o, baselinetest.Source(1)); err == nil {
				t.Errorf("%+v was taken", o)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Entries(ctx, g, Options{Epsilon: 1, Delta: 0.1}, baselinetest.Source(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
