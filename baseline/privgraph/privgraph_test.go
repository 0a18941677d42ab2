package privgraph

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/metrics"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// planted has `blocks` blocks of `size` vertices, pairs joined by chance.
func planted(t *testing.T, blocks, size int, in, out float64, seed uint64) (*community.Graph, []int32) {
	t.Helper()
	rng := source(seed)
	n := blocks * size
	var s, d []int32
	label := make([]int32, n)
	for v := range int32(n) {
		label[v] = v % int32(blocks)
		for u := range v {
			p := out
			if u%int32(blocks) == v%int32(blocks) {
				p = in
			}
			if rng.Float64() < p {
				s, d = append(s, u), append(d, v)
			}
		}
	}
	g, err := community.FromEdges(n, s, d)
	if err != nil {
		t.Fatal(err)
	}
	return g, label
}

// With a huge budget, and blocks whose trace survives random groups, the planted blocks
// come back and the figures between and inside of them stay.
func TestAHugeBudgetKeepsTheCommunities(t *testing.T) {
	g, label := planted(t, 2, 150, 0.3, 0.01, 1)
	chosen, count := label, 2
	out, err := rebuild(t.Context(), g, chosen, count, 1e9, source(1))
	if err != nil {
		t.Fatal(err)
	}
	across := func(h *community.Graph) (k int) {
		for v := range h.Vertices() {
			for _, u := range h.Neighbours(v) {
				if label[v] != label[u] {
					k++
				}
			}
		}
		return k / 2
	}
	if a, b := across(g), across(out); a != b {
		t.Errorf("%d edges between the blocks, want %d", b, a)
	}
	if r := float64(out.Edges()) / float64(g.Edges()); math.Abs(r-1) > 0.01 {
		t.Errorf("%v times the edges", r)
	}
	found, err := community.Louvain(t.Context(), out, community.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := metrics.Compare(found.Community, label); err != nil || s.AMI < 0.95 {
		t.Errorf("AMI %v, %v", s.AMI, err)
	}
}

// Given half-right communities and a large budget each vertex chooses its own block.
func TestChoiceFollowsTheEdges(t *testing.T) {
	g, label := planted(t, 3, 60, 0.5, 0.02, 2)
	rng, first := source(1), slices.Clone(label)
	for v := range first {
		if rng.IntN(3) == 0 {
			first[v] = int32(rng.IntN(3))
		}
	}
	chosen, err := choose(t.Context(), g, first, 3, 100, rng)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := metrics.Compare(chosen, label); s.AMI < 0.999 {
		t.Errorf("AMI %v", s.AMI)
	}
}

// The exponential mechanism on two scores that differ by s draws the larger with chance
// 1/(1+e^{−εs/2}): 20,000 vertices, five standard deviations.
func TestChoiceHasTheChancesOfItsMechanism(t *testing.T) {
	const leaves = 20_000
	// Each leaf has one edge to a hub of community 0 and none to community 1.
	s, d := make([]int32, leaves), make([]int32, leaves)
	for i := range s {
		s[i], d[i] = 0, int32(i+2)
	}
	g, err := community.FromEdges(leaves+2, s, d)
	if err != nil {
		t.Fatal(err)
	}
	first := make([]int32, leaves+2)
	first[1] = 1
	chosen, err := choose(t.Context(), g, first, 2, 1, source(3))
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	for _, c := range chosen[2:] {
		if c == 0 {
			zero++
		}
	}
	if p := 1 / (1 + math.Exp(-0.5)); math.Abs(zero-p*leaves) > 5*math.Sqrt(p*(1-p)*leaves) {
		t.Errorf("share %v, want %v", zero/leaves, p)
	}
}

// Edges between communities touch every one of them in proportion: none starts all of
// them in one community.
func TestEdgesBetweenCommunitiesKeepTheirEnds(t *testing.T) {
	g, label := planted(t, 4, 40, 0.2, 0.2, 4)
	out, err := rebuild(t.Context(), g, label, 4, 1e9, source(5))
	if err != nil {
		t.Fatal(err)
	}
	count := func(h *community.Graph) (table [4][4]int) {
		for v := range h.Vertices() {
			for _, u := range h.Neighbours(v) {
				if label[v] != label[u] {
					table[label[v]][label[u]]++
				}
			}
		}
		return table
	}
	if a, b := count(g), count(out); a != b {
		t.Errorf("edges between communities %v, want %v", b, a)
	}
}

func TestASmallBudgetStillMakesAGraph(t *testing.T) {
	g, _ := planted(t, 2, 100, 0.2, 0.02, 1)
	for seed := range uint64(5) {
		out, err := Run(t.Context(), g, 0.1, source(seed))
		if err != nil || out.Check() != nil || out.Vertices() != 200 || out.Edges() == 0 {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	empty, err := evaluate.RandomGraph(t.Context(), 50, 0, source(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), empty, 1, source(1)); err != nil {
		t.Errorf("a graph without edges: %v", err)
	}
}

func TestRefusalsAndCancellation(t *testing.T) {
	g, _ := planted(t, 2, 10, 0.5, 0.1, 1)
	for _, e := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Run(t.Context(), g, e, source(1)); err == nil {
			t.Errorf("epsilon %v was taken", e)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, g, 1, source(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	large := &community.Graph{Ptr: make([]int64, 300_001)}
	if _, err := Run(t.Context(), large, 1, source(1)); err == nil {
		t.Error("300,000 vertices were taken")
	}
}
