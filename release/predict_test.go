package release

import (
	"math"
	"testing"

	"github.com/privcom/privcom/privacy"
)

// clipped equals the sums over a fine grid of the normal density.
func TestClippedMomentsEqualTheIntegral(t *testing.T) {
	for _, c := range []struct{ mean, deviation, clip float64 }{{0, 1, 0.5}, {0.3, 1, 0.5}, {-2, 0.7, 1}, {5, 2, 3}, {0.1, 1e-3, 0.5}} {
		first, second := 0.0, 0.0
		const points = 200_000
		for i := range points {
			z := 20 * (float64(i) + 0.5 - points/2) / points
			x := math.Max(-c.clip, math.Min(c.clip, c.mean+c.deviation*z))
			w := 20.0 / points * bell(z)
			first, second = first+w*x, second+w*x*x
		}
		a, b := clipped(c.mean, c.deviation, c.clip)
		if math.Abs(a-first) > 1e-6 || math.Abs(b-second) > 1e-6 {
			t.Errorf("%+v: moments %g, %g; by integration %g, %g", c, a, b, first, second)
		}
	}
	if a, b := clipped(0.3, 0, 0.2); a != 0.2 || math.Abs(b-0.04) > 1e-15 {
		t.Errorf("a constant: %g, %g", a, b)
	}
}

// What is expected grows with ε and with the eigenvalue, never passes the ceiling that
// holds for every mechanism, and is a coin's toss where there is nothing.
func TestPredictionsAreBetweenChanceAndTheCeiling(t *testing.T) {
	last := 0.5
	for _, eps := range []string{"0.1", "1", "2", "3", "5", "8", "20"} {
		p := Defaults()
		p.Epsilon, p.DegreeBound = eps, 1100
		plan, err := p.Plan(Graph{Vertices: 4000, DegreeLimit: 3999})
		if err != nil {
			t.Fatal(err)
		}
		none, weak, strong := predict(plan, 0), predict(plan, 300), predict(plan, 840)
		if math.Abs(none-0.5) > 0.01 || weak > strong+1e-9 {
			t.Errorf("epsilon %s: %.3f without communities, %.3f with weak and %.3f with strong ones", eps, none, weak, strong)
		}
		if most := privacy.Ceiling(privacy.Node, plan.Certified().Float(), 2); strong > most || strong < last-0.01 {
			t.Errorf("epsilon %s: %.3f expected, ceiling %.3f, less epsilon had %.3f", eps, strong, most, last)
		}
		last = strong
	}
}

// Shares that the user sets stay; the others are chosen.
func TestSharesThatAreSetStay(t *testing.T) {
	p := Defaults()
	p.Epsilon, p.OwnShare = "3", 0.33
	plan, err := p.Plan(Graph{Vertices: 4000, DegreeLimit: 3999})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Params.OwnShare != 0.33 || plan.Params.LabelShare <= 0 {
		t.Errorf("shares are %g and %g", plan.Params.OwnShare, plan.Params.LabelShare)
	}
	p.Unit, p.OwnShare = privacy.Edge, -1
	if plan, err = p.Plan(Graph{Vertices: 4000, DegreeLimit: 3999}); err != nil || plan.Params.OwnShare != 0 || plan.LabelRho.Sign() != 0 || plan.Params.Rank != 7 {
		t.Errorf("edge: %+v, %v", plan.Params, err)
	}
}
