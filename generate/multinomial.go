package generate

import (
	"math"
	"math/rand/v2"
)

// quadrants splits a number of edges over the four quadrants of a square.
type quadrants struct {
	p         [4]float64
	threshold [3]uint64 // cumulative probabilities in units of 2^-53
}

func newQuadrants(a, b, c, d float64) quadrants {
	q := quadrants{p: [4]float64{a, b, c, d}}
	cumulative := 0.0
	for i := range q.threshold {
		cumulative += q.p[i]
		q.threshold[i] = uint64(math.Ldexp(min(cumulative, 1), 53))
	}
	return q
}

// one draws one quadrant.
func (q *quadrants) one(rng *rand.Rand) int {
	x := rng.Uint64() >> 11
	if x < q.threshold[0] {
		return 0
	}
	if x < q.threshold[1] {
		return 1
	}
	if x < q.threshold[2] {
		return 2
	}
	return 3
}

// splitOneByOne is up to where single draws are faster than three binomials.
const splitOneByOne = 32

// split is multinomial with n trials.
func (q *quadrants) split(rng *rand.Rand, n int64) [4]int64 {
	var parts [4]int64
	if n <= splitOneByOne {
		for range n {
			parts[q.one(rng)]++
		}
		return parts
	}
	rest := 1.0
	for i := range 3 {
		if rest <= 0 || n == 0 {
			break
		}
		parts[i] = binomial(rng, n, min(1, q.p[i]/rest))
		n -= parts[i]
		rest -= q.p[i]
	}
	parts[3] = n
	return parts
}

// binomialChunk bounds the trials of one inversion: its work is about √trials
// steps, and log Γ loses digits with growing arguments (1e-10 here).
const binomialChunk = 1 << 16

// binomial is a sum of n trials with probability p, exact up to the rounding of
// the probabilities.
func binomial(rng *rand.Rand, n int64, p float64) int64 {
	switch {
	case p <= 0 || n <= 0:
		return 0
	case p >= 1:
		return n
	}
	total := int64(0)
	for ; n > 0; n -= binomialChunk {
		total += invert(rng, min(n, binomialChunk), p)
	}
	return total
}

// invert looks for the outcome at which the probabilities, added up from the
// mode outwards, exceed a uniform number.
func invert(rng *rand.Rand, n int64, p float64) int64 {
	mode := min(n, int64(float64(n+1)*p))
	pm := math.Exp(logGamma(n+1) - logGamma(mode+1) - logGamma(n-mode+1) +
		float64(mode)*math.Log(p) + float64(n-mode)*math.Log1p(-p))
	odds := p / (1 - p)
	u := rng.Float64() - pm
	low, high := mode, mode
	pl, ph := pm, pm
	for u >= 0 {
		if low == 0 && high == n {
			return mode // the probabilities add up to 1 - 1e-10
		}
		if high < n {
			ph *= odds * float64(n-high) / float64(high+1)
			high++
			if u -= ph; u < 0 {
				return high
			}
		}
		if low > 0 {
			pl *= float64(low) / (odds * float64(n-low+1))
			low--
			if u -= pl; u < 0 {
				return low
			}
		}
	}
	return mode
}

func logGamma(x int64) float64 {
	l, _ := math.Lgamma(float64(x))
	return l
}
