package baseline

import (
	"context"
	"math/rand/v2"

	"github.com/privcom/privcom/baseline/dk"
	"github.com/privcom/privcom/baseline/firstcut"
	"github.com/privcom/privcom/baseline/hrg"
	"github.com/privcom/privcom/baseline/privgraph"
	"github.com/privcom/privcom/baseline/tmf"
	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/method"
)

// Methods lists all, in the order of the documentation.
func Methods() []method.Method {
	cut := func(f func(context.Context, *community.Graph, firstcut.Options, *rand.Rand) (*community.Graph, error)) func(context.Context, *community.Graph, method.Options, *rand.Rand) (*community.Graph, error) {
		return func(ctx context.Context, g *community.Graph, o method.Options, rng *rand.Rand) (*community.Graph, error) {
			return f(ctx, g, firstcut.Options{Epsilon: o.Epsilon, Delta: o.Delta, Rank: o.Rank, Steps: int(o.Steps), Edges: o.Edges, Progress: o.Progress}, rng)
		}
	}
	return []method.Method{
		{Name: "dk1", Title: "dK-1", Source: "Wang, Wu 2013", Unit: "edge",
			Proviso: "Laplace noise on the number of vertices of every degree",
			Make: func(ctx context.Context, g *community.Graph, o method.Options, rng *rand.Rand) (*community.Graph, error) {
				return dk.Run1(ctx, g, o.Epsilon, rng)
			}},
		{Name: "dk2", Title: "dK-2", Source: "Wang, Wu 2013", Unit: "edge", Delta: true,
			Proviso: "smooth sensitivity with the β that all n(n-1)/2 cells need, occupied or not",
			Make: func(ctx context.Context, g *community.Graph, o method.Options, rng *rand.Rand) (*community.Graph, error) {
				return dk.Run2(ctx, g, o.Epsilon, o.Delta, rng)
			}},
		{Name: "hrg", Title: "HRG", Source: "Xiao, Chen, Tan 2014", Unit: "edge", Matched: true,
			Proviso: "in the limit of a converged Markov chain only: after any number of steps the distance from it is not known",
			Make: func(ctx context.Context, g *community.Graph, o method.Options, rng *rand.Rand) (*community.Graph, error) {
				return hrg.Run(ctx, g, hrg.Options{Epsilon: o.Epsilon, Steps: o.Steps, Progress: o.Progress}, rng)
			}},
		{Name: "tmf", Title: "TmF", Source: "Nguyen, Imine, Rusinowitch 2015", Unit: "edge", Matched: true,
			Proviso: "Laplace noise on every cell of the adjacency matrix",
			Make: func(ctx context.Context, g *community.Graph, o method.Options, rng *rand.Rand) (*community.Graph, error) {
				return tmf.Run(ctx, g, o.Epsilon, rng)
			}},
		{Name: "privgraph", Title: "PrivGraph", Source: "Yuan et al. 2023", Unit: "edge", Matched: true,
			Proviso: "a third of epsilon each for groups, communities and figures",
			Make: func(ctx context.Context, g *community.Graph, o method.Options, rng *rand.Rand) (*community.Graph, error) {
				return privgraph.Run(ctx, g, o.Epsilon, rng)
			}},
		{Name: "entry-noise", Title: "noise on entries", Source: "Zhang, Ni, Fu, first cut", Unit: "node", Delta: true, Matched: true,
			Proviso: "the budget split over n² entries of the Katz matrix", Make: cut(firstcut.Entries)},
		{Name: "matrix-noise", Title: "noise on the matrix", Source: "Zhang, Ni, Fu, eq. b", Unit: "node", Delta: true, Matched: true,
			Proviso: "zCDP over the steps, Frobenius sensitivity n", Make: cut(firstcut.Matrix)},
		{Name: "vector-noise", Title: "noise on the vectors", Source: "Zhang, Ni, Fu, eq. c", Unit: "node", Delta: true, Matched: true,
			Proviso: "zCDP over the steps, sensitivity 1 by the paper's decay factor", Make: cut(firstcut.Vector)},
	}
}
