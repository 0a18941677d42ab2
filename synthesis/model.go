package synthesis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/privcom/privcom/cholesky"
)

// Model is a public score for every pair of vertices: score(i,j) = x_iᵀ M x_j.
type Model struct {
	N, K int
	X    []float64 // N×K, row-major: x_i is row i
	M    []float64 // K×K, symmetric
}

// Score returns x_iᵀ M x_j.
func (m *Model) Score(i, j int) float64 {
	sum := 0.0
	xi, xj := m.X[i*m.K:(i+1)*m.K], m.X[j*m.K:(j+1)*m.K]
	for a, x := range xi {
		for b, y := range xj {
			sum += x * m.M[a*m.K+b] * y
		}
	}
	return sum
}

// Check says what is wrong with the model: sizes, numbers that are not finite,
// an M that is not symmetric (to 1e-9 of its largest entry).
func (m *Model) Check() error {
	if m.N < 0 || m.N > math.MaxInt32 || m.K < 0 || len(m.X) != m.N*m.K || len(m.M) != m.K*m.K {
		return fmt.Errorf("synthesis: model of %d×%d has %d coordinates and %d core entries", m.N, m.K, len(m.X), len(m.M))
	}
	for i, x := range m.X {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("synthesis: coordinate (%d, %d) of the model is %v; want a finite number", i/m.K, i%m.K, x)
		}
	}
	most := 0.0
	for i, x := range m.M {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("synthesis: core entry (%d, %d) of the model is %v; want a finite number", i/m.K, i%m.K, x)
		}
		most = max(most, math.Abs(x))
	}
	for i := range m.K {
		for j := range i {
			if math.Abs(m.M[i*m.K+j]-m.M[j*m.K+i]) > 1e-9*most {
				return fmt.Errorf("synthesis: core of the model is not symmetric at (%d, %d)", i, j)
			}
		}
	}
	return nil
}

// Factors are the public outcome of the private part: Ĥ = V Λ Vᵀ.
type Factors struct {
	N, K   int
	V      []float64 // N×K, row-major
	Lambda []float64 // K eigenvalues of the Katz matrix
	// Keep lists the columns that enter the reconstruction; nil means all. A
	// column whose eigenvalue is within the noise has no place in it.
	Keep []int
}

// kept checks the factors and returns the kept columns and eigenvalues.
func (f Factors) kept() (v, lambda []float64, k int, err error) {
	if f.N < 0 || f.K < 0 || len(f.V) != f.N*f.K || len(f.Lambda) != f.K {
		return nil, nil, 0, fmt.Errorf("synthesis: factors of %d×%d have %d entries and %d eigenvalues", f.N, f.K, len(f.V), len(f.Lambda))
	}
	for j, x := range f.Lambda {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil, 0, fmt.Errorf("synthesis: eigenvalue %d is %v; want a finite number", j, x)
		}
	}
	keep := f.Keep
	if keep == nil {
		keep = make([]int, f.K)
		for j := range keep {
			keep[j] = j
		}
	}
	k = len(keep)
	v, lambda = make([]float64, f.N*k), make([]float64, k)
	seen := make([]bool, f.K)
	for to, from := range keep {
		if from < 0 || from >= f.K || seen[from] {
			return nil, nil, 0, fmt.Errorf("synthesis: kept column %d is outside 0..%d or listed twice", from, f.K-1)
		}
		seen[from] = true
		lambda[to] = f.Lambda[from]
		for i := range f.N {
			v[i*k+to] = f.V[i*f.K+from]
		}
	}
	return v, lambda, k, nil
}

// InverseKatz models the adjacency matrix: Â = V F⁻¹(Λ) Vᵀ.
func InverseKatz(f Factors, katz Katz) (*Model, error) {
	if err := katz.Check(); err != nil {
		return nil, err
	}
	v, lambda, k, err := f.kept()
	if err != nil {
		return nil, err
	}
	m := &Model{N: f.N, K: k, X: v, M: make([]float64, k*k)}
	for j, x := range lambda {
		m.M[j*k+j] = katz.Inverse(x)
	}
	return m, m.Check()
}

// Laplacian models the edge weights as the negated off-diagonal entries of
// [ΠĤΠ + αI]⁺ = (1/α)I − W C Wᵀ, which are (W C Wᵀ)_ij.
func Laplacian(f Factors, alpha float64) (*Model, error) { return pseudoinverse(f, alpha, 1) }

// PaperLiteral takes the paper's L̃ = −2[ΠĤΠ + αI]⁺ for a Laplacian, as its
// section "Synthetic Graph Generation" has it: the weight of {i, j} is
// −L̃_ij = −2(W C Wᵀ)_ij. The theorem behind the factor −2 is about effective
// resistances, which grow with distance where Katz similarities shrink, so the
// sign keeps the edges between different communities. It is here for the record.
func PaperLiteral(f Factors, alpha float64) (*Model, error) { return pseudoinverse(f, alpha, -2) }

func pseudoinverse(f Factors, alpha, sign float64) (*Model, error) {
	v, lambda, k, err := f.kept()
	if err != nil {
		return nil, err
	}
	if k == 0 {
		return &Model{N: f.N}, nil
	}
	core, err := cholesky.CentredCore(v, f.N, k, lambda, alpha)
	if err != nil {
		return nil, fmt.Errorf("synthesis: pseudoinverse of the centred Katz matrix: %w", err)
	}
	m := &Model{N: f.N, K: k, X: cholesky.Centre(v, k, core.Means), M: make([]float64, k*k)}
	scaled := mat.NewDense(k, k, m.M)
	scaled.Scale(sign, core.C)
	return m, m.Check()
}

// AddConstant returns the model with the component weight·(1/n)·11ᵀ added: a
// column of 1/√n with the eigenvalue weight. A run that keeps V orthogonal to
// the constant vector adds its part back so.
func AddConstant(m *Model, weight float64) *Model { return AddActivity(m, weight, nil) }

// AddActivity returns the model with the component weight·(1/n)·wwᵀ added, where w
// is activity scaled to mean 1: vertices that are active in communities are active
// outside of them too, as in a degree-corrected block model (Karrer & Newman 2011).
// nil activity is the constant component.
func AddActivity(m *Model, weight float64, activity []float64) *Model {
	k := m.K + 1
	out := &Model{N: m.N, K: k, X: make([]float64, m.N*k), M: make([]float64, k*k)}
	entry := 1 / math.Sqrt(float64(max(m.N, 1)))
	sum := 0.0
	for _, w := range activity {
		sum += w
	}
	for i := range m.N {
		copy(out.X[i*k:], m.X[i*m.K:(i+1)*m.K])
		out.X[i*k+m.K] = entry
		if sum > 0 {
			out.X[i*k+m.K] *= activity[i] * float64(m.N) / sum
		}
	}
	for a := range m.K {
		copy(out.M[a*k:], m.M[a*m.K:(a+1)*m.K])
	}
	out.M[k*k-1] = weight
	return out
}
