package generate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func degreesOf(n int64, edges []edge) []int64 {
	d := make([]int64, n)
	for _, e := range edges {
		d[e.u]++
		d[e.v]++
	}
	return d
}

func TestLFRFollowsItsPlan(t *testing.T) {
	for _, mu := range []float64{0, 0.1, 0.5, 0.8, 1} {
		s := DefaultLFR(5000)
		s.Mu, s.MinCommunity, s.MaxCommunity = mu, 20, 60
		p, err := s.plan()
		if err != nil {
			t.Fatal(err)
		}
		edges := collect(t, s)
		inside, outside := make([]int32, s.N), make([]int32, s.N)
		for _, e := range edges {
			side := outside
			if p.label[e.u] == p.label[e.v] {
				side = inside
			}
			side[e.u]++
			side[e.v]++
		}
		short := int32(0)
		for v := range inside {
			if inside[v] > p.inside[v] || outside[v] > p.outside[v] {
				t.Fatalf("Mu %g: vertex %d has %d+%d neighbours, planned %d+%d", mu, v, inside[v], outside[v], p.inside[v], p.outside[v])
			}
			short += p.inside[v] - inside[v] + p.outside[v] - outside[v]
		}
		if share := float64(short) / float64(2*len(edges)); share > 0.002 {
			t.Errorf("Mu %g: %.3f %% of the stubs stay unpaired", mu, 100*share)
		}
		members := make([]int64, len(p.members))
		for _, l := range p.label {
			members[l]++
		}
		for c, m := range members {
			if m < s.MinCommunity || m > s.MaxCommunity || m != int64(len(p.members[c])) {
				t.Errorf("Mu %g: community %d has %d members, want %d..%d", mu, c, m, s.MinCommunity, s.MaxCommunity)
			}
		}
	}
}

// One graph of 20,000 vertices. The mean degree has deviation σ/√n, σ being the
// law's; the share outside has about √(μ(1-μ)/2m), and less, as its rounding is
// stratified by vertex.
func TestLFRMeanDegreeAndMixing(t *testing.T) {
	s := DefaultLFR(20_000)
	s.Mu, s.AverageDegree, s.Seed = 0.3, 15, 4
	edges, labels := collect(t, s), labelsOf(t, s)
	var squares float64
	for _, d := range degreesOf(s.N, edges) {
		squares += float64(d*d) / float64(s.N)
		if d > s.MaxDegree {
			t.Fatalf("degree %d is above %d", d, s.MaxDegree)
		}
	}
	mean := 2 * float64(len(edges)) / float64(s.N)
	inside5(t, "mean degree", mean, 15, math.Sqrt((squares-mean*mean)/float64(s.N)))
	_, out := countSides(edges, labels)
	inside5(t, "share outside", out/float64(len(edges)), 0.3, math.Sqrt(0.3*0.7/float64(2*len(edges))))
}

func TestPowerLawHasTheWantedMean(t *testing.T) {
	for _, c := range []struct {
		tau, mean float64
		hi        int64
	}{{2, 20, 50}, {2.5, 15, 300}, {3, 7.3, 100}, {2, 50, 50}, {2, 49.5, 50}, {1.5, powerLawMean(1.5, 40), 40}, {2, 1, 1}} {
		law := newPowerLaw(c.tau, c.mean, c.hi)
		mean, last := 0.0, 0.0
		for i, p := range law.cdf {
			mean += (p - last) * float64(law.lo+int64(i))
			last = p
		}
		if math.Abs(mean-c.mean) > 1e-9*c.mean {
			t.Errorf("τ = %g up to %d: mean %g, want %g", c.tau, c.hi, mean, c.mean)
		}
		if top := law.lo + int64(len(law.cdf)) - 1; top != c.hi {
			t.Errorf("largest value %d, want %d", top, c.hi)
		}
	}
}

// 100,000 draws from x^-2 on 3..10, chi-square with 7 degrees of freedom: 99.99 %
// are below 29.9.
func TestPowerLawDraws(t *testing.T) {
	const draws = 100_000
	law := plainPowerLaw(2, 3, 10)
	rng := rand.New(rand.NewPCG(3, 4))
	var count [11]float64
	for range draws {
		count[law.draw(rng)]++
	}
	norm, chi := 0.0, 0.0
	for x := 3.0; x <= 10; x++ {
		norm += 1 / (x * x)
	}
	for x := 3; x <= 10; x++ {
		want := draws / (float64(x*x) * norm)
		chi += (count[x] - want) * (count[x] - want) / want
	}
	if chi > 29.9 {
		t.Errorf("chi-square %.1f, bound 29.9", chi)
	}
}

// Communities of 3 and 2 members; vertex 0 with 2 neighbours inside only fits
// the larger. That leaves C(4,2) = 6 assignments: 60,000 draws, chi-square with 5
// degrees of freedom, 99.99 % below 25.7.
func TestPlacesAreUniform(t *testing.T) {
	const draws = 60_000
	rng := rand.New(rand.NewPCG(5, 6))
	count := map[[5]int32]float64{}
	for range draws {
		p := &lfrPlan{inside: []int32{2, 1, 0, 1, 0}, label: make([]int32, 5)}
		if !p.place([]int64{2, 3}, rng) {
			t.Fatal("no assignment found")
		}
		count[[5]int32(p.label)]++
	}
	chi := 0.0
	for labels, c := range count {
		if labels[0] != 0 {
			t.Fatalf("vertex 0 is in the small community: %v", labels)
		}
		chi += (c - draws/6) * (c - draws/6) / (draws / 6)
	}
	if len(count) != 6 || chi > 25.7 {
		t.Errorf("%d assignments, want 6; chi-square %.1f, bound 25.7", len(count), chi)
	}
	p := &lfrPlan{inside: []int32{2, 2, 2, 2, 0}, label: make([]int32, 5)}
	if p.place([]int64{2, 3}, rng) {
		t.Error("four vertices of inside degree 2 in a community of 3")
	}
}

func TestCommunitySizesAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, s := range []LFR{
		{N: 1000, Tau2: 1.5, MinCommunity: 10, MaxCommunity: 50},
		{N: 100, Tau2: 1, MinCommunity: 33, MaxCommunity: 34},
		{N: 100, Tau2: 2, MinCommunity: 100, MaxCommunity: 100},
		{N: 7, Tau2: 2, MinCommunity: 1, MaxCommunity: 7},
		{N: 99, Tau2: 2, MinCommunity: 33, MaxCommunity: 33},
	} {
		for range 200 {
			sizes := s.communitySizes(rng)
			if sizes == nil {
				continue
			}
			for _, x := range sizes {
				if x < s.MinCommunity || x > s.MaxCommunity {
					t.Fatalf("size %d, want %d..%d", x, s.MinCommunity, s.MaxCommunity)
				}
			}
			if sum(sizes) != s.N {
				t.Fatalf("sizes add up to %d, want %d", sum(sizes), s.N)
			}
		}
	}
}

// Random degree sequences of 12 vertices, taken from random graphs so that a
// graph with them exists: connect reaches all of them exactly.
func TestConnectReachesGraphicalDegrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	var w wiring
	vertices := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for range 2000 {
		p := rng.Float64()
		want := make([]int32, len(vertices))
		for u := range want {
			for v := range u {
				if rng.Float64() < p {
					want[u]++
					want[v]++
				}
			}
		}
		got := make([]int32, len(want))
		seen := map[uint64]bool{}
		err := w.connect(rng, vertices, want, func(u, v int64) error {
			if k := pair(int32(u), int32(v)); u == v || seen[k] {
				t.Fatalf("(%d, %d) is a loop or a repeat", u, v)
			} else {
				seen[k] = true
			}
			got[u]++
			got[v]++
			return nil
		})
		if err != nil || !slices.Equal(got, want) || w.lost != 0 {
			t.Fatalf("degrees %v, want %v (%d lost, %v)", got, want, w.lost, err)
		}
	}
}

// Degrees that no graph has: 3 and 3 among three vertices. One edge less is
// the best, and it is counted.
func TestConnectCountsWhatNoGraphHas(t *testing.T) {
	var w wiring
	edges := 0
	err := w.connect(rand.New(rand.NewPCG(15, 16)), []int32{0, 1, 2}, []int32{3, 3, 2}, func(u, v int64) error { edges++; return nil })
	if err != nil || edges != 3 || w.lost != 1 {
		t.Errorf("%d edges, %d lost, error %v; want 3, 1, nil", edges, w.lost, err)
	}
}

// Havel and Hakimi's graph, switched at random, is near uniform: the degrees
// 2,2,2,1,1 on five vertices have 7 graphs (6 paths with ends 3 and 4, and the
// triangle with an edge). 7,000 draws of the chain, chi-square with 6 degrees of
// freedom against the uniform law; 99.99 % are below 27.9. The chain is as long
// as connect's but counted from the edges: 10·4 attempts.
func TestSwitchedGraphsAreNearUniform(t *testing.T) {
	const draws = 7000
	rng := rand.New(rand.NewPCG(17, 18))
	count := map[string]float64{}
	for range draws {
		w := wiring{stubs: make([]int32, 8)}
		good, lost := w.havelHakimi([]int32{0, 1, 2, 3, 4}, []int32{2, 2, 2, 1, 1})
		if good != 8 || lost != 0 {
			t.Fatalf("%d stubs used, %d lost", good, lost)
		}
		for range mixesPerEdge * 4 {
			w.mix(rng, w.stubs, nil)
		}
		keys := []uint64{}
		for i := 0; i < good; i += 2 {
			keys = append(keys, pair(w.stubs[i], w.stubs[i+1]))
		}
		slices.Sort(keys)
		count[fmt.Sprint(keys)]++
	}
	chi := 0.0
	for _, c := range count {
		chi += (c - draws/7) * (c - draws/7) / (draws / 7)
	}
	if len(count) != 7 || chi > 27.9 {
		t.Errorf("%d graphs, want 7; chi-square %.1f, bound 27.9", len(count), chi)
	}
}

func TestImpossibleLFRIsRefused(t *testing.T) {
	s := LFR{N: 100, Tau1: 2, Tau2: 1, Mu: 0.5, AverageDegree: 10, MaxDegree: 30, MinCommunity: 80, MaxCommunity: 100, Seed: 1}
	err := Generate(context.Background(), s, func(u, v int64) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "lower MaxCommunity") {
		t.Errorf("one community and half of the edges outside of it: error %v", err)
	}
}

func TestPairSetAgainstAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var set pairSet
	for _, n := range []int{0, 3, 200} {
		set.reset(n)
		want := map[uint64]bool{}
		for range 20_000 {
			u, v := int32(rng.IntN(20)), int32(rng.IntN(20))
			if u == v {
				continue
			}
			k := pair(u, v)
			if set.has(k) != want[k] {
				t.Fatalf("pair (%d, %d): has is %v, want %v", u, v, set.has(k), want[k])
			}
			if want[k] {
				set.remove(k)
				delete(want, k)
			} else if len(want) < n {
				set.add(k)
				want[k] = true
			}
		}
	}
}
