package hrg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/privcom/privcom/baseline/draw"
	"github.com/privcom/privcom/evaluate/community"
)

// StepsPerVertex is the default length of the chain.
const StepsPerVertex = 250

// blockNoise is the standard of noise in a chance p below which a subtree is still cut
// up: 1/ε₂ edges among its pairs of vertices.
const blockNoise = 0.01

// Options steer a run. The zero value needs Epsilon.
type Options struct {
	Epsilon  float64
	Steps    int64                   // of the Markov chain; 0: StepsPerVertex · n
	Progress func(done, total int64) // steps; may be nil
}

// Run publishes g.
func Run(ctx context.Context, g *community.Graph, o Options, rng *rand.Rand) (*community.Graph, error) {
	n := g.Vertices()
	switch {
	case !(o.Epsilon > 0) || math.IsInf(o.Epsilon, 0):
		return nil, fmt.Errorf("hrg: epsilon is %v and must be a number above 0", o.Epsilon)
	case n < 2:
		return nil, errors.New("hrg: a graph of fewer than 2 vertices has no edge to publish")
	case o.Steps < 0:
		return nil, fmt.Errorf("hrg: %d steps: the chain cannot run backwards", o.Steps)
	case o.Steps == 0:
		o.Steps = int64(StepsPerVertex) * int64(n)
	}
	t := newTree(g, rng)
	if err := t.walk(ctx, o, rng); err != nil {
		return nil, err
	}
	return t.publish(ctx, o.Epsilon/2, rng)
}

// sensitivity is Δ, how far one edge moves log L(T).
func sensitivity(n int64) float64 {
	pairs := float64(n * n / 4)
	if pairs < 2 {
		return 0
	}
	return math.Log(pairs) + (pairs-1)*math.Log1p(1/(pairs-1))
}

// walk runs the Metropolis chain whose stationary distribution is the exponential
// mechanism of log L with ε/2.
func (t *tree) walk(ctx context.Context, o Options, rng *rand.Rand) error {
	delta := sensitivity(int64(t.leaves))
	if delta == 0 {
		return nil
	}
	factor := o.Epsilon / 2 / (2 * delta)
	const every = 4096
	for step := range o.Steps {
		if step%every == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if o.Progress != nil {
				o.Progress(step, o.Steps)
			}
		}
		t.step(factor, rng)
	}
	if o.Progress != nil {
		o.Progress(o.Steps, o.Steps)
	}
	return nil
}

// step proposes one of the two other arrangements of the subtrees below and beside a
// random inner node, and takes it with chance exp(factor · gain). Proposals are
// symmetric.
func (t *tree) step(factor float64, rng *rand.Rand) {
	r := t.leaves + rng.Int32N(t.leaves-1)
	p := t.parent[r]
	if p < 0 {
		return
	}
	stay, leave, beside := t.child[t.inner(r)][0], t.child[t.inner(r)][1], t.child[t.inner(p)][0]
	if rng.Uint64()&1 == 0 {
		stay, leave = leave, stay
	}
	if beside == r {
		beside = t.child[t.inner(p)][1]
	}
	// Now p = ((stay, go), beside); proposed is ((stay, beside), go).
	low, high := t.edges[t.inner(r)], t.edges[t.inner(p)]
	newLow := t.split(stay, leave, beside, high)
	newHigh := low + high - newLow
	before := logLikelihood(low, t.pairs(stay, leave)) + logLikelihood(high, t.pairs(r, beside))
	after := logLikelihood(newLow, t.pairs(stay, beside)) +
		logLikelihood(newHigh, int64(t.size[leave])*int64(t.size[stay]+t.size[beside]))
	if gain := after - before; gain < 0 && rng.Float64() >= math.Exp(factor*gain) {
		return
	}
	t.adopt(r, stay, beside)
	t.adopt(p, r, leave)
	t.edges[t.inner(r)], t.edges[t.inner(p)] = newLow, newHigh
}

// split is the number of edges between a and c, of which a and b together have both with
// c. It counts on the side that has fewer leaves.
func (t *tree) split(a, b, c int32, both int64) int64 {
	switch {
	case both == 0:
		return 0
	case min(t.size[a], t.size[c]) <= min(t.size[b], t.size[c]):
		return t.between(a, c)
	default:
		return both - t.between(b, c)
	}
}

// publish measures the dendrogram's counts with noise and draws the graph.
func (t *tree) publish(ctx context.Context, epsilon float64, rng *rand.Rand) (*community.Graph, error) {
	order, first := t.layout()
	inside := t.inside()
	var source, target []int32
	stack := []int32{t.root}
	for visits := 0; len(stack) > 0; visits++ {
		if visits%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if r < t.leaves {
			continue
		}
		at, size := int64(first[r]), int64(t.size[r])
		if all := draw.Pairs(size); blockNoise*float64(all)*epsilon < 1 {
			k := chance(rng, inside[t.inner(r)], all, epsilon)
			for _, x := range draw.Distinct(rng, all, k) {
				i, j := draw.Pair(x)
				source, target = append(source, order[at+int64(i)]), append(target, order[at+int64(j)])
			}
			continue
		}
		c := t.child[t.inner(r)]
		left, right := int64(t.size[c[0]]), int64(t.size[c[1]])
		k := chance(rng, t.edges[t.inner(r)], left*right, epsilon)
		for _, x := range draw.Distinct(rng, left*right, k) {
			source, target = append(source, order[at+x/right]), append(target, order[at+left+x%right])
		}
		stack = append(stack, c[0], c[1])
	}
	return community.FromEdges(int(t.leaves), source, target)
}

// chance adds noise to a count and draws how many of the pairs a graph of that density
// joins.
func chance(rng *rand.Rand, edges, pairs int64, epsilon float64) int64 {
	p := (float64(edges) + draw.Laplace(rng, 1/epsilon)) / float64(pairs)
	return draw.Binomial(rng, pairs, min(max(p, 0), 1))
}

// layout lists the leaves so that those of every node stand together, left side first,
// and where they begin.
func (t *tree) layout() (order, first []int32) {
	first = make([]int32, len(t.parent))
	stack := []int32{t.root}
	for len(stack) > 0 {
		r := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		first[r] = int32(len(order))
		if r < t.leaves {
			order = append(order, r)
			continue
		}
		c := t.child[t.inner(r)]
		stack = append(stack, c[1], c[0])
	}
	return order, first
}

// inside is the number of edges with both ends below each inner node.
func (t *tree) inside() []int64 {
	sum := make([]int64, len(t.edges))
	stack, order := []int32{t.root}, []int32{}
	for len(stack) > 0 {
		r := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if r >= t.leaves {
			order = append(order, r)
			c := t.child[t.inner(r)]
			stack = append(stack, c[0], c[1])
		}
	}
	for i := len(order) - 1; i >= 0; i-- { // children before parents
		r := t.inner(order[i])
		sum[r] += t.edges[r]
		if p := t.parent[order[i]]; p >= 0 {
			sum[t.inner(p)] += sum[r]
		}
	}
	return sum
}
