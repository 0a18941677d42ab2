package privoja

import (
	"runtime"

	"gonum.org/v1/gonum/mat"

	"github.com/privcom/privcom/cholesky"
	"github.com/privcom/privcom/internal/parallel"
)

// inBlocks calls f once for every block of cholesky.BlockRows rows of n, from as many
// goroutines as there are processors.
func inBlocks(n int, f func(block, from, to int)) {
	parallel.Blocks(runtime.GOMAXPROCS(0), n, cholesky.BlockRows, f)
}

// cross is AᵀB (k×k) for n×k matrices: blocks of rows in parallel, their sums added in
// order, so that the bits do not depend on the number of processors.
func cross(a, b []float64, n, k int) *mat.Dense {
	parts := make([][]float64, parallel.Count(n, cholesky.BlockRows))
	inBlocks(n, func(block, from, to int) {
		part := make([]float64, k*k)
		for i := from; i < to; i++ {
			right := b[i*k : i*k+k]
			for p, x := range a[i*k : i*k+k] {
				row := part[p*k : p*k+k]
				for q, y := range right {
					row[q] += x * y
				}
			}
		}
		parts[block] = part
	})
	out := mat.NewDense(k, k, nil)
	raw := out.RawMatrix().Data
	for _, part := range parts {
		for i, x := range part {
			raw[i] += x
		}
	}
	return out
}
