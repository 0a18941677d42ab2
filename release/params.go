package release

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/privcom/privcom/privacy"
)

// Params are what a user can set about a release. The zero value is not usable; start
// from Defaults. The YAML keys are the long names of the flags.
type Params struct {
	Dataset     string       `yaml:"dataset" json:"dataset"`           // whose budget: one ledger per name
	Unit        privacy.Unit `yaml:"unit" json:"unit"`                 // node, node-rewire or edge
	Epsilon     string       `yaml:"epsilon" json:"epsilon"`           // decimal
	Delta       string       `yaml:"delta" json:"delta"`               // decimal, default 1e-5
	DegreeBound int64        `yaml:"degree-bound" json:"degree_bound"` // D; 0: n−1
	Rank        int          `yaml:"rank" json:"rank"`                 // k; 0: by defaultRank
	Steps       int          `yaml:"steps" json:"steps"`               // T (the paper's γ); 0: 32, or the paper's rule
	Order       int          `yaml:"order" json:"order"`               // h; −1: 0, or 1 in the paper profile
	Beta        string       `yaml:"beta" json:"beta"`                 // decay factor; "": 1 for order 0, 1/(2D) above, the Lemma's in the paper profile
	Eta         float64      `yaml:"eta" json:"eta"`                   // fixed learning rate on H̃V; 0: by the schedule
	StepFactor  float64      `yaml:"step-factor" json:"step_factor"`   // x of η_t = x·√(ln n)·w_t/N
	Growth      float64      `yaml:"growth" json:"growth"`             // g of ρ_t ∝ g^t
	RowNorm     float64      `yaml:"row-norm" json:"row_norm"`         // μ
	RowClip     string       `yaml:"row-clip" json:"row_clip"`         // auto, none, κ or κ₁..κ₂
	Centre      bool         `yaml:"centre" json:"centre"`             // keep V orthogonal to the constant vector
	Fit         bool         `yaml:"fit" json:"fit"`                   // estimate from the whole transcript
	Edges       string       `yaml:"edges" json:"edges"`               // auto, or a public number
	CountShare  float64      `yaml:"count-share" json:"count_share"`   // share of ρ for numbers of edges
	OwnShare    float64      `yaml:"own-share" json:"own_share"`       // share of ε for the own row of a read-out; −1: the default
	LabelShare  float64      `yaml:"label-share" json:"label_share"`   // share of ρ for its neighbours' rows; −1: the default
	Reconstruct string       `yaml:"reconstruct" json:"reconstruct"`   // blocks, inverse-katz, laplacian, paper-literal; "": blocks for order 0, else inverse-katz
	Alpha       float64      `yaml:"alpha" json:"alpha"`               // α of the regularised pseudoinverse
	Profile     string       `yaml:"profile" json:"profile"`           // "", or paper
	Seed        uint64       `yaml:"seed" json:"seed"`                 // of public randomness only; noise is never seeded
	Initial     string       `yaml:"initial" json:"initial,omitempty"` // file with V₀
}

// Reconstructions that Params.Reconstruct can name.
const (
	Blocks       = "blocks"
	InverseKatz  = "inverse-katz"
	Laplacian    = "laplacian"
	PaperLiteral = "paper-literal"
)

// ProfilePaper runs the paper's constants: β and S = 1 of its Lemma, basic composition,
// its eigenvalue noise, its reconstruction.
const ProfilePaper = "paper"

// Defaults are the values of every flag that the user does not set.
func Defaults() Params {
	return Params{
		Unit: privacy.Node, Delta: "1e-5", Order: -1, StepFactor: 1.5, Growth: 1.1, RowNorm: 0.5, RowClip: "auto",
		Centre: true, Fit: true, Edges: "auto", CountShare: 0.02, OwnShare: -1, LabelShare: -1, Alpha: 5e-6, Seed: 1,
	}
}

// defaultRank is k where the user sets none. Every column costs √k in noise. A read-out of
// node units carries two communities on most graphs, which one column tells apart. For
// edges, k columns and so k+1 communities of communitySize vertices each, at most nine: with
// fewer members a community's eigenvalue is seldom above the noise, with more than nine the
// noise of the columns costs more than another tells. Reconstructions by a score take 4.
func (p Params) defaultRank(n int) int {
	switch {
	case p.reconstruction() != Blocks:
		return min(4, n-1)
	case p.Unit.PerVertex():
		return 1
	}
	return max(1, min(8, n/communitySize-1))
}

const communitySize = 500

// mostSteps bounds T, as the plan does.
const mostSteps = 100_000

// defaultSteps is T where the user sets none.
const defaultSteps = 32

// Graph is what the public knows of the input: the vertex list and a checked bound.
type Graph struct {
	Vertices    int
	DegreeLimit int64 // n−1, or the bound that ingest checked
	DegreeKnown bool  // ingest checked DegreeLimit
}

// Plan resolves the parameters for a graph of n public vertices.
func (p Params) Plan(g Graph) (*privacy.Plan, error) {
	pp, err := p.resolve(g)
	if err != nil {
		return nil, err
	}
	if p.Profile == ProfilePaper {
		plan, err := privacy.PaperPlan(*pp)
		return p.fixedRate(plan), err
	}
	plan, err := privacy.NewPlan(*pp)
	if err != nil {
		return nil, err
	}
	for t, s := range plan.Steps {
		if s.Rho.Sign() <= 0 {
			return nil, fmt.Errorf("steps is %d: with a growth of %g nothing of the budget is left for step %d; take fewer steps, or a growth nearer to 1", pp.Steps, pp.Growth, t+1)
		}
	}
	return p.fixedRate(plan), nil
}

// fixedRate replaces the schedule's learning rates by the user's, which is on H̃V.
func (p Params) fixedRate(plan *privacy.Plan) *privacy.Plan {
	if plan != nil && p.Eta > 0 {
		beta := plan.Params.Beta()
		for t := range plan.Steps {
			plan.Steps[t].Eta = p.Eta * beta
		}
	}
	return plan
}

// Validate lists the faults that do not need the graph.
func (p Params) Validate() error {
	var errs []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	_, err := p.target()
	errs = append(errs, err)
	fault(p.Profile != "" && p.Profile != ProfilePaper, "profile %q is not one of: paper", p.Profile)
	switch p.Reconstruct {
	case "", Blocks, InverseKatz, Laplacian, PaperLiteral:
	default:
		fault(true, "reconstruct %q is not one of %s, %s, %s, %s", p.Reconstruct, Blocks, InverseKatz, Laplacian, PaperLiteral)
	}
	fault(p.Profile == ProfilePaper && p.Reconstruct == Blocks, "the paper profile has no read-out: reconstruct %q is not for it", p.Reconstruct)
	fault(!(p.Alpha > 0) || math.IsInf(p.Alpha, 0), "alpha is %g, must be positive and finite", p.Alpha)
	fault(!(p.Eta >= 0) || math.IsInf(p.Eta, 0), "eta is %g, must be finite and at least 0 (0: by the schedule)", p.Eta)
	fault(p.Order < -1 || p.Order > 50, "order is %d, must be from 0 to 50", p.Order)
	fault(p.DegreeBound < 0, "degree bound is %d, must be positive", p.DegreeBound)
	fault(p.Rank < 0, "rank is %d, must be at least 1 (0: the default)", p.Rank)
	fault(p.Steps < 0 || p.Steps > mostSteps, "steps is %d, must be from 1 to %d (0: the default)", p.Steps, mostSteps)
	fault(!(p.RowNorm > 0) || p.RowNorm > 1e6, "row norm is %g, must be positive and at most 1e6", p.RowNorm)
	fault(!(p.Growth >= 0.5 && p.Growth <= 2), "growth is %g, must be from 0.5 to 2", p.Growth)
	fault(!(p.StepFactor > 0) || p.StepFactor > 1e6, "step factor is %g, must be positive and at most 1e6", p.StepFactor)
	if p.Beta != "" {
		beta, err := privacy.ParseDecimal(p.Beta)
		errs = append(errs, prefix("beta", err))
		fault(err == nil && beta.Sign() <= 0, "beta is %s, must be positive", p.Beta)
	}
	_, _, err = p.clip()
	errs = append(errs, err)
	_, _, err = p.edgeTarget()
	errs = append(errs, err)
	return errors.Join(errs...)
}

// target reads ε and δ. A fault of one does not hide a fault of the other.
func (p Params) target() (privacy.Target, error) {
	fair := privacy.Target{Epsilon: privacy.MustDecimal("1"), Delta: privacy.MustDecimal("0.5")}
	var t privacy.Target
	var err, errDelta error
	if p.Epsilon == "" {
		err = errors.New("epsilon is not set: say how much privacy this release may spend, for example --epsilon 2")
	} else if t.Epsilon, err = privacy.ParseDecimal(p.Epsilon); err != nil {
		err = prefix("epsilon", err)
	} else {
		err = privacy.Target{Epsilon: t.Epsilon, Delta: fair.Delta}.Validate()
	}
	if t.Delta, errDelta = privacy.ParseDecimal(p.Delta); errDelta != nil {
		errDelta = prefix("delta", errDelta)
	} else {
		errDelta = privacy.Target{Epsilon: fair.Epsilon, Delta: t.Delta}.Validate()
	}
	if err := errors.Join(err, errDelta); err != nil {
		return privacy.Target{}, err
	}
	return t, nil
}

func prefix(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// clip reads RowClip: factors κ₁ and κ_T of r·√D; 0, 0 for none.
func (p Params) clip() (from, to float64, err error) {
	switch p.RowClip {
	case "auto":
		if !p.Unit.PerVertex() || p.Profile == ProfilePaper {
			return 0, 0, nil
		}
		return 1, 2, nil
	case "none", "0":
		return 0, 0, nil
	}
	a, b, ranged := strings.Cut(p.RowClip, "..")
	if !ranged {
		b = a
	}
	from, err1 := strconv.ParseFloat(a, 64)
	to, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil || !(from > 0) || !(to > 0) || math.IsInf(from+to, 0) {
		return 0, 0, fmt.Errorf("row clip %q is not auto, none, a positive number, or two as in 1..3", p.RowClip)
	}
	return from, to, nil
}

// edgeTarget reads Edges: the public number, or auto.
func (p Params) edgeTarget() (edges int64, auto bool, err error) {
	if p.Edges == "auto" {
		return 0, true, nil
	}
	edges, err = strconv.ParseInt(p.Edges, 10, 64)
	if err != nil || edges < 1 {
		return 0, false, fmt.Errorf("edges %q is not auto or a positive whole number", p.Edges)
	}
	return edges, false, nil
}

func (p Params) order() int {
	if p.Order >= 0 {
		return p.Order
	}
	if p.Profile == ProfilePaper {
		return 1
	}
	return 0
}

// reconstruction is what Reconstruct resolves to.
func (p Params) reconstruction() string {
	switch {
	case p.Reconstruct != "":
		return p.Reconstruct
	case p.Profile == ProfilePaper:
		return PaperLiteral
	case p.order() == 0:
		return Blocks
	}
	return InverseKatz
}

// resolve fills every default from public numbers.
func (p Params) resolve(g Graph) (*privacy.Params, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if g.Vertices < 2 {
		return nil, fmt.Errorf("the graph has %d vertices; a release needs at least 2", g.Vertices)
	}
	target, err := p.target()
	if err != nil {
		return nil, err
	}
	pp := &privacy.Params{Unit: p.Unit, Target: target, Vertices: g.Vertices, Rank: p.Rank, Steps: p.Steps,
		DegreeBound: p.DegreeBound, DegreeLimit: g.DegreeLimit, RowNorm: p.RowNorm, Growth: p.Growth, StepFactor: p.StepFactor}
	if pp.DegreeBound == 0 {
		pp.DegreeBound = int64(g.Vertices - 1)
	}
	if pp.Rank == 0 {
		pp.Rank = p.defaultRank(g.Vertices)
	}
	if pp.Rank < 1 || pp.Rank > g.Vertices {
		return nil, fmt.Errorf("rank is %d, must be from 1 to the number of vertices, %d", p.Rank, g.Vertices)
	}
	if pp.ClipStart, pp.ClipEnd, err = p.clip(); err != nil {
		return nil, err
	}
	edges, auto, _ := p.edgeTarget()
	if most := int64(g.Vertices) * int64(g.Vertices-1) / 2; edges > most {
		return nil, fmt.Errorf("edges is %d, a graph of %d vertices has at most %d", edges, g.Vertices, most)
	}
	pp.OwnShare, pp.LabelShare = p.shares()
	if p.reconstruction() == Blocks || auto && p.Profile != ProfilePaper {
		pp.CountShare = p.CountShare
		if p.CountShare <= 0 || p.CountShare >= 1 {
			return nil, fmt.Errorf("count share is %g: --edges auto and --reconstruct blocks need a share of the budget above 0 and below 1", p.CountShare)
		}
	}
	if err := p.katz(pp, g); err != nil {
		return nil, err
	}
	if pp.Steps == 0 {
		pp.Steps = defaultSteps
		if p.Profile == ProfilePaper {
			pp.Steps = privacy.PaperSteps(*pp)
		}
	}
	if pp.ScaleBits, err = scaleBits(pp, p.Profile == ProfilePaper); err != nil {
		return nil, err
	}
	return pp, chooseShares(pp)
}

// katz sets order and β, and refuses orders whose proof needs a degree bound that
// nobody checked.
func (p Params) katz(pp *privacy.Params, g Graph) error {
	pp.Katz.Order = 2*p.order() + 1
	if pp.Katz.Order > 1 && p.Profile != ProfilePaper && pp.DegreeBound < int64(g.Vertices-1) && !g.DegreeKnown {
		return fmt.Errorf("order %d with a degree bound of %d needs a graph whose degrees are all within it: ingest with --declare-degree-bound %d, which checks it, or leave the bound at n-1",
			p.order(), pp.DegreeBound, pp.DegreeBound)
	}
	if pp.Katz.Order > 1 && p.Profile != ProfilePaper {
		pp.DegreeBound = min(pp.DegreeBound, g.DegreeLimit)
	}
	beta := new(big.Rat).SetInt64(1)
	switch {
	case p.Beta != "":
		d, err := privacy.ParseDecimal(p.Beta)
		if err != nil {
			return prefix("beta", err)
		}
		beta = d.Rat()
	case p.Profile == ProfilePaper:
		beta = privacy.PaperBeta(pp.Vertices, pp.Rank)
	case pp.Katz.Order > 1:
		beta = big.NewRat(1, 2*g.DegreeLimit)
	}
	if p.Profile == ProfilePaper && beta.Cmp(privacy.PaperBeta(pp.Vertices, pp.Rank)) > 0 {
		return fmt.Errorf("beta %s is above the bound of the paper's Lemma, under which alone S = 1: leave it out, or make it smaller", p.Beta)
	}
	var err error
	pp.Katz.Num, pp.Katz.Bits, err = privacy.DecayFactor(beta)
	return prefix("beta", err)
}

// scaleBits chooses the quantum of V from public numbers: rows of 2^14 to 2^15 units, whose
// entries fit 16 bits (2^22 to 2^23 where Katz rounds truncate), so that truncation is far
// below the noise and every sum of n rows stays far inside int64. A unit is at most 2^-14
// of a row's norm, and the noise of a step at least that norm in each entry.
func scaleBits(pp *privacy.Params, paper bool) (uint, error) {
	if paper {
		// The paper's noise is 2^bits·σ/β units and must stay below 2^56.
		sigma := privacy.ClassicSigma(pp.Target.Epsilon.Float()/float64(pp.Steps+pp.Rank), pp.Target.Delta.Float()/float64(pp.Steps+pp.Rank))
		bits := 56 - math.Ceil(math.Log2(sigma/pp.Beta()))
		need := math.Ceil(math.Log2(math.Sqrt(float64(pp.Vertices))) + 4)
		if bits < need {
			return 0, fmt.Errorf("the paper's calibration needs noise of 2^%.0f units for %d vertices, beyond 64-bit integers: it drowns the signal long before that (docs/paper.md); use fewer vertices or the default profile",
				56-bits+need, pp.Vertices)
		}
		return uint(math.Min(bits, 24)), nil
	}
	want := 14.0
	if pp.Katz.Order > 1 {
		want = 22
	}
	radius := pp.Radius()
	bits := want - math.Floor(math.Log2(radius))
	room := 60 - math.Log2(float64(pp.Vertices)) - math.Log2(radius) // (n−1)·r < 2^60
	bits = math.Min(math.Min(bits, room), 30)
	if bits < 0 || math.IsNaN(bits) {
		return 0, fmt.Errorf("row norm %g is too large for exact sums over %d vertices", pp.RowNorm, pp.Vertices)
	}
	return uint(bits), nil
}
