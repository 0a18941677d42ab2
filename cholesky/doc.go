// Package cholesky holds the dense algebra of tall matrices: thin QR, full-rank
// Cholesky pseudoinverse, and the small core of the regularised pseudoinverse
// from which the graph is rebuilt.
//
// # Contract
//
// A tall matrix is a row-major []float64 of n×k numbers, n ≥ k; a small one
// (k×k) is a gonum mat value. No n×n matrix is formed outside tests.
//
//	QR             A → Q (in place), R with diagonal ≥ 0, rank
//	Gram           AᵀA
//	Factor         AᵀA → F with A⁺ᵀ = A·F, so that rows of A⁺ᵀ are rows of A times F
//	FullRank       G → L (k×r) with G = L·Lᵀ, r = rank
//	PseudoInverse  A⁺ of a small dense matrix (Courrieu 2005)
//	CentredCore    [ΠĤΠ + αI]⁺ = identity·I − W·C·Wᵀ, W = ΠV
//
// # Invariants
//
// Sums over rows go over fixed leaves of 64 rows, blocks of 4,096 rows and a
// fixed binary tree, so the result does not depend on the number of
// goroutines, nor on how blocks were spread over shards: a shard that holds
// whole blocks sends PartialGram of them, ReduceGram adds them up in block
// order. The results are bit-equal between runs on one architecture; another
// architecture may fuse multiplications and additions and differ in the last
// bits.
//
// Q satisfies ‖QᵀQ − I‖ ≤ 1e-14·√n whatever the condition of A, also when A
// has dependent or zero columns: those are replaced, deterministically, by
// pseudo-random directions orthogonal to the rest, and named in the result.
//
// # Refusals
//
// NaN or ±Inf in an input is a *NotFiniteError that names its place. Sizes
// that do not fit are programmer errors and panic. Rank deficiency is not an
// error but a value: QRResult.Dependent, the number of columns of L.
package cholesky
