package generate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// inside5 reports |x - mean| ≤ 5 standard deviations: a sound program fails one
// such check in 1.7 million (normal approximation). Seeds are fixed, so a check
// that passes once passes always.
func inside5(t testing.TB, what string, x, mean, deviation float64) {
	t.Helper()
	if math.Abs(x-mean) > 5*deviation {
		t.Errorf("%s: %.6g, want %.6g ± 5·%.3g", what, x, mean, deviation)
	}
}

func countSides(edges []edge, labels []int) (in, out float64) {
	for _, e := range edges {
		if labels[e.u] == labels[e.v] {
			in++
		} else {
			out++
		}
	}
	return in, out
}

// One graph of 3,000 vertices per row, two binomial counts each.
func TestPlantedPartitionCounts(t *testing.T) {
	for _, s := range []SBM{
		{N: 3000, Communities: 3, PIn: 0.02, POut: 0.003, Seed: 1},
		{N: 3001, Communities: 7, PIn: 0, POut: 0.004, Seed: 2},
		{N: 3000, Communities: 1, PIn: 0.01, POut: 0, Seed: 3},
		{N: 3000, Communities: 2000, PIn: 0.5, POut: 0.001, Seed: 4, Ordered: true},
		{Sizes: []int64{1, 999, 2000}, PIn: 0.01, POut: 0.002, Seed: 5},
	} {
		edges, labels := collect(t, s), labelsOf(t, s)
		in, out := countSides(edges, labels)
		starts := s.starts()
		pairsIn, all := 0.0, float64(s.Vertices()*(s.Vertices()-1)/2)
		for b := range len(starts) - 1 {
			size := float64(starts[b+1] - starts[b])
			pairsIn += size * (size - 1) / 2
		}
		check := func(what string, got, pairs, p float64) {
			inside5(t, what, got, pairs*p, math.Sqrt(pairs*p*(1-p)))
		}
		check("edges inside", in, pairsIn, s.PIn)
		check("edges between", out, all-pairsIn, s.POut)
	}
}

func TestProbabilityOneIsTheCompleteGraph(t *testing.T) {
	for _, tau := range []float64{0, 3} {
		s := SBM{N: 40, Communities: 3, PIn: 1, POut: 1, Seed: 1, Exponent: tau}
		want := 40 * 39 / 2
		if got := len(collect(t, s)); tau == 0 && got != want {
			t.Errorf("%d edges, want all %d", got, want)
		}
	}
	s := SBM{N: 40, Communities: 4, PIn: 1, Seed: 1}
	if got := len(collect(t, s)); got != 4*10*9/2 {
		t.Errorf("%d edges, want 4 cliques of 10", got)
	}
}

// Mean degrees of one graph of 20,000 vertices each: their deviation is
// √(2·degree/n) inside and outside.
func TestExpectedDegreesAreMet(t *testing.T) {
	const n = 20_000
	for _, s := range []SBM{
		{N: n, Communities: 10, DegreeIn: 12.5, DegreeOut: 3.25, Seed: 1},
		{Sizes: []int64{1000, 4000, 15000}, DegreeIn: 8, DegreeOut: 5, Seed: 2},
		{N: n, Communities: 10, DegreeIn: 12.5, DegreeOut: 3.25, Seed: 3, Exponent: 3.5},
		{Sizes: []int64{5000, 15000}, DegreeIn: 4, DegreeOut: 7, Seed: 4, Exponent: 4},
	} {
		in, out := countSides(collect(t, s), labelsOf(t, s))
		inside5(t, "mean degree inside", 2*in/n, s.DegreeIn, math.Sqrt(2*s.DegreeIn/n))
		inside5(t, "mean degree outside", 2*out/n, s.DegreeOut, math.Sqrt(2*s.DegreeOut/n))
	}
}

// With unequal sizes each community, not only the mean, has DegreeIn.
func TestEachCommunityHasItsInsideDegree(t *testing.T) {
	s := SBM{Sizes: []int64{2000, 5000, 13000}, DegreeIn: 8, DegreeOut: 2, Seed: 7}
	labels := labelsOf(t, s)
	twice := make([]float64, 3)
	for _, e := range collect(t, s) {
		if labels[e.u] == labels[e.v] {
			twice[labels[e.u]] += 2
		}
	}
	for b, size := range s.Sizes {
		inside5(t, "inside degree", twice[b]/float64(size), 8, math.Sqrt(16/float64(size)))
	}
}

// Every pair is chosen equally often: 20,000 graphs of 12 vertices in two
// communities, chi-square over the 30 inside and the 36 outside pairs. The
// counts are independent binomials, so Σ(x-mean)²/variance has 30 and 36 degrees
// of freedom; 99.99 % of such sums are below 66.0 and 74.0 (false alarm 1e-4 each).
func TestPairsAreEquallyLikely(t *testing.T) {
	const graphs, pIn, pOut = 20_000, 0.3, 0.1
	var count [12][12]float64
	for seed := range uint64(graphs) {
		s := SBM{N: 12, Communities: 2, PIn: pIn, POut: pOut, Seed: seed, Ordered: true}
		err := Generate(context.Background(), s, func(u, v int64) error { count[u][v]++; return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	var in, out float64
	for u := range 12 {
		for v := u + 1; v < 12; v++ {
			if (u < 6) == (v < 6) {
				in += math.Pow(count[u][v]-graphs*pIn, 2) / (graphs * pIn * (1 - pIn))
			} else {
				out += math.Pow(count[u][v]-graphs*pOut, 2) / (graphs * pOut * (1 - pOut))
			}
		}
	}
	if in > 66 || out > 74 {
		t.Errorf("chi-square %.1f inside (bound 66), %.1f outside (bound 74)", in, out)
	}
}

// The same for degree correction: each pair against its own probability, 66
// degrees of freedom, 99.99 % below 115.7.
func TestCorrectedPairsHaveTheirProbabilities(t *testing.T) {
	const graphs = 20_000
	s := SBM{N: 12, Communities: 2, PIn: 0.3, POut: 0.1, Exponent: 2.5, Ordered: true}
	theta := s.weights(s.starts())
	var count [12][12]float64
	for seed := range uint64(graphs) {
		s.Seed = seed
		err := Generate(context.Background(), s, func(u, v int64) error { count[u][v]++; return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	chi := 0.0
	for u := range 12 {
		for v := u + 1; v < 12; v++ {
			p := s.POut
			if (u < 6) == (v < 6) {
				p = s.PIn
			}
			p *= theta[u] * theta[v]
			if p >= 1 {
				if count[u][v] != graphs {
					t.Errorf("pair (%d, %d) has probability 1 and came %v times of %d", u, v, count[u][v], graphs)
				}
				continue
			}
			chi += math.Pow(count[u][v]-graphs*p, 2) / (graphs * p * (1 - p))
		}
	}
	if chi > 115.7 {
		t.Errorf("chi-square %.1f, bound 115.7", chi)
	}
}

func TestLabelsSplitIntoEqualParts(t *testing.T) {
	s := SBM{N: 103, Communities: 4, PIn: 0.1, Seed: 1}
	for _, ordered := range []bool{false, true} {
		s.Ordered = ordered
		count := make([]int, 4)
		increasing := true
		last := 0
		for _, l := range labelsOf(t, s) {
			count[l]++
			increasing = increasing && l >= last
			last = l
		}
		if want := [4]int{26, 26, 26, 25}; [4]int(count) != want {
			t.Errorf("sizes %v, want %v", count, want)
		}
		if increasing != ordered {
			t.Errorf("labels in order: %v, want %v", increasing, ordered)
		}
	}
}

// 200,000 skips at p = 0.01: mean 99, deviation √(1-p)/p = 99.5 each.
func TestSkipsAreGeometric(t *testing.T) {
	const draws, p = 200_000, 0.01
	s := newSkips(rand.New(rand.NewPCG(1, 2)), p)
	total, zero := 0.0, 0.0
	for range draws {
		x := s.next()
		total += float64(x)
		if x == 0 {
			zero++
		}
	}
	inside5(t, "mean skip", total/draws, (1-p)/p, math.Sqrt(1-p)/p/math.Sqrt(draws))
	inside5(t, "zero skips", zero, draws*p, math.Sqrt(draws*p*(1-p)))
	for p, want := range map[float64]int64{0: neverSkip, 1: 0, 1e-300: neverSkip} {
		s := newSkips(rand.New(rand.NewPCG(1, 2)), p)
		if got := s.next(); got != want {
			t.Errorf("p = %g: skip %d, want %d", p, got, want)
		}
	}
}
