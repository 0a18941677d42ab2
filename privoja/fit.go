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
	// Held estimates VᵀAV per component from a step that V's twin did not see, and HeldNoise
	// is its standard error: a component of pure noise has |Held| ≲ 3·HeldNoise. Empty for a
	// transcript of one step.
	Held, HeldNoise []float64
	// Offset (K numbers) is what centring took from every row of V: V plus Offset are rows of
	// A·V·Λ⁻¹, 0 for a vertex without neighbours. Nil where no vectors were fitted.
	Offset []float64
	// RowNoise is the covariance (K×K) of a row of V given the transcript: the posterior of
	// the fit in the basis of V. Nil where no vectors were fitted.
	RowNoise *mat.Dense
}

// FitRounds alternations between vectors and eigenvalues: the third changes the vectors
// by less than their noise on every graph tried.
const FitRounds = 3

// Fit estimates eigenvectors and eigenvalues from every recorded pair (V_t, Y_t), with
// the noise of step t known to be Gaussian of variance s_t². It starts from v (n×k) and
// alternates
//
//	B_t = Λ·Vᵀ·V_t,  X = (Σ Y_t·B_tᵀ/s_t²)·(Σ B_t·B_tᵀ/s_t² + n·I)⁻¹,  V ← QR(X)
//	M = (Σ (VᵀY_t)(VᵀV_t)ᵀ/s_t²)·(Σ (VᵀV_t)(VᵀV_t)ᵀ/s_t²)⁻¹, symmetrised → Λ
//
// X is the posterior mean of the rows under the prior that a row has variance 1/n; M is
// weighted least squares for V·M·Vᵀ. It is post-processing: no budget, no graph. It
// reads the transcript twice per round, a step at a time. With no rounds it estimates only
// Λ and the rotation of v.
//
// Vectors that were fitted to noise agree with that noise, so Λ is too large by what the
// noise gives (many times N where there is no signal at all). The last step's noise is
// independent of everything before it: Held is VᵀAV as the last step alone shows it, for
// vectors fitted to the others, without that bias.
func Fit(ctx context.Context, tr Transcript, v []float64, n, k int, centred bool, rounds int) (*Estimate, error) {
	r := reading{tr: tr, n: n, k: k, centred: centred, means: make([]float64, k)}
	f := &fitter{steps: tr.Len(), n: n, k: k, v: append([]float64(nil), v...)}
	fits := []*fitter{f}
	if tr.Len() > 1 {
		// v itself has seen the last step's noise; the vectors before it have not.
		last, _, _, err := r.step(ctx, tr.Len()-1)
		if err != nil {
			return nil, err
		}
		if _, err := cholesky.QR(last, n, k); err != nil {
			return nil, err
		}
		fits = append(fits, &fitter{steps: tr.Len() - 1, n: n, k: k, v: last})
	}
	if err := r.eigenvalues(ctx, fits); err != nil {
		return nil, err
	}
	for range rounds {
		if err := r.vectors(ctx, fits); err != nil {
			return nil, err
		}
		if err := r.eigenvalues(ctx, fits); err != nil {
			return nil, err
		}
	}
	e := &Estimate{N: n, K: k, V: f.v, Lambda: f.lambda, Noise: f.noise, Offset: f.offset, RowNoise: f.rowNoise}
	if len(fits) == 1 {
		return e, nil
	}
	vt, yt, s2, err := r.step(ctx, tr.Len()-1)
	if err != nil {
		return nil, err
	}
	return e, e.hold(fits[1], vt, yt, s2)
}

// hold fills Held and HeldNoise: M = (VᵀY_T)(VᵀV_T)⁻¹ in the basis of the fit that did not
// see step T, turned to the final basis.
func (e *Estimate) hold(before *fitter, vt, yt []float64, s2 float64) error {
	inv, err := cholesky.PseudoInverse(cross(before.v, vt, e.N, e.K))
	if err != nil {
		return err
	}
	var m, turned, spread mat.Dense
	m.Mul(cross(before.v, yt, e.N, e.K), inv)
	turn := cross(e.V, before.v, e.N, e.K)
	turned.Product(turn, &m, turn.T())
	// Noise of VᵀY is independent with variance s² per entry: row j of the turned matrix has
	// covariance s²·‖turn_j‖²·(turn·inv ᵀ)(…)ᵀ.
	spread.Mul(turn, inv.T())
	e.Held, e.HeldNoise = make([]float64, e.K), make([]float64, e.K)
	for j := range e.K {
		a, b := mat.Norm(turn.RowView(j), 2), mat.Norm(spread.RowView(j), 2)
		e.Held[j], e.HeldNoise[j] = turned.At(j, j), math.Sqrt(s2)*a*b
	}
	return nil
}

// reading goes through a transcript, one step in memory at a time, for all fits together:
// reading and checking a step costs more than the sums over it.
type reading struct {
	tr      Transcript
	n, k    int
	centred bool
	means   []float64 // what centring took from the columns of the Y that step read last
}

// step reads record t as floats: V_t, Y_t (centred) and s_t².
func (r reading) step(ctx context.Context, t int) (vt, yt []float64, s2 float64, err error) {
	rec, err := r.tr.Read(ctx, t)
	if err != nil {
		return nil, nil, 0, err
	}
	if err := rec.check(r.n, r.k); err != nil {
		return nil, nil, 0, err
	}
	unit := math.Ldexp(1, -int(rec.Bits))
	vt, yt = make([]float64, len(rec.V)), make([]float64, len(rec.Y))
	inBlocks(r.n, func(_, from, to int) {
		for i := from * r.k; i < to*r.k; i++ {
			vt[i], yt[i] = float64(rec.V[i])*unit, float64(rec.Y[i])*unit
		}
	})
	if r.centred {
		copy(r.means, centre(yt, r.n, r.k))
		centre(vt, r.n, r.k)
	}
	return vt, yt, rec.Sigma2.Float() * unit * unit, nil
}

// each hands every step to the fits that count it.
func (r reading) each(ctx context.Context, fits []*fitter, visit func(f *fitter, t int, vt, yt []float64, s2 float64)) error {
	for t := range r.tr.Len() {
		vt, yt, s2, err := r.step(ctx, t)
		if err != nil {
			return err
		}
		for _, f := range fits {
			if t < f.steps {
				visit(f, t, vt, yt, s2)
			}
		}
	}
	return nil
}

type fitter struct {
	steps   int // how many of the transcript's steps count
	n, k    int
	v       []float64
	lambda  []float64
	noise   []float64
	overlap []*mat.Dense // VᵀV_t for every t, in the current basis

	rowNoise *mat.Dense
	offset   []float64 // what centring took from a row, in the current basis

	num, den *mat.Dense // sums of the pass under way
	x        []float64
	shift    []float64 // the same sum over the means of Y's columns
}

// eigenvalues solves for M, rotates V to its eigenvectors and keeps the overlaps.
func (r reading) eigenvalues(ctx context.Context, fits []*fitter) error {
	for _, f := range fits {
		f.num, f.den, f.overlap = mat.NewDense(r.k, r.k, nil), mat.NewDense(r.k, r.k, nil), f.overlap[:0]
	}
	if err := r.each(ctx, fits, (*fitter).addEigenvalues); err != nil {
		return err
	}
	for _, f := range fits {
		if err := f.solveEigenvalues(); err != nil {
			return fmt.Errorf("fitting eigenvalues: %w", err)
		}
	}
	return nil
}

func (f *fitter) addEigenvalues(_ int, vt, yt []float64, s2 float64) {
	c := cross(f.v, vt, f.n, f.k)
	d := cross(f.v, yt, f.n, f.k)
	f.overlap = append(f.overlap, c)
	var p mat.Dense
	p.Mul(d, c.T())
	p.Scale(1/s2, &p)
	f.num.Add(f.num, &p)
	p.Mul(c, c.T())
	p.Scale(1/s2, &p)
	f.den.Add(f.den, &p)
}

func (f *fitter) solveEigenvalues() error {
	inv, err := cholesky.PseudoInverse(f.den)
	if err != nil {
		return err
	}
	var m mat.Dense
	m.Mul(f.num, inv)
	values, vectors, err := symmetricEigen(&m)
	if err != nil {
		return err
	}
	f.rotate(values, vectors, inv)
	return nil
}

// symmetricEigen returns the eigenvalues of (M+Mᵀ)/2, largest first, and its eigenvectors
// as columns.
func symmetricEigen(m *mat.Dense) ([]float64, *mat.Dense, error) {
	k, _ := m.Dims()
	var es mat.EigenSym
	if !es.Factorize(cholesky.Symmetric(m), true) {
		return nil, nil, fmt.Errorf("no convergence on a %d×%d matrix", k, k)
	}
	var vec mat.Dense
	es.VectorsTo(&vec)
	ascending := es.Values(nil)
	values, u := make([]float64, k), mat.NewDense(k, k, nil)
	for j := range k {
		values[j] = ascending[k-1-j]
		u.SetCol(j, mat.Col(nil, k-1-j, &vec))
	}
	return values, u, nil
}

// rotate turns V and the overlaps into the eigenbasis, largest eigenvalue first.
func (f *fitter) rotate(values []float64, u, inv *mat.Dense) {
	k := f.k
	f.lambda, f.noise = values, make([]float64, k)
	for j := range k {
		var w mat.VecDense
		w.MulVec(inv, u.ColView(j))
		f.noise[j] = math.Sqrt(math.Max(0, mat.Dot(&w, u.ColView(j))))
	}
	f.v = cholesky.MultiplyRight(f.v, k, u)
	if f.rowNoise != nil {
		f.rowNoise.Product(u.T(), f.rowNoise, u)
		f.offset = cholesky.MultiplyRight(f.offset, k, u)
	}
	for _, c := range f.overlap {
		var r mat.Dense
		r.Mul(u.T(), c)
		c.Copy(&r)
	}
}

// vectors solves for the rows X given Λ and V.
func (r reading) vectors(ctx context.Context, fits []*fitter) error {
	for _, f := range fits {
		f.den, f.x, f.shift = mat.NewDense(r.k, r.k, nil), make([]float64, r.n*r.k), make([]float64, r.k)
		for j := range r.k {
			f.den.Set(j, j, float64(r.n))
		}
	}
	visit := func(f *fitter, t int, vt, yt []float64, s2 float64) { f.addVectors(t, yt, r.means, s2) }
	if err := r.each(ctx, fits, visit); err != nil {
		return err
	}
	for _, f := range fits {
		if err := f.solveVectors(); err != nil {
			return fmt.Errorf("fitting vectors: %w", err)
		}
	}
	return nil
}

func (f *fitter) addVectors(t int, yt, means []float64, s2 float64) {
	b := mat.NewDense(f.k, f.k, nil)
	b.Apply(func(i, _ int, c float64) float64 { return f.lambda[i] * c }, f.overlap[t])
	var p mat.Dense
	p.Mul(b, b.T())
	p.Scale(1/s2, &p)
	f.den.Add(f.den, &p)
	var bt mat.Dense
	bt.Scale(1/s2, b.T())
	add := cholesky.MultiplyRight(yt, f.k, &bt)
	inBlocks(f.n, func(_, from, to int) {
		for i := from * f.k; i < to*f.k; i++ {
			f.x[i] += add[i]
		}
	})
	for j, x := range cholesky.MultiplyRight(means, f.k, &bt) {
		f.shift[j] += x
	}
}

func (f *fitter) solveVectors() error {
	inv, err := cholesky.PseudoInverse(f.den)
	if err != nil {
		return err
	}
	f.v, f.x = cholesky.MultiplyRight(f.x, f.k, inv), nil
	res, err := cholesky.QR(f.v, f.n, f.k)
	if err != nil {
		return err
	}
	// Rows are X·R⁻¹, and a row of X has covariance inv.
	r, err := cholesky.PseudoInverse(mat.DenseCopyOf(res.R))
	if err != nil {
		return err
	}
	f.rowNoise = mat.NewDense(f.k, f.k, nil)
	f.rowNoise.Product(r.T(), inv, r)
	f.offset = cholesky.MultiplyRight(cholesky.MultiplyRight(f.shift, f.k, inv), f.k, r)
	return nil
}
