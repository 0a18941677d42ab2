package evaluate

import (
	"context"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/privcom/privcom/evaluate/community"
)

// run is one repetition: the partitions of the two graphs and of the yardsticks.
type run struct {
	reference *community.Result // the original
	again     *community.Result // the original, another seed
	release   *community.Result
	random    *community.Result // a random graph with the release's number of edges
	shuffled  []int32           // the release's partition, vertices shuffled
}

// purposes of derived seeds.
const (
	forReference = iota
	forAgain
	forRelease
	forRandom
	forGraph
	forShuffle
)

// derive gives each purpose of each repetition a seed of its own (one step of
// splitmix64, which is a bijection, over distinct inputs).
func derive(seed uint64, repetition, purpose int) uint64 {
	z := seed + 0x9E3779B97F4A7C15*uint64(1+repetition*16+purpose)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// findAll finds every partition, several at a time.
func (c *comparison) findAll(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	c.runs = make([]run, c.o.Repeat)
	for r := range c.runs {
		on := func(to **community.Result, g *community.Graph, purpose int) {
			group.Go(func() error {
				found, err := c.find(ctx, g, derive(c.o.Seed, r, purpose))
				*to = found
				return err
			})
		}
		on(&c.runs[r].reference, c.original, forReference)
		on(&c.runs[r].release, c.synthetic, forRelease)
		on(&c.runs[r].again, c.original, forAgain)
		group.Go(func() error {
			rng := rand.New(rand.NewPCG(derive(c.o.Seed, r, forGraph), 0))
			g, err := RandomGraph(ctx, c.synthetic.Vertices(), c.synthetic.Edges(), rng)
			if err != nil {
				return err
			}
			c.runs[r].random, err = c.find(ctx, g, derive(c.o.Seed, r, forRandom))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for r := range c.runs {
		rng := rand.New(rand.NewPCG(derive(c.o.Seed, r, forShuffle), 0))
		c.runs[r].shuffled = shuffled(c.runs[r].release.Community, rng)
	}
	return nil
}

func (c *comparison) find(ctx context.Context, g *community.Graph, seed uint64) (*community.Result, error) {
	found, err := finders[c.o.Method](ctx, g, community.Options{Seed: seed})
	if err == nil {
		c.step("communities")
	}
	return found, err
}

func shuffled(p []int32, rng *rand.Rand) []int32 {
	s := append([]int32(nil), p...)
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

func singletons(n int) []int32 {
	p := make([]int32, n)
	for v := range p {
		p[v] = int32(v)
	}
	return p
}
