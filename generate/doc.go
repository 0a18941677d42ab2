// Package generate makes synthetic graphs for demonstrations, tests and
// benchmarks: a planted partition (SBM), the LFR benchmark and R-MAT.
//
// # Contract
//
// A Spec is a plain struct of parameters. Validate lists every fault with its
// value and its bound. Generate calls emit once for each edge of a simple
// undirected graph on the vertices 0..N-1, with u < v: no loop, no repeat, no
// reversed copy. Labels gives the planted communities 0..q-1, indexed by
// vertex, or nil where the model plants none.
//
//	model  time                 memory
//	SBM    O(n + edges)         4 bytes per vertex (20 with degree correction)
//	LFR    O(n + edges)         about 30 bytes per vertex, and up to 32 bytes
//	                            per edge between communities
//	RMAT   O(edges · scale)     a few kilobytes
//
// The edges come in an order that is fixed but of no meaning; a caller that
// wants them sorted sorts them.
//
// # Randomness
//
// All randomness is public and comes from Seed by PCG (math/rand/v2), in
// separate streams for separate purposes. The same parameters, seed and version
// of this module give the same edges in the same order on one processor
// architecture; across architectures the last bit of a logarithm may differ.
// Nothing here may be used to protect anything: noise is made elsewhere.
//
// # What it refuses
//
// More than 2^31-1 vertices (the rest of the module numbers vertices with
// int32), probabilities outside [0, 1], and parameters that no graph can meet
// in expectation. An error from emit stops the generation and is returned as
// it is; so does a cancelled context.
package generate
