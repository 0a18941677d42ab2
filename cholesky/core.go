package cholesky

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Core stands for the n×n matrix
//
//	[ΠĤΠ + αI]⁺ = Identity·I − W·C·Wᵀ,  Ĥ = VΛVᵀ, Π = I − J/n, W = ΠV
//
// (the paper, section "Synthetic Graph Generation", regularised estimate).
type Core struct {
	// Means are the column means of V: W is V less these, row by row.
	Means []float64
	// C is k×k.
	C *mat.SymDense
	// Identity is 1/α, or 0 when α = 0.
	Identity float64
	// Rank is the rank of W.
	Rank int
	// Cancelled is the number of directions in which the sum is singular
	// (λ = −α, or α = 0 and λ = 0); the pseudoinverse is 0 there.
	Cancelled int
}

// CentredCore computes the core for the n×k matrix v, the diagonal lambda of Λ
// and α ≥ 0. v need not be orthonormal and lambda may hold zero and negative
// numbers.
//
// Derivation. Let G = WᵀW = L·Lᵀ with L of full column rank r (FullRank) and
// B = L(LᵀL)⁻¹. Then Q = W·B has QᵀQ = Bᵀ·L·Lᵀ·B = I, and W = Q·Lᵀ, because
// B·Lᵀ is the orthogonal projection onto the range of L, which is the row
// space of W. So
//
//	ΠĤΠ + αI = WΛWᵀ + αI = Q·S·Qᵀ + α(I − QQᵀ),  S = LᵀΛL + αI  (r×r).
//
// The two terms act on orthogonal spaces, so the pseudoinverse is taken term by
// term, α⁺ being 1/α or 0:
//
//	[ΠĤΠ + αI]⁺ = Q·S⁺·Qᵀ + α⁺(I − QQᵀ) = α⁺·I − W·C·Wᵀ,
//	C = B·(α⁺I − S⁺)·Bᵀ.
//
// Nothing is divided by λ, and S may be singular: an eigenvalue of S at or
// below 16·r·2^-53·max(‖LᵀΛL‖, α) is a cancellation and S⁺ is 0 there.
func CentredCore(v []float64, n, k int, lambda []float64, alpha float64) (*Core, error) {
	checkTall(v, n, k)
	if err := checkFinite(v, k); err != nil {
		return nil, err
	}
	means := Means(PartialSums(v, k), n, k)
	gram := ReduceGram(PartialCentredGram(v, k, means), k)
	return CoreOfGram(gram, means, lambda, alpha)
}

// CoreOfGram is CentredCore from sums that shards have made: means from
// PartialSums, gram = WᵀW from PartialCentredGram.
func CoreOfGram(gram *mat.SymDense, means, lambda []float64, alpha float64) (*Core, error) {
	k := gram.SymmetricDim()
	if len(lambda) != k || len(means) != k {
		panic(fmt.Sprintf("cholesky: %d eigenvalues and %d means for %d columns", len(lambda), len(means), k))
	}
	if !(alpha >= 0) || math.IsInf(alpha, 0) {
		return nil, fmt.Errorf("cholesky: α is %v; want a finite number ≥ 0", alpha)
	}
	for j, x := range lambda {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, &NotFiniteError{j, j, x}
		}
	}
	core := &Core{Means: means, C: mat.NewSymDense(k, nil)}
	if alpha > 0 {
		core.Identity = 1 / alpha
	}
	l := FullRank(gram)
	if l == nil {
		return core, nil
	}
	_, core.Rank = l.Dims()
	middle, cancelled, err := core.middle(l, lambda, alpha)
	if err != nil {
		return nil, err
	}
	core.Cancelled = cancelled
	b := rightInverse(l)
	var t, c mat.Dense
	t.Mul(b, middle)
	c.Mul(&t, b.T())
	core.C = Symmetric(&c)
	return core, nil
}

// middle returns α⁺I − S⁺ (r×r) from the eigenvalues μ of LᵀΛL. For an
// eigenvalue that does not cancel, 1/α − 1/(μ+α) = μ/(α(μ+α)): written so, the
// small difference of two large reciprocals keeps its digits.
func (c *Core) middle(l *mat.Dense, lambda []float64, alpha float64) (*mat.Dense, int, error) {
	_, r := l.Dims()
	var scaled, product mat.Dense
	scaled.Mul(mat.NewDiagDense(len(lambda), lambda), l)
	product.Mul(l.T(), &scaled)
	s := Symmetric(&product)
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, 0, fmt.Errorf("cholesky: eigenvalues of the %d×%d core did not converge", r, r)
	}
	values := eigen.Values(nil)
	tolerance := 16 * float64(r) * unit * max(-values[0], values[r-1], alpha)
	cancelled := 0
	for i, mu := range values {
		switch sum := mu + alpha; {
		case math.Abs(sum) <= tolerance:
			values[i] = c.Identity
			cancelled++
		case alpha > 0:
			values[i] = mu / (alpha * sum)
		default:
			values[i] = -1 / mu
		}
	}
	var vectors, out mat.Dense
	eigen.VectorsTo(&vectors)
	scaled.Reset()
	scaled.Mul(&vectors, mat.NewDiagDense(r, values))
	out.Mul(&scaled, vectors.T())
	return &out, cancelled, nil
}

// Symmetric is (M+Mᵀ)/2 of a square matrix: it takes out what rounding made unequal.
func Symmetric(m *mat.Dense) *mat.SymDense {
	k, _ := m.Dims()
	out := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			out.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return out
}

// Centre returns the rows less the column means: rows of W.
func Centre(rows []float64, k int, means []float64) []float64 {
	out := make([]float64, len(rows))
	for i := 0; i < len(rows); i += k {
		for j, m := range means {
			out[i+j] = rows[i+j] - m
		}
	}
	return out
}

func checkFinite(a []float64, k int) error {
	for i, x := range a {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return &NotFiniteError{i / k, i % k, x}
		}
	}
	return nil
}
