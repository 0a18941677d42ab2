package community

import (
	"context"
	"math/rand/v2"
)

// LabelPropagation gives every vertex the label that weighs most among its
// neighbours, until each has one (Raghavan, Albert, Kumara 2007). A vertex keeps
// its label while no other weighs more, which makes every change raise the weight
// inside communities and the process end; other ties are broken by the seed. Parts
// of a community that are not connected become communities of their own.
func LabelPropagation(ctx context.Context, g *Graph, o Options) (*Result, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(o.Seed, 'P'))
	l := firstLevel(g)
	label := singletons(l.vertices())
	acc := newAccumulator(l.vertices())
	q := shuffledQueue(l.vertices(), rng)
	for visits := 0; q.length > 0; visits++ {
		if visits%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		v := q.pop()
		acc.addRow(l, v, label)
		best := heaviest(acc, label[v], rng)
		acc.reset()
		if best == label[v] {
			continue
		}
		label[v] = best
		for _, u := range l.adj[l.ptr[v]:l.ptr[v+1]] {
			if label[u] != best {
				q.push(u)
			}
		}
	}
	return finish(g, label, 0)
}

// heaviest is the present label unless another weighs more; among several that
// weigh most each is as likely.
func heaviest(acc *accumulator, present int32, rng *rand.Rand) int32 {
	best, most, ties := present, acc.weight[present], 0
	for _, c := range acc.touched {
		switch w := acc.weight[c]; {
		case w > most:
			best, most, ties = c, w, 1
		case w == most && ties > 0:
			ties++
			if rng.IntN(ties) == 0 {
				best = c
			}
		}
	}
	return best
}
