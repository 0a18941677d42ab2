// Package blockmatmul computes the exact integer product of a block of rows of
// an adjacency matrix with a quantised matrix V.
//
// # Contract
//
// Everything between the graph and the noise is integer arithmetic: entries of
// V are int32 units of 2^-Bits, sums of them are int64. No rounding depends on
// the order of a sum, on the number of shards, or on the machine, so any two
// computations of the same rows are bit-equal.
//
//	Quantise   public float64 V (n×k)      → Operand (row norm ≤ Radius)
//	Multiply   Operand, rows of A          → Product Q_i = clip_c(Σ_{j∈N(i)} V_j)
//	Katz       Operand, any Multiplier     → Product of A·Σ_l (βA)^l with V
//
// Only an Operand can be multiplied, and only Quantise (which clips the rows)
// or Katz (which works on clipped rows) make one; a raw matrix has no path to
// a product. A Product is private: it must meet noise before it leaves the
// boundary.
//
// # Kernels
//
// The product of a large graph waits for memory: rows of V lie anywhere. Entries therefore
// travel and are multiplied in 16 bits where the public bound of a row's norm allows
// (Operand.Narrow), and the assembly for AVX2 asks for each row some arcs before it is
// needed. It adds narrow entries in 32-bit lanes, at most 2¹⁶ of them before a sum goes to
// 64 bits, which cannot overflow whatever the graph. Without AVX2, or with the build tag
// purego, the same sums are made in Go; CSR.MultiplyRows is the definition.
//
// Kernels take sizes and slices and do no I/O. The package refuses operands
// whose products could overflow int64 (Operand.CheckOverflow) by public bounds alone: a
// check that looked at the data would itself be a release.
package blockmatmul
