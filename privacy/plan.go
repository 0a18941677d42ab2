package privacy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Params are the public parameters that fix a release's noise schedule. Nothing here
// may be chosen by looking at the graph.
type Params struct {
	Unit        Unit    `json:"unit"`
	Target      Target  `json:"guarantee"`
	Vertices    int     `json:"vertices"`     // n: the vertex list is public
	Rank        int     `json:"rank"`         // k, columns of V
	Steps       int     `json:"steps"`        // T, Oja steps
	DegreeBound int64   `json:"degree_bound"` // D: noise is made for vertices of degree ≤ D
	DegreeLimit int64   `json:"degree_limit"` // bounds every degree: n−1, or what ingest checked
	Katz        Katz    `json:"katz"`
	RowNorm     float64 `json:"row_norm"`   // μ: rows of V are clipped to μ·√(k/n)
	ClipStart   float64 `json:"clip_start"` // κ₁: c_t = κ_t·r·√D; 0: no row clip
	ClipEnd     float64 `json:"clip_end"`   // κ_T
	Growth      float64 `json:"growth"`     // g: ρ_t ∝ g^t
	StepFactor  float64 `json:"step_factor"`
	CountShare  float64 `json:"count_share"` // share of ρ for numbers of edges; 0: M is given
	// OwnShare is the share of ε, and LabelShare the share of ρ, that the read-out of labels
	// gets: the pure part of a vertex's own row, and its neighbours' rows. Both 0: no read-out.
	// For Edge there is no pure part.
	OwnShare   float64 `json:"own_share"`
	LabelShare float64 `json:"label_share"`
	ScaleBits  uint    `json:"scale_bits"` // V is quantised to multiples of 2^−ScaleBits
}

// Validate lists every fault with its value and bound.
func (p Params) Validate() error {
	errs := []error{p.Target.Validate()}
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	fault(p.Vertices < 2, "vertices is %d, must be at least 2", p.Vertices)
	fault(p.Rank < 1 || p.Rank > p.Vertices, "rank is %d, must be from 1 to the number of vertices, %d", p.Rank, p.Vertices)
	fault(p.Steps < 1 || p.Steps > 100_000, "steps is %d, must be from 1 to 100000", p.Steps)
	fault(p.DegreeBound < 1 || p.DegreeBound >= int64(max(p.Vertices, 2)), "degree bound is %d, must be from 1 to n-1 = %d", p.DegreeBound, p.Vertices-1)
	fault(p.DegreeLimit < 1, "degree limit is %d, must be positive", p.DegreeLimit)
	fault(!(p.RowNorm > 0) || p.RowNorm > 1e6, "row norm is %g, must be positive and at most 1e6", p.RowNorm)
	fault(!(p.ClipStart >= 0) || !(p.ClipEnd >= 0) || p.ClipStart > 1e6 || p.ClipEnd > 1e6, "row clip %g to %g must be from 0 to 1e6", p.ClipStart, p.ClipEnd)
	fault((p.ClipStart == 0) != (p.ClipEnd == 0), "row clip %g to %g: both or neither must be 0", p.ClipStart, p.ClipEnd)
	fault(!(p.Growth >= 0.5 && p.Growth <= 2), "growth is %g, must be from 0.5 to 2", p.Growth)
	fault(!(p.StepFactor > 0) || p.StepFactor > 1e6, "step factor is %g, must be positive and at most 1e6", p.StepFactor)
	fault(!(p.CountShare >= 0 && p.CountShare < 1), "share of the edge count is %g, must be at least 0 and below 1", p.CountShare)
	fault(!(p.OwnShare >= 0 && p.OwnShare < 1), "share of the own row is %g, must be at least 0 and below 1", p.OwnShare)
	fault(!(p.LabelShare >= 0 && p.LabelShare+p.CountShare < 1), "share of the labels is %g, must be at least 0 and with the edge count's %g below 1", p.LabelShare, p.CountShare)
	fault(p.OwnShare > 0 && (p.LabelShare == 0 || !p.Unit.PerVertex()), "share of the own row is %g, but only a read-out of a unit with vertices uses one", p.OwnShare)
	fault(p.LabelShare > 0 && p.Unit.PerVertex() && p.OwnShare == 0, "a read-out needs a share of epsilon for the own row")
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.query(1).Validate()
}

// Step is one Oja step's share, fixed before the graph is read.
type Step struct {
	Rho        Decimal `json:"rho"`
	Eta        float64 `json:"learning_rate"`
	ClipFactor float64 `json:"clip_factor"` // κ_t
}

// DegreeRow is one line of the table of guarantees by degree.
type DegreeRow struct {
	Degree  int64   `json:"degree"`
	Epsilon Decimal `json:"epsilon"`
}

// Plan is what a release will do and what it promises, computed without the graph.
type Plan struct {
	Params      Params      `json:"parameters"`
	Cost        Cost        `json:"cost"`
	Rho         Decimal     `json:"rho"`
	CountRho    Decimal     `json:"count_rho"`
	OwnEpsilon  Decimal     `json:"own_epsilon"` // pure part of the read-out
	LabelRho    Decimal     `json:"label_rho"`   // its neighbours' part
	Steps       []Step      `json:"steps"`
	NoiseNorm   float64     `json:"noise_norm"` // N, in units of an eigenvalue of A
	LambdaMin   float64     `json:"lambda_min"` // the smallest eigenvalue that the schedule can find
	DegreeTable []DegreeRow `json:"degree_table"`
	EigenRho    Decimal     `json:"eigenvalue_rho"`        // paper profile: ρ of each of its k eigenvalues
	PaperSigma  float64     `json:"paper_sigma,omitempty"` // paper profile: its noise multiplier
}

// ClipAt is c_t in units for rows of norm ≤ r: ⌈κ·r·√D⌉, 0 where there is no clip.
func ClipAt(factor float64, r, degreeBound int64) int64 {
	if factor == 0 {
		return 0
	}
	return int64(math.Ceil(factor * float64(r) * math.Sqrt(float64(degreeBound))))
}

// Radius is r₀ = μ·√(k/n), the norm to which rows of V are clipped.
func (p Params) Radius() float64 {
	return p.RowNorm * math.Sqrt(float64(p.Rank)/float64(p.Vertices))
}

// query is a step's query as it is known before V: every row at the radius.
func (p Params) query(factor float64) Query {
	r := int64(math.Ceil(math.Ldexp(p.Radius(), int(p.ScaleBits))))
	if p.ClipStart == 0 {
		factor = 0
	}
	return Query{Unit: p.Unit, N: p.Vertices, K: p.Rank, Norms: Uniform(p.Vertices, r), Katz: p.Katz,
		Clip: ClipAt(factor, r, p.DegreeBound), DegreeLimit: p.DegreeLimit}
}

// clipFactor is κ_t for step t of T (t from 0), growing linearly.
func (p Params) clipFactor(t int) float64 {
	if p.Steps == 1 {
		return p.ClipEnd
	}
	return p.ClipStart + (p.ClipEnd-p.ClipStart)*float64(t)/float64(p.Steps-1)
}

// sensitivity is S(d) of step t in real units of A·V.
func (p Params) sensitivity(t int, d int64) float64 {
	s2, _ := new(big.Float).SetInt(p.query(p.clipFactor(t)).Squared(d)).Float64()
	return math.Ldexp(math.Sqrt(s2), -int(p.ScaleBits))
}

// NewPlan computes the schedule and the table. It reads nothing.
func NewPlan(p Params) (*Plan, error) {
	plan, err := NewSchedule(p)
	if err == nil {
		plan.DegreeTable = plan.degreeTable()
	}
	return plan, err
}

// NewSchedule is NewPlan without the table of guarantees by degree.
func NewSchedule(p Params) (*Plan, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	plan := &Plan{Params: p, Steps: make([]Step, p.Steps)}
	eps := p.Target.Epsilon
	if p.OwnShare > 0 {
		plan.OwnEpsilon = eps.Mul(decimalOf(p.OwnShare, false), false)
		eps = eps.Sub(plan.OwnEpsilon)
	}
	plan.Rho = RhoOf(eps, p.Target.Delta)
	if plan.Rho.Sign() == 0 {
		return nil, fmt.Errorf("epsilon %s at delta %s leaves no budget at all", eps, p.Target.Delta)
	}
	// The sum of a pure part and a rounded conversion may pass ε by its last digit: give up
	// ρ in its twelfth digit, twice as much each time, until the certified ε is what was asked.
	plan.Cost = Cost{Pure: plan.OwnEpsilon, Rho: plan.Rho}
	for cut := 1e-12; plan.Cost.Epsilon(p.Target.Delta).Cmp(p.Target.Epsilon) > 0; cut *= 2 {
		plan.Rho = plan.Rho.Mul(decimalOf(1-cut, false), false)
		plan.Cost.Rho = plan.Rho
	}
	oja := plan.Rho
	take := func(share float64) Decimal {
		if share <= 0 {
			return Decimal{}
		}
		part := plan.Rho.Mul(decimalOf(share, false), false)
		oja = oja.Sub(part)
		return part
	}
	plan.CountRho, plan.LabelRho = take(p.CountShare), take(p.LabelShare)
	weights, total := make([]float64, p.Steps), 0.0
	for t := range weights {
		weights[t] = math.Pow(p.Growth, float64(t-p.Steps+1))
		total += weights[t]
	}
	// N depends on the step through the clip; the learning rates use each step's own.
	root := math.Sqrt(math.Log(float64(p.Vertices)))
	spent := Decimal{}
	for t, w := range weights {
		share := oja.Mul(decimalOf(w/total, false), false)
		spent = spent.Add(share)
		noise := p.noiseNorm(t, oja)
		plan.Steps[t] = Step{Rho: share, Eta: p.StepFactor * root * w / total / noise, ClipFactor: p.clipFactor(t)}
		if p.ClipStart == 0 {
			plan.Steps[t].ClipFactor = 0
		}
		plan.NoiseNorm += noise * w / total
	}
	if spent.Cmp(oja) > 0 {
		return nil, fmt.Errorf("privacy: step shares add up to %s of %s", spent, oja)
	}
	plan.LambdaMin = plan.NoiseNorm * root / math.Min(1, p.RowNorm)
	return plan, nil
}

// StepVariance is the variance of the noise on an entry of A·V in step t, with every row
// of V as long as it may be.
func (plan *Plan) StepVariance(t int) float64 {
	s := plan.Params.sensitivity(t, plan.Params.DegreeBound)
	return s * s / (2 * plan.Steps[t].Rho.Float())
}

// Certified is the ε of the plan's cost at its δ; where that is the asked one but for what
// rounding gave up, the asked one, which then holds as well.
func (plan *Plan) Certified() Decimal {
	target := plan.Params.Target
	eps := plan.Cost.Epsilon(target.Delta)
	if eps.Cmp(target.Epsilon) <= 0 && eps.Float() > target.Epsilon.Float()*(1-1e-6) {
		return target.Epsilon
	}
	return eps
}

// noiseNorm is N_t = S_t·√n/√(2ρ): the Euclidean norm of a column of noise of one step
// that had the whole budget.
func (p Params) noiseNorm(t int, rho Decimal) float64 {
	return p.sensitivity(t, p.DegreeBound) * math.Sqrt(float64(p.Vertices)/(2*rho.Float()))
}

// TableDegrees are 1, 10, 100, …, the bound D, and n−1.
func (p Params) TableDegrees() []int64 {
	last := int64(p.Vertices - 1)
	if p.Katz.Order > 1 {
		last = p.DegreeLimit
	}
	var out []int64
	for d := int64(1); d < last; d *= 10 {
		if len(out) > 0 && out[len(out)-1] < p.DegreeBound && p.DegreeBound < d {
			out = append(out, p.DegreeBound)
		}
		out = append(out, d)
	}
	if len(out) > 0 && out[len(out)-1] < p.DegreeBound && p.DegreeBound < last {
		out = append(out, p.DegreeBound)
	}
	return append(out, last)
}

// degreeTable is ε(d) with ρ(d) = Σ ρ_t·S_t(d)²/S_t(D)² before V is known: the release
// states the same from what ran.
func (plan *Plan) degreeTable() []DegreeRow {
	p := plan.Params
	if !p.Unit.PerVertex() {
		return nil
	}
	var rows []DegreeRow
	for _, d := range p.TableDegrees() {
		cost := Cost{Pure: plan.OwnEpsilon}
		if plan.CountRho.Sign() > 0 {
			share := new(big.Rat).SetFrac(CountSquared(p.Unit, p.Vertices, d), CountSquared(p.Unit, p.Vertices, p.DegreeBound))
			cost.Rho = cost.Rho.Add(ratUp(share.Mul(share, plan.CountRho.Rat())))
		}
		if plan.LabelRho.Sign() > 0 {
			r := ReadOut{Unit: p.Unit, N: p.Vertices, Num: 1, Range: 1}
			share := new(big.Rat).Quo(r.neighbourRho(d), r.neighbourRho(p.DegreeBound))
			cost.Rho = cost.Rho.Add(ratUp(share.Mul(share, plan.LabelRho.Rat())))
		}
		last, ratio := -1.0, new(big.Rat)
		for _, s := range plan.Steps {
			if s.ClipFactor != last {
				q := p.query(s.ClipFactor)
				ratio.SetFrac(q.Squared(d), q.Squared(p.DegreeBound))
				last = s.ClipFactor
			}
			cost.Rho = cost.Rho.Add(ratUp(new(big.Rat).Mul(ratio, s.Rho.Rat())))
		}
		rows = append(rows, DegreeRow{d, cost.Epsilon(p.Target.Delta)})
	}
	return rows
}

// Ceiling is the largest share of vertices that any mechanism of the unit can place in
// the right one of q equal communities, up to terms of order δ (readout.md,
// Lemma 12). 1 for Edge.
func Ceiling(u Unit, eps float64, q int) float64 {
	e, k := math.Exp(eps), float64(q)
	switch u {
	case Node:
		return math.Min(1, math.Min(e/k, 1-(1-1/k)/e))
	case NodeRewire:
		if math.IsInf(e, 1) {
			return 1
		}
		return e / (e + k - 1)
	}
	return 1
}

// SmallestEpsilon is the least ε, to three digits, at which the schedule finds an
// eigenvalue of the given size.
func SmallestEpsilon(p Params, eigenvalue float64) (float64, error) {
	finds := func(eps float64) (bool, error) {
		p.Target.Epsilon = decimalOf(eps, true)
		plan, err := NewSchedule(p)
		if err != nil {
			return false, err
		}
		return plan.LambdaMin <= eigenvalue, nil
	}
	lo, hi := 1e-3, 1e-3
	for {
		ok, err := finds(hi)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if lo, hi = hi, hi*2; hi > 1e6 {
			return math.Inf(1), nil
		}
	}
	for hi/lo > 1.001 {
		mid := math.Sqrt(lo * hi)
		if ok, err := finds(mid); err != nil {
			return 0, err
		} else if ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}
