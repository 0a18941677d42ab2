package release

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/metrics"
	"github.com/privcom/privcom/privacy"
)

// At edge ε = 1 and k = 2 a release of polblogs keeps communities: the median AMI of five
// releases with the original's Louvain communities is at least 0.10, where a random graph
// has 0.00. Medians of five lie near 0.23 with single releases from 0.19 to 0.29; for a sound
// program three of five below 0.10 have not been seen (docs/paper.md has eleven runs).
func TestPolblogsKeepsCommunities(t *testing.T) {
	file := filepath.Join("..", "..", "shared", "data", "polblogs", "polblogs.pairs")
	edges, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("no real graph here: %v", err)
	}
	ctx := context.Background()
	g := ingest(t, string(edges), 1)
	whole, err := g.LoadWhole(ctx)
	if err != nil {
		t.Fatal(err)
	}
	original, err := community.Louvain(ctx, &community.Graph{Ptr: whole.Ptr, Adj: whole.Col}, community.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var amis []float64
	for range 5 {
		r := newRig(t, g)
		r.Params.Unit, r.Params.Epsilon, r.Params.Rank, r.Params.Steps = privacy.Edge, "1", 2, 0
		d := mustRun(t, r)
		c, err := Read(ctx, r.Out, d)
		if err != nil {
			t.Fatal(err)
		}
		made, err := community.FromEdges(len(c.IDs), c.Source, c.Target)
		if err != nil {
			t.Fatal(err)
		}
		found, err := community.Louvain(ctx, made, community.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, err := metrics.Compare(found.Community, original.Community)
		if err != nil {
			t.Fatal(err)
		}
		amis = append(amis, s.AMI)
	}
	slices.Sort(amis)
	if m := amis[len(amis)/2]; m < 0.10 {
		t.Errorf("median AMI %.3f of %.3f", m, amis)
	}
}
