package release

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Numbers of edges between blocks: symmetric, never more than the pairs there are, adding
// up to the total where it fits, and in the given proportions where nothing is full.
func TestWithinPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rapid.IntRange(1, 5).Draw(t, "q")
		labels := rapid.SliceOfN(rapid.Int32Range(0, int32(q-1)), 2, 40).Draw(t, "labels")
		counts := make([]float64, q*q)
		for i := range q {
			for j := i; j < q; j++ {
				x := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1000)).Draw(t, "count")
				counts[i*q+j], counts[j*q+i] = x, x
			}
		}
		n := float64(len(labels))
		total := rapid.Float64Range(1, n*n).Draw(t, "total")
		out := withinPairs(counts, labels, q, total)
		size := make([]float64, q)
		for _, l := range labels {
			size[l]++
		}
		sum, full, given := 0.0, false, 0.0
		for i := range q {
			for j := i; j < q; j++ {
				pairs := size[i] * size[j]
				if i == j {
					pairs = size[i] * (size[i] - 1) / 2
				}
				x := out[i*q+j]
				if x != out[j*q+i] || !(x >= 0) || x > mostOfPairs*pairs {
					t.Fatalf("blocks %d and %d: %g and %g edges on %g pairs", i, j, x, out[j*q+i], pairs)
				}
				sum += x
				given += counts[i*q+j]
				full = full || x >= mostOfPairs*pairs*(1-1e-12)
			}
		}
		if want := math.Min(total, mostOfPairs*n*(n-1)/2); math.Abs(sum-want) > 1e-9*want {
			t.Fatalf("%g edges in all, want %g", sum, want)
		}
		for i, x := range out {
			if !full && given > 0 && math.Abs(x-counts[i]*total/given) > 1e-9*total {
				t.Fatalf("nothing is full, but entry %d is %g instead of %g", i, x, counts[i]*total/given)
			}
		}
	})
}
