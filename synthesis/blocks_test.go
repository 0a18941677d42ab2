package synthesis

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// testBlocks has three blocks of unequal size; weights of a power law if asked for.
func testBlocks(n int, edges []float64, weighted bool) *BlockModel {
	random := rand.New(rand.NewPCG(8, 1))
	m := &BlockModel{N: n, Q: 3, Edges: edges, Label: make([]int32, n)}
	if weighted {
		m.Weight = make([]float64, n)
	}
	for i := range n {
		m.Label[i] = int32(min(2, random.IntN(5)))
		if weighted {
			m.Weight[i] = math.Floor(math.Pow(1-random.Float64(), -0.7))
			if i%17 == 0 {
				m.Weight[i] = 0
			}
		}
	}
	return m
}

// rowsOf gives the weights and positions needed to state the law of a pair.
func (g *blockGraph) chance() func(i, j int) float64 {
	at := make([]int, g.n)
	for p, v := range g.order {
		at[v] = p
	}
	return func(i, j int) float64 {
		p, q := at[i], at[j]
		return Probability(g.rate[int(g.block[p])*g.q+int(g.block[q])], g.weight[p]*g.weight[q])
	}
}

// TestBlockCountsAreExact sums the probabilities of all pairs: sparse (series,
// stated error 1e-7), dense and nearly full (histogram, whose stated error is 1e-4).
func TestBlockCountsAreExact(t *testing.T) {
	for _, c := range []struct {
		edges    []float64
		weighted bool
		error    float64
	}{
		{[]float64{20, 5, 0, 5, 30, 7, 0, 7, 50}, false, 1e-7},
		{[]float64{20, 5, 0, 5, 30, 7, 0, 7, 50}, true, 1e-4},
		{[]float64{3000, 2000, 100, 2000, 1000, 10, 100, 10, 9000}, false, 1e-9},
		{[]float64{3000, 2000, 100, 2000, 1000, 10, 100, 10, 9000}, true, 1e-4},
		{[]float64{4800, 0.25, 0, 0.25, 5000, 0, 0, 0, 20_000}, true, 1e-4},
	} {
		m := testBlocks(600, c.edges, c.weighted)
		g, err := newBlockGraph(m)
		if err != nil {
			t.Fatal(err)
		}
		chance := g.chance()
		got := make([]float64, 9)
		for i := range m.N {
			for j := range i {
				r, s := m.Label[i], m.Label[j]
				got[min(r, s)*3+max(r, s)] += chance(i, j)
			}
		}
		for r := range 3 {
			for s := r; s < 3; s++ {
				want := c.edges[r*3+s]
				if math.Abs(got[r*3+s]-want) > c.error*want {
					t.Errorf("weighted=%v blocks %d and %d: %.8g edges expected, want %g", c.weighted, r, s, got[r*3+s], want)
				}
			}
		}
	}
}

// TestBlockLawOfEveryPair: 70 vertices (2,415 pairs), 2,000 graphs each.
func TestBlockLawOfEveryPair(t *testing.T) {
	runs := graphsPerLaw
	for _, weighted := range []bool{false, true} {
		for _, edges := range [][]float64{{6, 2, 9, 2, 4, 0, 9, 0, 40}, {40, 50, 9, 50, 12, 200, 9, 200, 600}} {
			m := testBlocks(70, edges, weighted)
			g, err := newBlockGraph(m)
			if err != nil {
				t.Fatal(err)
			}
			c := newCounts(m.N)
			var row []int32
			for run := range runs {
				s := newBlockSampler(g, uint64(run))
				var edges [][2]int
				for p := range g.n {
					row = s.row(p, row[:0])
					if !slices.IsSorted(row) || len(slices.Compact(slices.Clone(row))) != len(row) {
						t.Fatal("a row is not strictly ascending")
					}
					for _, q := range row {
						i, j := int(g.order[p]), int(g.order[q])
						edges = append(edges, [2]int{min(i, j), max(i, j)})
					}
				}
				c.add(edges)
			}
			c.check(t, "blocks", runs, g.chance())
		}
	}
}

func TestBlockModelRefusals(t *testing.T) {
	good := []float64{6, 2, 9, 2, 4, 0, 9, 0, 40}
	for want, spoil := range map[string]func(m *BlockModel){
		"label 3":            func(m *BlockModel) { m.Label[4] = 3 },
		"weight NaN":         func(m *BlockModel) { m.Weight[2] = math.NaN() },
		"weight -1":          func(m *BlockModel) { m.Weight[2] = -1 },
		"NaN edges":          func(m *BlockModel) { m.Edges[4] = math.NaN() },
		"2 edges between":    func(m *BlockModel) { m.Edges[3] = 5 },
		"49 labels":          func(m *BlockModel) { m.Label = m.Label[1:] },
		"blocks 1 and 1":     func(m *BlockModel) { m.Edges[4] = 1e6 },
		"between blocks 0 a": func(m *BlockModel) { clear(m.Weight) },
	} {
		m := testBlocks(50, slices.Clone(good), true)
		spoil(m)
		_, err := newBlockGraph(m)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		var e *SaturatedError
		if strings.Contains(want, "blocks") && !errors.As(err, &e) {
			t.Errorf("%v is not a SaturatedError", err)
		}
	}
}
