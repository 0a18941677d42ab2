package community

import (
	"fmt"
	"math"
	"slices"
)

// Graph is an undirected graph of n vertices in compressed sparse rows: vertex v
// has its neighbours, strictly increasing, in Adj[Ptr[v]:Ptr[v+1]], and every edge
// stands in the rows of both its ends. Weight is parallel to Adj; nil means that
// every arc weighs 1. A loop (v, v) is one arc and adds its weight to v's degree
// once.
type Graph struct {
	Ptr    []int64 // length n+1, Ptr[0] = 0
	Adj    []int32
	Weight []int64
}

// maxTotal bounds the total arc weight 2m so that (2m)² < 2⁶³.
const maxTotal = 3_037_000_499

// Vertices is n.
func (g *Graph) Vertices() int { return max(0, len(g.Ptr)-1) }

// Arcs is the number of stored arcs: two per edge, one per loop.
func (g *Graph) Arcs() int64 { return int64(len(g.Adj)) }

// Edges is the number of undirected edges of a graph without loops.
func (g *Graph) Edges() int64 { return int64(len(g.Adj)) / 2 }

// Degree is the number of arcs of vertex v, whatever they weigh.
func (g *Graph) Degree(v int) int { return int(g.Ptr[v+1] - g.Ptr[v]) }

// Neighbours returns the row of v. It must not be changed.
func (g *Graph) Neighbours(v int) []int32 { return g.Adj[g.Ptr[v]:g.Ptr[v+1]] }

// HasArc tells whether u and v are neighbours, by binary search in the shorter row.
func (g *Graph) HasArc(u, v int32) bool {
	if g.Degree(int(u)) > g.Degree(int(v)) {
		u, v = v, u
	}
	_, found := slices.BinarySearch(g.Neighbours(int(u)), v)
	return found
}

// FromEdges builds the simple undirected graph on n vertices whose edges are
// (source[i], target[i]): loops are dropped, repeated and mirrored edges are kept
// once. It takes time and memory proportional to n + edges.
func FromEdges(n int, source, target []int32) (*Graph, error) {
	if len(source) != len(target) {
		return nil, fmt.Errorf("community: %d sources and %d targets: every edge needs both", len(source), len(target))
	}
	if n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("community: %d vertices: the number must be between 0 and 2^31−1", n)
	}
	for i, u := range source {
		if v := target[i]; u < 0 || v < 0 || int(u) >= n || int(v) >= n {
			return nil, fmt.Errorf("community: edge %d joins %d and %d, outside a graph of %d vertices", i, u, v, n)
		}
	}
	ptr, adj := rowsOf(n, source, target)
	// The transpose of a symmetric matrix is itself, with its rows in order.
	adj = transposed(ptr, adj)
	return &Graph{Ptr: ptr, Adj: deduplicate(ptr, adj)}, nil
}

// rowsOf puts both arcs of every edge but loops in their rows, in any order.
func rowsOf(n int, source, target []int32) (ptr []int64, adj []int32) {
	ptr = make([]int64, n+1)
	for i, u := range source {
		if v := target[i]; u != v {
			ptr[u+1]++
			ptr[v+1]++
		}
	}
	for v := range n {
		ptr[v+1] += ptr[v]
	}
	adj, next := make([]int32, ptr[n]), slices.Clone(ptr[:n])
	for i, u := range source {
		if v := target[i]; u != v {
			adj[next[u]], adj[next[v]] = v, u
			next[u]++
			next[v]++
		}
	}
	return ptr, adj
}

func transposed(ptr []int64, adj []int32) []int32 {
	n := len(ptr) - 1
	t, next := make([]int32, len(adj)), slices.Clone(ptr[:n])
	for u := range n {
		for _, v := range adj[ptr[u]:ptr[u+1]] {
			t[next[v]] = int32(u)
			next[v]++
		}
	}
	return t
}

// deduplicate removes repeats from sorted rows in place and moves ptr along.
func deduplicate(ptr []int64, adj []int32) []int32 {
	kept, first := int64(0), int64(0)
	for v := 0; v+1 < len(ptr); v++ {
		row := adj[first:ptr[v+1]]
		first = ptr[v+1]
		for i, u := range row {
			if i == 0 || u != row[i-1] {
				adj[kept] = u
				kept++
			}
		}
		ptr[v+1] = kept
	}
	return adj[:kept]
}

// Check verifies every invariant of the type, in time proportional to the graph.
// The finders call it.
func (g *Graph) Check() error {
	if err := g.checkShape(); err != nil {
		return err
	}
	n := int32(g.Vertices())
	total := int64(0)
	// Rows are visited in increasing order, so the arcs that point at v must be
	// found in v's row one after the other.
	next := slices.Clone(g.Ptr[:n])
	for u := range n {
		last := int32(-1)
		for i := g.Ptr[u]; i < g.Ptr[u+1]; i++ {
			v := g.Adj[i]
			if v <= last || v >= n {
				return fmt.Errorf("community: row %d is not a strictly increasing list of vertices below %d", u, n)
			}
			last = v
			mirror := next[v]
			if mirror == g.Ptr[v+1] || g.Adj[mirror] != u || g.arcWeight(mirror) != g.arcWeight(i) {
				return fmt.Errorf("community: arc %d→%d has no mirror of the same weight: the graph must be undirected", u, v)
			}
			next[v]++
			w := g.arcWeight(i)
			if w <= 0 || w > maxTotal || total > maxTotal-w {
				return fmt.Errorf("community: arc %d→%d weighs %d: weights must be > 0 and their total at most %d", u, v, w, int64(maxTotal))
			}
			total += w
		}
	}
	return nil
}

func (g *Graph) checkShape() error {
	if len(g.Ptr) == 0 || g.Ptr[0] != 0 || g.Ptr[len(g.Ptr)-1] != int64(len(g.Adj)) {
		return fmt.Errorf("community: row pointers do not span the %d arcs", len(g.Adj))
	}
	if len(g.Ptr)-1 > math.MaxInt32 {
		return fmt.Errorf("community: %d vertices do not fit 31 bits", len(g.Ptr)-1)
	}
	if g.Weight != nil && len(g.Weight) != len(g.Adj) {
		return fmt.Errorf("community: %d weights for %d arcs", len(g.Weight), len(g.Adj))
	}
	for v := 1; v < len(g.Ptr); v++ {
		if g.Ptr[v] < g.Ptr[v-1] {
			return fmt.Errorf("community: row pointers decrease at row %d", v-1)
		}
	}
	return nil
}

func (g *Graph) arcWeight(i int64) int64 {
	if g.Weight == nil {
		return 1
	}
	return g.Weight[i]
}
