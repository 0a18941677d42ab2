package statistics

import (
	"context"
	"math"

	"github.com/privcom/privcom/evaluate/community"
)

// EigenvectorCentrality is the leading eigenvector of A, of length 1 and ≥ 0, by
// power iteration on A + I (the shift keeps bipartite graphs from oscillating), and
// how far the last step moved it. It stops where that is below 1e-11, or after 3e8
// arcs, but not before 100 steps: the error left is the part of the second
// eigenvector, (λ₂+1)/(λ₁+1) to the number of steps. A graph without edges has the
// constant vector.
func EigenvectorCentrality(ctx context.Context, g *community.Graph) (vector []float64, last float64, err error) {
	n := g.Vertices()
	x, y := make([]float64, n), make([]float64, n)
	for v := range x {
		x[v] = 1 / math.Sqrt(float64(n))
	}
	for range max(100, int(min(20_000, 3e8/float64(g.Arcs()+int64(n)+1)))) {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		square := 0.0
		for v := range y {
			sum := x[v]
			for _, u := range g.Neighbours(v) {
				sum += x[u]
			}
			y[v] = sum
			square += sum * sum
		}
		scale, moved := 1/math.Sqrt(square), 0.0
		for v := range y {
			y[v] *= scale
			moved += (y[v] - x[v]) * (y[v] - x[v])
		}
		x, y = y, x
		last = math.Sqrt(moved)
		if last < 1e-11 {
			break
		}
	}
	return x, last, nil
}

// MeanAbsolute is the mean of |a−b|.
func MeanAbsolute(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += math.Abs(a[i] - b[i])
	}
	return sum / math.Max(1, float64(len(a)))
}

// Correlation is Pearson's; 0 where either side is constant.
func Correlation(a, b []float64) float64 {
	n := float64(len(a))
	var ma, mb float64
	for i := range a {
		ma, mb = ma+a[i]/n, mb+b[i]/n
	}
	var aa, bb, ab float64
	for i := range a {
		x, y := a[i]-ma, b[i]-mb
		aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
	}
	if aa <= 1e-24*n*ma*ma || bb <= 1e-24*n*mb*mb {
		return 0 // constant up to rounding
	}
	return ab / math.Sqrt(aa*bb)
}
