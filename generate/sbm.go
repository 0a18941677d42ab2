package generate

import (
	"context"
	"math"
	"math/rand/v2"
)

// SBM is the planted partition model (Condon & Karp 2001), a stochastic block
// model with one probability inside communities and one between them:
// P(u~v) = p_in if u and v share a community, else p_out, independently. With
// an Exponent it is degree-corrected (Karrer & Newman 2011).
type SBM struct {
	// N is the number of vertices. 0 with Sizes means their sum.
	N int64
	// Communities is q: equal parts, whose sizes differ by at most one. 0 with
	// Sizes.
	Communities int
	// Sizes gives the communities' sizes instead, adding up to N.
	Sizes []int64

	// PIn and POut are the probabilities of an edge inside and between
	// communities.
	PIn, POut float64
	// DegreeIn and DegreeOut give the expected numbers of neighbours inside
	// the own community and outside of it instead. With unequal sizes each
	// vertex has DegreeIn expected neighbours inside (p_in differs by
	// community), and DegreeOut outside on the average over the vertices (there
	// is one p_out).
	DegreeIn, DegreeOut float64

	// Exponent τ > 2 gives the expected degrees inside each community a power
	// law P(θ) ∝ θ^-τ: P(u~v) = min(1, θ_u·θ_v·p), where θ has mean 1 in each
	// community. 0 means no correction: θ = 1.
	Exponent float64
	// Ordered numbers the vertices by community. Otherwise their numbers are a
	// random permutation, so that they tell nothing.
	Ordered bool
	// Seed of the public randomness.
	Seed uint64
}

// DefaultSBM is a graph of n vertices in 4 equal communities with 16 expected
// neighbours inside and 4 outside, fewer where the graph is too small for that.
func DefaultSBM(n int64) SBM {
	size := float64(max(n/4, 1))
	return SBM{N: n, Communities: int(min(4, max(n, 1))), DegreeIn: min(16, size-1), DegreeOut: max(0, min(4, float64(n)-size-1)), Seed: 1}
}

// Vertices is n.
func (s SBM) Vertices() int64 {
	if s.N == 0 {
		return sum(s.Sizes)
	}
	return s.N
}

// Validate returns nil or a *SpecError with every fault.
func (s SBM) Validate() error {
	f := faults{model: "SBM"}
	n := s.Vertices()
	shaped := s.validateShape(&f, n)
	byP := s.PIn != 0 || s.POut != 0
	byDegree := s.DegreeIn != 0 || s.DegreeOut != 0
	f.require(byP != byDegree, "PIn, POut, DegreeIn, DegreeOut",
		[]float64{s.PIn, s.POut, s.DegreeIn, s.DegreeOut}, "two probabilities or two degrees, not both and not neither")
	f.within("PIn", s.PIn, 0, 1)
	f.within("POut", s.POut, 0, 1)
	if shaped {
		s.validateDegrees(&f, n)
	}
	if s.Exponent != 0 {
		f.require(s.Exponent > 2 && s.Exponent <= 100, "Exponent", s.Exponent, "0 or in (2, 100]")
	}
	return f.err()
}

func (s SBM) validateShape(f *faults, n int64) bool {
	ok := f.require(n >= 1 && n <= MaxVertices, "N", n, "in 1..%d", MaxVertices)
	if len(s.Sizes) == 0 {
		return f.require(s.Communities >= 1 && int64(s.Communities) <= n, "Communities", s.Communities, "in 1..N = %d", n) && ok
	}
	ok = f.require(s.Communities == 0 || s.Communities == len(s.Sizes), "Communities", s.Communities, "0 or the number of Sizes, %d", len(s.Sizes)) && ok
	for _, size := range s.Sizes {
		ok = f.require(size >= 1 && size <= MaxVertices, "Sizes", size, "in 1..%d", MaxVertices) && ok
	}
	return f.require(sum(s.Sizes) == n, "Sizes", sum(s.Sizes), "N = %d in sum", n) && ok
}

func (s SBM) validateDegrees(f *faults, n int64) {
	starts := s.starts()
	smallest, same := n, 0.0
	for b := range len(starts) - 1 {
		size := starts[b+1] - starts[b]
		smallest = min(smallest, size)
		same += float64(size) * float64(size)
	}
	f.within("DegreeIn", s.DegreeIn, 0, float64(smallest-1))
	f.within("DegreeOut", s.DegreeOut, 0, (float64(n)*float64(n)-same)/float64(n))
}

// starts[b] is the first vertex, in community order, of community b; the last
// entry is n.
func (s SBM) starts() []int64 {
	if len(s.Sizes) == 0 {
		n, q := s.N, int64(s.Communities)
		starts := make([]int64, q+1)
		for b := range starts {
			starts[b] = int64(b)*(n/q) + min(int64(b), n%q)
		}
		return starts
	}
	starts := make([]int64, 1, len(s.Sizes)+1)
	for _, size := range s.Sizes {
		starts = append(starts, starts[len(starts)-1]+size)
	}
	return starts
}

// names maps positions in community order to vertices; nil is the identity.
func (s SBM) names() []int32 {
	if s.Ordered {
		return nil
	}
	return permutation(stream(s.Seed, streamOrder), s.Vertices())
}

// Labels is the community of each vertex.
func (s SBM) Labels() ([]int, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	starts, names := s.starts(), s.names()
	labels := make([]int, s.Vertices())
	for b := range len(starts) - 1 {
		for i := starts[b]; i < starts[b+1]; i++ {
			if names == nil {
				labels[i] = b
			} else {
				labels[names[i]] = b
			}
		}
	}
	return labels, nil
}

func (s SBM) edges(ctx context.Context, emit func(u, v int64) error) error {
	if names := s.names(); names != nil {
		named := emit
		emit = func(u, v int64) error { return named(int64(names[u]), int64(names[v])) }
	}
	if s.Exponent != 0 {
		return s.correctedEdges(ctx, emit)
	}
	return s.plainEdges(ctx, emit)
}

// plainEdges walks the pairs row by row, those inside and those outside the
// row's community each with a skip that is carried from row to row: the gaps
// between successes of independent trials are geometric (Batagelj & Brandes
// 2005). One walk over all outside pairs serves any number of communities.
func (s SBM) plainEdges(ctx context.Context, emit func(u, v int64) error) error {
	starts := s.starts()
	n := s.Vertices()
	rng := stream(s.Seed, streamEdges)
	out := newSkips(rng, s.outside(starts))
	gapOut := out.next()
	for b := range len(starts) - 1 {
		end := starts[b+1]
		in := newSkips(rng, s.inside(end-starts[b]))
		gapIn := in.next()
		for u := starts[b]; u < end; u++ {
			if u&0xfff == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			var err error
			if gapIn, err = row(&in, u, u+1+gapIn, end, emit); err != nil {
				return err
			}
			if gapOut, err = row(&out, u, end+gapOut, n, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// row emits the chosen pairs (u, v), v < end, the first of which would be
// first, and returns how far beyond the end the next one lies.
func row(s *skips, u, first, end int64, emit func(u, v int64) error) (int64, error) {
	v := first
	for v < end {
		if err := emit(u, v); err != nil {
			return 0, err
		}
		v += 1 + s.next()
	}
	return v - end, nil
}

// inside is p_in of a community of the given size.
func (s SBM) inside(size int64) float64 {
	if s.PIn != 0 || s.DegreeIn == 0 || size < 2 {
		return s.PIn
	}
	return s.DegreeIn / float64(size-1)
}

// outside is p_out: with DegreeOut, n·DegreeOut ordered pairs out of n² - Σ size².
func (s SBM) outside(starts []int64) float64 {
	if s.POut != 0 || s.DegreeOut == 0 {
		return s.POut
	}
	n := float64(s.Vertices())
	pairs := n * n
	for b := range len(starts) - 1 {
		size := float64(starts[b+1] - starts[b])
		pairs -= size * size
	}
	return min(1, n*s.DegreeOut/pairs)
}

// skips draws how many trials fail before the next success.
type skips struct {
	rng   *rand.Rand
	scale float64 // -1/log(1-p)
}

// neverSkip is beyond all pairs: n²/2 < 2^61.
const neverSkip = 1 << 61

func newSkips(rng *rand.Rand, p float64) skips {
	switch {
	case p <= 0:
		return skips{rng, math.Inf(1)}
	case p >= 1:
		return skips{rng, 0}
	}
	return skips{rng, -1 / math.Log1p(-p)}
}

// next is ⌊E/λ⌋ with E exponential and λ = -log(1-p): P(next ≥ m) = (1-p)^m.
func (s *skips) next() int64 {
	// 1 - Float64() is in (0, 1], so the logarithm is finite and ≤ 0.
	x := -math.Log(1-s.rng.Float64()) * s.scale
	if !(x < neverSkip) {
		return neverSkip // also NaN, from 0·∞
	}
	return int64(x)
}

func sum(x []int64) int64 {
	var total int64
	for _, v := range x {
		total += v
	}
	return total
}
