package synthesis

import (
	"math"
	"math/rand/v2"
)

// rowSource gives row i of the run its own stream of public random numbers.
type rowSource struct {
	pcg  rand.PCG
	rand *rand.Rand
	seed uint64
	kind uint64
}

func newRowSource(seed, kind uint64) *rowSource {
	s := &rowSource{seed: seed, kind: kind}
	s.rand = rand.New(&s.pcg)
	return s
}

// reset begins the stream of a row.
func (s *rowSource) reset(row uint64) {
	s.pcg.Seed(mix(s.seed+s.kind), mix(row^mix(s.kind^s.seed)))
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection
// that spreads neighbouring numbers.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Probability is the edge law: 1 − exp(−τ·max(0, score)).
func Probability(tau, score float64) float64 {
	if !(score > 0) {
		return 0
	}
	return -math.Expm1(-tau * score)
}

// A rowSampler draws the edges of one row after another: those to positions
// behind its own, so that each pair is decided once, by one stream.
//
// Where the bound b of a segment is small, candidates are the points of a
// Poisson process of rate τ·b per pair, and a candidate counts with probability
// score/b. The number of counted points of a pair is then Poisson with mean
// τ·score, pairs are independent, and at least one point is there with
// probability 1 − exp(−τ·score): the law, exactly. Gaps between points are
// exponential, so a segment without a point costs nothing beyond its bound.
type rowSampler struct {
	walker     *walker
	source     *rowSource
	tau        float64
	candidates []candidate
}

// A candidate counts if its score is above the mark, a uniform number up to the
// bound. Candidates of a row are collected before any is scored, so that the
// processor can fetch the coordinates of several at a time.
type candidate struct {
	position int32
	mark     float64
}

const scoreKind = 0x73636f7265 // the score law's streams

func newRowSampler(t *tree, tau float64, seed uint64) *rowSampler {
	return &rowSampler{walker: newWalker(t), source: newRowSource(seed, scoreKind), tau: tau}
}

// row appends to out the positions q > p that are joined to p.
func (s *rowSampler) row(p int, out []int32) []int32 {
	s.source.reset(uint64(s.walker.t.order[p]))
	random := s.source.rand
	s.candidates = s.candidates[:0]
	clock := random.ExpFloat64()
	for _, g := range s.walker.segments(p, s.tau) {
		rate := s.tau * g.bound
		if rate > certain {
			out = s.each(g, out)
			continue
		}
		mass, at, gap := rate*float64(g.to-g.from), 0.0, 1/rate
		for clock < mass-at {
			at += clock
			clock = random.ExpFloat64()
			q := min(g.from+int(at*gap), g.to-1)
			s.candidates = append(s.candidates, candidate{int32(q), random.Float64() * g.bound})
		}
		clock -= mass - at
	}
	return s.accept(out)
}

// accept appends the positions of the candidates that count, each once:
// candidates of a position are neighbours.
func (s *rowSampler) accept(out []int32) []int32 {
	last := int32(-1)
	for _, c := range s.candidates {
		if c.mark < s.walker.score(int(c.position)) && c.position != last {
			last = c.position
			out = append(out, last)
		}
	}
	return out
}

// each decides every pair of a segment by itself.
func (s *rowSampler) each(g segment, out []int32) []int32 {
	for q := g.from; q < g.to; q++ {
		if p := Probability(s.tau, s.walker.score(q)); p > 0 && s.source.rand.Float64() < p {
			out = append(out, int32(q))
		}
	}
	return out
}
