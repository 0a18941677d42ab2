package cholesky

import (
	"fmt"
	"runtime"

	"github.com/privcom/privcom/internal/parallel"
)

const (
	leafRows = 64
	// BlockRows is the number of rows of a block of the fixed summation tree. A
	// shard whose first row is a multiple of it can contribute partial sums that
	// add up to the same bits as one machine's.
	BlockRows = 64 * leafRows
)

func checkTall(a []float64, n, k int) {
	if n < 0 || k <= 0 || len(a) != n*k {
		panic(fmt.Sprintf("cholesky: matrix has %d entries, want %d×%d", len(a), n, k))
	}
}

func blocks(n int) int { return parallel.Count(n, BlockRows) }

// forBlocks calls f once for each block of rows, from as many goroutines as
// there are processors. scratch gives each goroutine its scratch space.
func forBlocks[S any](n int, scratch func() S, f func(s S, block, from, to int)) {
	parallel.BlocksWith(runtime.GOMAXPROCS(0), n, BlockRows, scratch, f)
}

// treeSum adds equally long vectors pairwise in a fixed order and returns the
// sum; it overwrites the vectors. The error of a sum of N terms grows with log N.
func treeSum(parts [][]float64) []float64 {
	if len(parts) == 0 {
		return nil
	}
	for step := 1; step < len(parts); step *= 2 {
		for i := 0; i+step < len(parts); i += 2 * step {
			addTo(parts[i], parts[i+step])
		}
	}
	return parts[0]
}

func addTo(dst, src []float64) {
	for i, x := range src {
		dst[i] += x
	}
}
