package dk

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/privcom/privcom/baseline/baselinetest"
	"github.com/privcom/privcom/baseline/draw"
	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/statistics"
)

func distance(a, b []cell) float64 {
	values := map[int64]float64{}
	for _, c := range a {
		values[c.at] += c.value
	}
	for _, c := range b {
		values[c.at] -= c.value
	}
	sum := 0.0
	for _, v := range values {
		sum += math.Abs(v)
	}
	return sum
}

// On every graph of up to five vertices: S bounds the change that any one edge makes,
// and S changes by at most e^β. The same of dK-1's 4.
func TestSensitivityByBruteForce(t *testing.T) {
	for n := 2; n <= 5; n++ {
		pairs := draw.Pairs(int64(n))
		graphs := make([]*community.Graph, 1<<pairs)
		for set := range graphs {
			graphs[set] = baselinetest.Tiny(t, n, uint64(set))
		}
		for _, beta := range []float64{0.01, 0.3, 2} {
			for set, g := range graphs {
				s := smooth(otherEdges(g), n, beta)
				for x := range pairs {
					h := graphs[set^1<<x]
					if d := distance(joint(g), joint(h)); d > s {
						t.Fatalf("n=%d set=%b edge %d: dK-2 moves by %v, S = %v", n, set, x, d, s)
					}
					if other := smooth(otherEdges(h), n, beta); s > math.Exp(beta)*other*(1+1e-12) {
						t.Fatalf("n=%d set=%b edge %d: S = %v against %v, more than e^%v", n, set, x, s, other, beta)
					}
					moved := 0.0
					a, b := statistics.Histogram(g), statistics.Histogram(h)
					for d := range max(len(a), len(b)) {
						moved += math.Abs(float64(at(a, d) - at(b, d)))
					}
					if moved > 4 {
						t.Fatalf("n=%d set=%b edge %d: dK-1 moves by %v", n, set, x, moved)
					}
				}
			}
		}
	}
}

func at(h []int64, d int) int64 {
	if d < len(h) {
		return h[d]
	}
	return 0
}

// smooth is the maximum over every t, and otherEdges over every pair.
func TestSmoothBoundIsTheMaximum(t *testing.T) {
	for _, beta := range []float64{1e-6, 0.003, 0.1, 1} {
		for _, sigma := range []int{0, 7, 300, 1990} {
			const n = 1000
			want := 0.0
			for k := range 2 * n {
				want = max(want, math.Exp(-beta*float64(k))*float64(2*min(sigma+k, 2*n-4)+1))
			}
			if got := smooth(sigma, n, beta); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("σ=%d β=%v: %v, want %v", sigma, beta, got, want)
			}
		}
	}
	for seed := range uint64(20) {
		g, want := baselinetest.Random(t, 12, 20, seed), 0
		for u := range 12 {
			for v := range u {
				sum := g.Degree(u) + g.Degree(v)
				if g.HasArc(int32(u), int32(v)) {
					sum -= 2
				}
				want = max(want, sum)
			}
		}
		if got := otherEdges(g); got != want {
			t.Errorf("seed %d: σ = %d, want %d", seed, got, want)
		}
	}
}

// The stretch costs at most ε/2 but for δ: 4,000 vectors of d Laplace draws, the share
// of those whose log-ratio passes ε/2 stays below δ = 0.05 by five standard deviations
// (0.017), both ways: false alarm below 1e-5 even where the bound were tight.
func TestSmoothnessHoldsInManyCells(t *testing.T) {
	const delta, rounds = 0.05, 4000
	rng := baselinetest.Source(1)
	for _, c := range []struct{ epsilon, cells float64 }{{1, 1}, {1, 10}, {1, 1000}, {8, 1000}} {
		beta := smoothness(c.epsilon, delta, c.cells)
		wider, narrower := 0.0, 0.0
		for range rounds {
			norm := 0.0
			for range int(c.cells) {
				norm += rng.ExpFloat64()
			}
			if math.Expm1(beta)*norm-beta*c.cells > c.epsilon/2 {
				wider++
			}
			if math.Expm1(-beta)*norm+beta*c.cells > c.epsilon/2 {
				narrower++
			}
		}
		if most := (delta + 0.017) * rounds; wider > most || narrower > most {
			t.Errorf("%+v: β = %v fails %v and %v times of %d", c, beta, wider, narrower, rounds)
		}
		if beta <= 0 || beta > c.epsilon {
			t.Errorf("%+v: β = %v", c, beta)
		}
	}
	if many := smoothness(1, 1e-5, 750_000); many > 1e-3 {
		t.Errorf("β = %v in 750,000 cells: the one-dimensional figure is no bound there", many)
	}
}

func TestCellsAreNumberedWithoutGaps(t *testing.T) {
	next := int64(0)
	for j := int64(1); j < 60; j++ {
		for i := int64(1); i <= j; i++ {
			if jointCell(j, i) != next {
				t.Fatalf("cell (%d,%d) is %d, want %d", i, j, jointCell(i, j), next)
			}
			if a, b := jointDegrees(next); int64(a) != i || int64(b) != j {
				t.Fatalf("cell %d is (%d,%d)", next, a, b)
			}
			next++
		}
	}
}

// Empty cells get noise: of N cells without an edge half are expected above 0, and above
// a level as many as the Laplace tail says. Five standard deviations, two checks.
func TestEmptyCellsGetNoise(t *testing.T) {
	rng := baselinetest.Source(3)
	above, level := noisy(rng, []cell{{17, 5}}, 10_001, 3)
	if level != 0 || math.Abs(float64(len(above))-5000) > 250+1 {
		t.Errorf("%d of 10,000 empty cells above %v, want about 5,000", len(above), level)
	}
	const many = 100_000_000
	above, level = noisy(rng, nil, many, 3)
	if want := many * draw.LaplaceAbove(level, 3); level <= 0 || math.Abs(float64(len(above))-want) > 5*math.Sqrt(want) || want > mostEmpty*1.001 {
		t.Errorf("%d cells above %v, want about %v", len(above), level, want)
	}
	for _, c := range above[:1000] {
		if c.value < level {
			t.Fatalf("%+v is below the level %v", c, level)
		}
	}
}

func TestProjectionIsTheNearestPoint(t *testing.T) {
	got := project([]cell{{0, 5}, {1, 3}, {2, -1}, {3, 0.5}}, 6, math.Inf(-1))
	if len(got) != 2 || got[0] != (cell{0, 4}) || got[1] != (cell{1, 2}) {
		t.Errorf("%v, want 4 and 2", got)
	}
	sum := 0.0
	for _, c := range project([]cell{{0, -5}, {1, 3}, {2, 1}}, 10, math.Inf(-1)) {
		sum += c.value
	}
	if math.Abs(sum-10) > 1e-9 {
		t.Errorf("the total is %v, want 10", sum)
	}
}

// Without noise to speak of the series come back: dK-1 exactly but for the last few ends
// that no simple graph joins, dK-2 within 2 % of its edges.
func TestAHugeBudgetKeepsTheSeries(t *testing.T) {
	g := baselinetest.Random(t, 500, 4000, 5)
	one, err := Run1(t.Context(), g, 1e9, baselinetest.Source(1))
	if err != nil {
		t.Fatal(err)
	}
	if d := statistics.Diverge(statistics.Histogram(g), statistics.Histogram(one)); d.L1 > 0.03 {
		t.Errorf("dK-1 moved by %v", d.L1)
	}
	two, err := Run2(t.Context(), g, 1e9, 0.01, baselinetest.Source(1))
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(joint(g), joint(two)) / float64(2*g.Edges()); d > 0.02 {
		t.Errorf("a share of %v of dK-2 moved", d)
	}
}

func TestASmallBudgetStillMakesAGraph(t *testing.T) {
	g := baselinetest.Random(t, 300, 900, 6)
	for seed := range uint64(5) {
		one, err1 := Run1(t.Context(), g, 0.1, baselinetest.Source(seed))
		two, err2 := Run2(t.Context(), g, 0.5, 0.01, baselinetest.Source(seed))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(one.Check(), two.Check()); err != nil || one.Vertices() != 300 || two.Vertices() != 300 {
			t.Fatalf("not a graph on the same vertices: %v", err)
		}
		if m := two.Edges(); m < 300 || m > 1400 {
			t.Errorf("seed %d: %d edges, want near 900", seed, m)
		}
	}
}

func TestRefusalsAndCancellation(t *testing.T) {
	g := baselinetest.Random(t, 10, 10, 1)
	for _, e := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err1 := Run1(t.Context(), g, e, baselinetest.Source(1))
		_, err2 := Run2(t.Context(), g, e, 0.01, baselinetest.Source(1))
		if err1 == nil || err2 == nil {
			t.Errorf("epsilon %v was taken", e)
		}
	}
	for _, d := range []float64{0, 1, math.NaN()} {
		if _, err := Run2(t.Context(), g, 1, d, baselinetest.Source(1)); err == nil {
			t.Errorf("delta %v was taken", d)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run2(ctx, baselinetest.Random(t, 100, 1000, 1), 1e6, 0.01, baselinetest.Source(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
