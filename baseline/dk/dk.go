package dk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/privcom/privcom/baseline/draw"
	"github.com/privcom/privcom/evaluate/community"
)

// totalShare is the part of ε that dK-2's number of edges costs.
const totalShare = 0.05

func check(g *community.Graph, epsilon float64) error {
	if !(epsilon > 0) || math.IsInf(epsilon, 0) {
		return fmt.Errorf("dk: epsilon is %v and must be a number above 0", epsilon)
	}
	if g.Vertices() < 2 {
		return errors.New("dk: a graph of fewer than 2 vertices has no edge to publish")
	}
	return nil
}

// Run1 publishes g through its degree distribution.
func Run1(ctx context.Context, g *community.Graph, epsilon float64, rng *rand.Rand) (*community.Graph, error) {
	if err := check(g, epsilon); err != nil {
		return nil, err
	}
	n := g.Vertices()
	count := make([]float64, n)
	for v := range n {
		count[g.Degree(v)]++
	}
	cells := make([]cell, n)
	for d, c := range count {
		cells[d] = cell{int64(d), c + draw.Laplace(rng, 4/epsilon)}
	}
	// All n cells are listed, so negative values may stay in for the projection.
	var degrees []int32
	for _, c := range project(cells, float64(n), math.Inf(-1)) {
		for range min(whole(rng, c.value), int64(n-len(degrees))) {
			degrees = append(degrees, int32(c.at))
		}
	}
	return fromDegrees(ctx, n, degrees, rng)
}

// Run2 publishes g through the degrees at both ends of its edges.
func Run2(ctx context.Context, g *community.Graph, epsilon, delta float64, rng *rand.Rand) (*community.Graph, error) {
	if err := check(g, epsilon); err != nil {
		return nil, err
	}
	if !(delta > 0 && delta < 1) {
		return nil, fmt.Errorf("dk: delta is %v and must lie between 0 and 1: smooth sensitivity needs one", delta)
	}
	n := g.Vertices()
	total := float64(g.Edges()) + draw.Laplace(rng, 1/(totalShare*epsilon))
	total = min(max(total, 1), float64(draw.Pairs(int64(n))))
	rest := (1 - totalShare) * epsilon
	cells := int64(n) * int64(n-1) / 2 // unordered pairs of degrees 1 … n−1
	beta := smoothness(rest, delta, float64(cells))
	scale := 2 * smooth(otherEdges(g), n, beta) / rest
	above, level := noisy(rng, joint(g), cells, scale)
	return fromJoint(ctx, n, project(above, total, level), rng)
}

// joint is dK-2: the edges between degrees i ≤ j, in cell j(j−1)/2 + i − 1.
func joint(g *community.Graph) []cell {
	counts := map[int64]float64{}
	for u := range g.Vertices() {
		for _, v := range g.Neighbours(u) {
			if int32(u) < v {
				counts[jointCell(int64(g.Degree(u)), int64(g.Degree(int(v))))]++
			}
		}
	}
	cells := make([]cell, 0, len(counts))
	for at, value := range counts {
		cells = append(cells, cell{at, value})
	}
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Compare(a.at, b.at) })
	return cells
}

func jointCell(i, j int64) int64 {
	if i > j {
		i, j = j, i
	}
	return j*(j-1)/2 + i - 1
}

// jointDegrees inverts jointCell.
func jointDegrees(at int64) (i, j int32) {
	u, v := draw.Pair(at) // cell (i, j) has the number of the pair (i−1, j)
	return u + 1, v
}
