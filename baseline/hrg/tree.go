package hrg

import (
	"math"
	"math/rand/v2"

	"github.com/privcom/privcom/evaluate/community"
)

// tree is a dendrogram. Nodes 0 … n−1 are the leaves, which are the vertices, and n … 2n−2 the
// inner nodes.
type tree struct {
	g      *community.Graph
	leaves int32
	root   int32
	parent []int32
	child  [][2]int32 // of inner node n+i at i
	size   []int32    // leaves below each node
	edges  []int64    // of inner node n+i, between its two sides, at i

	mark  []uint32 // by vertex: the call of count that last saw it
	round uint32
	stack []int32
}

func (t *tree) inner(r int32) int32 { return r - t.leaves }

// newTree makes a balanced dendrogram of the vertices in random order.
func newTree(g *community.Graph, rng *rand.Rand) *tree {
	n := int32(g.Vertices())
	t := &tree{g: g, leaves: n, parent: make([]int32, 2*n-1), child: make([][2]int32, n-1),
		size: make([]int32, 2*n-1), edges: make([]int64, n-1), mark: make([]uint32, n)}
	order := make([]int32, n)
	for i, v := range rng.Perm(int(n)) {
		order[i] = int32(v)
	}
	next := n
	var build func(leaves []int32) int32
	build = func(leaves []int32) int32 {
		if len(leaves) == 1 {
			t.size[leaves[0]] = 1
			return leaves[0]
		}
		r := next
		next++
		a := build(leaves[:len(leaves)/2])
		b := build(leaves[len(leaves)/2:])
		t.adopt(r, a, b)
		return r
	}
	t.root = build(order)
	t.parent[t.root] = -1
	t.countAll()
	return t
}

func (t *tree) adopt(r, a, b int32) {
	t.child[t.inner(r)] = [2]int32{a, b}
	t.parent[a], t.parent[b] = r, r
	t.size[r] = t.size[a] + t.size[b]
}

// countAll sets every e_r: each edge belongs to the lowest node above both of its ends.
func (t *tree) countAll() {
	depth := make([]int32, len(t.parent))
	t.stack = append(t.stack[:0], t.root)
	for len(t.stack) > 0 {
		r := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if r >= t.leaves {
			for _, c := range t.child[t.inner(r)] {
				depth[c] = depth[r] + 1
				t.stack = append(t.stack, c)
			}
		}
	}
	clear(t.edges)
	for u := range t.leaves {
		for _, v := range t.g.Neighbours(int(u)) {
			if u > v {
				continue
			}
			a, b := u, v
			for a != b {
				if depth[a] >= depth[b] {
					a = t.parent[a]
				} else {
					b = t.parent[b]
				}
			}
			t.edges[t.inner(a)]++
		}
	}
}

// each calls f for every leaf below r.
func (t *tree) each(r int32, f func(v int32)) {
	t.stack = append(t.stack[:0], r)
	for len(t.stack) > 0 {
		r := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if r < t.leaves {
			f(r)
			continue
		}
		c := t.child[t.inner(r)]
		t.stack = append(t.stack, c[0], c[1])
	}
}

// between counts the edges from the leaves of a to those of b, which are disjoint. It
// marks the smaller side and reads the rows of the other, or reads the rows of
// the smaller side and climbs, whichever looks cheaper.
func (t *tree) between(a, b int32) int64 {
	if t.size[a] > t.size[b] {
		a, b = b, a
	}
	count := int64(0)
	const climb = 12 // what a climb costs beside a mark, about
	arcs := t.g.Arcs()/int64(t.leaves) + 1
	if int64(t.size[b]) <= climb*int64(t.size[a])*arcs {
		t.round++
		t.each(b, func(v int32) { t.mark[v] = t.round })
		t.each(a, func(v int32) {
			for _, u := range t.g.Neighbours(int(v)) {
				if t.mark[u] == t.round {
					count++
				}
			}
		})
		return count
	}
	t.each(a, func(v int32) {
		for _, u := range t.g.Neighbours(int(v)) {
			for r := u; r >= 0 && t.size[r] <= t.size[b]; r = t.parent[r] {
				if r == b {
					count++
					break
				}
			}
		}
	})
	return count
}

// logLikelihood is the term of one inner node, 0 where all or no pairs are joined.
func logLikelihood(edges, pairs int64) float64 {
	if edges <= 0 || edges >= pairs {
		return 0
	}
	e, n := float64(edges), float64(pairs)
	return e*math.Log(e/n) + (n-e)*math.Log1p(-e/n)
}

// total is log L(T).
func (t *tree) total() float64 {
	sum := 0.0
	for i, c := range t.child {
		sum += logLikelihood(t.edges[i], t.pairs(c[0], c[1]))
	}
	return sum
}

func (t *tree) pairs(a, b int32) int64 { return int64(t.size[a]) * int64(t.size[b]) }
