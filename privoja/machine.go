package privoja

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"time"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/cholesky"
	"github.com/privcom/privcom/privacy"
)

// Config fixes a run. All of it is public.
type Config struct {
	Plan    *privacy.Plan
	Centre  bool      // keep V orthogonal to the constant vector (docs/utility.md)
	Paper   bool      // the paper's sensitivity S = 1, no row clip, its own eigenvalues
	Seed    uint64    // of V₀
	Initial []float64 // V₀ (n×k, row-major); nil: Gaussian from Seed
	// Observe is told how long each part of a step took; it may be nil. Times are private,
	// like everything of a run but its answers.
	Observe func(Part, time.Duration)
}

// Part is a part of a step.
type Part string

// What a step does besides sums over public matrices.
const (
	PartMultiply Part = "multiply" // the answer of the shards, with everything on the way
	PartNoise    Part = "noise"
	PartRecord   Part = "record"
	PartQR       Part = "QR"
)

// observe tells Observe of a part that began at start.
func (m *Machine) observe(p Part, start time.Time) {
	if m.cfg.Observe != nil {
		m.cfg.Observe(p, time.Since(start))
	}
}

// Machine runs the steps of one release.
type Machine struct {
	cfg        Config
	mul        blockmatmul.Multiplier
	grant      *privacy.Grant
	transcript Transcript
	v          []float64 // V_t, orthonormal columns
	step       int
}

// New prepares a machine at step 0. The grant must have been reserved for cfg.Plan.
func New(cfg Config, mul blockmatmul.Multiplier, grant *privacy.Grant, transcript Transcript) (*Machine, error) {
	m := &Machine{cfg: cfg, mul: mul, grant: grant, transcript: transcript}
	n, k := cfg.Plan.Params.Vertices, cfg.Plan.Params.Rank
	if cfg.Initial != nil {
		if len(cfg.Initial) != n*k {
			return nil, fmt.Errorf("initial matrix has %d numbers, want %d×%d", len(cfg.Initial), n, k)
		}
		m.v = append([]float64(nil), cfg.Initial...)
	} else {
		rng := rand.New(rand.NewPCG(cfg.Seed, 0x6f6a61)) // public randomness
		m.v = make([]float64, n*k)
		for i := range m.v {
			m.v[i] = rng.NormFloat64()
		}
	}
	if cfg.Centre {
		centre(m.v, n, k)
	}
	res, err := cholesky.QR(m.v, n, k)
	if err != nil {
		return nil, fmt.Errorf("initial matrix: %w", err)
	}
	if cfg.Initial != nil && res.Rank < k {
		return nil, fmt.Errorf("initial matrix has rank %d, want %d independent columns", res.Rank, k)
	}
	return m, nil
}

// Done reports whether all steps have run.
func (m *Machine) Done() bool { return m.step == m.cfg.Plan.Params.Steps }

// StepNumber is how many steps have run.
func (m *Machine) StepNumber() int { return m.step }

// Step runs one Oja step.
func (m *Machine) Step(ctx context.Context) error {
	if m.Done() {
		return errors.New("privoja: all steps have run; a release draws its noise once")
	}
	p, s := m.cfg.Plan.Params, m.cfg.Plan.Steps[m.step]
	rec, err := m.answer(ctx, s)
	if err != nil {
		return err
	}
	y := make([]float64, len(rec.Y))
	unit := math.Ldexp(1, -int(rec.Bits)) // exact: a power of two
	inBlocks(p.Vertices, func(_, from, to int) {
		for i := from * p.Rank; i < to*p.Rank; i++ {
			y[i] = float64(rec.Y[i]) * unit
		}
	})
	if m.cfg.Centre {
		centre(y, p.Vertices, p.Rank)
	}
	if err := m.update(y, s.Eta); err != nil {
		return fmt.Errorf("step %d: %w", m.step+1, err)
	}
	start := time.Now()
	if _, err := cholesky.QR(m.v, p.Vertices, p.Rank); err != nil {
		return fmt.Errorf("step %d: %w", m.step+1, err)
	}
	m.observe(PartQR, start)
	m.step++
	return nil
}

// update is V ← V + Y·diag(η_j) in the basis in which VᵀY is diagonal (Ritz vectors):
// η_j = η where the Ritz value θ_j is positive, and at most 1/|θ_j| where it is negative.
// With one η for all, |1 + ηθ| grows for a large negative θ too and the loop finds
// eigenvectors of large magnitude instead of large value; a step of 1/|θ| removes such
// a direction. Y is public, so this costs nothing. For θ ≥ 0 it is the paper's step.
func (m *Machine) update(y []float64, eta float64) error {
	n, k := m.cfg.Plan.Params.Vertices, m.cfg.Plan.Params.Rank
	if !m.cfg.Paper {
		values, vectors, err := symmetricEigen(cross(m.v, y, n, k))
		if err != nil {
			return err
		}
		m.v, y = cholesky.MultiplyRight(m.v, k, vectors), cholesky.MultiplyRight(y, k, vectors)
		steps := make([]float64, k)
		for j, theta := range values {
			if steps[j] = eta; theta < 0 {
				steps[j] = math.Min(eta, -1/theta)
			}
		}
		inBlocks(n, func(_, from, to int) {
			for i := from * k; i < to*k; i++ {
				y[i] *= steps[(i-from*k)%k]
			}
		})
		eta = 1
	}
	inBlocks(n, func(_, from, to int) {
		for i := from * k; i < to*k; i++ {
			m.v[i] += eta * y[i]
		}
	})
	return nil
}

// answer gives the durable answer of the step at hand: the recorded one, or one that it
// draws and records. Nothing of a drawn answer goes on from here before the transcript has
// returned it, and where another coordinator was faster, that one's answer does.
func (m *Machine) answer(ctx context.Context, s privacy.Step) (*Record, error) {
	op, q, err := m.query(s)
	if err != nil {
		return nil, err
	}
	var rec *Record
	var sigma2 *big.Int
	if m.step < m.transcript.Len() {
		if rec, err = m.transcript.Read(ctx, m.step); err == nil {
			err = rec.check(q.N, q.K)
		}
		if err == nil {
			sigma2, err = m.grant.MatrixRecorded(q, s.Rho)
		}
	} else {
		rec, sigma2, err = m.draw(ctx, op, q, s)
	}
	if err != nil {
		return nil, err
	}
	if !rec.asks(op, q, s) || rec.Sigma2.String() != variance(sigma2) {
		return nil, &ReplayError{fmt.Sprintf("step %d", m.step+1)}
	}
	return rec, nil
}

// variance is σ² as a record has it.
func variance(sigma2 *big.Int) string {
	d, err := privacy.ParseDecimal(sigma2.String())
	if err != nil {
		return ""
	}
	return d.String()
}

// draw multiplies, adds noise and records: the only way from the graph to a step.
func (m *Machine) draw(ctx context.Context, op *blockmatmul.Operand, q privacy.Query, s privacy.Step) (*Record, *big.Int, error) {
	start := time.Now()
	product, err := m.series().Multiply(ctx, m.mul, op, q.Clip)
	if err != nil {
		return nil, nil, fmt.Errorf("step %d: %w", m.step+1, err)
	}
	m.observe(PartMultiply, start)
	start = time.Now()
	sigma2, err := m.grant.Matrix(q, s.Rho, product.Data)
	if err != nil {
		return nil, nil, err
	}
	m.observe(PartNoise, start)
	squared, err := privacy.ParseDecimal(sigma2.String())
	if err != nil {
		return nil, nil, err
	}
	start = time.Now()
	rec, err := m.transcript.Append(ctx, &Record{Step: m.step, Rows: q.N, Cols: q.K, Bits: op.Bits(), Radius: op.Radius(), Clip: q.Clip,
		Sigma2: squared, Rho: s.Rho, V: op.Data(), Y: product.Data})
	if err != nil {
		return nil, nil, fmt.Errorf("recording step %d: %w", m.step+1, err)
	}
	m.observe(PartRecord, start)
	return rec, sigma2, nil
}

// query quantises V and describes what will be asked of the graph.
func (m *Machine) query(s privacy.Step) (*blockmatmul.Operand, privacy.Query, error) {
	p := m.cfg.Plan.Params
	radius := p.Radius()
	if m.cfg.Paper {
		radius = 1 // orthonormal columns: no row is longer, nothing is clipped
	}
	op, err := blockmatmul.Quantise(m.v, p.Vertices, p.Rank, radius, p.ScaleBits)
	if err != nil {
		return nil, privacy.Query{}, err
	}
	width, counts := op.NormCounts()
	q := privacy.Query{Unit: p.Unit, N: p.Vertices, K: p.Rank, Katz: p.Katz, DegreeLimit: p.DegreeLimit,
		Norms: privacy.Norms{Radius: op.Radius(), Width: width, Counts: counts},
		Clip:  privacy.ClipAt(s.ClipFactor, op.Radius(), p.DegreeBound)}
	if m.cfg.Paper {
		q.Fixed = privacy.PaperUnits(p.Katz, p.ScaleBits)
	}
	return op, q, nil
}

func (m *Machine) series() blockmatmul.Series {
	p := m.cfg.Plan.Params
	return blockmatmul.Series{Order: p.Katz.Order, Num: p.Katz.Num, Bits: p.Katz.Bits, DegreeLimit: p.DegreeLimit}
}

// Vectors is V after the steps that have run: n×k, row-major, orthonormal columns.
func (m *Machine) Vectors() []float64 { return m.v }

// PaperEigenvalues are λ̂ = √(‖H̃v‖² + N(0, σ²)) for each column (paper, Algorithm 1,
// line 6), in units of H̃; a negative number under the root counts as 0.
func (m *Machine) PaperEigenvalues(ctx context.Context) ([]float64, error) {
	p := m.cfg.Plan.Params
	op, _, err := m.query(privacy.Step{})
	if err != nil {
		return nil, err
	}
	// ‖W‖² = ‖H̃v‖²/β² in squared units, so S = 1 becomes the square of PaperUnits.
	s2 := privacy.PaperUnits(p.Katz, p.ScaleBits)
	scale, _ := new(big.Float).SetInt(s2).Float64()
	s2.Mul(s2, s2)
	query, err := Question(op, "squares", s2, m.cfg.Plan.EigenRho)
	if err != nil {
		return nil, err
	}
	booked := func() error {
		for range p.Rank {
			if _, err := m.grant.SquareRecorded(m.cfg.Plan.EigenRho, s2); err != nil {
				return err
			}
		}
		return nil
	}
	a, err := answerOnce(ctx, m.transcript, "squares", query, booked, func() (*Answer, error) { return m.squares(ctx, op, s2) })
	if err != nil {
		return nil, err
	}
	if len(a.Big) != p.Rank {
		return nil, &ReplayError{"squares"}
	}
	out := make([]float64, p.Rank)
	for j, y := range a.Big {
		f, _ := new(big.Float).SetInt(y).Float64()
		out[j] = math.Sqrt(math.Max(0, f/scale))
	}
	return out, nil
}

// squares draws ‖W_j‖² + noise for every column of W = H̃V/β.
func (m *Machine) squares(ctx context.Context, op *blockmatmul.Operand, s2 *big.Int) (*Answer, error) {
	p := m.cfg.Plan.Params
	w, err := m.series().Multiply(ctx, m.mul, op, 0)
	if err != nil {
		return nil, err
	}
	a := &Answer{}
	for j := range p.Rank {
		sum, x := new(big.Int), new(big.Int)
		for i := range p.Vertices {
			x.SetInt64(w.Data[i*p.Rank+j])
			sum.Add(sum, x.Mul(x, x))
		}
		y, _, err := m.grant.Square(m.cfg.Plan.EigenRho, s2, sum)
		if err != nil {
			return nil, err
		}
		a.Big = append(a.Big, y)
	}
	return a, nil
}

// centre subtracts each column's mean, and returns the means.
func centre(a []float64, n, k int) []float64 {
	means := cholesky.Means(cholesky.PartialSums(a, k), n, k)
	inBlocks(n, func(_, from, to int) {
		for i := from * k; i < to*k; i += k {
			for j := range k {
				a[i+j] -= means[j]
			}
		}
	})
	return means
}
