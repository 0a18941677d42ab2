package cholesky

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// densePinv is the pseudoinverse by singular values, those ≤ cut dropped.
func densePinv(a mat.Matrix, cut float64) *mat.Dense {
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		panic("no convergence")
	}
	var u, v, t, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	s := svd.Values(nil)
	for i, x := range s {
		if x <= cut {
			s[i] = 0
		} else {
			s[i] = 1 / x
		}
	}
	t.Mul(&v, mat.NewDiagDense(len(s), s))
	out.Mul(&t, u.T())
	return &out
}

func mostApart(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, 2)
}

func TestPseudoInverseEqualsDense(t *testing.T) {
	for _, shape := range []struct{ m, n, rank int }{{8, 3, 3}, {3, 8, 3}, {20, 6, 4}, {6, 20, 2}, {5, 5, 5}, {7, 4, 1}} {
		a := mat.NewDense(shape.m, shape.n, nil)
		a.Mul(mat.NewDense(shape.m, shape.rank, gaussian(shape.m, shape.rank, 31)), mat.NewDense(shape.rank, shape.n, gaussian(shape.rank, shape.n, 32)))
		got, err := PseudoInverse(a)
		if err != nil {
			t.Fatal(err)
		}
		want := densePinv(a, 1e-10)
		if off := mostApart(got, want); off > 1e-10*mat.Norm(want, 2) {
			t.Errorf("%v: differs by %g from norm %g", shape, off, mat.Norm(want, 2))
		}
	}
	zero, err := PseudoInverse(mat.NewDense(4, 2, nil))
	if err != nil || mat.Norm(zero, 2) != 0 {
		t.Error("pseudoinverse of 0 is not 0")
	}
	_, err = PseudoInverse(mat.NewDense(1, 2, []float64{1, math.NaN()}))
	if e := new(NotFiniteError); !errors.As(err, &e) || e.Col != 1 {
		t.Errorf("error %v", err)
	}
}

// TestFactorGivesEachShardItsSlice: rows·F are the rows of A⁺ᵀ, rank-deficient too.
func TestFactorGivesEachShardItsSlice(t *testing.T) {
	n, k := 2*BlockRows+77, 5
	a := gaussian(n, k, 33)
	for i := range n {
		a[i*k+4] = a[i*k] + a[i*k+1]
	}
	f := Factor(ReduceGram(append(PartialGram(a[:BlockRows*k], k), PartialGram(a[BlockRows*k:], k)...), k))
	slice := append(MultiplyRight(a[:BlockRows*k], k, f), MultiplyRight(a[BlockRows*k:], k, f)...)
	dense := mat.NewDense(n, k, a)
	plus := mat.NewDense(n, k, slice).T()
	var ap, apa, pa, pap mat.Dense
	pa.Mul(plus, dense)
	apa.Mul(dense, &pa)
	pap.Mul(&pa, plus)
	if off := mostApart(&apa, dense); off > 1e-11*mat.Norm(dense, 2) {
		t.Errorf("A·A⁺·A differs from A by %g", off)
	}
	if off := mostApart(&pap, plus); off > 1e-11*mat.Norm(plus, 2) {
		t.Errorf("A⁺·A·A⁺ differs from A⁺ by %g", off)
	}
	if off := mostApart(&pa, pa.T()); off > 1e-11 {
		t.Errorf("A⁺·A is not symmetric by %g", off)
	}
	ap.Mul(dense.Slice(0, 200, 0, k), plus.(interface{ T() mat.Matrix }).T().(*mat.Dense).Slice(0, 200, 0, k).T())
	if off := mostApart(&ap, ap.T()); off > 1e-11 {
		t.Errorf("A·A⁺ is not symmetric by %g", off)
	}
}

// expand forms the n×n matrix of a core.
func expand(c *Core, v []float64, n, k int) *mat.Dense {
	w := mat.NewDense(n, k, Centre(v, k, c.Means))
	var t, out mat.Dense
	t.Mul(w, c.C)
	out.Mul(&t, w.T())
	out.Scale(-1, &out)
	for i := range n {
		out.Set(i, i, out.At(i, i)+c.Identity)
	}
	return &out
}

func centredSum(v []float64, n, k int, lambda []float64, alpha float64) *mat.Dense {
	w := mat.NewDense(n, k, Centre(v, k, Means(PartialSums(v, k), n, k)))
	var t, out mat.Dense
	t.Mul(w, mat.NewDiagDense(k, lambda))
	out.Mul(&t, w.T())
	for i := range n {
		out.Set(i, i, out.At(i, i)+alpha)
	}
	return &out
}

// TestCoreEqualsDensePseudoInverse compares with the n×n pseudoinverse for
// orthonormal, plain and rank-deficient V, signed, zero and cancelling Λ, and
// α from 1e-12 to 1e3. Tolerance, relative to the norm of the result: 1e-12 and
// 64 roundings times the condition ‖ΠĤΠ + αI‖/α, which the reference has too,
// because it is given the sum in float64.
func TestCoreEqualsDensePseudoInverse(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, alpha := range []float64{1e-12, 1e-9, 1e-6, 1e-3, 0.01, 1, 30, 1e3} {
		for trial := range 24 {
			n, k := 5+random.IntN(56), 1+random.IntN(5)
			v := gaussian(n, k, random.Uint64())
			if trial%2 == 0 {
				if _, err := QR(v, n, k); err != nil {
					t.Fatal(err)
				}
			}
			lambda := make([]float64, k)
			for j := range lambda {
				lambda[j] = random.NormFloat64()
			}
			what := "random"
			switch trial % 6 {
			case 1:
				what, lambda[0] = "zero eigenvalue", 0
			case 2:
				what = "constant column"
				for i := range n {
					v[i*k] = 1 / math.Sqrt(float64(n))
				}
			case 3:
				what = "repeated column"
				for i := range n {
					v[i*k+k-1] = v[i*k]
				}
			case 4:
				what = "all negative"
				for j := range lambda {
					lambda[j] = -math.Abs(lambda[j])
				}
			case 5:
				what = "zero matrix"
				clear(v)
			}
			name := fmt.Sprintf("α=%g n=%d k=%d %s", alpha, n, k, what)
			core, err := CentredCore(v, n, k, lambda, alpha)
			if err != nil {
				t.Fatal(name, err)
			}
			sum := centredSum(v, n, k, lambda, alpha)
			want := densePinv(sum, 0)
			tolerance := mat.Norm(want, 2) * (1e-12 + 64*unit*mat.Norm(sum, 2)/alpha)
			if off := mostApart(expand(core, v, n, k), want); !(off <= tolerance) {
				t.Errorf("%s: differs by %g from norm %g", name, off, mat.Norm(want, 2))
			}
		}
	}
}

// TestCancellingEigenvalueTakesThePseudoinverse: λ = −α makes the sum singular.
func TestCancellingEigenvalueTakesThePseudoinverse(t *testing.T) {
	n, k := 40, 3
	v := gaussian(n, k, 77)
	for j := range k { // centred columns, so that λ is an eigenvalue of ΠĤΠ
		mean := 0.0
		for i := range n {
			mean += v[i*k+j] / float64(n)
		}
		for i := range n {
			v[i*k+j] -= mean
		}
	}
	if _, err := QR(v, n, k); err != nil {
		t.Fatal(err)
	}
	for _, alpha := range []float64{0, 1e-6, 0.01, 2} {
		lambda := []float64{1.5, -alpha, -0.3}
		core, err := CentredCore(v, n, k, lambda, alpha)
		if err != nil {
			t.Fatal(err)
		}
		if core.Cancelled != 1 {
			t.Errorf("α=%g: %d cancelled directions", alpha, core.Cancelled)
		}
		want := densePinv(centredSum(v, n, k, lambda, alpha), 1e-12)
		if off := mostApart(expand(core, v, n, k), want); off > 1e-9*mat.Norm(want, 2) {
			t.Errorf("α=%g: differs by %g from norm %g", alpha, off, mat.Norm(want, 2))
		}
	}
}

func TestCoreOfKarate(t *testing.T) {
	var golden struct {
		Alpha   float64     `json:"alpha"`
		Values  []float64   `json:"eigenvalues_H"`
		Vectors [][]float64 `json:"vectors"`
		Want    [][]float64 `json:"dense_pinv_of_centred_plus_alpha"`
	}
	buf, err := os.ReadFile("testdata/karate_reconstruction.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(buf, &golden); err != nil {
		t.Fatal(err)
	}
	n, k := len(golden.Vectors), len(golden.Values)
	var v []float64
	for _, row := range golden.Vectors {
		v = append(v, row...)
	}
	core, err := CentredCore(v, n, k, golden.Values, golden.Alpha)
	if err != nil {
		t.Fatal(err)
	}
	got := expand(core, v, n, k)
	for i := range n {
		for j := range n {
			// The file holds 14 digits of V and 10 decimals of entries up to 100.
			if math.Abs(got.At(i, j)-golden.Want[i][j]) > 1e-8 {
				t.Fatalf("entry (%d,%d) is %.12g, want %.12g", i, j, got.At(i, j), golden.Want[i][j])
			}
		}
	}
}

func TestCoreRefusesBadNumbers(t *testing.T) {
	v := gaussian(10, 2, 1)
	for _, alpha := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := CentredCore(v, 10, 2, []float64{1, 2}, alpha); err == nil {
			t.Errorf("α = %v accepted", alpha)
		}
	}
	_, err := CentredCore(v, 10, 2, []float64{1, math.NaN()}, 1)
	if e := new(NotFiniteError); !errors.As(err, &e) {
		t.Errorf("error %v", err)
	}
}
