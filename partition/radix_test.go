package partition

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSortKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 40))).Draw(t, "keys")
		want := slices.Clone(keys)
		slices.Sort(want)
		got, spare := sortKeys(slices.Clone(keys), make([]uint64, len(keys)))
		if !slices.Equal(got, want) || len(spare) != len(keys) {
			t.Fatalf("sorted to %v", got)
		}
		distinct, dropped := dedup(got)
		var forward int64
		for i := 1; i < len(want); i++ {
			if want[i] == want[i-1] && want[i]&1 == 0 {
				forward++
			}
		}
		if !slices.Equal(distinct, slices.Compact(want)) || dropped != forward {
			t.Fatalf("%d forward keys dropped, want %d", dropped, forward)
		}
	})
}

func BenchmarkSortKeys(b *testing.B) {
	const n = 4 << 20
	rng := rand.New(rand.NewPCG(1, 1))
	from := make([]uint64, n)
	for i := range from {
		from[i] = arcKey(rng.Uint32N(1<<20), rng.Uint32N(1<<20), rng.Uint32N(2))
	}
	keys, other := make([]uint64, n), make([]uint64, n)
	b.SetBytes(8 * n)
	for b.Loop() {
		copy(keys, from)
		sortKeys(keys, other)
	}
}
