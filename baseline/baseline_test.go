package baseline

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/method"
	"github.com/privcom/privcom/evaluate/metrics"
)

func planted(t *testing.T) (*community.Graph, []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var s, d, label []int32
	for v := range int32(200) {
		label = append(label, v/100)
		for u := range v {
			if p := rng.Float64(); u/100 == v/100 && p < 0.3 || p < 0.01 {
				s, d = append(s, u), append(d, v)
			}
		}
	}
	g, err := community.FromEdges(200, s, d)
	if err != nil {
		t.Fatal(err)
	}
	return g, label
}

func TestEveryMethodMakesAGraphAndRepeats(t *testing.T) {
	g, _ := planted(t)
	names := map[string]bool{}
	for _, m := range Methods() {
		names[m.Name] = true
		o := method.Options{Epsilon: 1, Delta: 0.01, Seed: 7, Steps: 10}
		a, err := m.Run(t.Context(), g, o)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		b, err := m.Run(t.Context(), g, o)
		if err != nil || !slices.Equal(a.Adj, b.Adj) || !slices.Equal(a.Ptr, b.Ptr) {
			t.Errorf("%s: two runs of one seed differ (%v)", m.Name, err)
		}
		if a.Vertices() != g.Vertices() || a.Check() != nil {
			t.Errorf("%s: not a graph on the same vertices", m.Name)
		}
		said := m.Guarantee(o)
		if strings.Contains(said, "(1, 0.01)") != m.Delta || strings.Contains(said, "one edge") != (m.Unit == "edge") {
			t.Errorf("%s says %q", m.Name, said)
		}
		o.Delta = 0
		if _, err := m.Run(t.Context(), g, o); (err != nil) != m.Delta {
			t.Errorf("%s without a delta: %v", m.Name, err)
		}
	}
	if len(names) != len(Methods()) {
		t.Error("two methods share a name")
	}
}

// The planted blocks are runs of vertex numbers, the worst case for a method that deals
// degrees out in some order: without a correspondence AMI must be that of chance.
func TestVerticesWithoutCorrespondenceAreShuffled(t *testing.T) {
	g, label := planted(t)
	for _, m := range Methods() {
		if m.Matched {
			continue
		}
		out, err := m.Run(t.Context(), g, method.Options{Epsilon: 1e6, Delta: 0.01, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		found, err := community.Louvain(t.Context(), out, community.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s, err := metrics.Compare(found.Community, label); err != nil || s.AMI > 0.05 || s.ARI > 0.05 {
			t.Errorf("%s: AMI %v, ARI %v by vertex number (%v)", m.Name, s.AMI, s.ARI, err)
		}
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	if _, err := method.Find(Methods(), "dk3"); err == nil || !strings.Contains(err.Error(), "privgraph") {
		t.Errorf("%v", err)
	}
	m, err := method.Find(Methods(), "tmf")
	if err != nil {
		t.Fatal(err)
	}
	empty, err := evaluate.RandomGraph(t.Context(), 5, 0, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context(), empty, method.Options{Epsilon: -1}); err == nil {
		t.Error("a negative epsilon was taken")
	}
}
