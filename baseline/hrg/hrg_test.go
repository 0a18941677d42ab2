package hrg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/privcom/privcom/baseline/baselinetest"
	"github.com/privcom/privcom/baseline/draw"
	"github.com/privcom/privcom/evaluate/community"
)

// After thousands of exchanges the counts that were kept along are those of a recount,
// the sizes those of the leaves, and every edge is in one node.
func TestTheChainKeepsItsCounts(t *testing.T) {
	for _, n := range []int{2, 3, 40, 300} {
		g := baselinetest.Random(t, n, draw.Pairs(int64(n))/4, 1)
		tr := newTree(g, baselinetest.Source(2))
		if err := tr.walk(t.Context(), Options{Epsilon: 5, Steps: 20_000}, baselinetest.Source(3)); err != nil {
			t.Fatal(err)
		}
		kept, sum := slices.Clone(tr.edges), int64(0)
		tr.countAll()
		for i, e := range tr.edges {
			if sum += e; e != kept[i] {
				t.Fatalf("n=%d: node %d has %d edges, the chain says %d", n, i, e, kept[i])
			}
			leaves := int32(0)
			r := int32(i) + tr.leaves
			tr.each(r, func(int32) { leaves++ })
			if leaves != tr.size[r] {
				t.Fatalf("n=%d: node %d has %d leaves, the chain says %d", n, i, leaves, tr.size[r])
			}
		}
		if sum != g.Edges() || tr.inside()[tr.inner(tr.root)] != sum {
			t.Errorf("n=%d: %d edges in the tree of %d", n, sum, g.Edges())
		}
	}
}

// shape writes a dendrogram so that equal ones read alike.
func (t *tree) shape(r int32) (string, int32) {
	if r < t.leaves {
		return fmt.Sprint(r), r
	}
	c := t.child[t.inner(r)]
	a, low := t.shape(c[0])
	b, other := t.shape(c[1])
	if other < low {
		a, b, low = b, a, other
	}
	return "(" + a + b + ")", low
}

// On four vertices there are 15 dendrograms, and a long chain visits each as often as the
// exponential mechanism says. 300,000 visits, every fifth step: these are still
// dependent, so the bound is ten standard deviations of independent ones; a chain
// with a wrong ratio misses it by far.
func TestTheChainHasItsDistribution(t *testing.T) {
	g, err := community.FromEdges(4, []int32{0, 2, 0}, []int32{1, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	const epsilon, visits = 12, 300_000
	rng := baselinetest.Source(1)
	tr := newTree(g, rng)
	factor := epsilon / 2 / (2 * sensitivity(4))
	times, score := map[string]float64{}, map[string]float64{}
	for range visits {
		for range 5 {
			tr.step(factor, rng)
		}
		s, _ := tr.shape(tr.root)
		times[s]++
		score[s] = tr.total()
	}
	if len(times) != 15 {
		t.Fatalf("%d dendrograms of four vertices, want 15", len(times))
	}
	norm := 0.0
	for _, x := range score {
		norm += math.Exp(factor * x)
	}
	for s, k := range times {
		p := math.Exp(factor*score[s]) / norm
		if math.Abs(k-p*visits) > 10*math.Sqrt(p*(1-p)*visits) {
			t.Errorf("%s: %v of %d visits, want %v", s, k, visits, p*visits)
		}
	}
}

// Δ bounds what any edge does to log L, on every graph and dendrogram of up to five
// vertices that a chain without preference meets.
func TestSensitivityByBruteForce(t *testing.T) {
	for n := 2; n <= 5; n++ {
		pairs := draw.Pairs(int64(n))
		worst := 0.0
		for set := range uint64(1) << pairs {
			rng := baselinetest.Source(set)
			for range 3 {
				tr := newTree(baselinetest.Tiny(t, n, set), rng)
				for range 10 {
					tr.step(0, rng)
				}
				before := tr.total()
				for x := range pairs {
					tr.g = baselinetest.Tiny(t, n, set^1<<x)
					tr.countAll()
					worst = max(worst, math.Abs(tr.total()-before))
				}
			}
		}
		if worst > sensitivity(int64(n))+1e-12 {
			t.Errorf("n=%d: an edge moves log L by %v, Δ = %v", n, worst, sensitivity(int64(n)))
		}
		if n == 5 && worst < 0.9*sensitivity(5) {
			t.Errorf("n=5: the worst edge moves log L by %v of %v: the search is blind or Δ too large", worst, sensitivity(5))
		}
	}
}

// At ε = 4Δ the chain draws dendrograms by their likelihood: it finds two planted blocks, and
// the densities come back. (A larger ε only climbs, and stays on a hillock.)
func TestALargeBudgetFindsBlocks(t *testing.T) {
	g, _ := baselinetest.Blocks(t, 80, 2, 0.5, 0.02, 9)
	out, err := Run(t.Context(), g, Options{Epsilon: 4 * sensitivity(80), Steps: 400_000}, baselinetest.Source(1))
	if err != nil {
		t.Fatal(err)
	}
	across := func(h *community.Graph) (k int64) {
		for v := range h.Vertices() {
			for _, u := range h.Neighbours(v) {
				if int(u)%2 != v%2 {
					k++
				}
			}
		}
		return k / 2
	}
	if a, b := across(g), across(out); b > 2*a+10 {
		t.Errorf("%d edges cross the blocks, the original has %d of %d", b, a, g.Edges())
	}
	if r := float64(out.Edges()) / float64(g.Edges()); r < 0.9 || r > 1.1 {
		t.Errorf("%v times the edges", r)
	}
}

func TestASmallBudgetStillMakesAGraph(t *testing.T) {
	for _, n := range []int{2, 3, 200} {
		out, err := Run(t.Context(), baselinetest.Random(t, n, draw.Pairs(int64(n))/5, 1), Options{Epsilon: 0.05, Steps: 2000}, baselinetest.Source(4))
		if err != nil || out.Check() != nil || out.Vertices() != n {
			t.Errorf("n=%d: %v", n, err)
		}
	}
}

func TestRefusalsAndCancellation(t *testing.T) {
	g := baselinetest.Random(t, 30, 60, 1)
	for _, o := range []Options{{Epsilon: 0}, {Epsilon: math.NaN()}, {Epsilon: math.Inf(1)}, {Epsilon: 1, Steps: -1}} {
		if _, err := Run(t.Context(), g, o, baselinetest.Source(1)); err == nil || !strings.HasPrefix(err.Error(), "hrg: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, g, Options{Epsilon: 1}, baselinetest.Source(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkChain(b *testing.B) {
	g := baselinetest.Random(b, 5000, 15_000, 1)
	rng := baselinetest.Source(1)
	t := newTree(g, rng)
	factor := 1 / (4 * sensitivity(5000))
	for b.Loop() {
		t.step(factor, rng)
	}
}
