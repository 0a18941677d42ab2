package generate

import (
	"context"
	"math"
	"math/rand/v2"
)

// RMAT is the recursive matrix model (Chakrabarti, Zhan & Faloutsos 2004):
// EdgeFactor·2^Scale directed edges are drawn independently, each by choosing
// one quadrant of the adjacency matrix per bit of the vertex number. Read as an
// undirected simple graph: loops are dropped, repeats and reversed copies are
// one edge, so that there are fewer edges than draws.
//
// The draws are not made one after the other. A quadrant's number of edges is
// binomial given that of the square it lies in, so the matrix is walked square
// by square, with a square and its mirror image together, down to single
// entries. That is the same distribution, meets each entry once, and needs
// neither a table of edges nor a sort.
type RMAT struct {
	// Scale gives 2^Scale vertices.
	Scale int
	// EdgeFactor is the number of draws per vertex.
	EdgeFactor int
	// A, B, C, D are the probabilities of the quadrants (0,0), (0,1), (1,0) and
	// (1,1); they add up to 1 and are the same at each level.
	A, B, C, D float64
	// Unscrambled keeps the model's vertex numbers, in which low numbers have
	// high degrees. Otherwise a keyed bijection of the numbers hides that.
	Unscrambled bool
	// Seed of the public randomness.
	Seed uint64
}

// DefaultRMAT has the parameters of the Graph500 benchmark: edge factor 16,
// quadrants 0.57, 0.19, 0.19, 0.05.
func DefaultRMAT(scale int) RMAT {
	return RMAT{Scale: scale, EdgeFactor: 16, A: 0.57, B: 0.19, C: 0.19, D: 0.05, Seed: 1}
}

// MaxScale keeps 2^Scale below MaxVertices.
const MaxScale = 30

// Vertices is 2^Scale.
func (s RMAT) Vertices() int64 { return 1 << min(max(s.Scale, 0), 62) }

// Labels is nil: R-MAT plants no communities.
func (s RMAT) Labels() ([]int, error) { return nil, s.Validate() }

// Validate returns nil or a *SpecError with every fault.
func (s RMAT) Validate() error {
	f := faults{model: "R-MAT"}
	f.require(s.Scale >= 1 && s.Scale <= MaxScale, "Scale", s.Scale, "in 1..%d", MaxScale)
	f.require(s.EdgeFactor >= 1 && s.EdgeFactor <= 1<<20, "EdgeFactor", s.EdgeFactor, "in 1..%d", 1<<20)
	f.within("A", s.A, 0, 1)
	f.within("B", s.B, 0, 1)
	f.within("C", s.C, 0, 1)
	f.within("D", s.D, 0, 1)
	total := s.A + s.B + s.C + s.D
	f.require(math.Abs(total-1) <= 1e-9, "A+B+C+D", total, "1 (within 1e-9)")
	return f.err()
}

func (s RMAT) edges(ctx context.Context, emit func(u, v int64) error) error {
	w := squares{
		scale:     s.Scale,
		rng:       stream(s.Seed, streamEdges),
		quadrants: newQuadrants(s.A, s.B, s.C, s.D),
		emit:      emit,
		ctx:       ctx,
	}
	if !s.Unscrambled {
		names := newScramble(s.Seed, s.Scale)
		w.emit = func(u, v int64) error { return emit(names.of(u), names.of(v)) }
	}
	return w.descend(0, 0, 0, int64(s.EdgeFactor)<<s.Scale, 0)
}

// squares walks the squares of the adjacency matrix.
type squares struct {
	quadrants
	scale int
	rng   *rand.Rand
	emit  func(u, v int64) error
	ctx   context.Context
}

// descend draws the edges of the square whose rows start with the bits u and
// whose columns start with the bits v, after level bits. forward is the number
// of edges in it, backward the number in its mirror image (v, u). u ≤ v, and
// backward = 0 on the diagonal, where the two are one.
func (w *squares) descend(level int, u, v, forward, backward int64) error {
	switch {
	case forward+backward == 0:
		return nil
	case level == w.scale:
		if u == v {
			return nil
		}
		return w.emit(u, v)
	case forward+backward == 1:
		return w.follow(level, u, v, backward == 1)
	case forward+backward > 1<<16:
		if err := w.ctx.Err(); err != nil {
			return err
		}
	}
	f := w.split(w.rng, forward)
	level, u, v = level+1, u<<1, v<<1
	if u == v {
		if err := w.descend(level, u, u, f[0], 0); err != nil {
			return err
		}
		if err := w.descend(level, u, u+1, f[1], f[2]); err != nil {
			return err
		}
		return w.descend(level, u+1, u+1, f[3], 0)
	}
	// In the mirror image, entry (v, u+1) lies in quadrant (0,1): b meets c.
	b := w.split(w.rng, backward)
	if err := w.descend(level, u, v, f[0], b[0]); err != nil {
		return err
	}
	if err := w.descend(level, u, v+1, f[1], b[2]); err != nil {
		return err
	}
	if err := w.descend(level, u+1, v, f[2], b[1]); err != nil {
		return err
	}
	return w.descend(level, u+1, v+1, f[3], b[3])
}

// follow draws the remaining bits of a square's only edge.
func (w *squares) follow(level int, u, v int64, backward bool) error {
	if backward {
		u, v = v, u
	}
	for ; level < w.scale; level++ {
		q := int64(w.one(w.rng))
		u, v = u<<1|q>>1, v<<1|q&1
	}
	if u == v {
		return nil
	}
	return w.emit(u, v)
}

// scramble is a bijection of 0..2^bits-1: rounds of an odd multiplication, an
// addition and a shift, each of which can be undone modulo 2^bits.
type scramble struct {
	mask, shift uint64
	factor, add [4]uint64
}

func newScramble(seed uint64, bits int) *scramble {
	rng := stream(seed, streamScramble)
	s := &scramble{mask: 1<<bits - 1, shift: uint64(bits+1) / 2}
	for i := range s.factor {
		s.factor[i], s.add[i] = rng.Uint64()|1, rng.Uint64()
	}
	return s
}

func (s *scramble) of(vertex int64) int64 {
	x := uint64(vertex)
	for i := range s.factor {
		x = (x*s.factor[i] + s.add[i]) & s.mask
		x ^= x >> s.shift
	}
	return int64(x)
}
