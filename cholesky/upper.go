package cholesky

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// upper is a k×k upper triangular matrix, row-major, zeros below.
type upper struct {
	k int
	v []float64
}

func newUpper(k int) *upper { return &upper{k, make([]float64, k*k)} }

func (u *upper) at(i, j int) float64     { return u.v[i*u.k+j] }
func (u *upper) set(i, j int, x float64) { u.v[i*u.k+j] = x }

// columns returns the columns of u one after another and the reciprocals of
// the diagonal, as panel.solve takes them.
func (u *upper) columns() (columns, inverse []float64) {
	columns, inverse = make([]float64, u.k*u.k), make([]float64, u.k)
	for j := range u.k {
		for i := 0; i <= j; i++ {
			columns[j*u.k+i] = u.at(i, j)
		}
		inverse[j] = 1 / u.at(j, j)
	}
	return columns, inverse
}

// triMul overwrites u by u·r.
func (u *upper) triMul(r *upper) {
	for i := range u.k {
		row := append([]float64(nil), u.v[i*u.k:(i+1)*u.k]...)
		for j := i; j < u.k; j++ {
			s := 0.0
			for l := i; l <= j; l++ {
				s += row[l] * r.at(l, j)
			}
			u.set(i, j, s)
		}
	}
}

func (u *upper) tri() *mat.TriDense { return mat.NewTriDense(u.k, mat.Upper, u.v) }

// equilibratedCholesky factors G + shift·D² = RᵀR, where D² is the diagonal of
// G, and returns R and the least eigenvalue of D⁻¹GD⁻¹ (the squared
// reciprocal of the condition of the columns brought to length 1). R is nil
// when a pivot is not positive.
func equilibratedCholesky(g *mat.SymDense, shift float64) (*upper, float64) {
	k := g.SymmetricDim()
	d := make([]float64, k)
	for i := range k {
		d[i] = math.Sqrt(g.At(i, i))
	}
	scaled := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			scaled.SetSym(i, j, g.At(i, j)/d[i]/d[j])
		}
		scaled.SetSym(i, i, 1)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(scaled, false) {
		return nil, math.NaN()
	}
	least := eigen.Values(nil)[0]
	r := newUpper(k)
	for j := range k {
		for i := 0; i <= j; i++ {
			s := scaled.At(i, j)
			if i == j {
				s += shift
			}
			for l := range i {
				s -= r.at(l, i) * r.at(l, j)
			}
			if i < j {
				r.set(i, j, s/r.at(i, i))
				continue
			}
			if !(s > 0) {
				return nil, least
			}
			r.set(j, j, math.Sqrt(s))
		}
	}
	for i := range k {
		for j := i; j < k; j++ {
			r.set(i, j, r.at(i, j)*d[j])
		}
	}
	return r, least
}
