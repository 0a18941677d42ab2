package community

import (
	"context"
	"math/rand/v2"
)

// Options steer a community finder. The zero value is ready for use.
type Options struct {
	// Seed fixes the order in which vertices are visited and how label
	// propagation breaks ties. Same graph, same options, same seed: same result.
	Seed uint64

	// Iterations is how often Leiden starts again from its own result; it stops
	// earlier when nothing moves. 0 means 2, as its authors do. Louvain and label
	// propagation run once, whatever it says.
	Iterations int
}

// Result is a partition into connected communities.
type Result struct {
	Community  []int32 // one number per vertex, 0 … Count−1 in order of first appearance
	Count      int
	Modularity float64
	Levels     int // contractions made (0 for label propagation)
}

// Louvain maximises modularity greedily (Blondel et al. 2008): local moving, then
// each community becomes one vertex, until nothing moves. Before each contraction,
// communities that are not connected are split into their parts, which the original
// method does not do (Traag et al. 2019, section "Badly connected communities").
func Louvain(ctx context.Context, g *Graph, o Options) (*Result, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(o.Seed, 'L'))
	found := singletons(g.Vertices())
	l := firstLevel(g)
	for levels := 0; ; levels++ {
		community := singletons(l.vertices())
		if _, err := l.move(ctx, community, rng); err != nil {
			return nil, err
		}
		community, count := connectedParts(l.ptr, l.adj, community)
		if count == l.vertices() {
			return finish(g, found, levels)
		}
		project(found, community)
		l = l.contract(community, count)
	}
}

func singletons(n int) []int32 {
	p := make([]int32, n)
	for v := range p {
		p[v] = int32(v)
	}
	return p
}

// project replaces the vertex of the level that each entry names by its community.
func project(found, community []int32) {
	for v, c := range found {
		found[v] = community[c]
	}
}

// finish numbers the communities and measures them. Splitting once more costs one
// pass and makes connectedness a property of the output, not of the argument.
func finish(g *Graph, community []int32, levels int) (*Result, error) {
	part, count := connectedParts(g.Ptr, g.Adj, community)
	q, err := Modularity(g, part)
	if err != nil {
		return nil, err
	}
	return &Result{Community: part, Count: count, Modularity: q, Levels: levels}, nil
}
