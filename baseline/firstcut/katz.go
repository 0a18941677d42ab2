package firstcut

import (
	"container/heap"
	"context"

	"github.com/privcom/privcom/evaluate/community"
)

// katz is H̃ = Σ_{l=1..2h+1} βˡAˡ, never formed.
type katz struct {
	g     *community.Graph
	beta  float64
	terms int
	sum   []float64 // a row, for use again
}

func newKatz(g *community.Graph, beta float64, order int) *katz {
	return &katz{g: g, beta: beta, terms: 2*order + 1, sum: make([]float64, g.Vertices())}
}

// times is H̃v for an n×k matrix, by Horner's rule w ← βA(v + w).
func (h *katz) times(v []float64, k int) []float64 {
	w := make([]float64, len(v))
	sum := make([]float64, len(v))
	for range h.terms {
		for i, x := range v {
			sum[i] = x + w[i]
		}
		clear(w)
		for u := range h.g.Vertices() {
			into := w[u*k : u*k+k]
			for _, x := range h.g.Neighbours(u) {
				for j, y := range sum[int(x)*k : int(x)*k+k] {
					into[j] += y
				}
			}
			for j := range into {
				into[j] *= h.beta
			}
		}
	}
	return w
}

// row writes row u of H̃, which is H̃ times a unit vector.
func (h *katz) row(u int, into []float64) {
	clear(into)
	for range h.terms {
		copy(h.sum, into)
		h.sum[u]++
		clear(into)
		for v, x := range h.sum {
			if x == 0 {
				continue
			}
			for _, w := range h.g.Neighbours(v) {
				into[w] += h.beta * x
			}
		}
	}
}

// entry is a pair of vertices and its index.
type entry struct {
	u, v  int32
	value float64
}

// smallest is a heap whose first entry has the least value.
type smallest []entry

func (s smallest) Len() int           { return len(s) }
func (s smallest) Less(i, j int) bool { return s[i].value < s[j].value }
func (s smallest) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *smallest) Push(x any)        { *s = append(*s, x.(entry)) }
func (s *smallest) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

// largest joins the M pairs u > v with the largest values of fill(u, row)[v].
func largest(ctx context.Context, n int, o Options, fill func(u int, row []float64)) (*community.Graph, error) {
	row := make([]float64, n)
	kept := smallest{}
	for u := 1; u < n; u++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.Progress != nil && u%64 == 0 {
			o.Progress(int64(u), int64(n))
		}
		fill(u, row)
		for v := range u {
			e := entry{int32(u), int32(v), row[v]}
			if int64(len(kept)) < o.Edges {
				heap.Push(&kept, e)
			} else if e.value > kept[0].value {
				kept[0] = e
				heap.Fix(&kept, 0)
			}
		}
	}
	source, target := make([]int32, len(kept)), make([]int32, len(kept))
	for i, e := range kept {
		source[i], target[i] = e.u, e.v
	}
	return community.FromEdges(n, source, target)
}
