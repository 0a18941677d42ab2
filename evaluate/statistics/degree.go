package statistics

import (
	"math"

	"github.com/privcom/privcom/evaluate/community"
)

// Degrees summarises a degree sequence.
type Degrees struct {
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"` // population variance
	Max      int     `json:"max"`
	Isolated int     `json:"isolated"` // vertices of degree 0
}

// DegreesOf summarises the degrees of g.
func DegreesOf(g *community.Graph) Degrees {
	var d Degrees
	n := g.Vertices()
	if n == 0 {
		return d
	}
	d.Mean = float64(g.Arcs()) / float64(n)
	for v := range n {
		degree := g.Degree(v)
		d.Max = max(d.Max, degree)
		if degree == 0 {
			d.Isolated++
		}
		d.Variance += (float64(degree) - d.Mean) * (float64(degree) - d.Mean)
	}
	d.Variance /= float64(n)
	return d
}

// Histogram counts the vertices of each degree 0 … maximum.
func Histogram(g *community.Graph) []int64 {
	counts := make([]int64, DegreesOf(g).Max+1)
	for v := range g.Vertices() {
		counts[g.Degree(v)]++
	}
	return counts
}

// Divergence says how far the distribution of counts q lies from that of p.
type Divergence struct {
	L1 float64 `json:"l1"` // Σ|p−q|, 0 … 2
	KL float64 `json:"kl"` // Σ p·ln(p/q), after half a count is added to every value that either has
	KS float64 `json:"ks"` // largest difference of the cumulative distributions
}

// Diverge compares two histograms over the same values 0, 1, …; the shorter is
// continued with zeros. Half a count in every bin that either uses keeps the
// divergence finite where q has no vertex and p has some.
func Diverge(p, q []int64) Divergence {
	at := func(h []int64, i int) float64 {
		if i < len(h) {
			return float64(h[i])
		}
		return 0
	}
	bins := max(len(p), len(q))
	var used, np, nq float64
	for i := range bins {
		a, b := at(p, i), at(q, i)
		np, nq = np+a, nq+b
		if a+b > 0 {
			used++
		}
	}
	var d Divergence
	if np == 0 || nq == 0 {
		return d
	}
	cumulative := 0.0
	for i := range bins {
		a, b := at(p, i), at(q, i)
		if a+b == 0 {
			continue
		}
		d.L1 += math.Abs(a/np - b/nq)
		cumulative += a/np - b/nq
		d.KS = max(d.KS, math.Abs(cumulative))
		x, y := (a+0.5)/(np+used/2), (b+0.5)/(nq+used/2)
		d.KL += x * math.Log(x/y)
	}
	d.KL = max(0, d.KL) // rounding can take equal distributions below 0
	return d
}

// Assortativity is the correlation of the degrees at the two ends of an edge
// (Newman 2002); 0 where all ends have the same degree.
func Assortativity(g *community.Graph) float64 {
	var sum, square, product float64
	for v := range g.Vertices() {
		d := float64(g.Degree(v))
		neighbours := 0.0
		for _, u := range g.Neighbours(v) {
			neighbours += float64(g.Degree(int(u)))
		}
		sum, square, product = sum+d*d, square+d*d*d, product+d*neighbours
	}
	arcs := float64(g.Arcs())
	if arcs == 0 {
		return 0
	}
	mean := sum / arcs
	variance := square/arcs - mean*mean
	if variance <= 1e-12*mean*mean {
		return 0
	}
	return (product/arcs - mean*mean) / variance
}
