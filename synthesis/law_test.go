package synthesis

import (
	"math"
	"math/rand/v2"
	"testing"
)

// quadratic is the reference: every pair is looked at.
func quadratic(m *Model, tau float64, random *rand.Rand) [][2]int {
	var edges [][2]int
	for i := range m.N {
		for j := i + 1; j < m.N; j++ {
			if random.Float64() < Probability(tau, m.Score(i, j)) {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	return edges
}

// counts says how often each pair and each pair of edges at a vertex came up.
type counts struct {
	n      int
	pair   []float64
	wedges float64 // pairs of edges that share a vertex
	square float64 // sum of squares of the number of edges
	edges  float64
}

func newCounts(n int) *counts { return &counts{n: n, pair: make([]float64, n*n)} }

func (c *counts) add(edges [][2]int) {
	degree := make([]float64, c.n)
	for _, e := range edges {
		c.pair[e[0]*c.n+e[1]]++
		degree[e[0]]++
		degree[e[1]]++
	}
	for _, d := range degree {
		c.wedges += d * (d - 1) / 2
	}
	c.edges += float64(len(edges))
	c.square += float64(len(edges)) * float64(len(edges))
}

// check compares with independent pairs of the given probabilities after `runs`
// graphs: a chi-square of all pairs with a chance between 1e-3 and 1−1e-3, no
// count where the chance is 0, the mean number of wedges, the mean and variance
// of the number of edges. Each is a test at |z| < 5 (false alarm 6e-7).
func (c *counts) check(t *testing.T, name string, runs int, chance func(i, j int) float64) {
	t.Helper()
	statistic, freedom := 0.0, 0
	mean, variance, wedges := 0.0, 0.0, 0.0
	degree, square := make([]float64, c.n), make([]float64, c.n)
	for i := range c.n {
		for j := i + 1; j < c.n; j++ {
			p := chance(i, j)
			got := c.pair[i*c.n+j]
			mean += p
			variance += p * (1 - p)
			for _, v := range []int{i, j} {
				degree[v] += p
				square[v] += p * p
			}
			switch {
			case p == 0:
				if got > 0 {
					t.Errorf("%s: pair (%d,%d) has chance 0 and came up", name, i, j)
				}
			case p > 1e-3 && p < 1-1e-3:
				d := got - float64(runs)*p
				statistic += d * d / (float64(runs) * p * (1 - p))
				freedom++
			}
		}
	}
	if z := chiSquareZ(statistic, freedom); math.Abs(z) > 5 {
		t.Errorf("%s: χ² = %.1f at %d degrees of freedom, z = %.1f", name, statistic, freedom, z)
	}
	if z := (c.edges/float64(runs) - mean) / math.Sqrt(variance/float64(runs)); math.Abs(z) > 5 {
		t.Errorf("%s: %g edges on average, want %g (z = %.1f)", name, c.edges/float64(runs), mean, z)
	}
	// The variance of a variance from R runs is about 2/(R−1) of its square.
	got := c.square/float64(runs) - math.Pow(c.edges/float64(runs), 2)
	if z := (got/variance - 1) / math.Sqrt(2/float64(runs-1)); math.Abs(z) > 6 {
		t.Errorf("%s: the number of edges has variance %g, want %g (z = %.1f): pairs are not independent", name, got, variance, z)
	}
	for v := range degree {
		wedges += (degree[v]*degree[v] - square[v]) / 2
	}
	// An edge takes part in about twice the mean degree of wedges, so one graph's
	// wedges spread by about 2·(4·edges/n)·√variance; twice that is allowed for
	// uneven degrees, and 5 of it over √runs.
	spread := 4 * (1 + 4*mean/float64(c.n)) * math.Sqrt(variance)
	if off := c.wedges/float64(runs) - wedges; math.Abs(off) > 5*spread/math.Sqrt(float64(runs)) {
		t.Errorf("%s: %g wedges on average, want %g: pairs at a vertex are not independent", name, c.wedges/float64(runs), wedges)
	}
}

// graphsPerLaw is the number of graphs of the tests of every pair; the race
// detector makes do with fewer.
var graphsPerLaw = 2000

// TestLawOfEveryPair compares the sampler and the reference with the law: 60
// vertices (1,770 pairs), 2,000 graphs each, sparse, middling and near certain.
func TestLawOfEveryPair(t *testing.T) {
	const n = 60
	runs := graphsPerLaw
	for _, s := range []shape{plain, groups, heavy} {
		for _, tau := range []float64{0.02, 0.3, 5} {
			m := testModel(n, 4, 11, s)
			tr := testTree(m)
			chance := func(i, j int) float64 { return Probability(tau, m.Score(i, j)) }
			fast, slow := newCounts(n), newCounts(n)
			reference := rand.New(rand.NewPCG(1, 1))
			for run := range runs {
				fast.add(drawAll(tr, tau, uint64(run)))
				slow.add(quadratic(m, tau, reference))
			}
			name := string(s)
			fast.check(t, name+" sampler", runs, chance)
			slow.check(t, name+" reference", runs, chance)
		}
	}
}

func drawAll(tr *tree, tau float64, seed uint64) [][2]int {
	s := newRowSampler(tr, tau, seed)
	var edges [][2]int
	var row []int32
	for p := range tr.n {
		row = s.row(p, row[:0])
		for _, q := range row {
			i, j := int(tr.order[p]), int(tr.order[q])
			edges = append(edges, [2]int{min(i, j), max(i, j)})
		}
	}
	return edges
}

// TestLawByScore samples one sparse graph of 4,000 vertices, where nodes are
// large and candidates few, and compares the number of edges in 40 classes of
// pairs of like probability with the sum of the probabilities: 8·10⁶ pairs,
// about 40,000 edges, false alarm 6e-7.
func TestLawByScore(t *testing.T) {
	for _, s := range []shape{plain, groups, heavy} {
		m := testModel(4000, 6, 2, s)
		tr := testTree(m)
		tau, _, err := solveTau(t.Context(), m.N, tr.mass(), 40_000, localEstimate(tr, 1))
		if err != nil {
			t.Fatal(err)
		}
		class := func(p float64) int { return max(0, min(39, 39+int(2*math.Log2(p)))) }
		var want, variance, got [40]float64
		w := newWalker(tr)
		for p := range tr.n {
			w.segments(p, 0)
			for q := p + 1; q < tr.n; q++ {
				if p := Probability(tau.Value, w.score(q)); p > 0 {
					want[class(p)] += p
					variance[class(p)] += p * (1 - p)
				}
			}
		}
		for _, e := range drawAll(tr, tau.Value, 77) {
			got[class(Probability(tau.Value, m.Score(e[0], e[1])))]++
		}
		statistic, freedom := 0.0, 0
		for c := range want {
			if want[c] > 30 && variance[c] > 10 {
				statistic += (got[c] - want[c]) * (got[c] - want[c]) / variance[c]
				freedom++
			}
		}
		if z := chiSquareZ(statistic, freedom); freedom < 5 || math.Abs(z) > 5 {
			t.Errorf("%s: χ² = %.1f at %d degrees of freedom, z = %.1f", s, statistic, freedom, z)
		}
	}
}

// TestRowIsAFunctionOfSeedAndRow: rows may be drawn in any order, twice, alone.
func TestRowIsAFunctionOfSeedAndRow(t *testing.T) {
	m := testModel(500, 4, 8, groups)
	tr := testTree(m)
	whole := newRowSampler(tr, 0.2, 5)
	rows := make([][]int32, m.N)
	for p := range m.N {
		rows[p] = whole.row(p, nil)
	}
	for p := m.N - 1; p >= 0; p -= 3 {
		again := newRowSampler(tr, 0.2, 5).row(p, nil)
		if len(again) != len(rows[p]) {
			t.Fatalf("row %d alone has %d edges, %d among the others", p, len(again), len(rows[p]))
		}
		for i := range again {
			if again[i] != rows[p][i] {
				t.Fatalf("row %d alone differs", p)
			}
		}
	}
}
