package generate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// The walk by squares against its definition: EdgeFactor·2^Scale independent
// draws, made one by one. 4 vertices, 2,000 graphs from each; for each of the 6
// possible edges the share of graphs that have it has the deviation
// √(p(1-p)/2000), p computed exactly.
func TestRMATIsTheRecursiveDraw(t *testing.T) {
	const graphs = 2000
	s := RMAT{Scale: 2, EdgeFactor: 2, A: 0.45, B: 0.25, C: 0.1, D: 0.2, Unscrambled: true}
	quadrant := [2][2]float64{{s.A, s.B}, {s.C, s.D}}
	once := func(u, v int) float64 { return quadrant[u>>1][v>>1] * quadrant[u&1][v&1] }
	var count [4][4]float64
	for seed := range uint64(graphs) {
		s.Seed = seed
		if err := Generate(context.Background(), s, func(u, v int64) error { count[u][v]++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for u := range 4 {
		for v := u + 1; v < 4; v++ {
			p := 1 - math.Pow(1-once(u, v)-once(v, u), 8)
			inside5(t, "share of graphs with the edge", count[u][v]/graphs, p, math.Sqrt(p*(1-p)/graphs))
		}
	}
}

// One graph with large counts, so that the binomial splits are used: scale 12,
// 65,536 draws. The number of edges is a sum over pairs of 1 - (1-p)^draws; its
// variance is at most the expected number of edges (the draws are negatively
// dependent), which the deviation uses.
func TestRMATNumberOfEdges(t *testing.T) {
	s := DefaultRMAT(12)
	want := 0.0
	draws := float64(s.EdgeFactor) * float64(s.Vertices())
	// A pair's probability depends on how many bits are (0,0), (1,1) or mixed.
	var visit func(bits int, diagonal bool, forward, backward float64, ways float64)
	visit = func(bits int, diagonal bool, f, b, ways float64) {
		if bits == 0 {
			if !diagonal {
				want += ways * (1 - math.Pow(1-f-b, draws))
			}
			return
		}
		visit(bits-1, diagonal, f*s.A, b*s.A, ways)
		visit(bits-1, diagonal, f*s.D, b*s.D, ways)
		if diagonal {
			visit(bits-1, false, f*s.B, b*s.C, ways)
		} else { // B = C: two children alike
			visit(bits-1, false, f*s.B, b*s.C, 2*ways)
		}
	}
	visit(s.Scale, true, 1, 1, 1)
	got := float64(len(collect(t, s)))
	inside5(t, "edges", got, want, math.Sqrt(want))
}

func TestScrambleIsABijection(t *testing.T) {
	for bits := 1; bits <= 12; bits++ {
		for seed := range uint64(5) {
			s := newScramble(seed, bits)
			seen := make([]bool, 1<<bits)
			for x := range int64(1) << bits {
				y := s.of(x)
				if y < 0 || y >= 1<<bits || seen[y] {
					t.Fatalf("%d bits: %d is hit twice or out of range", bits, y)
				}
				seen[y] = true
			}
		}
	}
}

func TestRMATScrambleKeepsTheGraph(t *testing.T) {
	s := DefaultRMAT(9)
	scrambled := collect(t, s)
	s.Unscrambled = true
	plain := collect(t, s)
	if len(plain) != len(scrambled) {
		t.Fatalf("%d edges scrambled, %d plain", len(scrambled), len(plain))
	}
	names := newScramble(s.Seed, s.Scale)
	for i, e := range plain {
		u, v := names.of(e.u), names.of(e.v)
		if (edge{min(u, v), max(u, v)}) != scrambled[i] {
			t.Fatalf("edge %d: %v became %v", i, e, scrambled[i])
		}
	}
}

// 50,000 draws each; chi-square over the outcomes with expected count ≥ 10,
// against the bound mean + 5 deviations + 10 for the skew (false alarm < 1e-5).
func TestBinomialDraws(t *testing.T) {
	const draws = 50_000
	rng := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct {
		n int64
		p float64
	}{{40, 0.57}, {1000, 0.01}, {1000, 0.999}, {100_000, 0.0005}, {200_000, 0.3}} {
		count := map[int64]float64{}
		mean := 0.0
		for range draws {
			x := binomial(rng, c.n, c.p)
			if x < 0 || x > c.n {
				t.Fatalf("%d of %d trials", x, c.n)
			}
			count[x]++
			mean += float64(x) / draws
		}
		n := float64(c.n)
		variance := n * c.p * (1 - c.p)
		inside5(t, "mean", mean, n*c.p, math.Sqrt(variance/draws))
		chi, cells := 0.0, 0.0
		for x := range c.n + 1 {
			want := draws * math.Exp(logGamma(c.n+1)-logGamma(x+1)-logGamma(c.n-x+1)+float64(x)*math.Log(c.p)+float64(c.n-x)*math.Log1p(-c.p))
			if want >= 10 {
				chi += (count[x] - want) * (count[x] - want) / want
				cells++
			}
		}
		if bound := cells + 5*math.Sqrt(2*cells) + 10; cells < 5 || chi > bound {
			t.Errorf("n = %d, p = %g: chi-square %.1f over %.0f outcomes, bound %.1f", c.n, c.p, chi, cells, bound)
		}
	}
	for _, c := range [][2]float64{{0, 0.5}, {10, 0}} {
		if x := binomial(rng, int64(c[0]), c[1]); x != 0 {
			t.Errorf("binomial(%v, %v) = %d", c[0], c[1], x)
		}
	}
	if x := binomial(rng, 1e6, 1); x != 1e6 {
		t.Errorf("binomial(1e6, 1) = %d", x)
	}
}
