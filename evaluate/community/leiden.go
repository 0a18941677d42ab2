package community

import (
	"context"
	"math/rand/v2"
)

// Leiden maximises modularity as Traag, Waltman and van Eck (2019) do: local
// moving, refinement of every community into well-connected parts, contraction of
// the parts, and local moving again from the unrefined partition. Communities are
// connected, and the whole is repeated from its own result Options.Iterations times.
// Where the paper draws a part with probability ∝ exp(gain/θ), this takes the limit
// of small θ: the part with the largest gain.
func Leiden(ctx context.Context, g *Graph, o Options) (*Result, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(o.Seed, 'N'))
	iterations := o.Iterations
	if iterations <= 0 {
		iterations = 2
	}
	community, levels := singletons(g.Vertices()), 0
	for range iterations {
		moved, contractions, err := leidenOnce(ctx, firstLevel(g), community, rng)
		if err != nil {
			return nil, err
		}
		levels += contractions
		if !moved {
			break
		}
	}
	return finish(g, community, levels)
}

// leidenOnce improves the partition of the first level in place, and tells whether
// anything moved.
func leidenOnce(ctx context.Context, l *level, result []int32, rng *rand.Rand) (bool, int, error) {
	at := singletons(l.vertices()) // the vertex of the present level that holds each vertex
	community := append([]int32(nil), result...)
	moved := false
	for levels := 0; ; levels++ {
		changed, err := l.move(ctx, community, rng)
		if err != nil {
			return false, 0, err
		}
		moved = moved || changed
		renumber(community)
		part, count, err := l.refine(ctx, community, rng)
		if err != nil {
			return false, 0, err
		}
		if count == l.vertices() {
			// Nothing may merge inside its community: contract the connected
			// parts of the communities instead, or stop when these are single.
			part, count = connectedParts(l.ptr, l.adj, community)
		}
		if count == l.vertices() {
			copy(result, at)
			return moved, levels, nil
		}
		project(at, part)
		contracted := make([]int32, count)
		for v, p := range part {
			contracted[p] = community[v]
		}
		l = l.contract(part, count)
		community = contracted
	}
}

// refine splits each community into parts that are connected and well connected to
// the rest of it (the paper's algorithm A.2, MergeNodesSubset): a vertex that is
// still alone joins the part of its community with the largest gain, if both it and
// the part have at least the expected weight towards the rest of the community.
func (l *level) refine(ctx context.Context, community []int32, rng *rand.Rand) ([]int32, int, error) {
	r := newRefiner(l, community)
	for visits, v := range shuffled(l.vertices(), rng) {
		if visits%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
		}
		if r.size[r.part[v]] == 1 {
			r.merge(v)
		}
	}
	return r.part, renumber(r.part), nil
}

type refiner struct {
	*level
	community []int32
	whole     []int64 // K of each community
	part      []int32
	size      []int32
	degree    []int64 // K of each part
	outward   []int64 // weight from each part to the rest of its community
	acc       *accumulator
}

func newRefiner(l *level, community []int32) *refiner {
	n := l.vertices()
	r := &refiner{
		level: l, community: community, whole: make([]int64, n),
		part: singletons(n), size: make([]int32, n),
		degree: append([]int64(nil), l.strength...), outward: make([]int64, n),
		acc: newAccumulator(n),
	}
	for v, c := range community {
		r.size[v] = 1
		r.whole[c] += l.strength[v]
		for i := l.ptr[v]; i < l.ptr[v+1]; i++ {
			if community[l.adj[i]] == c {
				r.outward[v] += l.arcWeight(i)
			}
		}
	}
	return r
}

func (l *level) arcWeight(i int64) int64 {
	if l.weight == nil {
		return 1
	}
	return l.weight[i]
}

// wellConnected tells whether part p has at least the weight to the rest of its
// community that chance would give it: w(p, C−p) ≥ K(p)·(K(C) − K(p))/2m.
func (r *refiner) wellConnected(p, c int32) bool {
	return r.outward[p]*r.total >= r.degree[p]*(r.whole[c]-r.degree[p])
}

func (r *refiner) merge(v int32) {
	c, alone := r.community[v], r.part[v]
	if !r.wellConnected(alone, c) {
		return
	}
	r.acc.addRow(r.level, v, r.part)
	k := r.strength[v]
	best, most, towards := alone, int64(-1), int64(0)
	for _, p := range r.acc.touched {
		// A part has the number of one of its vertices, which tells its community.
		if p == alone || r.community[p] != c || !r.wellConnected(p, c) {
			continue
		}
		if gain := r.total*r.acc.weight[p] - k*r.degree[p]; gain > most {
			best, most, towards = p, gain, r.acc.weight[p]
		}
	}
	r.acc.reset()
	if best == alone {
		return
	}
	r.part[v] = best
	r.size[alone]--
	r.size[best]++
	r.degree[best] += k
	r.outward[best] += r.outward[alone] - 2*towards
	r.degree[alone], r.outward[alone] = 0, 0
}
