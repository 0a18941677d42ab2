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
	finalEdges = 2e7     // above so many edges the last pass samples fewer marks
	estimation = 0x74617521
)

func chunks(n int) int { return (n + chunkRows - 1) / chunkRows }

// A pass is what one estimation over some chunks gives.
type pass struct {
	tally      *tally
	chunks     []float64 // expected number of edges per chunk of rows at τ = rate
	candidates int64
}

// estimate samples pairs at a rate per unit of bound by marks at distance 1 on
// the axis of mass (bound times pairs), with one random start per chunk: a
// systematic sample. A pair under a mark stands for 1/(rate·bound) pairs, which
// makes every sum over pairs unbiased whatever the bounds; segments of near
// certain pairs (rate·bound > 1/2) are looked at in full, all segments when rate
// is +Inf.
func estimate(ctx context.Context, t *tree, rate float64, seed uint64, from, to int) (*pass, error) {
	out := &pass{tally: newTally(t.top()), chunks: make([]float64, to-from)}
	w := newWalker(t)
	source := newRowSource(seed, estimation)
	for c := from; c < to; c++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		source.reset(uint64(c))
		mark := source.rand.Float64()
		for p := c * chunkRows; p < min(t.n, (c+1)*chunkRows); p++ {
			for _, g := range w.segments(p, rate) {
				mark = out.segment(w, g, rate, mark, &out.chunks[c-from])
			}
		}
	}
	return out, nil
}

// segment samples one segment and returns the distance of the next mark.
func (o *pass) segment(w *walker, g segment, rate, mark float64, expected *float64) float64 {
	density := rate * g.bound
	if density > certain {
		o.candidates += int64(g.to - g.from)
		for q := g.from; q < g.to; q++ {
			if s := w.score(q); s > 0 {
				o.tally.add(s)
				*expected += Probability(rate, s)
			}
		}
		return mark
	}
	mass, weight := density*float64(g.to-g.from), 1/density
	for ; mark < mass; mark++ {
		o.candidates++
		q := min(g.from+int(mark*weight), g.to-1)
		if s := w.score(q); s > 0 {
			o.tally.sampled(s, weight)
			*expected += weight * Probability(rate, s)
		}
	}
	return mark - mass
}

// top is a power of two above every score: the square of the longest row.
func (t *tree) top() float64 {
	most := 0.0
	for i := 0; i < len(t.y); i += max(t.k, 1) {
		s := 0.0
		for _, x := range t.y[i : i+t.k] {
			s += x * x
		}
		most = max(most, s)
	}
	return topOf(2 * most)
}

// mass bounds Σ_{i<j} max(0, score_ij) from above by the bounds of pairs of nodes.
func (t *tree) mass() float64 {
	if t.k == 0 || t.n == 0 {
		return 0
	}
	level := min(t.depth, 7)
	sum := 0.0
	for a := range 1 << level {
		x := t.at(level, a)
		sizeA := float64(t.first(level, a+1) - t.first(level, a))
		for b := a; b < 1<<level; b++ {
			z := t.at(level, b)
			middle, normX, normZ := 0.0, 0.0, 0.0
			for c := range t.k {
				middle += t.sign[c] * x[c] * z[c]
				normX += x[c] * x[c]
				normZ += z[c] * z[c]
			}
			rx, rz := x[2*t.k], z[2*t.k]
			bound := middle + math.Sqrt(normX)*rz + math.Sqrt(normZ)*rx + rx*rz
			pairs := sizeA * float64(t.first(level, b+1)-t.first(level, b))
			if a == b {
				pairs = sizeA * (sizeA - 1) / 2
			}
			sum += max(0, bound) * pairs
		}
	}
	return sum
}

// An estimator runs one pass over all chunks.
type estimator func(ctx context.Context, rate float64) (*pass, error)

// solveTau solves for τ: a pilot pass at a rate that the bounds make affordable,
// repeated with more marks until its error is below a fifth, then a pass at the
// rate that the pilot found, which has about as many candidates as sampling
// itself. It returns the last pass too.
func solveTau(ctx context.Context, n int, mass, target float64, run estimator) (*Tau, *pass, error) {
	if !(target >= 0) || math.IsInf(target, 0) {
		return nil, nil, fmt.Errorf("synthesis: %v edges asked for; want a finite number ≥ 0", target)
	}
	if target == 0 {
		return &Tau{}, &pass{chunks: make([]float64, chunks(n))}, nil
	}
	if !(mass > 0) {
		return nil, nil, &SaturatedError{Target: target}
	}
	if float64(n)*float64(n-1)/2 <= exactPairs {
		last, err := run(ctx, math.Inf(1))
		if err != nil {
			return nil, nil, err
		}
		tau, err := last.solve(target)
		return tau, last, err
	}
	rate := pilotMarks / mass
	for marks := 0; ; marks++ {
		last, err := run(ctx, rate)
		if err != nil {
			return nil, nil, err
		}
		tau, err := last.solve(target)
		if err != nil && marks >= 3 {
			return nil, nil, err
		}
		if err != nil || tau.Error > target/5 {
			if marks >= 12 || last.candidates > 1<<30 {
				return nil, nil, fmt.Errorf("synthesis: τ stays uncertain by %.0f of %.0f edges after %d candidates", tau.Error, target, tau.Candidates)
			}
			rate *= 8
			continue
		}
		want := tau.Value * min(1, finalEdges/target)
		if rate > want/3 && (rate < 3*want || tau.Error < math.Sqrt(target)) {
			return tau, last, nil
		}
		rate = want
	}
}

func (o *pass) solve(target float64) (*Tau, error) {
	limit, variance := o.tally.limit()
	if target >= limit*(1-1e-9) {
		return nil, &SaturatedError{Target: target, Limit: limit, Uncertainty: math.Sqrt(variance)}
	}
	tau := o.tally.solve(target)
	_, variance = o.tally.expected(tau)
	return &Tau{Value: tau, Target: target, Error: math.Sqrt(variance), Candidates: o.candidates}, nil
}
