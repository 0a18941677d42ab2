package cholesky

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// qrSlow takes the matrices that plain CholeskyQR2 does not: it keeps a copy.
func qrSlow(a []float64, n, k int) (*QRResult, error) {
	exponents, err := columnExponents(a, n, k)
	if err != nil {
		return nil, err
	}
	scaleColumns(a, n, k, exponents, -1)
	original := append([]float64(nil), a...)
	r, method := shiftedQR3(a, n, k), ShiftedCholeskyQR3
	if r == nil || len(dependentColumns(r)) > 0 {
		copy(a, original)
		r, method = tsqr(a, n, k), Householder
	}
	dependent := dependentColumns(r)
	if len(dependent) > 0 {
		r = completeColumns(a, original, n, k, dependent)
	}
	for j := range k {
		for i := 0; i <= j; i++ {
			r.set(i, j, math.Ldexp(r.at(i, j), exponents[j]))
		}
	}
	return &QRResult{R: r.tri(), Rank: k - len(dependent), Dependent: dependent, Method: method}, nil
}

// columnExponents returns e with 2^(e-1) ≤ largest entry of column j < 2^e
// (0 for a zero column), so that scaling loses no bit.
func columnExponents(a []float64, n, k int) ([]int, error) {
	most := make([]float64, k)
	for i := range n {
		for j, x := range a[i*k : (i+1)*k] {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, &NotFiniteError{i, j, x}
			}
			most[j] = max(most[j], math.Abs(x))
		}
	}
	e := make([]int, k)
	for j, x := range most {
		if x > 0 {
			_, e[j] = math.Frexp(x)
		}
	}
	return e, nil
}

func scaleColumns(a []float64, n, k int, e []int, sign int) {
	for i := range n {
		row := a[i*k : (i+1)*k]
		for j := range row {
			row[j] = math.Ldexp(row[j], sign*e[j])
		}
	}
}

// shiftedQR3 is shifted CholeskyQR3 (Fukaya, Kannan, Nakatsukasa, Yamamoto,
// Yanagisawa 2020): a shift of 11 times the rounding error of the Gram matrix
// makes the first Cholesky succeed and brings the condition below 1e8. It
// returns nil, with a in ruins, when the columns are too close to dependent.
func shiftedQR3(a []float64, n, k int) *upper {
	gram := Gram(a, n, k)
	if !inRange(gram) {
		return nil
	}
	gamma := leafRows + math.Log2(1+float64(n)/leafRows) + float64(k) + 1
	r1, _ := equilibratedCholesky(gram, 11*unit*gamma*float64(k))
	if r1 == nil {
		return nil
	}
	r2, least := equilibratedCholesky(applyInverse(a, n, k, r1, true), 0)
	if _, twice := passesNeeded(n, k, least); r2 == nil || !twice {
		return nil
	}
	r3, ok := secondPass(a, n, k, r2)
	if !ok {
		return nil
	}
	r3.triMul(r2)
	r3.triMul(r1)
	return r3
}

// dependentColumns lists the columns of R (and so of A = QR) that lie within
// 64·k·2^-53 of the span of those before them, relative to their length. It
// orthogonalises the columns of R twice against the independent ones.
func dependentColumns(r *upper) []int {
	var dependent []int
	var basis [][]float64
	for j := range r.k {
		column := make([]float64, r.k)
		for i := 0; i <= j; i++ {
			column[i] = r.at(i, j)
		}
		length := blas64.Nrm2(vector(column))
		for range 2 {
			for _, q := range basis {
				blas64.Axpy(-blas64.Dot(vector(q), vector(column)), vector(q), vector(column))
			}
		}
		rest := blas64.Nrm2(vector(column))
		if !(rest > 64*float64(r.k)*unit*length) {
			dependent = append(dependent, j)
			continue
		}
		blas64.Scal(1/rest, vector(column))
		basis = append(basis, column)
	}
	return dependent
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// completeColumns puts pseudo-random signs, the same in every run, in place of
// the dependent columns, factors the result, and expresses the original in it.
// Signs spread a completion over all rows; a unit vector, which Householder
// reflections would give, would single out one vertex.
func completeColumns(a, original []float64, n, k int, dependent []int) *upper {
	copy(a, original)
	for _, j := range dependent {
		random := rand.New(rand.NewPCG(0x436f6c756d6e, uint64(j)))
		for i := 0; i < n; i += 64 {
			word := random.Uint64()
			for l := i; l < min(n, i+64); l++ {
				a[l*k+j] = float64(int64(word&1)*2 - 1)
				word >>= 1
			}
		}
	}
	q := append([]float64(nil), a...)
	r := tsqr(q, n, k)
	if len(dependentColumns(r)) > 0 {
		// Signs may be dependent when n is close to k (always when n = k = 1 and
		// the like); unit vectors from Householder reflections will do there.
		copy(a, original)
		r = tsqr(a, n, k)
	} else {
		copy(a, q)
	}
	projected := crossGram(a, original, n, k)
	for i := range k {
		for j := i; j < k; j++ {
			r.set(i, j, projected.At(i, j))
		}
	}
	for _, j := range dependent {
		r.set(j, j, 0)
	}
	return r
}

// crossGram returns QᵀA.
func crossGram(q, a []float64, n, k int) *mat.Dense {
	parts := make([][]float64, blocks(n))
	forBlocks(n, func() struct{} { return struct{}{} }, func(_ struct{}, b, from, to int) {
		out := make([]float64, k*k)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, general(q[from*k:to*k], k), general(a[from*k:to*k], k), 0, general(out, k))
		parts[b] = out
	})
	return mat.NewDense(k, k, treeSum(parts))
}

func general(a []float64, k int) blas64.General {
	return blas64.General{Rows: len(a) / k, Cols: k, Stride: k, Data: a}
}

// tsqr overwrites a by Q from Householder reflections and returns R: blocks of
// rows are factored one by one, their R factors stacked and factored in turn.
func tsqr(a []float64, n, k int) *upper {
	size := max(BlockRows, 2*k)
	count := max(1, n/size) // the last block takes the rest, so none has fewer than k rows
	if count == 1 {
		return householder(a, n, k)
	}
	bound := func(b int) int {
		if b == count {
			return n
		}
		return b * size
	}
	stacked := make([]float64, count*k*k)
	forBlocks(count*BlockRows, func() struct{} { return struct{}{} }, func(_ struct{}, b, _, _ int) {
		r := householder(a[bound(b)*k:bound(b+1)*k], bound(b+1)-bound(b), k)
		copy(stacked[b*k*k:], r.v)
	})
	r := tsqr(stacked, count*k, k)
	forBlocks(count*BlockRows, func() []float64 { return nil }, func(_ []float64, b, _, _ int) {
		rows := a[bound(b)*k : bound(b+1)*k]
		product := make([]float64, len(rows))
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(rows, k), general(stacked[b*k*k:(b+1)*k*k], k), 0, general(product, k))
		copy(rows, product)
	})
	return r
}

// householder overwrites a by Q and returns R with diagonal ≥ 0.
func householder(a []float64, n, k int) *upper {
	g := general(a, k)
	tau := make([]float64, k)
	work := make([]float64, 1)
	lapack64.Geqrf(g, tau, work, -1)
	work = make([]float64, max(k, int(work[0])))
	lapack64.Geqrf(g, tau, work, len(work))
	r := newUpper(k)
	for i := range k {
		copy(r.v[i*k+i:(i+1)*k], a[i*k+i:(i+1)*k])
	}
	lapack64.Orgqr(g, tau, work, len(work))
	for i := range k {
		if math.Signbit(r.at(i, i)) {
			blas64.Scal(-1, blas64.Vector{N: k, Data: r.v[i*k:], Inc: 1})
			blas64.Scal(-1, blas64.Vector{N: n, Data: a[i:], Inc: k})
		}
	}
	return r
}
