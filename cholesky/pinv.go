package cholesky

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// rankTolerance is the relative size of a pivot of a k×k Gram matrix below
// which it is rounding: a pivot is a squared distance, so singular values
// below √(16·k·2^-53) ≈ 1.7e-7 (k = 16) of the largest count as zero.
func rankTolerance(k int) float64 { return 16 * float64(k) * unit }

// FullRank returns L (k×r) with G = L·Lᵀ for a positive semidefinite G of rank
// r: the full-rank Cholesky factorisation of Courrieu (2005, "Fast computation
// of Moore-Penrose inverse matrices"), which skips columns that
// add nothing; here the column with the largest remaining diagonal goes first.
// A remaining diagonal ≤ 16·k·2^-53 of the largest diagonal of G ends the
// factorisation. L is nil when r = 0.
func FullRank(g mat.Symmetric) *mat.Dense {
	k := g.SymmetricDim()
	rest := make([]float64, k)
	most := 0.0
	for i := range k {
		rest[i] = g.At(i, i)
		most = max(most, rest[i])
	}
	tolerance := rankTolerance(k) * most
	var columns [][]float64
	used := make([]bool, k)
	for range k {
		p := -1
		for i := range k {
			if !used[i] && rest[i] > tolerance && (p < 0 || rest[i] > rest[p]) {
				p = i
			}
		}
		if p < 0 {
			break
		}
		used[p] = true
		column := make([]float64, k)
		root := math.Sqrt(rest[p])
		column[p] = root
		for i := range k {
			if used[i] {
				continue
			}
			s := g.At(i, p)
			for _, c := range columns {
				s -= c[i] * c[p]
			}
			column[i] = s / root
			rest[i] -= column[i] * column[i]
		}
		columns = append(columns, column)
	}
	if len(columns) == 0 {
		return nil
	}
	l := mat.NewDense(k, len(columns), nil)
	for j, c := range columns {
		l.SetCol(j, c)
	}
	return l
}

// rightInverse returns L·(LᵀL)⁻¹ (k×r), the transposed pseudoinverse of L.
func rightInverse(l *mat.Dense) *mat.Dense {
	k, r := l.Dims()
	gram := mat.NewSymDense(r, nil)
	gram.SymOuterK(1, l.T())
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		panic("cholesky: a full-rank factor has dependent columns")
	}
	inverse := mat.NewDense(r, k, nil)
	if err := chol.SolveTo(inverse, l.T()); err != nil {
		// A warning about condition; the pivots passed the rank tolerance.
		if _, ok := err.(mat.Condition); !ok {
			panic(fmt.Sprintf("cholesky: %v", err))
		}
	}
	return mat.DenseCopyOf(inverse.T())
}

// Factor returns the k×k matrix F = L·M·M·Lᵀ, M = (LᵀL)⁻¹, of the Gram matrix
// G = AᵀA = L·Lᵀ. A⁺ = F·Aᵀ (Courrieu 2005), so the rows of A⁺ᵀ that
// belong to some rows of A are those rows times F: the coordinator adds up the
// shards' PartialGram, broadcasts F, and each shard applies it (MultiplyRight).
func Factor(g mat.Symmetric) *mat.SymDense {
	k := g.SymmetricDim()
	f := mat.NewSymDense(k, nil)
	if l := FullRank(g); l != nil {
		f.SymOuterK(1, rightInverse(l))
	}
	return f
}

// MultiplyRight returns rows·F for rows×k numbers and a k×k matrix.
func MultiplyRight(rows []float64, k int, f mat.Matrix) []float64 {
	n := len(rows) / k
	checkTall(rows, n, k)
	out := make([]float64, len(rows))
	flat := mat.DenseCopyOf(f)
	if r, c := flat.Dims(); r != k || c != k {
		panic(fmt.Sprintf("cholesky: factor is %d×%d, want %d×%d", r, c, k, k))
	}
	forBlocks(n, func() struct{} { return struct{}{} }, func(_ struct{}, _, from, to int) {
		for i := from; i < to; i++ {
			y := out[i*k : (i+1)*k]
			for l, x := range rows[i*k : (i+1)*k] {
				for j, w := range flat.RawRowView(l) {
					y[j] += x * w
				}
			}
		}
	})
	return out
}

// PseudoInverse returns the Moore-Penrose inverse A⁺ of a small dense matrix
// by full-rank Cholesky of AᵀA or AAᵀ, whichever is smaller (Courrieu
// 2005). Its relative error is about κ(A)²·2^-53. The error is a
// *NotFiniteError.
func PseudoInverse(a *mat.Dense) (*mat.Dense, error) {
	m, n := a.Dims()
	for i := range m {
		for j := range n {
			if x := a.At(i, j); math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, &NotFiniteError{i, j, x}
			}
		}
	}
	if m < n {
		t, err := PseudoInverse(mat.DenseCopyOf(a.T()))
		if err != nil {
			return nil, err
		}
		return mat.DenseCopyOf(t.T()), nil
	}
	gram := mat.NewSymDense(n, nil)
	gram.SymOuterK(1, a.T())
	out := mat.NewDense(n, m, nil)
	out.Mul(Factor(gram), a.T())
	return out, nil
}
