package cholesky

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestGramEqualsDenseProduct(t *testing.T) {
	for _, size := range []struct{ n, k int }{{1, 1}, {63, 5}, {64, 4}, {5000, 9}} {
		a := gaussian(size.n, size.k, 4)
		got := Gram(a, size.n, size.k)
		dense := mat.NewDense(size.n, size.k, a)
		var want mat.Dense
		want.Mul(dense.T(), dense)
		for i := range size.k {
			for j := range size.k {
				if math.Abs(got.At(i, j)-want.At(i, j)) > 1e-12*float64(size.n) {
					t.Errorf("%v: entry (%d,%d) is %g, want %g", size, i, j, got.At(i, j), want.At(i, j))
				}
			}
		}
	}
}

// TestShardsAddUpToTheSameBits: partial sums of shards cut at block borders
// reduce to the one-machine result.
func TestShardsAddUpToTheSameBits(t *testing.T) {
	n, k := 5*BlockRows+123, 6
	a := gaussian(n, k, 8)
	whole := Gram(a, n, k)
	means := Means(PartialSums(a, k), n, k)
	centred := Gram(Centre(a, k, means), n, k)
	for _, cuts := range [][]int{{1, 2}, {3}, {1, 2, 3, 4, 5}} {
		var grams, sums, centredGrams [][]float64
		from := 0
		for _, c := range append(slices.Clone(cuts), -1) {
			to := c * BlockRows
			if c < 0 {
				to = n
			}
			rows := a[from*k : to*k]
			grams = append(grams, PartialGram(rows, k)...)
			sums = append(sums, PartialSums(rows, k)...)
			centredGrams = append(centredGrams, PartialCentredGram(rows, k, means)...)
			from = to
		}
		if !mat.Equal(ReduceGram(grams, k), whole) || !slices.Equal(Means(sums, n, k), means) || !mat.Equal(ReduceGram(centredGrams, k), centred) {
			t.Errorf("shards cut at blocks %v add up differently", cuts)
		}
	}
}
