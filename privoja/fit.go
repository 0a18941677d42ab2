package privoja

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/privcom/privcom/cholesky"
)

// Estimate is an eigendecomposition fitted to a transcript: Y_t ≈ V·Λ·Vᵀ·V_t.
type Estimate struct {
	N, K   int
	V      []float64 // N×K, orthonormal columns
	Lambda []float64 // descending; eigenvalues of the operator that was multiplied
	// Noise is, per component, the standard error of Lambda from the noise in Y alone.
	Noise []float64
}

// fitRounds alternations between vectors and eigenvalues: the third changes the vectors
// by less than their noise on every graph tried.
const fitRounds = 3

// Fit estimates eigenvectors and eigenvalues from every recorded pair (V_t, Y_t), with
// the noise of step t known to be Gaussian of variance s_t². It starts from v (n×k) and
// alternates
//
//	B_t = Λ·Vᵀ·V_t,  X = (Σ Y_t·B_tᵀ/s_t²)·(Σ B_t·B_tᵀ/s_t² + n·I)⁻¹,  V ← QR(X)
//	M = (Σ (VᵀY_t)(VᵀV_t)ᵀ/s_t²)·(Σ (VᵀV_t)(VᵀV_t)ᵀ/s_t²)⁻¹, symmetrised → Λ
//
// X is the posterior mean of the rows under the prior that a row has variance 1/n; M is
// weighted least squares for V·M·Vᵀ. It is post-processing: no budget, no graph. It
// reads the transcript twice per round, a step at a time.
func Fit(ctx context.Context, tr Transcript, v []float64, n, k int, centred bool) (*Estimate, error) {
	f := &fitter{tr: tr, n: n, k: k, centred: centred, v: append([]float64(nil), v...)}
	if err := f.eigenvalues(ctx); err != nil {
		return nil, err
	}
	for range fitRounds {
		if err := f.vectors(ctx); err != nil {
			return nil, err
		}
		if err := f.eigenvalues(ctx); err != nil {
			return nil, err
		}
	}
	return &Estimate{N: n, K: k, V: f.v, Lambda: f.lambda, Noise: f.noise}, nil
}

type fitter struct {
	tr      Transcript
	n, k    int
	centred bool
	v       []float64
	lambda  []float64
	noise   []float64
	overlap []*mat.Dense // VᵀV_t for every t, in the current basis
}

// step reads record t as floats: V_t, Y_t (centred) and s_t².
func (f *fitter) step(ctx context.Context, t int) (vt, yt []float64, s2 float64, err error) {
	r, err := f.tr.Read(ctx, t)
	if err != nil {
		return nil, nil, 0, err
	}
	if err := r.check(f.n, f.k); err != nil {
		return nil, nil, 0, err
	}
	unit := math.Ldexp(1, -int(r.Bits))
	vt, yt = make([]float64, len(r.V)), make([]float64, len(r.Y))
	for i, x := range r.V {
		vt[i] = float64(x) * unit
	}
	for i, x := range r.Y {
		yt[i] = float64(x) * unit
	}
	if f.centred {
		centre(yt, f.n, f.k)
		centre(vt, f.n, f.k)
	}
	return vt, yt, r.Sigma2.Float() * unit * unit, nil
}

// eigenvalues solves for M, rotates V to its eigenvectors and keeps the overlaps.
func (f *fitter) eigenvalues(ctx context.Context) error {
	k := f.k
	num, den := mat.NewDense(k, k, nil), mat.NewDense(k, k, nil)
	f.overlap = f.overlap[:0]
	for t := range f.tr.Len() {
		vt, yt, s2, err := f.step(ctx, t)
		if err != nil {
			return err
		}
		c := cross(f.v, vt, f.n, k)
		d := cross(f.v, yt, f.n, k)
		f.overlap = append(f.overlap, c)
		var p mat.Dense
		p.Mul(d, c.T())
		p.Scale(1/s2, &p)
		num.Add(num, &p)
		p.Mul(c, c.T())
		p.Scale(1/s2, &p)
		den.Add(den, &p)
	}
	inv, err := cholesky.PseudoInverse(den)
	if err != nil {
		return fmt.Errorf("fitting eigenvalues: %w", err)
	}
	var m mat.Dense
	m.Mul(num, inv)
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	var es mat.EigenSym
	if !es.Factorize(sym, true) {
		return fmt.Errorf("fitting eigenvalues: no convergence on a %d×%d matrix", k, k)
	}
	f.rotate(&es, inv)
	return nil
}

// rotate turns V and the overlaps into the eigenbasis, largest eigenvalue first.
func (f *fitter) rotate(es *mat.EigenSym, inv *mat.Dense) {
	k := f.k
	var vec mat.Dense
	es.VectorsTo(&vec)
	values := es.Values(nil)
	u := mat.NewDense(k, k, nil)
	f.lambda, f.noise = make([]float64, k), make([]float64, k)
	for j := range k {
		src := k - 1 - j // gonum sorts ascending
		f.lambda[j] = values[src]
		for i := range k {
			u.Set(i, j, vec.At(i, src))
		}
		var w mat.VecDense
		w.MulVec(inv, u.ColView(j))
		f.noise[j] = math.Sqrt(math.Max(0, mat.Dot(&w, u.ColView(j))))
	}
	f.v = cholesky.MultiplyRight(f.v, k, u)
	for _, c := range f.overlap {
		var r mat.Dense
		r.Mul(u.T(), c)
		c.Copy(&r)
	}
}

// vectors solves for the rows X given Λ and V.
func (f *fitter) vectors(ctx context.Context) error {
	k := f.k
	gram := mat.NewDense(k, k, nil)
	for j := range k {
		gram.Set(j, j, float64(f.n))
	}
	x := make([]float64, f.n*k)
	for t := range f.tr.Len() {
		_, yt, s2, err := f.step(ctx, t)
		if err != nil {
			return err
		}
		b := mat.NewDense(k, k, nil)
		b.Apply(func(i, _ int, c float64) float64 { return f.lambda[i] * c }, f.overlap[t])
		var p mat.Dense
		p.Mul(b, b.T())
		p.Scale(1/s2, &p)
		gram.Add(gram, &p)
		var bt mat.Dense
		bt.Scale(1/s2, b.T())
		for i, add := range cholesky.MultiplyRight(yt, k, &bt) {
			x[i] += add
		}
	}
	inv, err := cholesky.PseudoInverse(gram)
	if err != nil {
		return fmt.Errorf("fitting vectors: %w", err)
	}
	f.v = cholesky.MultiplyRight(x, k, inv)
	_, err = cholesky.QR(f.v, f.n, k)
	return err
}

// cross is AᵀB (k×k) for n×k matrices, over fixed blocks in order.
func cross(a, b []float64, n, k int) *mat.Dense {
	out := mat.NewDense(k, k, nil)
	raw := out.RawMatrix().Data
	part := make([]float64, k*k)
	for from := 0; from < n; from += cholesky.BlockRows {
		clear(part)
		for i := from; i < min(from+cholesky.BlockRows, n); i++ {
			for p, x := range a[i*k : i*k+k] {
				row := part[p*k : p*k+k]
				for q, y := range b[i*k : i*k+k] {
					row[q] += x * y
				}
			}
		}
		for i, x := range part {
			raw[i] += x
		}
	}
	return out
}
