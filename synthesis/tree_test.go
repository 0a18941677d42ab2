package synthesis

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

// TestScoresDoNotDependOnTheOrder: the tree's score of two positions is the
// model's score of the two rows, to rounding.
func TestScoresDoNotDependOnTheOrder(t *testing.T) {
	m := testModel(300, 5, 3, heavy)
	tr := testTree(m)
	seen := slices.Clone(tr.order)
	slices.Sort(seen)
	for i, v := range seen {
		if int(v) != i {
			t.Fatal("the order is not a permutation")
		}
	}
	w := newWalker(tr)
	for p := range m.N {
		w.segments(p, 1)
		for q := range m.N {
			want := m.Score(int(tr.order[p]), int(tr.order[q]))
			if got := w.score(q); math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {
				t.Fatalf("(%d,%d): %g, want %g", p, q, got, want)
			}
		}
	}
}

// TestSegmentsBoundEveryPositiveScore is what exactness rests on.
func TestSegmentsBoundEveryPositiveScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(0, 400).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "k")
		s := rapid.SampledFrom([]shape{plain, groups, heavy}).Draw(t, "shape")
		m := testModel(n, k, rapid.Uint64().Draw(t, "seed"), s)
		scale := math.Pow(10, float64(rapid.IntRange(-100, 100).Draw(t, "scale")))
		for i := range m.X {
			m.X[i] *= scale
			if rapid.IntRange(0, 50).Draw(t, "equal") == 0 {
				m.X[i] = 0
			}
		}
		tr := testTree(m)
		w := newWalker(tr)
		rate := math.Pow(10, rapid.Float64Range(-4, 4).Draw(t, "rate")) / scale / scale
		for p := range n {
			next := p + 1
			for _, g := range w.segments(p, rate) {
				if g.from < next || g.to <= g.from || g.to > n {
					t.Fatalf("row %d: segment %+v after position %d", p, g, next)
				}
				for q := next; q < g.to; q++ {
					bound := 0.0
					if q >= g.from {
						bound = g.bound
					}
					if score := w.score(q); score > bound {
						t.Fatalf("score (%d,%d) = %g above its bound %g", p, q, score, bound)
					}
				}
				next = g.to
			}
			for q := next; q < n; q++ {
				if score := w.score(q); score > 0 {
					t.Fatalf("score (%d,%d) = %g is in no segment", p, q, score)
				}
			}
		}
	})
}

func TestOrderDoesNotDependOnProcessors(t *testing.T) {
	m := testModel(100_000, 3, 9, groups)
	var first []int32
	for _, p := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(p)
		order := testTree(m).order
		runtime.GOMAXPROCS(old)
		if first == nil {
			first = order
		} else if !slices.Equal(first, order) {
			t.Fatalf("%d processors give another order", p)
		}
	}
}

func TestSelectKeyPutsTheSmallestFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		keys := make([]key, 1+random.IntN(60))
		for i := range keys {
			keys[i] = key{float64(random.IntN(8)), int32(i), int32(i)}
		}
		random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		sorted := slices.Clone(keys)
		sort.Slice(sorted, func(i, j int) bool { return sorted[i].less(sorted[j]) })
		middle := random.IntN(len(keys) + 1)
		selectKey(keys, middle)
		for i, k := range keys {
			if middle < len(keys) && middle > 0 && (i < middle) != k.less(sorted[middle]) {
				t.Fatalf("key %d of %v is on the wrong side of %d", i, keys, middle)
			}
		}
	}
}
