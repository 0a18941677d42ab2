package metrics

import (
	"math"
	"slices"
)

// mutualInformation returns AMI and NMI with the arithmetic mean as normaliser:
// NMI = I/H̄ and AMI = (I − E[I]) / (H̄ − E[I]), H̄ = (H(detected) + H(truth))/2, where
// E[I] is the expectation over partitions with the same community sizes drawn at
// random (Vinh, Epps, Bailey 2010, eq. 24a).
func (c *Contingency) mutualInformation() (ami, nmi float64) {
	if c.same() {
		return 1, 1
	}
	if len(c.Detected) == 1 || len(c.Truth) == 1 {
		return 0, 0 // one community tells nothing: I and E[I] are both exactly 0
	}
	information := c.information()
	mean := (entropy(c.Detected, c.N) + entropy(c.Truth, c.N)) / 2
	nmi = max(0, information/mean)
	if int64(len(c.Detected)) == c.N || int64(len(c.Truth)) == c.N {
		return 0, nmi // singletons: I is the other side's entropy however they lie
	}
	expected := ExpectedInformation(c.Detected, c.Truth)
	// The denominator is ≥ 0 and vanishes only where no partition with these
	// sizes could differ from another, up to rounding.
	if denominator := mean - expected; denominator > 1e-14*mean {
		ami = (information - expected) / denominator
	}
	return ami, nmi
}

// information is the mutual information Σ (x/n)·ln(n·x/(a·b)), in nats.
func (c *Contingency) information() float64 {
	n, sum := float64(c.N), 0.0
	c.cells(func(i int, j int32, count int64) {
		x := float64(count)
		sum += x / n * math.Log(n*x/(float64(c.Detected[i])*float64(c.Truth[j])))
	})
	return sum
}

func entropy(sizes []int64, n int64) float64 {
	h := 0.0
	for _, s := range sizes {
		p := float64(s) / float64(n)
		h -= p * math.Log(p)
	}
	return h
}

// ExpectedInformation is the expected mutual information, in nats, of two
// partitions of n = Σ detected = Σ truth vertices with the given community sizes
// and otherwise random. The overlap of a community of a vertices with one of b is
// hypergeometric, so that
//
//	E[I] = Σ_{a,b} Σ_x P(x; n, a, b) · (x/n)·ln(n·x/(a·b)).
//
// Communities of equal size share their terms (at most √(2n) sizes differ), and
// each inner sum walks outwards from its mode.
func ExpectedInformation(detected, truth []int64) float64 {
	var n int64
	for _, a := range detected {
		n += a
	}
	sum := 0.0
	rows, columns := distinct(detected), distinct(truth)
	for _, a := range rows {
		for _, b := range columns {
			sum += float64(a.times) * float64(b.times) * expectedTerm(n, a.size, b.size)
		}
	}
	return sum
}

type repeatedSize struct{ size, times int64 }

func distinct(sizes []int64) []repeatedSize {
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	var d []repeatedSize
	for _, s := range sorted {
		if len(d) == 0 || d[len(d)-1].size != s {
			d = append(d, repeatedSize{size: s})
		}
		d[len(d)-1].times++
	}
	return d
}

// negligible is where a walk away from the mode stops. The distribution is
// log-concave, so what follows is below a geometric series that starts here:
// under 1e-30 of the mode's weight times the support's length.
const negligible = 1e-36

// expectedTerm is Σ_x P(x; n, a, b) · (x/n)·ln(n·x/(a·b)). The probabilities come
// from their ratios, relative to the mode, and are divided by their own sum; that
// avoids the cancellation of log-factorials, which costs a relative 1e-9 at a
// million vertices.
func expectedTerm(n, a, b int64) float64 {
	low, high := max(0, a+b-n), min(a, b)
	mode := min(max(low, modeOf(n, a, b)), high)
	scale := float64(n) / (float64(a) * float64(b))
	value := func(x int64) float64 {
		if x == 0 {
			return 0
		}
		return float64(x) / float64(n) * math.Log(float64(x)*scale)
	}
	total, sum := 1.0, value(mode)
	for x, p := mode, 1.0; x < high && p > negligible; x++ {
		p *= float64(a-x) * float64(b-x) / (float64(x+1) * float64(n-a-b+x+1))
		total += p
		sum += p * value(x+1)
	}
	for x, p := mode, 1.0; x > low && p > negligible; x-- {
		p *= float64(x) * float64(n-a-b+x) / (float64(a-x+1) * float64(b-x+1))
		total += p
		sum += p * value(x-1)
	}
	return sum / total
}

// modeOf is ⌊(a+1)(b+1)/(n+2)⌋ up to one unit, which is all that the walk needs.
func modeOf(n, a, b int64) int64 {
	return int64(float64(a+1) * float64(b+1) / float64(n+2))
}
