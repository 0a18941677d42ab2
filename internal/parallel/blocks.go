package parallel

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Count is the number of blocks of size numbers that 0 … n−1 fill, the last one perhaps in part.
func Count(n, size int) int {
	if size < 1 {
		panic(fmt.Sprintf("parallel: blocks of %d", size))
	}
	return (n + size - 1) / size
}

// Blocks calls f once for every block of 0 … n−1, which is [from, to), from at most that many
// workers at a time.
func Blocks(workers, n, size int, f func(block, from, to int)) {
	BlocksWith(workers, n, size, func() struct{} { return struct{}{} },
		func(_ struct{}, block, from, to int) { f(block, from, to) })
}

// BlocksWith is Blocks for functions that need scratch space: each worker makes its own once.
func BlocksWith[S any](workers, n, size int, scratch func() S, f func(s S, block, from, to int)) {
	blocks := Count(n, size)
	var next atomic.Int64
	work := func() {
		s := scratch()
		for {
			b := int(next.Add(1)) - 1
			if b >= blocks {
				return
			}
			f(s, b, b*size, min(n, (b+1)*size))
		}
	}
	var others sync.WaitGroup
	for range min(workers, blocks) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
