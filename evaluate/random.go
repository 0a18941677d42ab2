package evaluate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/privcom/privcom/evaluate/community"
)

// RandomGraph draws G(n, m): m different pairs of n vertices, every such set as
// likely. It takes time m log m, or n² where m is more than a quarter of all pairs.
func RandomGraph(ctx context.Context, n int, m int64, rng *rand.Rand) (*community.Graph, error) {
	all := int64(n) * int64(n-1) / 2
	if n < 0 || m < 0 || m > all {
		return nil, fmt.Errorf("evaluate: %d vertices cannot have %d edges", n, m)
	}
	if m > all/4 {
		return denseRandom(ctx, n, m, all, rng)
	}
	// Draw, remove repeats, draw what is missing, until m different pairs are there.
	// The first m distinct draws are a uniform set whatever the order of removal.
	pairs := make([]uint64, 0, m)
	for int64(len(pairs)) < m {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for int64(len(pairs)) < m {
			u, v := rng.Uint64N(uint64(n)), rng.Uint64N(uint64(n))
			if u != v {
				pairs = append(pairs, min(u, v)<<32|max(u, v))
			}
		}
		slices.Sort(pairs)
		pairs = slices.Compact(pairs)
	}
	source, target := make([]int32, m), make([]int32, m)
	for i, p := range pairs {
		source[i], target[i] = int32(p>>32), int32(p&0xFFFFFFFF)
	}
	return community.FromEdges(n, source, target)
}

// denseRandom visits every pair and takes it with the chance that makes m in the end
// (Knuth's selection sampling).
func denseRandom(ctx context.Context, n int, m, left int64, rng *rand.Rand) (*community.Graph, error) {
	source, target := make([]int32, 0, m), make([]int32, 0, m)
	for u := range int32(n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for v := range u {
			if rng.Int64N(left) < m-int64(len(source)) {
				source, target = append(source, u), append(target, v)
			}
			left--
		}
	}
	return community.FromEdges(n, source, target)
}
