package release

import (
	"math"

	"github.com/privcom/privcom/privacy"
)

// shares resolves what the user sets of OwnShare and LabelShare; −1 is left to
// chooseShares. For edges there is no own row to pay for, and a read-out is only another
// step: the fit reads every vertex as well, so there is none unless the user asks.
func (p Params) shares() (own, label float64) {
	if p.reconstruction() != Blocks {
		return 0, 0
	}
	if p.Unit.PerVertex() {
		return p.OwnShare, p.LabelShare
	}
	return 0, math.Max(0, p.LabelShare)
}

// The shares that are tried: of ε for the own row, and of the rest's ρ for the neighbours'.
var (
	ownShares   = []float64{0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5}
	labelShares = []float64{0.1, 0.2, 0.3}
)

// SupposedEigenvalue is the eigenvalue for which the shares are chosen: 0.7·min(D, n/4), two
// communities of which a vertex with D neighbours has 85 in 100 in its own. Only public
// numbers enter: a graph for which D is a fair bound has communities of about that strength if it
// has strong ones at all.
func SupposedEigenvalue(pp privacy.Params) float64 {
	return 0.7 * math.Min(float64(pp.DegreeBound), float64(pp.Vertices)/4)
}

// chooseShares sets the shares that are −1 to those for which predict is largest at the
// supposed eigenvalue.
func chooseShares(pp *privacy.Params) error {
	if pp.OwnShare >= 0 && pp.LabelShare >= 0 {
		return nil
	}
	owns, labels := []float64{pp.OwnShare}, []float64{pp.LabelShare}
	if pp.OwnShare < 0 {
		owns = ownShares
	}
	if pp.LabelShare < 0 {
		labels = labelShares
	}
	try, best := *pp, -1.0
	try.Steps = min(try.Steps, defaultSteps) // the shares hardly depend on T
	for _, try.OwnShare = range owns {
		for _, try.LabelShare = range labels {
			plan, err := privacy.NewSchedule(try)
			if err != nil {
				return err
			}
			if x := predict(plan, SupposedEigenvalue(*pp)); x > best {
				best, pp.OwnShare, pp.LabelShare = x, try.OwnShare, try.LabelShare
			}
		}
	}
	return nil
}

// Predict is the share of vertices that a release by plan is expected to place right, if
// its graph is two equal communities of the given eigenvalue; false where that is not
// modelled.
func Predict(plan *privacy.Plan, eigenvalue float64) (float64, bool) {
	if plan.Params.Katz.Order != 1 || plan.Params.OwnShare <= 0 {
		return 0, false
	}
	return predict(plan, eigenvalue), true
}
