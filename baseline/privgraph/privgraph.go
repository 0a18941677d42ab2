package privgraph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/privcom/privcom/baseline/draw"
	"github.com/privcom/privcom/evaluate/community"
)

const (
	groupSize = 20         // vertices of a first group, as in the paper's experiments
	mostPairs = 50_000_000 // of groups
)

// Run publishes g.
func Run(ctx context.Context, g *community.Graph, epsilon float64, rng *rand.Rand) (*community.Graph, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 0) {
		return nil, fmt.Errorf("privgraph: epsilon is %v and must be a number above 0", epsilon)
	}
	n := g.Vertices()
	if n < 2 {
		return nil, errors.New("privgraph: a graph of fewer than 2 vertices has no edge to publish")
	}
	groups := (n + groupSize - 1) / groupSize
	if pairs := draw.Pairs(int64(groups)); pairs > mostPairs {
		return nil, fmt.Errorf("privgraph: %d vertices make %d pairs of groups, each with noise; more than %d do not fit", n, pairs, mostPairs)
	}
	third := epsilon / 3
	first, count, err := initial(ctx, g, groups, third, rng)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(ctx, g, first, count, third, rng)
	if err != nil {
		return nil, err
	}
	return rebuild(ctx, g, chosen, count, third, rng)
}

// initial finds communities of random groups from the noisy weights between them.
func initial(ctx context.Context, g *community.Graph, groups int, epsilon float64, rng *rand.Rand) ([]int32, int, error) {
	n := g.Vertices()
	group := make([]int32, n)
	for i, v := range rng.Perm(n) {
		group[v] = int32(i / groupSize)
	}
	// Cell (a, b), a ≤ b, has the number of the pair (a, b+1).
	weight := make([]float64, draw.Pairs(int64(groups+1)))
	for u := range int32(n) {
		for _, v := range g.Neighbours(int(u)) {
			if u < v {
				a, b := min(group[u], group[v]), max(group[u], group[v])
				weight[draw.Index(a, b+1)]++
			}
		}
	}
	rows := make([][]int32, groups)
	weights := make([][]int64, groups)
	put := func(a, b int32, w int64) {
		rows[a], weights[a] = append(rows[a], b), append(weights[a], w)
	}
	// In this order of cells every row grows in the order of its columns.
	for b := range int32(groups) {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		for a := range b + 1 {
			w := int64(math.Round(weight[draw.Index(a, b+1)] + draw.Laplace(rng, 1/epsilon)))
			if w <= 0 {
				continue
			}
			if a == b {
				put(a, a, 2*w) // a loop stands for edges whose both ends are in the group
				continue
			}
			put(b, a, w)
			put(a, b, w)
		}
	}
	super := &community.Graph{Ptr: make([]int64, 1, groups+1)}
	for a := range groups {
		super.Adj, super.Weight = append(super.Adj, rows[a]...), append(super.Weight, weights[a]...)
		super.Ptr = append(super.Ptr, int64(len(super.Adj)))
	}
	found, err := community.Louvain(ctx, super, community.Options{Seed: rng.Uint64()})
	if err != nil {
		return nil, 0, fmt.Errorf("privgraph: communities of the groups: %w", err)
	}
	first := make([]int32, n)
	for v := range first {
		first[v] = found.Community[group[v]]
	}
	return first, found.Count, nil
}

// choose lets each vertex draw a community with weight exp(ε/2 · edges into it). The
// scores come from the first communities, whatever others choose.
func choose(ctx context.Context, g *community.Graph, first []int32, count int, epsilon float64, rng *rand.Rand) ([]int32, error) {
	chosen := make([]int32, len(first))
	score := make([]int64, count)
	for v := range first {
		if v%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, u := range g.Neighbours(v) {
			score[first[u]]++
		}
		best := math.Inf(-1)
		for c, s := range score { // the largest of score·ε/2 + Gumbel noise is such a draw
			if x := epsilon/2*float64(s) - math.Log(rng.ExpFloat64()); x > best {
				best, chosen[v] = x, int32(c)
			}
		}
		for _, u := range g.Neighbours(v) {
			score[first[u]] = 0
		}
	}
	return chosen, nil
}

// rebuild publishes the figures of the communities and draws the graph.
func rebuild(ctx context.Context, g *community.Graph, chosen []int32, count int, epsilon float64, rng *rand.Rand) (*community.Graph, error) {
	members := make([][]int32, count)
	for v, c := range chosen {
		members[c] = append(members[c], int32(v))
	}
	between := make([]float64, draw.Pairs(int64(count)))
	inside := make([]float64, len(chosen))
	for u := range int32(len(chosen)) {
		for _, v := range g.Neighbours(int(u)) {
			switch a, b := chosen[u], chosen[v]; {
			case a == b:
				inside[u]++
			case u < v:
				between[draw.Index(a, b)]++
			}
		}
	}
	e := &edges{}
	for _, list := range members {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e.within(list, inside, 2/epsilon, rng)
	}
	for x, k := range between {
		if x%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a, b := draw.Pair(int64(x))
		e.across(members[a], members[b], int64(math.Round(k+draw.Laplace(rng, 1/epsilon))), rng)
	}
	return community.FromEdges(len(chosen), e.source, e.target)
}

type edges struct{ source, target []int32 }

// across draws k different pairs with one end in each list.
func (e *edges) across(a, b []int32, k int64, rng *rand.Rand) {
	if k <= 0 || len(a) == 0 || len(b) == 0 {
		return
	}
	for _, x := range draw.Distinct(rng, int64(len(a))*int64(len(b)), k) {
		e.source = append(e.source, a[x/int64(len(b))])
		e.target = append(e.target, b[x%int64(len(b))])
	}
}

// within draws the edges among a community's members from their noisy degrees: pairs
// with ends in proportion to degree, half the sum of degrees of them, repeats and loops
// drawn again (the fast form of the Chung-Lu model).
func (e *edges) within(members []int32, degree []float64, scale float64, rng *rand.Rand) {
	cumulative := make([]int64, len(members))
	sum := int64(0)
	for i, v := range members {
		d := int64(math.Round(degree[v] + draw.Laplace(rng, scale)))
		sum += min(max(d, 0), int64(len(members)-1))
		cumulative[i] = sum
	}
	end := func() int32 { return int32(above(cumulative, rng.Int64N(sum))) }
	want := sum / 2
	seen := make(map[int64]struct{}, want)
	for tries := 20*want + 100; tries > 0 && int64(len(seen)) < want; tries-- {
		i, j := end(), end()
		if i == j {
			continue
		}
		x := draw.Index(i, j)
		if _, again := seen[x]; again {
			continue
		}
		seen[x] = struct{}{}
		e.source, e.target = append(e.source, members[i]), append(e.target, members[j])
	}
}

// above is the first place whose cumulative count passes x.
func above(cumulative []int64, x int64) int {
	low, high := 0, len(cumulative)-1
	for low < high {
		if middle := (low + high) / 2; cumulative[middle] > x {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
