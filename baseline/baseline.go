package baseline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/privcom/privcom/baseline/dk"
	"github.com/privcom/privcom/baseline/firstcut"
	"github.com/privcom/privcom/baseline/hrg"
	"github.com/privcom/privcom/baseline/privgraph"
	"github.com/privcom/privcom/baseline/tmf"
	"github.com/privcom/privcom/evaluate/community"
)

// Warning stands with every result.
const Warning = "for comparison only: seeded float noise and no ledger; do not publish"

// Options steer a run.
type Options struct {
	Epsilon  float64
	Delta    float64 // ignored by methods without one
	Seed     uint64
	Steps    int64 // of hrg's Markov chain, of the first cuts' iterations; 0: their default
	Edges    int64 // public number of edges for the first cuts; 0: n
	Rank     int   // k of matrix-noise and vector-noise; 0: 4
	Progress func(done, total int64)
}

// Method is one baseline.
type Method struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Source  string `json:"source"`
	Unit    string `json:"unit"`    // edge or node
	Delta   bool   `json:"delta"`   // whether the guarantee has a δ
	Matched bool   `json:"matched"` // whether output vertices stand for input vertices
	Proviso string `json:"proviso"` // what the guarantee rests on, beside the usual
	run     func(context.Context, *community.Graph, Options, *rand.Rand) (*community.Graph, error)
}

// Methods lists all, in the order of the documentation.
func Methods() []Method {
	cut := func(f func(context.Context, *community.Graph, firstcut.Options, *rand.Rand) (*community.Graph, error)) func(context.Context, *community.Graph, Options, *rand.Rand) (*community.Graph, error) {
		return func(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
			return f(ctx, g, firstcut.Options{Epsilon: o.Epsilon, Delta: o.Delta, Rank: o.Rank, Steps: int(o.Steps), Edges: o.Edges, Progress: o.Progress}, rng)
		}
	}
	return []Method{
		{Name: "dk1", Title: "dK-1", Source: "Wang, Wu 2013", Unit: "edge",
			Proviso: "Laplace noise on the number of vertices of every degree",
			run: func(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
				return dk.Run1(ctx, g, o.Epsilon, rng)
			}},
		{Name: "dk2", Title: "dK-2", Source: "Wang, Wu 2013", Unit: "edge", Delta: true,
			Proviso: "smooth sensitivity with the β that all n(n-1)/2 cells need, occupied or not",
			run: func(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
				return dk.Run2(ctx, g, o.Epsilon, o.Delta, rng)
			}},
		{Name: "hrg", Title: "HRG", Source: "Xiao, Chen, Tan 2014", Unit: "edge", Matched: true,
			Proviso: "in the limit of a converged Markov chain only: after any number of steps the distance from it is not known",
			run: func(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
				return hrg.Run(ctx, g, hrg.Options{Epsilon: o.Epsilon, Steps: o.Steps, Progress: o.Progress}, rng)
			}},
		{Name: "tmf", Title: "TmF", Source: "Nguyen, Imine, Rusinowitch 2015", Unit: "edge", Matched: true,
			Proviso: "Laplace noise on every cell of the adjacency matrix",
			run: func(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
				return tmf.Run(ctx, g, o.Epsilon, rng)
			}},
		{Name: "privgraph", Title: "PrivGraph", Source: "Yuan et al. 2023", Unit: "edge", Matched: true,
			Proviso: "a third of epsilon each for groups, communities and figures",
			run: func(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
				return privgraph.Run(ctx, g, o.Epsilon, rng)
			}},
		{Name: "entry-noise", Title: "noise on entries", Source: "Zhang, Ni, Fu, first cut", Unit: "node", Delta: true, Matched: true,
			Proviso: "the budget split over n² entries of the Katz matrix", run: cut(firstcut.Entries)},
		{Name: "matrix-noise", Title: "noise on the matrix", Source: "Zhang, Ni, Fu, eq. b", Unit: "node", Delta: true, Matched: true,
			Proviso: "zCDP over the steps, Frobenius sensitivity n", run: cut(firstcut.Matrix)},
		{Name: "vector-noise", Title: "noise on the vectors", Source: "Zhang, Ni, Fu, eq. c", Unit: "node", Delta: true, Matched: true,
			Proviso: "zCDP over the steps, sensitivity 1 by the paper's decay factor", run: cut(firstcut.Vector)},
	}
}

// Find looks a method up.
func Find(name string) (Method, error) {
	var names []string
	for _, m := range Methods() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, fmt.Errorf("baseline: %q is not one of %s", name, strings.Join(names, ", "))
}

// Guarantee says what a run promises.
func (m Method) Guarantee(o Options) string {
	budget := fmt.Sprintf("%g", o.Epsilon)
	if m.Delta {
		budget = fmt.Sprintf("(%g, %g)", o.Epsilon, o.Delta)
	}
	who := "one edge"
	if m.Unit == "node" {
		who = "all edges of one vertex"
	}
	return fmt.Sprintf("%s-differential privacy for %s, vertex names public: %s", budget, who, m.Proviso)
}

// Run makes a graph. Vertices of methods that are not Matched come in random order.
func (m Method) Run(ctx context.Context, g *community.Graph, o Options) (*community.Graph, error) {
	if !(o.Epsilon > 0) || math.IsInf(o.Epsilon, 0) {
		return nil, fmt.Errorf("baseline: epsilon is %v and must be a number above 0", o.Epsilon)
	}
	if m.Delta && !(o.Delta > 0 && o.Delta < 1) {
		return nil, fmt.Errorf("baseline: %s has a delta, which is %v and must lie between 0 and 1", m.Name, o.Delta)
	}
	return m.run(ctx, g, o, rand.New(rand.NewPCG(o.Seed, 'B')))
}
