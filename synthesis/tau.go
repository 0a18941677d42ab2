package synthesis

import (
	"context"
	"fmt"
	"math"
)

// SaturatedError reports a target that no τ reaches.
type SaturatedError struct {
	Target float64 // edges asked for
	Limit  float64 // pairs with a positive score
	// Uncertainty is the standard error of Limit, 0 if every pair was looked at.
	Uncertainty float64
	Where       string // which pairs, if not all
}

func (e *SaturatedError) Error() string {
	return fmt.Sprintf("synthesis: %.0f edges asked for%s, but only %.0f pairs have a positive chance; ask for fewer edges or give more pairs a score (more components, the constant one)", e.Target, e.Where, e.Limit)
}

// Tau is the solution of Σ_{i<j} 1 − exp(−τ·max(0, score_ij)) = Target.
type Tau struct {
	Value  float64 `json:"value"`
	Target float64 `json:"target"`
	// Error is the standard error of the expected number of edges at Value (0
	// when every pair was looked at); numerical error adds ≤ 1e-5 of the target.
	Error float64 `json:"error"`
	// Candidates is the number of pairs looked at.
	Candidates int64 `json:"candidates"`
}

const (
	chunkRows  = 256     // rows that share one start of the systematic sample
	exactPairs = 4 << 20 // up to so many pairs, all are looked at
	pilotMarks = 1 << 18 // marks of a pilot pass
	mostPairs  = 1 << 30 // candidates after which an uncertain τ is given up
)

// share is how many marks the last pass has per candidate of the sampler: all
// for small graphs, a tenth in the middle, a fixed number of marks for large
// ones.
func share(target float64) float64 { return min(1, max(0.1, 1e6/target), 1e8/target) }

func chunks(n int) int { return (n + chunkRows - 1) / chunkRows }

// A pass is what one estimation over some chunks gives.
type pass struct {
	tally      *tally
	chunks     []float64 // expected number of edges per chunk of rows at τ = rate
	candidates int64
	// control is Σ over pairs of slope·score less its estimate from the sample:
	// its expectation is 0, and adding τ·control to the tally's number of edges
	// takes out most of the sampling error. residual is the variance that is left.
	control, residual float64
	tau               float64 // what residual was computed for; 0: no control
}

// A plan says how a pass samples.
type plan struct {
	// Rate of marks per unit of bound; +Inf looks at every pair.
	Rate float64
	// Tau is a first guess of τ, 0 if there is none.
	Tau float64
}

// estimate samples pairs by marks at distance 1 on the axis of mass (rate times
// bound times pairs), with one random start per chunk: a systematic sample. A
// pair under a mark stands for 1/(rate·bound) pairs, which makes every sum over
// pairs unbiased whatever the bounds; segments of near certain pairs
// (rate·bound > 1/2) are looked at in full.
func estimate(ctx context.Context, t *tree, how plan, seed uint64, from, to int) (*pass, error) {
	e := estimator{pass: pass{tally: newTally(t.top()), chunks: make([]float64, to-from), tau: how.Tau}, walker: newWalker(t), plan: how}
	source := newRowSource(seed, estimateKind)
	for c := from; c < to; c++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		source.reset(uint64(c))
		mark := source.rand.Float64()
		for p := c * chunkRows; p < min(t.n, (c+1)*chunkRows); p++ {
			for _, g := range e.walker.segments(p, how.Rate) {
				mark = e.segment(g, mark, &e.pass.chunks[c-from])
			}
		}
	}
	return &e.pass, nil
}

const estimateKind = 0x746175 // the streams of the estimation of τ

// An estimator collects one pass.
type estimator struct {
	pass
	walker *walker
	plan   plan
}

// segment samples one segment and returns the distance of the next mark.
func (e *estimator) segment(g segment, mark float64, expected *float64) float64 {
	w, tau := e.walker, e.plan.Tau
	density := e.plan.Rate * g.bound
	if density > certain {
		e.candidates += int64(g.to - g.from)
		for q := g.from; q < g.to; q++ {
			if s := w.score(q); s > 0 {
				e.tally.add(s)
				*expected += Probability(e.plan.Rate, s)
			}
		}
		return mark
	}
	slope := 0.0
	if tau > 0 && g.node >= 0 {
		var sum float64
		slope, sum = w.control(g, tau)
		e.control += slope * sum
	}
	mass, weight := density*float64(g.to-g.from), 1/density
	for ; mark < mass; mark++ {
		e.candidates++
		s := w.score(min(g.from+int(mark*weight), g.to-1))
		p := Probability(tau, s)
		if s > 0 {
			e.tally.sampled(s, weight)
			*expected += weight * p
		}
		e.control -= slope * s * weight
		p = weight * (p - slope*tau*s)
		e.residual += p * p
	}
	return mark - mass
}

// control returns a slope such that slope·τ·score is close to the probability
// over a node, and the sum of the node's scores. Scores are taken for normal,
// with the exact mean, and half a side of the box for √10 standard deviations
// (measured to leave the least variance); any slope would be right.
func (w *walker) control(g segment, tau float64) (slope, sum float64) {
	k := w.t.k
	b := w.t.bounds[g.node*2*k : (g.node+1)*2*k]
	total := w.t.sums[g.node*k : (g.node+1)*k]
	variance := 0.0
	for a, x := range w.w {
		h := x * b[k+a]
		variance += h * h / 10
		sum += x * total[a]
	}
	mean := sum / float64(g.to-g.from)
	slope = 1 / (1 + math.Exp(-1.7*mean/math.Sqrt(variance+math.SmallestNonzeroFloat64)))
	return slope * math.Exp(-tau*max(0, mean)), sum
}

// top is a power of two above every score: no row is longer than the corner of
// the box around all rows.
func (t *tree) top() float64 {
	if t.k == 0 || t.n == 0 {
		return 1
	}
	low, high := t.box(0, 0)
	square := 0.0
	for a := range low {
		x := max(-low[a], high[a])
		square += x * x
	}
	return topOf(2 * square)
}

// mass bounds Σ_{i<j} max(0, score_ij) from above by the bounds of pairs of nodes.
func (t *tree) mass() float64 {
	if t.k == 0 || t.n == 0 {
		return 0
	}
	level := min(t.depth, 7)
	sum := 0.0
	for a := range 1 << level {
		low, high := t.box(level, a)
		sizeA := float64(t.first(level, a+1) - t.first(level, a))
		for b := a; b < 1<<level; b++ {
			from, to := t.box(level, b)
			bound := 0.0
			for c, sign := range t.sign {
				bound += max(sign*low[c]*from[c], sign*low[c]*to[c], sign*high[c]*from[c], sign*high[c]*to[c])
			}
			pairs := sizeA * float64(t.first(level, b+1)-t.first(level, b))
			if a == b {
				pairs = sizeA * (sizeA - 1) / 2
			}
			sum += max(0, bound) * pairs
		}
	}
	return sum
}

// solveTau solves for τ by passes over all chunks: a pilot at a rate that the
// bounds make affordable, repeated with more marks until its error is below a
// fifth, then one at the τ that the pilot found. It returns the last pass too.
func solveTau(ctx context.Context, n int, mass, target float64, run func(context.Context, plan) (*pass, error)) (*Tau, *pass, error) {
	if !(target >= 0) || math.IsInf(target, 0) {
		return nil, nil, fmt.Errorf("synthesis: %v edges asked for; want a finite number ≥ 0", target)
	}
	if target == 0 {
		return &Tau{}, &pass{chunks: make([]float64, chunks(n))}, nil
	}
	if !(mass > 0) {
		return nil, nil, &SaturatedError{Target: target}
	}
	how := plan{Rate: pilotMarks / mass}
	if float64(n)*float64(n-1)/2 <= exactPairs {
		how.Rate = math.Inf(1)
	}
	for passes := 1; ; passes++ {
		last, err := run(ctx, how)
		if err != nil {
			return nil, nil, err
		}
		tau, err := last.solve(target)
		switch {
		case math.IsInf(how.Rate, 1) || err != nil && passes > 3:
			return tau, last, err
		case err == nil && tau.Error <= target/5:
			if how.Tau > tau.Value/2 && how.Tau < 2*tau.Value {
				return tau, last, nil
			}
			how = plan{Rate: tau.Value * share(target), Tau: tau.Value}
		case passes > 12 || last.candidates > mostPairs:
			return nil, nil, fmt.Errorf("synthesis: τ is still uncertain after %d candidates; the scores of the model are too uneven for %.0f edges", last.candidates, target)
		default:
			how = plan{Rate: 8 * how.Rate}
		}
	}
}

// solve finds τ for the target with the control's help: first by the tally
// alone, then near that with the correction.
func (o *pass) solve(target float64) (*Tau, error) {
	limit, variance := o.tally.limit()
	if target >= limit*(1-1e-9) {
		return nil, &SaturatedError{Target: target, Limit: limit, Uncertainty: math.Sqrt(variance)}
	}
	tau := &Tau{Target: target, Candidates: o.candidates}
	tau.Value = o.tally.solve(target, 0, 0, math.MaxFloat64)
	_, variance = o.tally.expected(tau.Value)
	if o.tau > tau.Value/4 && o.tau < 4*tau.Value {
		tau.Value = o.tally.solve(target, o.control, tau.Value/2, 2*tau.Value)
		variance = o.residual * (tau.Value / o.tau) * (tau.Value / o.tau)
	}
	tau.Error = math.Sqrt(variance)
	return tau, nil
}
