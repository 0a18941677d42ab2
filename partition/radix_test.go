package partition

import (
	"context"
	"math/rand/v2"
	"os"
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

func TestSortPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 40), rapid.Uint64Range(1<<40, 1<<40+5000))
		var pages [][]uint64
		var want []uint64
		for range rapid.IntRange(1, 5).Draw(t, "pages") {
			page := rapid.SliceOfN(key, 1, 3000).Draw(t, "page")
			pages, want = append(pages, page), append(want, page...)
		}
		slices.Sort(want)
		got := make([]uint64, len(want))
		sortPages(pages, got, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("sorted to %v", got)
		}
	})
}

// TestRanges: the ranges of the runs, in memory and on disk, hold every key
// once, in order, and never part the two ways of a pair.
func TestRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := &workspace{dir: os.TempDir()}
		defer space.close()
		s := newSorter(context.Background(), space, rapid.SampledFrom([]int64{1 << 10, 1 << 16}).Draw(t, "memory"), 2)
		var want []uint64
		vertex := rapid.Uint32Range(0, rapid.SampledFrom([]uint32{3, 50, 1<<31 - 1}).Draw(t, "vertices"))
		for i, n := range rapid.SliceOfN(vertex, 0, 600).Draw(t, "ends") {
			a, b := n, vertex.Draw(t, "b")
			if err := s.lanes[i%2].add(a, b); err != nil {
				t.Fatal(err)
			}
			want = append(want, arcKey(a, b, 0), arcKey(b, a, 1))
		}
		if err := s.finish(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		var got []uint64
		m, from := s.newMerger(context.Background()), uint64(0)
		for _, end := range s.cutKeys(rapid.IntRange(1, 100).Draw(t, "size")) {
			keys, err := m.merge(from, end)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(got); n > 0 && len(keys) > 0 && keys[0]^got[n-1] == 1 {
				t.Fatalf("%x and %x are in two ranges", got[n-1], keys[0])
			}
			got, from = append(got, keys...), end
		}
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Fatalf("%d keys, want %d", len(got), len(want))
		}
	})
}
