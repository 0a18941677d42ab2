package statistics

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/privcom/privcom/evaluate/community"
)

// Clustering tells how often two neighbours of a vertex are neighbours.
type Clustering struct {
	Global    float64 `json:"global"`    // 3·triangles / wedges
	Average   float64 `json:"average"`   // mean over all vertices, 0 where the degree is below 2
	Triangles float64 `json:"triangles"` // a whole number where exact
	Exact     bool    `json:"exact"`
	// StandardError of Global and of Average, 0 where exact.
	GlobalError  float64 `json:"global_standard_error"`
	AverageError float64 `json:"average_standard_error"`
}

// ClusteringOf counts triangles exactly where that takes at most o.TriangleWork
// looks, and estimates from random wedges otherwise (Schank and Wagner 2005).
func ClusteringOf(ctx context.Context, g *community.Graph, o Options) (Clustering, error) {
	o = o.withDefaults()
	out := orient(g)
	if out.work() <= o.TriangleWork {
		return exactClustering(ctx, g, out)
	}
	return sampledClustering(ctx, g, o)
}

func wedgesAt(degree int) float64 { return float64(degree) * float64(degree-1) / 2 }

// oriented keeps, of each edge, the arc towards the end of larger degree (then
// larger number), so that no row is longer than √(2m).
type oriented struct {
	ptr []int64
	adj []int32
	in  []int32 // arcs that arrive at each vertex
}

func orient(g *community.Graph) *oriented {
	n := g.Vertices()
	o := &oriented{ptr: make([]int64, 1, n+1), adj: make([]int32, 0, g.Edges()), in: make([]int32, n)}
	for v := range n {
		for _, u := range g.Neighbours(v) {
			if du, dv := g.Degree(int(u)), g.Degree(v); du > dv || du == dv && int(u) > v {
				o.adj = append(o.adj, u)
				o.in[u]++
			}
		}
		o.ptr = append(o.ptr, int64(len(o.adj)))
	}
	return o
}

// work is the number of looks: each arc u→v reads the row of v.
func (o *oriented) work() int64 {
	looks := int64(0)
	for v, in := range o.in {
		looks += int64(in) * (o.ptr[v+1] - o.ptr[v])
	}
	return looks
}

// triangles counts, for every vertex, the triangles that it is a corner of.
func (o *oriented) triangles(ctx context.Context) ([]int64, error) {
	corner := make([]int64, len(o.in))
	marked := make([]bool, len(o.in))
	for u := range o.in {
		if u%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := o.adj[o.ptr[u]:o.ptr[u+1]]
		for _, v := range row {
			marked[v] = true
		}
		for _, v := range row {
			for _, w := range o.adj[o.ptr[v]:o.ptr[v+1]] {
				if marked[w] {
					corner[u]++
					corner[v]++
					corner[w]++
				}
			}
		}
		for _, v := range row {
			marked[v] = false
		}
	}
	return corner, nil
}

func exactClustering(ctx context.Context, g *community.Graph, out *oriented) (Clustering, error) {
	corner, err := out.triangles(ctx)
	if err != nil {
		return Clustering{}, err
	}
	c := Clustering{Exact: true}
	corners, wedges := int64(0), 0.0
	for v, t := range corner {
		corners += t
		if w := wedgesAt(g.Degree(v)); w > 0 {
			wedges += w
			c.Average += float64(t) / w
		}
	}
	c.Triangles = float64(corners / 3)
	if wedges > 0 {
		c.Global = float64(corners) / wedges
		c.Average /= float64(len(corner))
	}
	return c, nil
}

func sampledClustering(ctx context.Context, g *community.Graph, o Options) (Clustering, error) {
	rng := rand.New(rand.NewPCG(o.Seed, 'W'))
	n := g.Vertices()
	cumulative := make([]float64, n)
	wedges := 0.0
	for v := range n {
		wedges += wedgesAt(g.Degree(v))
		cumulative[v] = wedges
	}
	var c Clustering
	if wedges == 0 {
		return c, nil
	}
	global, average := 0, 0
	for i := range o.Wedges {
		if i%4096 == 0 && ctx.Err() != nil {
			return c, ctx.Err()
		}
		x := rng.Float64() * wedges
		centre := sort.Search(n-1, func(v int) bool { return cumulative[v] > x })
		if closedWedge(g, centre, rng) {
			global++
		}
		if closedWedge(g, rng.IntN(n), rng) {
			average++
		}
	}
	draws := float64(o.Wedges)
	c.Global, c.Average = float64(global)/draws, float64(average)/draws
	c.GlobalError = math.Sqrt(c.Global * (1 - c.Global) / draws)
	c.AverageError = math.Sqrt(c.Average * (1 - c.Average) / draws)
	c.Triangles = math.Round(c.Global * wedges / 3)
	return c, nil
}

// closedWedge draws two different neighbours of v and tells whether they are
// neighbours; false where v has fewer than two.
func closedWedge(g *community.Graph, v int, rng *rand.Rand) bool {
	row := g.Neighbours(v)
	if len(row) < 2 {
		return false
	}
	i, j := rng.IntN(len(row)), rng.IntN(len(row)-1)
	if j >= i {
		j++
	}
	return g.HasArc(row[i], row[j])
}
