package generate

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// powerLaw draws integers x in lo..hi with P(x) ∝ x^-τ, where the weight of lo
// is lowered to give a wanted mean.
type powerLaw struct {
	lo  int64
	cdf []float64 // cdf[i] = P(x ≤ lo+i)
}

// powerLawMean is the mean of P(x) ∝ x^-τ on 1..hi, the least that newPowerLaw
// can reach.
func powerLawMean(tau float64, hi int64) float64 {
	var s0, s1 float64
	for x := hi; x >= 1; x-- {
		p := math.Pow(float64(x), -tau)
		s0 += p
		s1 += p * float64(x)
	}
	return s1 / s0
}

// newPowerLaw finds lo and its weight w in [0, 1] with
//
//	(w·lo·lo^-τ + Σ_{x>lo} x·x^-τ) / (w·lo^-τ + Σ_{x>lo} x^-τ) = mean.
//
// The mean grows from that of 1..hi to hi as lo grows and w falls, so that
// exactly one pair does it.
func newPowerLaw(tau, mean float64, hi int64) powerLaw {
	weights := []float64{}
	var s0, s1 float64
	for x := hi; ; x-- {
		p := math.Pow(float64(x), -tau)
		next0, next1 := s0+p, s1+p*float64(x)
		if next1 > mean*next0 && x > 1 {
			s0, s1 = next0, next1
			weights = append(weights, p)
			continue
		}
		// With weight 1 the mean is at most the wanted one: x is lo.
		w := 1.0
		if below := p * (mean - float64(x)); below > 0 {
			w = min(1, max(0, (s1-mean*s0)/below))
		}
		return cumulate(x, append(weights, w*p))
	}
}

// plainPowerLaw is P(x) ∝ x^-τ on lo..hi.
func plainPowerLaw(tau float64, lo, hi int64) powerLaw {
	weights := make([]float64, 0, hi-lo+1)
	for x := hi; x >= lo; x-- {
		weights = append(weights, math.Pow(float64(x), -tau))
	}
	return cumulate(lo, weights)
}

// cumulate takes the weights from the largest value down to lo.
func cumulate(lo int64, weights []float64) powerLaw {
	slices.Reverse(weights)
	total := 0.0
	for i, w := range weights {
		total += w
		weights[i] = total
	}
	for i := range weights {
		weights[i] /= total
	}
	weights[len(weights)-1] = 1
	return powerLaw{lo, weights}
}

func (l powerLaw) draw(rng *rand.Rand) int64 {
	u := rng.Float64()
	return l.lo + int64(sort.Search(len(l.cdf), func(i int) bool { return l.cdf[i] > u }))
}

// communitySizes draws sizes until they hold all vertices, and takes what is
// too much from random communities. Where the last one cannot be afforded it
// is taken back and the others grow. nil if neither works with this draw.
func (s LFR) communitySizes(rng *rand.Rand) []int64 {
	law := plainPowerLaw(s.Tau2, s.MinCommunity, s.MaxCommunity)
	var sizes []int64
	total := int64(0)
	for total < s.N {
		sizes = append(sizes, law.draw(rng))
		total += sizes[len(sizes)-1]
	}
	if int64(len(sizes))*s.MinCommunity > s.N {
		total -= sizes[len(sizes)-1]
		sizes = sizes[:len(sizes)-1]
	}
	if int64(len(sizes))*s.MaxCommunity < s.N {
		return nil
	}
	for total != s.N {
		c := rng.IntN(len(sizes))
		switch {
		case total > s.N && sizes[c] > s.MinCommunity:
			sizes[c]--
			total--
		case total < s.N && sizes[c] < s.MaxCommunity:
			sizes[c]++
			total++
		}
	}
	return sizes
}

// place assigns vertices to communities, uniformly among all assignments in
// which each vertex has fewer neighbours inside than its community has members;
// false if there is none.
//
// Vertices come by decreasing inside degree, so the communities that are large
// enough for one are large enough for all after it. The t-th vertex picks one
// of the free slots among them; how many there are does not depend on the
// earlier picks, hence all assignments are equally likely, and if one exists
// it is found.
func (p *lfrPlan) place(sizes []int64, rng *rand.Rand) bool {
	slices.SortFunc(sizes, func(a, b int64) int { return int(b - a) })
	order := p.byInsideDegree()
	p.members = make([][]int32, len(sizes))
	slots := make([]int32, 0, len(order))
	opened := 0
	for _, v := range order {
		for opened < len(sizes) && sizes[opened] > int64(p.inside[v]) {
			for range sizes[opened] {
				slots = append(slots, int32(opened))
			}
			p.members[opened] = make([]int32, 0, sizes[opened])
			opened++
		}
		if len(slots) == 0 {
			return false
		}
		i, last := rng.IntN(len(slots)), len(slots)-1
		c := slots[i]
		slots[i] = slots[last]
		slots = slots[:last]
		p.label[v] = c
		p.members[c] = append(p.members[c], v)
	}
	return true
}

// balanced reports whether the outside stubs of each community can find
// partners in the others.
func (p *lfrPlan) balanced() bool {
	total, most := int64(0), int64(0)
	for _, members := range p.members {
		here := int64(0)
		for _, v := range members {
			here += int64(p.outside[v])
		}
		total += here
		most = max(most, here)
	}
	return 2*most <= total
}

// byInsideDegree lists the vertices by decreasing inside degree, by counting.
func (p *lfrPlan) byInsideDegree() []int32 {
	most := slices.Max(p.inside)
	start := make([]int, most+2)
	for _, d := range p.inside {
		start[most-d+1]++
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	order := make([]int32, len(p.inside))
	for v, d := range p.inside {
		order[start[most-d]] = int32(v)
		start[most-d]++
	}
	return order
}

// evenOut gives each community an even number of inside stubs by moving one
// stub of a random member to the other side. With closed (Mu = 0) there is no
// other side, and one stub is dropped.
func (p *lfrPlan) evenOut(rng *rand.Rand, closed bool) {
	for _, members := range p.members {
		total := int64(0)
		for _, v := range members {
			total += int64(p.inside[v])
		}
		if total%2 == 0 {
			continue
		}
		for { // an odd sum has a member with a stub
			v := members[rng.IntN(len(members))]
			grow := !closed && rng.IntN(2) == 1
			if grow && p.outside[v] > 0 && int(p.inside[v])+1 < len(members) {
				p.inside[v]++
				p.outside[v]--
				break
			}
			if !grow && p.inside[v] > 0 {
				p.inside[v]--
				if !closed {
					p.outside[v]++
				}
				break
			}
		}
	}
}
