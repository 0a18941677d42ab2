package release

import (
	"math"

	"github.com/privcom/privcom/privacy"
)

// predict is the share of vertices that a read-out of two equal communities with the given
// eigenvalue is expected to place right, from public numbers alone: what the shares of the
// budget are chosen by. It follows one number, the overlap of V with the communities, through
// the steps of a graph whose vertices are alike (docs/utility.md has the derivation and how far it
// is from measured runs).
func predict(plan *privacy.Plan, eigenvalue float64) float64 {
	p := plan.Params
	snr := directionEvidence(plan, eigenvalue)
	if plan.LabelRho.Sign() <= 0 {
		return below(math.Sqrt(snr))
	}
	const span = 1 << 14
	r, err := privacy.NewReadOut(p.Unit, p.Vertices, 2, span, p.DegreeBound, plan.OwnEpsilon, plan.LabelRho)
	if err != nil {
		return 0.5
	}
	slope := math.Ldexp(float64(r.Num)*span, -int(r.Bits)) // per neighbour
	most := slope * float64(r.Clip) / span
	// The margin: every neighbour counts ±1, and is placed right as often as V places.
	mean, spread := slope*eigenvalue*(2*below(math.Sqrt(snr))-1), slope*math.Sqrt(degree(p))
	kept := 0.0
	const points = 64
	for i := range points {
		z := 8 * (float64(i) + 0.5 - points/2) / points
		x := math.Max(-most, math.Min(most, mean+spread*z))
		kept += 8.0 / points * bell(z) / (1 + math.Exp(-x))
	}
	// The label's log-odds and those that V gives on its own add.
	if snr < 1e-12 {
		return kept
	}
	odds := math.Log(kept / (1 - kept))
	root := 2 * math.Sqrt(snr)
	return kept*below((2*snr+odds)/root) + (1-kept)*below((2*snr-odds)/root)
}

// degree is the degree that predict supposes: D, or half of the vertices where D is no bound.
func degree(p privacy.Params) float64 {
	return math.Min(float64(p.DegreeBound), float64(p.Vertices)/2)
}

// directionEvidence is the squared signal to noise ratio of one row of the fitted V: the sum
// over the steps of what each says.
func directionEvidence(plan *privacy.Plan, eigenvalue float64) float64 {
	p := plan.Params
	n, d := float64(p.Vertices), degree(p)
	overlap, snr := 1/math.Sqrt(n), 0.0
	for t, s := range plan.Steps {
		rest := math.Sqrt(math.Max(0, 1-overlap*overlap))
		seen, square := clipped(overlap, rest, p.RowNorm) // of an entry of √n·V
		signal, spread := eigenvalue*seen, math.Sqrt(d*square)
		if s.ClipFactor > 0 {
			var second float64
			signal, second = clipped(signal, spread, s.ClipFactor*p.RowNorm*math.Sqrt(float64(p.Rank)*float64(p.DegreeBound)))
			spread = math.Sqrt(math.Max(0, second-signal*signal))
		}
		noise2 := n*plan.StepVariance(t) + spread*spread
		snr += signal * signal / noise2
		along, across := overlap+s.Eta*signal, math.Sqrt(rest*rest+s.Eta*s.Eta*noise2)
		overlap = along / math.Hypot(along, across)
	}
	return snr
}

// clipped is the mean and the mean square of a normal variable clipped to ±c.
func clipped(mean, deviation, c float64) (first, second float64) {
	if deviation == 0 {
		x := math.Max(-c, math.Min(c, mean))
		return x, x * x
	}
	lo, hi := (-c-mean)/deviation, (c-mean)/deviation
	in := below(hi) - below(lo)
	first = mean*in + deviation*(bell(lo)-bell(hi)) + c*(1-below(hi)) - c*below(lo)
	second = (mean*mean+deviation*deviation)*in + deviation*((mean-c)*bell(lo)-(mean+c)*bell(hi)) + c*c*(1-in)
	return first, second
}

// below is the standard normal distribution function, bell its density.
func below(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
func bell(x float64) float64  { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
