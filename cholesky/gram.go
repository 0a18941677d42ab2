package cholesky

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Gram returns AᵀA (k×k) of the n×k matrix a. NaN and ±Inf pass through.
func Gram(a []float64, n, k int) *mat.SymDense {
	checkTall(a, n, k)
	return ReduceGram(PartialGram(a, k), k)
}

// PartialGram returns one k×k partial sum of AᵀA per block of BlockRows rows
// (upper triangle, row-major k×k). rows must start at a multiple of BlockRows
// of the whole matrix and, but for the last shard, hold whole blocks; then
// ReduceGram of all shards' sums in order equals Gram of the whole, bit by bit.
func PartialGram(rows []float64, k int) [][]float64 {
	return partialGram(rows, k, nil)
}

// PartialCentredGram is PartialGram of the rows less the column means.
func PartialCentredGram(rows []float64, k int, means []float64) [][]float64 {
	if len(means) != k {
		panic(fmt.Sprintf("cholesky: %d column means, want %d", len(means), k))
	}
	return partialGram(rows, k, means)
}

func partialGram(rows []float64, k int, means []float64) [][]float64 {
	n := len(rows) / k
	checkTall(rows, n, k)
	out := make([][]float64, blocks(n))
	forBlocks(n, func() *panel { return newPanel(k) }, func(p *panel, b, from, to int) {
		p.reset()
		for r := from; r < to; r += leafRows {
			p.load(rows[r*k:min(to, r+leafRows)*k], means)
			p.addGram()
		}
		out[b] = p.sum()
	})
	return out
}

// ReduceGram adds partial sums in the fixed tree order. It overwrites them.
// No partial sums at all give the zero matrix.
func ReduceGram(parts [][]float64, k int) *mat.SymDense {
	for _, p := range parts {
		if len(p) != k*k {
			panic(fmt.Sprintf("cholesky: partial sum of %d numbers, want %d", len(p), k*k))
		}
	}
	sum := treeSum(parts)
	if sum == nil {
		return mat.NewSymDense(k, nil)
	}
	return mat.NewSymDense(k, append([]float64(nil), sum...))
}

// PartialSums returns the column sums of each block of BlockRows rows.
func PartialSums(rows []float64, k int) [][]float64 {
	n := len(rows) / k
	checkTall(rows, n, k)
	out := make([][]float64, blocks(n))
	forBlocks(n, func() struct{} { return struct{}{} }, func(_ struct{}, b, from, to int) {
		var leaves [][]float64
		for r := from; r < to; r += leafRows {
			s := make([]float64, k)
			for i := r; i < min(to, r+leafRows); i++ {
				addTo(s, rows[i*k:(i+1)*k])
			}
			leaves = append(leaves, s)
		}
		out[b] = treeSum(leaves)
	})
	return out
}

// Means turns the partial sums of all n rows into column means. It overwrites
// the partial sums.
func Means(parts [][]float64, n, k int) []float64 {
	means := make([]float64, k)
	copy(means, treeSum(parts))
	for j := range means {
		means[j] /= float64(max(n, 1))
	}
	return means
}
