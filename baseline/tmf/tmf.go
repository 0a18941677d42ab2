package tmf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/privcom/privcom/baseline/draw"
	"github.com/privcom/privcom/evaluate/community"
)

// countShare is the part of ε that the number of edges costs.
const countShare = 0.1

// Run publishes g.
func Run(ctx context.Context, g *community.Graph, epsilon float64, rng *rand.Rand) (*community.Graph, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 0) {
		return nil, fmt.Errorf("tmf: epsilon is %v and must be a number above 0", epsilon)
	}
	n := int64(g.Vertices())
	if n < 2 {
		return nil, errors.New("tmf: a graph of fewer than 2 vertices has no cell to publish")
	}
	cells, edges := draw.Pairs(n), g.Edges()
	noisy := float64(edges) + draw.Laplace(rng, 1/(countShare*epsilon))
	noisy = min(max(noisy, 1), float64(cells)/2)
	e1 := (1 - countShare) * epsilon
	theta := threshold(float64(cells), noisy, e1)

	var source, target []int32
	for u := range int32(n) {
		if u%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, v := range g.Neighbours(int(u)) {
			if u < v && 1+draw.Laplace(rng, 1/e1) > theta {
				source, target = append(source, u), append(target, v)
			}
		}
	}
	empty := cells - edges
	passing := draw.Binomial(rng, empty, draw.LaplaceAbove(theta, 1/e1))
	taken := func(x int64) bool { u, v := draw.Pair(x); return g.HasArc(u, v) }
	for _, x := range draw.Others(rng, cells, passing, empty, taken) {
		u, v := draw.Pair(x)
		source, target = append(source, u), append(target, v)
	}
	return community.FromEdges(int(n), source, target)
}

// threshold is the θ at which as many of N cells are expected to pass as there are
// edges m, of which each stands at 1 and every other cell at 0, all under Laplace
// noise of scale 1/ε. Above 1 edges pass with chance e^{−ε(θ−1)}/2, below it with
// 1 − e^{−ε(1−θ)}/2; the branches meet at ε = ln(N/m − 1), where θ = 1.
func threshold(cells, edges, epsilon float64) float64 {
	odds := cells/edges - 1
	if epsilon < math.Log(odds) {
		return (math.Log(odds+math.Exp(epsilon)) - math.Ln2) / epsilon
	}
	return 0.5 + math.Log(odds)/(2*epsilon)
}
