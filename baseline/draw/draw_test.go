package draw

import (
	"math"
	"math/rand/v2"
	"testing"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func TestPairsAreNumberedWithoutGaps(t *testing.T) {
	x := int64(0)
	for v := range int32(200) {
		for u := range v {
			if a, b := Pair(x); a != u || b != v || Index(v, u) != x {
				t.Fatalf("pair %d is (%d,%d), want (%d,%d)", x, a, b, u, v)
			}
			x++
		}
	}
	for _, n := range []int64{1 << 20, 1<<31 - 1} { // where a square root of doubles is off
		for _, x := range []int64{Pairs(n) - 1, Pairs(n - 1), Pairs(n-1) - 1} {
			if u, v := Pair(x); Index(u, v) != x || u >= v {
				t.Errorf("pair %d is (%d,%d)", x, u, v)
			}
		}
	}
}

// Each of ten numbers is in a set of four with chance 0.4: 40,000 draws, five
// standard deviations, ten numbers, two functions: false alarm below 1.2e-5.
func TestSetsAreUniform(t *testing.T) {
	rng := source(1)
	for name, f := range map[string]func() []int64{
		"distinct": func() []int64 { return Distinct(rng, 10, 4) },
		"others":   func() []int64 { return Others(rng, 13, 4, 10, func(x int64) bool { return x >= 10 }) },
		"most":     func() []int64 { return Others(rng, 60, 4, 10, func(x int64) bool { return x >= 10 }) },
	} {
		var seen [10]float64
		const rounds = 40_000
		for range rounds {
			set := f()
			if len(set) != 4 {
				t.Fatalf("%s: %v", name, set)
			}
			for _, x := range set {
				seen[x]++
			}
		}
		for x, k := range seen {
			if math.Abs(k-0.4*rounds) > 5*math.Sqrt(0.24*rounds) {
				t.Errorf("%s: %d drawn %v times of %d", name, x, k, rounds)
			}
		}
	}
	if got := Distinct(rng, 3, 9); len(got) != 3 {
		t.Errorf("all of three: %v", got)
	}
}

// 200,000 draws per check at five standard deviations: false alarm below 6e-6.
func TestLaplaceAndBinomial(t *testing.T) {
	rng := source(2)
	const rounds = 200_000
	for _, x := range []float64{-3, 0, 1, 4} {
		above := 0.0
		for range rounds {
			if Laplace(rng, 2) > x {
				above++
			}
		}
		p := LaplaceAbove(x, 2)
		if math.Abs(above-p*rounds) > 5*math.Sqrt(p*(1-p)*rounds) {
			t.Errorf("share above %v: %v, want %v", x, above/rounds, p)
		}
	}
	for _, c := range []struct {
		n int64
		p float64
	}{{20, 0.3}, {100_000, 0.0001}, {1 << 40, 1e-9}, {1000, 0.9}} {
		sum, want := 0.0, float64(c.n)*c.p
		for range rounds / 10 {
			sum += float64(Binomial(rng, c.n, c.p))
		}
		mean := sum / (rounds / 10)
		if math.Abs(mean-want) > 5*math.Sqrt(want*(1-c.p)/(rounds/10)) {
			t.Errorf("binomial(%d, %v): mean %v, want %v", c.n, c.p, mean, want)
		}
	}
	if Binomial(rng, 5, 1.5) != 5 || Binomial(rng, 5, -1) != 0 {
		t.Error("chances beyond 0 and 1 must be clipped")
	}
}
