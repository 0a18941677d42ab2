package baselinetest

import (
	"math/rand/v2"
	"testing"

	"github.com/privcom/privcom/baseline/draw"
	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/evaluate/community"
)

// Source is a generator that repeats.
func Source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Random is a uniform graph of n vertices and m edges.
func Random(t testing.TB, n int, m int64, seed uint64) *community.Graph {
	t.Helper()
	g, err := evaluate.RandomGraph(t.Context(), n, m, Source(seed))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Tiny is the graph on n vertices (at most 11) whose edges are the bits of set, in the order
// of draw.Pair.
func Tiny(t testing.TB, n int, set uint64) *community.Graph {
	t.Helper()
	var source, target []int32
	for x := range draw.Pairs(int64(n)) {
		if set>>x&1 == 1 {
			u, v := draw.Pair(x)
			source, target = append(source, u), append(target, v)
		}
	}
	return fromEdges(t, n, source, target)
}

func fromEdges(t testing.TB, n int, source, target []int32) *community.Graph {
	t.Helper()
	g, err := community.FromEdges(n, source, target)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Blocks joins every pair of n vertices by chance: inside where both stand in the same of
// `blocks` blocks, across elsewhere. Block v % blocks is that of v; the second result lists
// the blocks.
func Blocks(t testing.TB, n, blocks int, inside, across float64, seed uint64) (*community.Graph, []int32) {
	t.Helper()
	rng := Source(seed)
	var source, target []int32
	label := make([]int32, n)
	for v := range int32(n) {
		label[v] = v % int32(blocks)
		for u := range v {
			p := across
			if label[u] == label[v] {
				p = inside
			}
			if rng.Float64() < p {
				source, target = append(source, u), append(target, v)
			}
		}
	}
	return fromEdges(t, n, source, target), label
}
