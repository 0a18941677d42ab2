package synthesis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// coordinates brings a model to score(i,j) = Σ_a sign_a·y_ia·y_ja by the
// eigenvectors U and eigenvalues μ of M: y = Uᵀx·√|μ|. Components with
// |μ| ≤ 1e-15 of the largest are left out.
func coordinates(m *Model) (y, sign []float64, k int, err error) {
	if m.K == 0 {
		return nil, nil, 0, nil
	}
	s := mat.NewSymDense(m.K, nil)
	for i := range m.K {
		for j := i; j < m.K; j++ {
			s.SetSym(i, j, (m.M[i*m.K+j]+m.M[j*m.K+i])/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, nil, 0, fmt.Errorf("synthesis: eigenvalues of the %d×%d core did not converge", m.K, m.K)
	}
	values := eigen.Values(nil)
	var u mat.Dense
	eigen.VectorsTo(&u)
	most := math.Max(math.Abs(values[0]), math.Abs(values[m.K-1]))
	var used []int
	for a, mu := range values {
		if math.Abs(mu) > 1e-15*most {
			used = append(used, a)
			sign = append(sign, math.Copysign(1, mu))
		}
	}
	k = len(used)
	basis := make([]float64, m.K*k) // Uᵀ√|μ| by columns
	for to, from := range used {
		for b := range m.K {
			basis[b*k+to] = u.At(b, from) * math.Sqrt(math.Abs(values[from]))
		}
	}
	y = make([]float64, m.N*k)
	for i := range m.N {
		out := y[i*k : (i+1)*k]
		for b, x := range m.X[i*m.K : (i+1)*m.K] {
			for a, w := range basis[b*k : (b+1)*k] {
				out[a] += x * w
			}
		}
	}
	for i, v := range y {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, nil, 0, fmt.Errorf("synthesis: row %d of the model is too long: its score is not a finite number", i/k)
		}
	}
	return y, sign, k, nil
}
