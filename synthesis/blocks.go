package synthesis

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// BlockModel is a degree-corrected block law: vertex i has label Label[i], and
//
//	P(i~j) = 1 − exp(−ω_rs·θ_i·θ_j),  r = Label[i], s = Label[j],
//
// independently for every pair i < j, with ω_rs solved so that the expected
// number of edges between the blocks r and s (within r where r = s) is
// Edges[r·Q+s]. Weights only matter relative to each other within a block.
type BlockModel struct {
	N, Q   int
	Label  []int32   // N numbers from 0 to Q−1
	Edges  []float64 // Q×Q, symmetric: expected number of edges
	Weight []float64 // N numbers ≥ 0, or nil for equal weights
}

// Check says what is wrong with the model.
func (m *BlockModel) Check() error {
	if m.N < 0 || m.N > math.MaxInt32 || m.Q < 1 || len(m.Label) != m.N || len(m.Edges) != m.Q*m.Q || (m.Weight != nil && len(m.Weight) != m.N) {
		return fmt.Errorf("synthesis: block model of %d vertices and %d blocks has %d labels, %d counts and %d weights", m.N, m.Q, len(m.Label), len(m.Edges), len(m.Weight))
	}
	for i, r := range m.Label {
		if r < 0 || int(r) >= m.Q {
			return fmt.Errorf("synthesis: vertex %d has label %d; want 0 to %d", i, r, m.Q-1)
		}
	}
	for i, x := range m.Weight {
		if !(x >= 0) || x > 1e100 {
			return fmt.Errorf("synthesis: vertex %d has weight %v; want a number from 0 to 1e100", i, x)
		}
	}
	for i, x := range m.Edges {
		r, s := i/m.Q, i%m.Q
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("synthesis: %v edges between blocks %d and %d; want a finite number ≥ 0", x, r, s)
		}
		if x != m.Edges[s*m.Q+r] {
			return fmt.Errorf("synthesis: %v edges between blocks %d and %d but %v between %d and %d", x, r, s, m.Edges[s*m.Q+r], s, r)
		}
	}
	return nil
}

// Expected is the expected number of edges of the whole graph.
func (m *BlockModel) Expected() float64 {
	sum := 0.0
	for r := range m.Q {
		for s := r; s < m.Q; s++ {
			sum += m.Edges[r*m.Q+s]
		}
	}
	return sum
}

// blockGraph is a block model ready for sampling: vertices in the order of
// their labels, and within a label of their numbers.
type blockGraph struct {
	n, q   int
	order  []int32   // position → vertex
	start  []int     // q+1: positions of block r are start[r]..start[r+1]
	weight []float64 // by position, mean 1 over the positive ones of a block
	rate   []float64 // q×q: ω for these weights
	upTo   []float64 // n+1 prefix sums of weight, begun anew in each block
	block  []int32   // label by position
}

func newBlockGraph(m *BlockModel) (*blockGraph, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	g := &blockGraph{n: m.N, q: m.Q, order: make([]int32, m.N), start: make([]int, m.Q+1), weight: make([]float64, m.N)}
	for _, r := range m.Label {
		g.start[r+1]++
	}
	for r := range m.Q {
		g.start[r+1] += g.start[r]
	}
	next := slices.Clone(g.start)
	for i, r := range m.Label {
		p := next[r]
		next[r]++
		g.order[p] = int32(i)
		g.weight[p] = 1
		if m.Weight != nil {
			g.weight[p] = m.Weight[i]
		}
	}
	g.normalise()
	g.index()
	return g, g.solve(m.Edges)
}

// normalise brings the positive weights of each block to mean 1.
func (g *blockGraph) normalise() {
	for r := range g.q {
		w := g.weight[g.start[r]:g.start[r+1]]
		sum, positive := 0.0, 0
		for _, x := range w {
			sum += x
			if x > 0 {
				positive++
			}
		}
		for i := range w {
			if sum > 0 {
				w[i] *= float64(positive) / sum
			}
		}
	}
}

// index derives what follows from order, start and weight.
func (g *blockGraph) index() {
	g.upTo, g.block = make([]float64, g.n+g.q), make([]int32, g.n)
	for r := range g.q {
		sum := 0.0
		for p := g.start[r]; p < g.start[r+1]; p++ {
			g.block[p] = int32(r)
			g.upTo[p+r] = sum
			sum += g.weight[p]
		}
		g.upTo[g.start[r+1]+r] = sum
	}
}

// sums are the prefix sums of block r: sums[i] is the weight before its i-th position.
func (g *blockGraph) sums(r int) []float64 { return g.upTo[g.start[r]+r : g.start[r+1]+r+1] }

// expectedOfRow bounds the expected number of edges that position p decides.
func (g *blockGraph) expectedOfRow(p int) float64 {
	r := int(g.block[p])
	sum := 0.0
	for s := r; s < g.q; s++ {
		sums := g.sums(s)
		from := 0
		if s == r {
			from = p + 1 - g.start[r]
		}
		mass := g.weight[p] * g.rate[r*g.q+s] * (sums[len(sums)-1] - sums[from])
		sum += min(mass, float64(len(sums)-1-from))
	}
	return sum
}

const blockKind = 0x626c6f636b // the block law's streams

// A blockSampler draws the edges of one position after another, to positions
// behind it. Edges to a block are the distinct hits of a Poisson number of
// draws by weight: a pair is hit a Poisson number of times with mean ω·θ_i·θ_j,
// independently, so it is hit at all with the law's probability.
type blockSampler struct {
	g      *blockGraph
	source *rowSource
}

func newBlockSampler(g *blockGraph, seed uint64) *blockSampler {
	return &blockSampler{g, newRowSource(seed, blockKind)}
}

func (s *blockSampler) row(p int, out []int32) []int32 {
	g := s.g
	s.source.reset(uint64(g.order[p]))
	random := s.source.rand
	r := int(g.block[p])
	clock := random.ExpFloat64()
	for b := r; b < g.q; b++ {
		sums := g.sums(b)
		from, size := 0, len(sums)-1
		if b == r {
			from = p + 1 - g.start[r]
		}
		rate := g.weight[p] * g.rate[r*g.q+b]
		mass := rate * (sums[size] - sums[from])
		if mass > 2*float64(size-from) {
			out = s.each(p, b, from, out)
			continue
		}
		first := len(out)
		for ; clock < mass; clock += random.ExpFloat64() {
			if i := pick(sums, from, random.Float64()); i < size {
				out = append(out, int32(g.start[b]+i))
			}
		}
		clock -= mass
		slices.Sort(out[first:])
		out = out[:first+len(slices.Compact(out[first:]))]
	}
	return out
}

// pick returns the position i ≥ from of a block that u in [0, 1) falls on by
// weight; len(sums)−1 when rounding put it behind the last.
func pick(sums []float64, from int, u float64) int {
	size := len(sums) - 1
	x := sums[from] + u*(sums[size]-sums[from])
	return from + sort.Search(size-from, func(i int) bool { return sums[from+i+1] > x })
}

// each decides every pair of position p and a block by itself.
func (s *blockSampler) each(p, b, from int, out []int32) []int32 {
	g := s.g
	rate := g.weight[p] * g.rate[int(g.block[p])*g.q+b]
	for q := g.start[b] + from; q < g.start[b+1]; q++ {
		if chance := Probability(rate, g.weight[q]); chance > 0 && s.source.rand.Float64() < chance {
			out = append(out, int32(q))
		}
	}
	return out
}
