package synthesis

import (
	"fmt"
	"math"
)

// solve finds ω for every pair of blocks.
func (g *blockGraph) solve(edges []float64) error {
	g.rate = make([]float64, g.q*g.q)
	profiles := make([]*profile, g.q)
	for r := range g.q {
		profiles[r] = newProfile(g.weight[g.start[r]:g.start[r+1]])
	}
	for r := range g.q {
		for s := r; s < g.q; s++ {
			pair := blockPair{profiles[r], profiles[s], r == s}
			target, limit := edges[r*g.q+s], pair.limit()
			if target == 0 {
				continue
			}
			if target > limit*(1-1e-9) {
				return &SaturatedError{Target: target, Limit: limit, Where: fmt.Sprintf(" between blocks %d and %d", r, s)}
			}
			rate := pair.solve(target)
			g.rate[r*g.q+s], g.rate[s*g.q+r] = rate, rate
		}
	}
	return nil
}

// A profile sums up the weights of a block: power sums for small rates, and a
// histogram with up to 8 bins per octave (exact for equal weights) for large ones.
type profile struct {
	positive   float64 // number of positive weights
	power      [7]float64
	most       float64
	count      []float64
	mean       []float64
	dispersion []float64 // Σ (θ − mean)²
}

func newProfile(weights []float64) *profile {
	b := &profile{}
	bins := map[int]int{}
	at := func(x float64) int {
		key := int(math.Floor(8 * math.Log2(x)))
		i, ok := bins[key]
		if !ok {
			i = len(b.count)
			bins[key] = i
			b.count, b.mean, b.dispersion = append(b.count, 0), append(b.mean, 0), append(b.dispersion, 0)
		}
		return i
	}
	for _, x := range weights {
		if x <= 0 {
			continue
		}
		b.positive++
		b.most = max(b.most, x)
		for e, y := 1, x; e < len(b.power); e, y = e+1, y*x {
			b.power[e] += y
		}
		// Welford's update of mean and dispersion.
		i := at(x)
		b.count[i]++
		d := x - b.mean[i]
		b.mean[i] += d / b.count[i]
		b.dispersion[i] += d * (x - b.mean[i])
	}
	return b
}

// blockPair is the pairs of vertices between two blocks, or within one.
type blockPair struct {
	a, b *profile
	same bool
}

func (p blockPair) limit() float64 {
	if p.same {
		return p.a.positive * (p.a.positive - 1) / 2
	}
	return p.a.positive * p.b.positive
}

// solve returns ω with expected(ω) = target by Newton's method. expected is
// concave and increasing and its tangent lies above it, so from a start below
// the solution every step stays below and the steps converge.
func (p blockPair) solve(target float64) float64 {
	_, slope := p.expected(0)
	rate := target / slope
	for range 200 {
		value, slope := p.expected(rate)
		next := rate + (target-value)/slope
		if !(next > rate*(1+1e-13)) {
			break
		}
		rate = next
	}
	return rate
}

// expected returns Σ 1 − exp(−ωθ_iθ_j) over the pairs and its derivative in ω.
// Its relative error is below 1e-7 by the series (ωθθ ≤ 0.01 everywhere) and
// 1e-4 by the histogram, whose bins are a twelfth of their value wide and carry
// their second moment.
func (p blockPair) expected(rate float64) (value, slope float64) {
	if rate*p.a.most*p.b.most <= 0.01 {
		value, slope = p.series(rate)
	} else {
		value, slope = p.histogram(rate)
	}
	return value, slope
}

// series sums ωx − (ωx)²/2 + (ωx)³/6 with the power sums of the weights; pairs
// i = j and the order of a pair are taken out within a block.
func (p blockPair) series(rate float64) (value, slope float64) {
	factor := 1.0 // (−1)^(e+1) ω^(e−1) / e!
	for e := 1; e <= 3; e++ {
		sum := p.a.power[e] * p.b.power[e]
		if p.same {
			sum = (sum - p.a.power[2*e]) / 2
		}
		factor /= float64(e)
		value += factor * rate * sum
		slope += factor * float64(e) * sum
		factor *= -rate
	}
	return value, slope
}

func (p blockPair) histogram(rate float64) (value, slope float64) {
	for i, m := range p.a.count {
		for j, o := range p.b.count {
			x, y := p.a.mean[i], p.b.mean[j]
			z := rate * x * y
			miss := math.Exp(-z)
			// Second moments: half the second derivative along each weight.
			bend := (p.a.dispersion[i]*o*y*y + p.b.dispersion[j]*m*x*x) / 2
			value += m*o*-math.Expm1(-z) - bend*rate*rate*miss
			slope += m*o*x*y*miss - bend*rate*miss*(2-z)
		}
	}
	if !p.same {
		return value, slope
	}
	for i, m := range p.a.count {
		x := p.a.mean[i]
		z := rate * x * x
		miss := math.Exp(-z)
		bend := p.a.dispersion[i] / 2
		value -= m*-math.Expm1(-z) + bend*2*rate*miss*(1-2*z)
		slope -= m*x*x*miss + bend*miss*(2-10*z+4*z*z)
	}
	return value / 2, slope / 2
}
