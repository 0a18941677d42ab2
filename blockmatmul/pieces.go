package blockmatmul

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const pieceRows = 8192

func pieceCount(rows int) int { return (rows + pieceRows - 1) / pieceRows }

// inPieces calls f once for every piece of pieceRows rows, on all processors.
func inPieces(rows int, f func(piece, from, to int)) {
	pieces := pieceCount(rows)
	var next atomic.Int64
	work := func() {
		for {
			p := int(next.Add(1)) - 1
			if p >= pieces {
				return
			}
			f(p, p*pieceRows, min(rows, (p+1)*pieceRows))
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), pieces) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}
