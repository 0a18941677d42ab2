package synthesis

import "math"

const (
	octaves       = 64 // scores below 2^-64 of the largest bound share the first bin
	binsPerOctave = 64
	tallyBins     = octaves * binsPerOctave
)

// A tally is a weighted histogram of positive scores from which the expected
// number of edges can be read for any τ. Bins are 1/64 of an octave wide or
// less and hold the mean score, so that Σ weight·(1 − exp(−τ·mean)) is off by
// less than 1e-5 of itself (half the curvature times the bin's variance).
type tally struct {
	// Top is a power of two above every score.
	Top    float64
	Weight []float64 // estimated number of pairs
	Moment []float64 // sum of weight·score
	Square []float64 // sum of weight² over sampled pairs: the variance of Weight
}

func newTally(top float64) *tally {
	return &tally{top, make([]float64, tallyBins), make([]float64, tallyBins), make([]float64, tallyBins)}
}

// topOf is the power of two above x.
func topOf(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, min(e, 1023))
}

func (h *tally) bin(score float64) int {
	const shift = 52 - 6
	return max(0, int(math.Float64bits(score/h.Top)>>shift)-(1023*binsPerOctave-tallyBins))
}

// add counts a pair that was met with certainty (variance 0).
func (h *tally) add(score float64) {
	b := h.bin(score)
	h.Weight[b]++
	h.Moment[b] += score
}

// sampled counts a pair that stands for weight pairs.
func (h *tally) sampled(score, weight float64) {
	b := h.bin(score)
	h.Weight[b] += weight
	h.Moment[b] += weight * score
	h.Square[b] += weight * weight
}

// expected returns the expected number of edges at τ and its variance as an
// estimate.
func (h *tally) expected(tau float64) (edges, variance float64) {
	for b, w := range h.Weight {
		if w > 0 {
			p := Probability(tau, h.Moment[b]/w)
			edges += w * p
			variance += h.Square[b] * p * p
		}
	}
	return edges, variance
}

// limit is the number of pairs with a positive score: no τ gives more edges.
func (h *tally) limit() (pairs, variance float64) {
	for b, w := range h.Weight {
		pairs += w
		variance += h.Square[b]
	}
	return pairs, variance
}

// solve returns τ in [low, high] with expected(τ) + τ·control = target, by
// bisection to the last bit; the left side grows with τ. Brackets that start
// at 0 are halved in the logarithm.
func (h *tally) solve(target, control, low, high float64) float64 {
	low = max(low, math.SmallestNonzeroFloat64)
	for range 2200 {
		middle := math.Sqrt(low) * math.Sqrt(high)
		if !(middle > low && middle < high) {
			break
		}
		if e, _ := h.expected(middle); e+middle*control < target {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
