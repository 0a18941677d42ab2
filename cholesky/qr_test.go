package cholesky

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func gaussian(n, k int, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	a := make([]float64, n*k)
	for i := range a {
		a[i] = random.NormFloat64()
	}
	return a
}

// conditioned returns n×k columns with singular values from 1 down to 1/condition.
func conditioned(n, k int, condition float64, seed uint64) []float64 {
	q, p := gaussian(n, k, seed), gaussian(k, k, seed+1)
	tsqr(q, n, k)
	tsqr(p, k, k)
	for i := range n {
		for j := range k {
			q[i*k+j] *= math.Pow(condition, -float64(j)/float64(max(k-1, 1)))
		}
	}
	return MultiplyRight(q, k, mat.NewDense(k, k, p))
}

// offIdentity is ‖QᵀQ − I‖_F, an upper bound of the 2-norm.
func offIdentity(q []float64, n, k int) float64 {
	g := Gram(q, n, k)
	for i := range k {
		g.SetSym(i, i, g.At(i, i)-1)
	}
	return mat.Norm(g, 2)
}

// checkQR checks orthogonality, A = QR column by column relative to the
// column's length, and the sign of R.
func checkQR(t testing.TB, a, q []float64, n, k int, r *QRResult, residual float64) {
	t.Helper()
	if off := offIdentity(q, n, k); !(off <= Orthogonality(n)) {
		t.Errorf("n=%d k=%d %s: ‖QᵀQ−I‖ = %g, want ≤ %g", n, k, r.Method, off, Orthogonality(n))
	}
	product := MultiplyRight(q, k, r.R)
	for j := range k {
		var length, off float64
		for i := range n {
			length = math.Hypot(length, a[i*k+j])
			off = math.Hypot(off, a[i*k+j]-product[i*k+j])
		}
		if off > residual*length {
			t.Errorf("n=%d k=%d %s: column %d of A−QR has length %g, column of A %g", n, k, r.Method, j, off, length)
		}
		if !(r.R.At(j, j) >= 0) {
			t.Errorf("R(%d,%d) = %g is negative", j, j, r.R.At(j, j))
		}
	}
}

func TestQROfWellConditionedMatrix(t *testing.T) {
	for _, size := range []struct{ n, k int }{{1, 1}, {5, 5}, {64, 3}, {65, 7}, {1000, 4}, {4097, 8}, {30000, 16}, {9000, 33}} {
		a := gaussian(size.n, size.k, 7)
		q := slices.Clone(a)
		r, err := QR(q, size.n, size.k)
		if err != nil || r.Rank != size.k {
			t.Fatal(r, err)
		}
		checkQR(t, a, q, size.n, size.k, r, 1e-14)
	}
}

func TestOnePassServesLargeOrthogonalLookingMatrix(t *testing.T) {
	n, k := 200_000, 8
	a := gaussian(n, k, 3)
	q := slices.Clone(a)
	r, _ := QR(q, n, k)
	if r.Method != CholeskyQR {
		t.Errorf("method %s for a matrix whose columns are almost orthogonal", r.Method)
	}
	checkQR(t, a, q, n, k, r, 1e-14)
}

func TestQROfEveryCondition(t *testing.T) {
	methods := map[Method]bool{}
	for exponent := 0; exponent <= 15; exponent++ {
		n, k := 10_000, 8
		a := conditioned(n, k, math.Pow(10, float64(exponent)), 11)
		q := slices.Clone(a)
		r, err := QR(q, n, k)
		if err != nil {
			t.Fatal(err)
		}
		methods[r.Method] = true
		checkQR(t, a, q, n, k, r, 1e-13)
		if exponent <= 11 && r.Rank != k {
			t.Errorf("condition 1e%d: rank %d", exponent, r.Rank)
		}
	}
	if !methods[CholeskyQR2] || !methods[ShiftedCholeskyQR3] {
		t.Errorf("the sweep went through %v only", methods)
	}
}

func TestQRAgreesWithHouseholder(t *testing.T) {
	n, k := 9000, 6
	a := conditioned(n, k, 1e3, 5)
	q, h := slices.Clone(a), slices.Clone(a)
	if _, err := QR(q, n, k); err != nil {
		t.Fatal(err)
	}
	tsqr(h, n, k)
	for i := range q {
		if math.Abs(q[i]-h[i]) > 1e-12 {
			t.Fatalf("entry %d: %g by Cholesky, %g by Householder", i, q[i], h[i])
		}
	}
}

func TestQROfDependentColumns(t *testing.T) {
	n, k := 5000, 6
	a := gaussian(n, k, 21)
	for i := range n {
		row := a[i*k : (i+1)*k]
		row[0] = 0
		row[3] = row[1] - 2*row[2]
		row[5] = row[4]
	}
	q := slices.Clone(a)
	r, err := QR(q, n, k)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Dependent, []int{0, 3, 5}) || r.Rank != 3 {
		t.Fatalf("dependent columns %v, rank %d", r.Dependent, r.Rank)
	}
	checkQR(t, a, q, n, k, r, 1e-13)
	for _, j := range r.Dependent {
		if r.R.At(j, j) != 0 {
			t.Errorf("R(%d,%d) = %g", j, j, r.R.At(j, j))
		}
		most := 0.0
		for i := range n {
			most = max(most, math.Abs(q[i*k+j]))
		}
		if most > 0.1 {
			t.Errorf("completion %d has an entry of %g: it singles out a row", j, most)
		}
	}
	again := slices.Clone(a)
	if _, err := QR(again, n, k); err != nil || !slices.Equal(again, q) {
		t.Error("a second run completes the columns differently", err)
	}
}

func TestQROfZeroMatrix(t *testing.T) {
	for _, size := range []struct{ n, k int }{{1, 1}, {2, 2}, {3, 3}, {100, 4}} {
		a := make([]float64, size.n*size.k)
		r, err := QR(a, size.n, size.k)
		if err != nil || r.Rank != 0 {
			t.Fatal(r, err)
		}
		if off := offIdentity(a, size.n, size.k); off > Orthogonality(size.n)+1e-14 {
			t.Errorf("%v: ‖QᵀQ−I‖ = %g", size, off)
		}
	}
}

func TestQROfBadlyScaledColumns(t *testing.T) {
	n, k := 3000, 5
	a := gaussian(n, k, 9)
	for i := range n {
		for j, s := range []float64{1e-300, 1e300, 1, 1e-160, 1e150} {
			a[i*k+j] *= s
		}
	}
	q := slices.Clone(a)
	r, err := QR(q, n, k)
	if err != nil || r.Rank != k {
		t.Fatal(r, err)
	}
	checkQR(t, a, q, n, k, r, 1e-13)
}

func TestQRRefusesNaN(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		a := gaussian(100, 3, 1)
		a[17*3+2] = bad
		before := slices.Clone(a)
		_, err := QR(a, 100, 3)
		var e *NotFiniteError
		if !errors.As(err, &e) || e.Row != 17 || e.Col != 2 {
			t.Fatalf("error %v", err)
		}
		for i := range a {
			if math.Float64bits(a[i]) != math.Float64bits(before[i]) {
				t.Fatal("matrix changed although it was refused")
			}
		}
	}
}

// TestResultDoesNotDependOnProcessors: one, two or seven goroutines, same bits.
func TestResultDoesNotDependOnProcessors(t *testing.T) {
	n, k := 20_000, 5
	for name, a := range map[string][]float64{"plain": gaussian(n, k, 2), "ill": conditioned(n, k, 1e10, 2), "zero": make([]float64, n*k)} {
		var first []float64
		for _, p := range []int{1, 2, 7} {
			old := runtime.GOMAXPROCS(p)
			q := slices.Clone(a)
			r, err := QR(q, n, k)
			runtime.GOMAXPROCS(old)
			if err != nil {
				t.Fatal(err)
			}
			q = append(q, r.R.RawTriangular().Data...)
			if first == nil {
				first = q
			} else if !slices.Equal(first, q) {
				t.Errorf("%s: %d processors change the result", name, p)
			}
		}
	}
}

func TestQRProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 9).Draw(t, "k")
		n := k + rapid.IntRange(0, 300).Draw(t, "extra")
		a := gaussian(n, k, rapid.Uint64().Draw(t, "seed"))
		for j := range k {
			scale := math.Pow(10, float64(rapid.IntRange(-200, 200).Draw(t, "scale")))
			from := rapid.IntRange(-1, j).Draw(t, "copy of")
			for i := range n {
				if from >= 0 && from < j {
					a[i*k+j] = a[i*k+from]
				} else {
					a[i*k+j] *= scale
				}
			}
		}
		q := slices.Clone(a)
		r, err := QR(q, n, k)
		if err != nil {
			t.Fatal(err)
		}
		if r.Rank+len(r.Dependent) != k {
			t.Fatalf("rank %d and %d dependent of %d columns", r.Rank, len(r.Dependent), k)
		}
		if off := offIdentity(q, n, k); off > Orthogonality(max(n, 4)) {
			t.Fatalf("‖QᵀQ−I‖ = %g", off)
		}
	})
}
