package privacy

import (
	"math"
	"strings"
	"testing"
)

func polblogs(unit Unit, eps string, d int64) Params {
	p := Params{Unit: unit, Target: Target{MustDecimal(eps), MustDecimal("1e-5")}, Vertices: 1224, Rank: 2, Steps: 32,
		DegreeBound: d, DegreeLimit: 1223, Katz: Katz{Order: 1}, RowNorm: 0.5, Growth: 1.1, StepFactor: 1.5, CountShare: 0.02, ScaleBits: 20}
	if unit != Edge {
		p.ClipStart, p.ClipEnd = 1, 3
	}
	return p
}

func TestPlanSplitsTheWholeBudgetAndNoMore(t *testing.T) {
	for i := range 2 * len(Units()) {
		u := Units()[i/2]
		p := polblogs(u, "1", 1223)
		if i%2 == 1 { // with a read-out
			if p.LabelShare = 0.3; u != Edge {
				p.OwnShare = 0.35
			}
		}
		plan, err := NewPlan(p)
		if err != nil {
			t.Fatal(err)
		}
		sum := plan.CountRho.Add(plan.LabelRho)
		for _, s := range plan.Steps {
			sum = sum.Add(s.Rho)
		}
		if sum.Cmp(plan.Rho) > 0 {
			t.Errorf("%s: shares add up to %s of %s", u, sum, plan.Rho)
		}
		if sum.Float() < plan.Rho.Float()*(1-1e-9) {
			t.Errorf("%s: shares waste budget: %s of %s", u, sum, plan.Rho)
		}
		if e := plan.Cost.Epsilon(MustDecimal("1e-5")); e.Cmp(MustDecimal("1")) > 0 || e.Float() < 0.999999 {
			t.Errorf("%s: plan costs %s, 1 was asked", u, e)
		}
	}
}

// N of a first-order edge release is μ·√(2k)/√(2ρ) by hand.
func TestNoiseNormByHand(t *testing.T) {
	p := polblogs(Edge, "1", 1223)
	p.CountShare = 0
	plan, err := NewPlan(p)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.5 * math.Sqrt(2/0.0305565951976)
	if math.Abs(plan.NoiseNorm/want-1) > 1e-3 {
		t.Errorf("N = %g, want %g", plan.NoiseNorm, want)
	}
	if math.Abs(plan.LambdaMin/(want/0.5*math.Sqrt(math.Log(1224)))-1) > 1e-3 {
		t.Errorf("λ_min = %g", plan.LambdaMin)
	}
}

func TestDegreeTableIsTheGuaranteeAtD(t *testing.T) {
	plan, err := NewPlan(polblogs(Node, "2", 50))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	last := Decimal{}
	for _, row := range plan.DegreeTable {
		if row.Epsilon.Cmp(last) < 0 {
			t.Errorf("ε(%d) = %s is below ε of a smaller degree", row.Degree, row.Epsilon)
		}
		last = row.Epsilon
		if row.Degree == 50 {
			found = true
			if e := row.Epsilon.Float(); e > 2 || e < 1.999 {
				t.Errorf("ε(D) = %s, want just below 2", row.Epsilon)
			}
		}
	}
	if !found || last.Float() <= 2 {
		t.Errorf("table %v lacks D or does not grow", plan.DegreeTable)
	}
	if edge, _ := NewPlan(polblogs(Edge, "2", 50)); edge.DegreeTable != nil {
		t.Error("an edge plan has a degree table")
	}
}

// Lemma 12 of readout.md in figures: for q = 2, 0.82 / 0.73 at ε = 1, 0.93 / 0.88 at 2,
// 0.975 / 0.953 at 3.
func TestCeiling(t *testing.T) {
	for _, c := range []struct{ eps, node, rewire float64 }{{1, 0.82, 0.73}, {2, 0.93, 0.88}, {3, 0.975, 0.953}} {
		if v := Ceiling(Node, c.eps, 2); math.Abs(v-c.node) > 0.005 {
			t.Errorf("node ceiling at %g is %.3f", c.eps, v)
		}
		if v := Ceiling(NodeRewire, c.eps, 2); math.Abs(v-c.rewire) > 0.005 {
			t.Errorf("node-rewire ceiling at %g is %.3f", c.eps, v)
		}
	}
	if Ceiling(Edge, 1, 2) != 1 || Ceiling(Node, 0, 4) != 0.25 {
		t.Error("edge ceiling or ε = 0 is wrong")
	}
}

func TestSmallestEpsilonIsWhereTheEigenvalueIsFound(t *testing.T) {
	p := polblogs(Edge, "1", 1223)
	eps, err := SmallestEpsilon(p, 60)
	if err != nil {
		t.Fatal(err)
	}
	p.Target.Epsilon = decimalOf(eps, true)
	plan, err := NewPlan(p)
	if err != nil || plan.LambdaMin > 60 {
		t.Errorf("λ_min at ε = %g is %g (%v)", eps, plan.LambdaMin, err)
	}
	p.Target.Epsilon = decimalOf(eps*0.99, true)
	if plan, _ := NewPlan(p); plan.LambdaMin <= 60 {
		t.Errorf("ε = %g is not the smallest", eps)
	}
}

func TestParamsListEveryFault(t *testing.T) {
	p := polblogs(Node, "0", 5000)
	p.Rank, p.Steps, p.RowNorm, p.Growth = 0, 0, math.NaN(), math.NaN()
	err := p.Validate()
	if err == nil {
		t.Fatal("bad parameters passed")
	}
	for _, want := range []string{"epsilon is 0", "rank is 0", "steps is 0", "degree bound is 5000", "row norm is NaN", "growth is NaN"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error does not name %q:\n%v", want, err)
		}
	}
}

// The paper's own plan at ε counts ε by its own rule.
func TestBasicCompositionOfThePapersPlanIsItsEpsilon(t *testing.T) {
	p := polblogs(Node, "1", 1223)
	var err error
	p.Katz.Order = 3
	if p.Katz.Num, p.Katz.Bits, err = DecayFactor(PaperBeta(p.Vertices, p.Rank)); err != nil {
		t.Fatal(err)
	}
	plan, err := PaperPlan(p)
	if err != nil {
		t.Fatal(err)
	}
	if e := plan.BasicComposition(); math.Abs(e-1) > 1e-6 {
		t.Errorf("basic composition counts ε = %g, want 1", e)
	}
}

// What is certified never passes what was asked, not by a digit: a release that asks for
// all of a limit must be admitted.
func TestThePlanNeverCostsMoreThanAsked(t *testing.T) {
	for _, eps := range []string{"0.1", "0.5", "1", "2", "3", "3.7", "8", "12", "999"} {
		for _, own := range []float64{0.15, 0.2, 0.25, 0.35, 0.5} {
			p := polblogs(Node, eps, 1223)
			p.OwnShare, p.LabelShare = own, 0.15
			plan, err := NewPlan(p)
			if err != nil {
				t.Fatal(err)
			}
			if got := plan.Cost.Epsilon(p.Target.Delta); got.Cmp(p.Target.Epsilon) > 0 || got.Float() < p.Target.Epsilon.Float()*(1-1e-9) {
				t.Errorf("ε = %s with own share %g costs %s", eps, own, got)
			}
		}
	}
}
