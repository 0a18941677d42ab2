package blockmatmul

import (
	"runtime"

	"github.com/privcom/privcom/internal/parallel"
)

const pieceRows = 8192

func pieceCount(rows int) int { return parallel.Count(rows, pieceRows) }

// inPieces calls f once for every piece of pieceRows rows, on all processors.
func inPieces(rows int, f func(piece, from, to int)) {
	parallel.Blocks(runtime.GOMAXPROCS(0), rows, pieceRows, f)
}
