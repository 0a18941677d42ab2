package statistics

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/privcom/privcom/evaluate/community"
)

// Paths describes distances between connected vertices.
type Paths struct {
	Diameter  int     `json:"diameter"` // largest distance found; a lower bound unless exact
	Average   float64 `json:"average"`  // over ordered pairs of different connected vertices
	Histogram []int64 `json:"histogram"`
	Sources   int     `json:"sources"` // vertices searched from
	Exact     bool    `json:"exact"`
	Error     float64 `json:"average_standard_error"` // of Average, 0 where exact

	Components       int `json:"components"`
	LargestComponent int `json:"largest_component"` // its vertices
}

// PathsOf searches breadth first from every vertex where that follows at most
// o.PathWork arcs, else from vertices drawn without replacement, and then
// from the farthest vertex found (the double sweep of Magnien, Latapy and Habib
// 2009) for a lower bound of the diameter. Histogram[d] counts ordered pairs at
// distance d > 0 with the first vertex among the sources. It uses all processors;
// the result does not depend on how many.
func PathsOf(ctx context.Context, g *community.Graph, o Options) (Paths, error) {
	o = o.withDefaults()
	var p Paths
	n := g.Vertices()
	if n == 0 {
		p.Exact = true
		return p, nil
	}
	p.Components, p.LargestComponent = componentsOf(g)
	chosen := o.sources(g.Arcs() + int64(n))
	p.Exact = n <= chosen || int64(n) <= o.PathWork/(g.Arcs()+int64(n))
	sources := make([]int32, n)
	for v := range sources {
		sources[v] = int32(v)
	}
	if !p.Exact {
		rng := rand.New(rand.NewPCG(o.Seed, 'B'))
		rng.Shuffle(n, func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
		sources = sources[:chosen]
	}
	p.Sources = len(sources)
	searches, err := searchAll(ctx, g, sources)
	if err != nil {
		return Paths{}, err
	}
	p.summarise(searches, n)
	if !p.Exact {
		p.sweep(g, searches)
	}
	return p, nil
}

func componentsOf(g *community.Graph) (count, largest int) {
	part, count := community.Components(g)
	size := make([]int, count)
	for _, c := range part {
		size[c]++
	}
	return count, slices.Max(size)
}

// search is what one breadth-first search found.
type search struct {
	count    []int64 // vertices at each distance
	farthest int32
}

func searchAll(ctx context.Context, g *community.Graph, sources []int32) ([]search, error) {
	found := make([]search, len(sources))
	workers := min(runtime.GOMAXPROCS(0), len(sources))
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error {
			b := newBreadth(g)
			for i := w; i < len(sources); i += workers {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				found[i] = b.from(sources[i])
			}
			return nil
		})
	}
	return found, group.Wait()
}

// breadth holds the memory of a search, for use again.
type breadth struct {
	g       *community.Graph
	visited []int32 // the search that last saw a vertex
	round   int32
	queue   []int32
}

func newBreadth(g *community.Graph) *breadth {
	return &breadth{g: g, visited: make([]int32, g.Vertices()), queue: make([]int32, 0, g.Vertices())}
}

func (b *breadth) from(source int32) search {
	b.round++
	b.visited[source] = b.round
	b.queue = append(b.queue[:0], source)
	s := search{farthest: source}
	for first := 0; first < len(b.queue); {
		last := len(b.queue)
		s.count = append(s.count, int64(last-first))
		s.farthest = b.queue[first]
		for ; first < last; first++ {
			for _, u := range b.g.Neighbours(int(b.queue[first])) {
				if b.visited[u] != b.round {
					b.visited[u] = b.round
					b.queue = append(b.queue, u)
				}
			}
		}
	}
	return s
}

// summarise adds the searches up. Average is a ratio of two means over the sources;
// its standard error is that of a ratio estimate, with the correction for drawing
// without replacement from n.
func (p *Paths) summarise(searches []search, n int) {
	var sum, pairs float64
	totals := make([][2]float64, len(searches)) // distance, vertices reached
	for i, s := range searches {
		for d, c := range s.count {
			for len(p.Histogram) <= d {
				p.Histogram = append(p.Histogram, 0)
			}
			if d > 0 {
				p.Histogram[d] += c
				totals[i][0] += float64(d) * float64(c)
				totals[i][1] += float64(c)
			}
		}
		sum, pairs = sum+totals[i][0], pairs+totals[i][1]
		p.Diameter = max(p.Diameter, len(s.count)-1)
	}
	if pairs == 0 {
		return
	}
	p.Average = sum / pairs
	if k := float64(len(searches)); !p.Exact && k > 1 {
		residual := 0.0
		for _, t := range totals {
			residual += (t[0] - p.Average*t[1]) * (t[0] - p.Average*t[1])
		}
		p.Error = math.Sqrt(residual/(k-1)*(1-k/float64(n))/k) / (pairs / k)
	}
}

// sweep searches again from the vertex farthest from its source.
func (p *Paths) sweep(g *community.Graph, searches []search) {
	far := searches[0]
	for _, s := range searches {
		if len(s.count) > len(far.count) {
			far = s
		}
	}
	p.Diameter = max(p.Diameter, len(newBreadth(g).from(far.farthest).count)-1)
}
