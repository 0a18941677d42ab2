package generate

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// correctedEdges draws the degree-corrected model: pairs inside each community
// by one walk per community, pairs between communities by one walk over all
// vertices that leaves out those of one community. The second walk visits
// Σ size²/n² of its pairs in vain, half of them with two communities.
func (s SBM) correctedEdges(ctx context.Context, emit func(u, v int64) error) error {
	starts := s.starts()
	theta := s.weights(starts)
	rng := stream(s.Seed, streamEdges)
	order := make([]int32, len(theta))
	for i := range order {
		order[i] = int32(i)
	}
	for b := range len(starts) - 1 {
		// Weights decrease within a community already.
		inside := order[starts[b]:starts[b+1]]
		w := weightedWalk{rng: rng, theta: theta, order: inside, factor: s.insideFactor(theta[starts[b]:starts[b+1]])}
		if err := w.run(ctx, emit); err != nil {
			return err
		}
	}
	community := make([]int32, len(theta))
	for b := range len(starts) - 1 {
		for i := starts[b]; i < starts[b+1]; i++ {
			community[i] = int32(b)
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(theta[b], theta[a]), cmp.Compare(a, b))
	})
	w := weightedWalk{rng: rng, theta: theta, order: order, factor: s.outside(starts)}
	return w.run(ctx, func(u, v int64) error {
		if community[u] == community[v] {
			return nil
		}
		return emit(u, v)
	})
}

// weights are the quantiles of a power law with the exponent, in decreasing
// order within each community and scaled to mean 1 there.
func (s SBM) weights(starts []int64) []float64 {
	theta := make([]float64, s.Vertices())
	for b := range len(starts) - 1 {
		block := theta[starts[b]:starts[b+1]]
		total := 0.0
		for i := range block {
			block[i] = math.Pow((float64(i)+0.5)/float64(len(block)), -1/(s.Exponent-1))
			total += block[i]
		}
		scale := float64(len(block)) / total
		for i := range block {
			block[i] *= scale
		}
	}
	return theta
}

// insideFactor is p with Σ_{u≠v} p·θ_u·θ_v = size·DegreeIn, that is
// p = size·DegreeIn / (size² - Σθ²), or PIn.
func (s SBM) insideFactor(theta []float64) float64 {
	if s.PIn != 0 || s.DegreeIn == 0 {
		return s.PIn
	}
	size := float64(len(theta))
	pairs := size * size
	for _, t := range theta {
		pairs -= t * t
	}
	return size * s.DegreeIn / pairs
}

// weightedWalk draws each pair of its vertices with probability
// min(1, factor·θ_u·θ_v) in expected time O(vertices + pairs drawn): skips by
// the bound of the last visited pair, thinned to the pair's own probability
// (Miller & Hagberg 2011, Algorithm 1). order lists the vertices by decreasing θ.
type weightedWalk struct {
	rng    *rand.Rand
	theta  []float64
	order  []int32
	factor float64
}

func (w *weightedWalk) run(ctx context.Context, emit func(u, v int64) error) error {
	if w.factor <= 0 {
		return nil
	}
	for i := range w.order {
		if i&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.row(i, emit); err != nil {
			return err
		}
	}
	return nil
}

func (w *weightedWalk) row(i int, emit func(u, v int64) error) error {
	n := int64(len(w.order))
	u := w.order[i]
	strength := w.factor * w.theta[u]
	j := int64(i) + 1
	if j >= n {
		return nil
	}
	bound := min(1, strength*w.theta[w.order[j]])
	for {
		if bound < 1 {
			s := newSkips(w.rng, bound)
			j += s.next()
		}
		if j >= n {
			return nil
		}
		v := w.order[j]
		p := min(1, strength*w.theta[v])
		if w.rng.Float64()*bound < p {
			if err := emit(int64(u), int64(v)); err != nil {
				return err
			}
		}
		bound = p
		if j++; j >= n {
			return nil
		}
	}
}
