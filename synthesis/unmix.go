package synthesis

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Unmix turns numbers of edges between placed communities (q×q, within on the diagonal)
// into those that a graph with the true mixing has between groups of the placed sizes: an
// edge mass T between true communities shows up as FᵀTF between placed ones, F the
// confusion matrix of edge ends; the densities of T per product of activities are put on
// the placed groups. total is kept; a
// density that noise has made negative is 0.
func Unmix(counts []float64, confusion *mat.Dense, placed []int32, activity []float64) ([]float64, error) {
	q, _ := confusion.Dims()
	mass := mat.NewDense(q, q, nil)
	total := 0.0
	for r := range q {
		for s := range q {
			x := math.Max(0, counts[min(r, s)*q+max(r, s)])
			if r == s {
				total += x
				x *= 2
			} else if r < s {
				total += x
			}
			mass.Set(r, s, x)
		}
	}
	size := make([]float64, q)
	for i, c := range placed {
		size[c] += activity[i]
	}
	// True sizes: N = F⁻ᵀ·size.
	var inv mat.Dense
	if inv.Inverse(confusion) != nil {
		return asCounted(counts), nil // the placement says nothing about a community
	}
	var trueMass mat.Dense
	trueMass.Product(inv.T(), mass, &inv)
	var trueSize mat.VecDense
	trueSize.MulVec(inv.T(), mat.NewVecDense(q, size))
	out, sum := make([]float64, q*q), 0.0
	for r := range q {
		for s := r; s < q; s++ {
			area := math.Max(trueSize.AtVec(r), 1) * math.Max(trueSize.AtVec(s), 1)
			x := math.Max(0, trueMass.At(r, s)) / area * size[r] * size[s]
			if r == s {
				x /= 2
			}
			out[r*q+s], out[s*q+r] = x, x
			sum += x
		}
	}
	if !(sum > 0) {
		return asCounted(counts), nil
	}
	for i := range out {
		out[i] *= total / sum
	}
	return out, nil
}

// asCounted is the counts with negative ones, which noise has made, at 0.
func asCounted(counts []float64) []float64 {
	out := make([]float64, len(counts))
	for i, x := range counts {
		out[i] = math.Max(0, x)
	}
	return out
}
