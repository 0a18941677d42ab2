package synthesis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/privcom/privcom/cholesky"
)

// whiten divides the rows by the square root of their noise.
func whiten(v []float64, n, k int, noise *mat.Dense) ([]float64, error) {
	var es mat.EigenSym
	if !es.Factorize(cholesky.Symmetric(noise), true) {
		return nil, fmt.Errorf("synthesis: the covariance of rows has no eigendecomposition")
	}
	var u mat.Dense
	es.VectorsTo(&u)
	values := es.Values(nil)
	w := mat.NewDense(k, k, nil)
	floor := 1e-12 / float64(n) // a row of unit columns has variance 1/n
	for j := range k {
		for i := range k {
			w.Set(i, j, u.At(i, j)/math.Sqrt(math.Max(values[j], floor)))
		}
	}
	out := make([]float64, n*k)
	mat.NewDense(n, k, out).Mul(mat.NewDense(n, k, v), w)
	return out, nil
}
