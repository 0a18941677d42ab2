package cholesky

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Method names the algorithm that produced a factorisation.
type Method string

const (
	// CholeskyQR is one Cholesky step; used where a bound on its error says it is enough.
	CholeskyQR Method = "CholeskyQR"
	// CholeskyQR2 repeats the step once (Yamamoto et al. 2015).
	CholeskyQR2 Method = "CholeskyQR2"
	// ShiftedCholeskyQR3 starts from a shifted Gram matrix (Fukaya et al. 2020).
	ShiftedCholeskyQR3 Method = "ShiftedCholeskyQR3"
	// Householder is a tree of Householder factorisations (TSQR, Demmel et al. 2012).
	Householder Method = "Householder"
)

// QRResult describes A = Q·R of an n×k matrix.
type QRResult struct {
	// R is upper triangular, k×k, with diagonal ≥ 0.
	R *mat.TriDense
	// Rank is the number of columns that are independent of those before them.
	Rank int
	// Dependent lists the other columns: their diagonal entry of R is 0 and the
	// column of Q is a completion that A does not determine.
	Dependent []int
	Method    Method
}

const unit = 0x1p-53 // unit roundoff

// Orthogonality is the largest ‖QᵀQ − I‖₂ that QR leaves behind for n rows.
func Orthogonality(n int) float64 { return 1e-14 * math.Sqrt(float64(n)) }

// QR overwrites the n×k matrix a (n ≥ k) by the orthonormal factor Q of
// A = Q·R. A matrix of well separated columns takes one or two passes of
// CholeskyQR; an ill-conditioned one a third, shifted, pass; and a numerically
// singular one goes through Householder reflections.
//
// A column whose distance from the span of those before it is ≤ 64·k·2^-53 of
// its own length cannot be told from rounding and counts as dependent.
//
// The error is a *NotFiniteError; a is unchanged then.
func QR(a []float64, n, k int) (*QRResult, error) {
	checkTall(a, n, k)
	if n < k {
		panic(fmt.Sprintf("cholesky: QR of %d rows and %d columns; want at least as many rows", n, k))
	}
	gram := Gram(a, n, k)
	if !inRange(gram) {
		return qrSlow(a, n, k)
	}
	r1, least := equilibratedCholesky(gram, 0)
	once, twice := passesNeeded(n, k, least)
	if r1 == nil || !twice {
		return qrSlow(a, n, k)
	}
	if once {
		applyInverse(a, n, k, r1, false)
		return fullRank(r1, k, CholeskyQR), nil
	}
	r2, ok := secondPass(a, n, k, r1)
	if !ok {
		// Cannot happen by the bound; R₁ is invertible, so A can be had back.
		multiplyRows(a, n, k, r1)
		return qrSlow(a, n, k)
	}
	r2.triMul(r1)
	return fullRank(r2, k, CholeskyQR2), nil
}

func fullRank(r *upper, k int, m Method) *QRResult {
	return &QRResult{R: r.tri(), Rank: k, Method: m}
}

// inRange says whether no column's squared length is near over- or underflow.
func inRange(g *mat.SymDense) bool {
	for i := range g.SymmetricDim() {
		if d := g.At(i, i); !(d > 1e-250 && d < 1e250) {
			return false
		}
	}
	return true
}

// passesNeeded bounds the orthogonality error of CholeskyQR. With columns of
// length 1 (the equilibrated Gram matrix, least eigenvalue `least`), the
// computed Gram matrix is off by ≤ γk in the 2-norm, γ = (64 + log₂(n/64))·2^-53
// because a leaf is a sum of 64 terms and the tree has log₂(n/64) levels; its
// Cholesky factor and the substitution add ≤ 4k²·2^-53. R⁻¹ on both sides
// divides by the least eigenvalue.
func passesNeeded(n, k int, least float64) (once, twice bool) {
	gamma := leafRows + math.Log2(1+float64(n)/leafRows) + 4*float64(k)
	loss := unit * gamma * float64(k) / least
	return loss <= Orthogonality(n), least > 0 && loss <= 1.0/64
}

// secondPass divides a by r1 on the right, factors the Gram matrix of what
// comes out and divides by that factor too, which it returns. When the second
// matrix is not close to the identity it stops after the first division.
func secondPass(a []float64, n, k int, r1 *upper) (*upper, bool) {
	gram := applyInverse(a, n, k, r1, true)
	r2, least := equilibratedCholesky(gram, 0)
	if r2 == nil || !(least > 0.5) {
		return nil, false
	}
	applyInverse(a, n, k, r2, false)
	return r2, true
}

// applyInverse overwrites a by A·R⁻¹ and, when asked, returns the Gram matrix
// of the result, summed while each panel is still in cache.
func applyInverse(a []float64, n, k int, r *upper, wantGram bool) *mat.SymDense {
	rt, inverse := r.columns()
	var parts [][]float64
	if wantGram {
		parts = make([][]float64, blocks(n))
	}
	forBlocks(n, func() *panel { return newPanel(k) }, func(p *panel, b, from, to int) {
		p.reset()
		for i := from; i < to; i += leafRows {
			rows := a[i*k : min(to, i+leafRows)*k]
			p.load(rows, nil)
			p.solve(rt, inverse)
			p.store(rows)
			if wantGram {
				p.addGram()
			}
		}
		if wantGram {
			parts[b] = p.sum()
		}
	})
	if !wantGram {
		return nil
	}
	return ReduceGram(parts, k)
}

// multiplyRows overwrites a by A·R.
func multiplyRows(a []float64, n, k int, r *upper) {
	forBlocks(n, func() []float64 { return make([]float64, k) }, func(row []float64, _, from, to int) {
		for i := from; i < to; i++ {
			x := a[i*k : (i+1)*k]
			copy(row, x)
			for j := range k {
				s := 0.0
				for l := 0; l <= j; l++ {
					s += row[l] * r.at(l, j)
				}
				x[j] = s
			}
		}
	})
}
