package privgraph

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/privcom/privcom/baseline/baselinetest"
	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/metrics"
)

// With a huge budget, and blocks whose trace survives random groups, the planted blocks
// come back and the figures between and inside of them stay.
func TestAHugeBudgetKeepsTheCommunities(t *testing.T) {
	g, label := baselinetest.Blocks(t, 300, 2, 0.3, 0.01, 1)
	chosen, count := label, 2
	out, err := rebuild(t.Context(), g, chosen, count, 1e9, baselinetest.Source(1))
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
	g, label := baselinetest.Blocks(t, 180, 3, 0.5, 0.02, 2)
	rng, first := baselinetest.Source(1), slices.Clone(label)
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
	chosen, err := choose(t.Context(), g, first, 2, 1, baselinetest.Source(3))
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
	g, label := baselinetest.Blocks(t, 160, 4, 0.2, 0.2, 4)
	out, err := rebuild(t.Context(), g, label, 4, 1e9, baselinetest.Source(5))
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
	g, _ := baselinetest.Blocks(t, 200, 2, 0.2, 0.02, 1)
	for seed := range uint64(5) {
		out, err := Run(t.Context(), g, 0.1, baselinetest.Source(seed))
		if err != nil || out.Check() != nil || out.Vertices() != 200 || out.Edges() == 0 {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if _, err := Run(t.Context(), baselinetest.Random(t, 50, 0, 1), 1, baselinetest.Source(1)); err != nil {
		t.Errorf("a graph without edges: %v", err)
	}
}

func TestRefusalsAndCancellation(t *testing.T) {
	g, _ := baselinetest.Blocks(t, 20, 2, 0.5, 0.1, 1)
	for _, e := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Run(t.Context(), g, e, baselinetest.Source(1)); err == nil {
			t.Errorf("epsilon %v was taken", e)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, g, 1, baselinetest.Source(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	large := &community.Graph{Ptr: make([]int64, 300_001)}
	if _, err := Run(t.Context(), large, 1, baselinetest.Source(1)); err == nil {
		t.Error("300,000 vertices were taken")
	}
}
