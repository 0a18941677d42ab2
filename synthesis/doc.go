// Package synthesis goes from public factors to the edges of a synthetic graph.
// It never sees the original graph: all it is given is V, Λ, labels, counts and
// a public seed, so everything here is post-processing and may use floats and
// seeded randomness.
//
// # Contract
//
// A Model scores every pair: score(i,j) = x_iᵀ M x_j. Three reconstructions make
// one from Ĥ = VΛVᵀ (InverseKatz, Laplacian, PaperLiteral); AddConstant gives
// back the constant component. The edge law is
//
//	P(i~j) = 1 − exp(−τ·max(0, score(i,j))),  i < j, independently,
//
// with τ such that the expected number of edges is the target. A BlockModel is
// the other law: labels, expected counts between blocks, weights.
//
// Generate prepares the law, has a Runner solve for τ and sample on its
// workers, and returns Parquet parts with columns src, dst in original ids,
// src before dst in the order of the vertex list, sorted by both.
//
// # How sampling stays below n² work
//
// Rows are put in the order of a k-d tree over their coordinates, where every
// node bounds the score of a given row with all its rows. A row splits nodes
// until a node expects at most one candidate, draws candidates by the bound, and
// accepts by score/bound: exactly the law, at a cost of edges divided by the
// acceptance, plus the bounds.
//
// # Invariants
//
//   - Each pair is decided once, by the stream of one row; a stream is a function
//     of the seed and the row's vertex number. Any worker can redo any row, and
//     the parts do not depend on the number of workers.
//   - A part's name holds the hash of its bytes; an item that runs twice writes
//     the same object.
//   - Sums are written so that a compiler cannot fuse them; the order of rows is
//     stored with the model, so that workers of different architectures agree on
//     who decides which pair.
//
// # Refusals
//
// A target above the number of pairs with positive score is a *SaturatedError;
// NaN, infinities, sizes that do not fit and an asymmetric core are errors.
package synthesis
