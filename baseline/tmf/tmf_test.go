package tmf

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/privcom/privcom/baseline/baselinetest"
	"github.com/privcom/privcom/baseline/draw"
)

// In both branches the expected number of cells that pass is the number of edges, and
// edges stand on the side of 1 that the branch assumes.
func TestThresholdBranches(t *testing.T) {
	for _, c := range []struct{ cells, edges, epsilon float64 }{
		{748_476, 16_715, 0.1}, {748_476, 16_715, 1}, {748_476, 16_715, 3}, {748_476, 16_715, 4}, {748_476, 16_715, 20}, {10, 5, 0.5}, {10, 5, 3},
	} {
		theta := threshold(c.cells, c.edges, c.epsilon)
		pass := c.edges*draw.LaplaceAbove(theta-1, 1/c.epsilon) + (c.cells-c.edges)*draw.LaplaceAbove(theta, 1/c.epsilon)
		if math.Abs(pass/c.edges-1) > 1e-9 {
			t.Errorf("%+v: θ = %v lets %v cells pass", c, theta, pass)
		}
		if weak := c.epsilon < math.Log(c.cells/c.edges-1); weak != (theta > 1) {
			t.Errorf("%+v: θ = %v is on the wrong side of 1", c, theta)
		}
	}
	edge := math.Log(748_476.0/16_715 - 1)
	if below, above := threshold(748_476, 16_715, edge-1e-9), threshold(748_476, 16_715, edge+1e-9); math.Abs(below-above) > 1e-6 {
		t.Errorf("the branches do not meet: %v and %v", below, above)
	}
}

func TestAHugeBudgetKeepsTheGraph(t *testing.T) {
	g := baselinetest.Random(t, 300, 2000, 1)
	out, err := Run(t.Context(), g, 1e4, baselinetest.Source(2))
	if err != nil || out.Edges() != g.Edges() {
		t.Fatalf("%v edges of %d, %v", out.Edges(), g.Edges(), err)
	}
	for v := range g.Vertices() {
		for _, u := range g.Neighbours(v) {
			if !out.HasArc(int32(v), u) {
				t.Fatalf("edge %d-%d is lost", v, u)
			}
		}
	}
}

// At ε = 1 on 300 vertices, 200 runs: the mean number of edges lies within 5 % of the
// original's (its standard error is 0.6 %), and the share of edges kept within 5
// standard errors of the branch's chance.
func TestEdgesPassAsOftenAsTheNoiseSays(t *testing.T) {
	g := baselinetest.Random(t, 300, 2000, 3)
	total, kept := 0.0, 0.0
	const rounds = 200
	for seed := range uint64(rounds) {
		out, err := Run(t.Context(), g, 1, baselinetest.Source(seed))
		if err != nil {
			t.Fatal(err)
		}
		total += float64(out.Edges())
		for v := range g.Vertices() {
			for _, u := range g.Neighbours(v) {
				if int(u) > v && out.HasArc(int32(v), u) {
					kept++
				}
			}
		}
	}
	if mean := total / rounds; math.Abs(mean/2000-1) > 0.05 {
		t.Errorf("%v edges on average, want about 2000", mean)
	}
	e1 := 1 - countShare
	p := draw.LaplaceAbove(threshold(float64(draw.Pairs(300)), 2000, e1)-1, 1/e1)
	if share := kept / (rounds * 2000); math.Abs(share-p) > 5*math.Sqrt(p*(1-p)/(rounds*2000))+0.001 {
		t.Errorf("a share of %v of the edges is kept, want %v", share, p)
	}
}

// The audit in small: on two vertices there is one cell. Over 40,000 runs on each of
// the two graphs no output may be more likely by more than e^ε; five standard
// deviations of slack, four comparisons: false alarm below 2e-6.
func TestTwoVerticesMeetTheirEpsilon(t *testing.T) {
	const rounds, epsilon = 40_000, 0.5
	share := func(m int64) float64 {
		g, yes := baselinetest.Random(t, 2, m, 1), 0.0
		for seed := range uint64(rounds) {
			out, err := Run(t.Context(), g, epsilon, baselinetest.Source(seed+7*uint64(m)))
			if err != nil {
				t.Fatal(err)
			}
			yes += float64(out.Edges())
		}
		return yes / rounds
	}
	p, q := share(1), share(0)
	slack := 5 * math.Sqrt(0.25/rounds) * (1 + math.Exp(epsilon))
	for _, pair := range [][2]float64{{p, q}, {q, p}, {1 - p, 1 - q}, {1 - q, 1 - p}} {
		if pair[0] > math.Exp(epsilon)*pair[1]+slack {
			t.Errorf("chances %v and %v are further apart than e^%v", pair[0], pair[1], epsilon)
		}
	}
}

func TestRefusalsAndCancellation(t *testing.T) {
	g := baselinetest.Random(t, 10, 10, 1)
	for _, e := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Run(t.Context(), g, e, baselinetest.Source(1)); err == nil {
			t.Errorf("epsilon %v was taken", e)
		}
	}
	if _, err := Run(t.Context(), baselinetest.Random(t, 1, 0, 1), 1, baselinetest.Source(1)); err == nil {
		t.Error("a single vertex was taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, g, 1, baselinetest.Source(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
