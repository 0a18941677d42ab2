// Package parallel runs one function over blocks of consecutive numbers on several processors.
//
// Contract. The blocks depend on n and their size alone, never on the number of workers or on
// who is quicker: what is written per block, and added up in the order of blocks, has the same
// bits on every machine. A worker takes the next block when it is done with one, so uneven
// blocks even out. The caller is one of the workers; a call returns when every block is done.
//
// Units. Sizes are counts, of rows most often.
//
// What it refuses: a block size below 1 (a programming mistake; it panics). It knows no errors
// and no contexts: the function keeps its own by block, and returns at once where it is to stop.
package parallel
