package dk

import (
	"cmp"
	"math"
	"slices"

	"github.com/privcom/privcom/evaluate/community"
)

// otherEdges is σ: the largest number of edges, without the one between them, that a
// pair of vertices has together.
func otherEdges(g *community.Graph) int {
	n := g.Vertices()
	order := make([]int32, n)
	for v := range order {
		order[v] = int32(v)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(g.Degree(int(b)), g.Degree(int(a))), cmp.Compare(a, b))
	})
	best := 0
	for i, u := range order {
		for _, v := range order[i+1:] {
			sum := g.Degree(int(u)) + g.Degree(int(v))
			if sum <= best {
				break // no later partner of u has more
			}
			if g.HasArc(u, v) {
				sum -= 2
			}
			best = max(best, sum)
		}
		if i+1 < n && g.Degree(int(u))+g.Degree(int(order[i+1])) <= best {
			break
		}
	}
	return best
}

// smooth is the β-smooth bound of the sensitivity of dK-2 on n vertices: the maximum of
// e^{−βt}(2·min(σ+t, 2n−4) + 1) over t = 0, 1, 2, …
func smooth(sigma, n int, beta float64) float64 {
	most := 2*n - 4
	bound := func(t int) float64 { return math.Exp(-beta*float64(t)) * float64(2*min(sigma+t, most)+1) }
	best := max(bound(0), bound(max(0, most-sigma)))
	if beta > 0 { // the derivative is 0 at t = 1/β − σ − 1/2
		if t := 1/beta - float64(sigma) - 0.5; t > 0 && t < float64(most) {
			best = max(best, bound(int(t)), bound(int(t)+1))
		}
	}
	return best
}

// smoothness is the largest β, to one part in a million, that Laplace noise in d cells
// admits at (ε/2, δ): see the package comment.
func smoothness(epsilon, delta, cells float64) float64 {
	tail := math.Log(1 / delta)
	deviation := math.Sqrt(2 * cells * tail)
	high, low := cells+deviation+tail, max(0, cells-deviation)
	fits := func(b float64) bool {
		return math.Expm1(b)*high-b*cells <= epsilon/2 && b*cells+math.Expm1(-b)*low <= epsilon/2
	}
	from, to := 0.0, 1.0
	for fits(to) && to < 64 {
		to *= 2
	}
	for to-from > 1e-6*from && to > 1e-15 {
		if middle := (from + to) / 2; fits(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return from
}
