//go:build !race

// The race detector makes the collections of this test take minutes.

package partition

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/privcom/privcom/partition/reader"
	"github.com/privcom/privcom/storage"
)

// madeSource makes rows on the fly, so that it takes no memory itself.
type madeSource struct {
	rows int64
	id   func(buf []byte, x uint64) []byte
}

func (s *madeSource) ForEach(ctx context.Context, _ func([]byte) error, onEdge func(reader.Edge) error) error {
	rng := rand.New(rand.NewPCG(1, 2))
	var a, b []byte
	for i := range s.rows {
		a, b = s.id(a[:0], rng.Uint64N(200_000)), s.id(b[:0], rng.Uint64N(200_000))
		if err := onEdge(reader.Edge{Source: a, Target: b, Line: i + 1, File: "made"}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *madeSource) ForEachParallel(ctx context.Context, _ int, to reader.Callbacks) error {
	return s.ForEach(ctx, nil, func(e reader.Edge) error { return to.Edge(0, e) })
}

func (s *madeSource) Stats() reader.Stats { return reader.Stats{Rows: s.rows} }

// Live memory stays near the budget while the graph is much larger: half a
// million edges among 200,000 names are 8 MB of arc keys, 10 MB of ids and
// tables, and 4 MB of local pairs; the budget is 2 MiB. What is beside it are
// at most ten batches of 400 KB between goroutines and, when files are written, the buffers of
// Parquet and Zstandard, which do not grow with the graph.
func TestMemoryIsBounded(t *testing.T) {
	const budget, beside, writers = 2 << 20, 8 << 20, 64 << 20
	for name, id := range map[string]func(buf []byte, x uint64) []byte{
		"numbers": func(buf []byte, x uint64) []byte { return fmt.Append(buf, mix(x)) },
		"names":   func(buf []byte, x uint64) []byte { return fmt.Appendf(buf, "a rather long name %x", mix(x)) },
	} {
		runtime.GC()
		runtime.GC() // pools let go at the second
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		peak, calls := map[string]uint64{}, 0
		o, err := Options{Inputs: []string{"made"}, Memory: budget, Shards: 2, RowGroupArcs: 1 << 14, TempDir: t.TempDir(), Progress: func(phase string, _, _ int64) {
			if calls++; phase != "read" && phase != "index" && calls%64 != 0 {
				return
			}
			runtime.GC()
			runtime.ReadMemStats(&now)
			peak[phase] = max(peak[phase], now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
		}}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		out, _ := storage.Open(t.Context(), t.TempDir())
		err = withSpace(&o, func(space *workspace) error {
			_, _, err := ingest(t.Context(), &o, space, &madeSource{rows: 500_000, id: id}, out)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, phase := range []string{"read", "index", "sort", "write"} {
			most := uint64(budget + beside)
			if phase == "write" {
				most += writers
			}
			if n, ok := peak[phase]; !ok || n > most {
				t.Errorf("%s: %d KiB live while the phase %q ran (looked: %v), budget %d KiB", name, n>>10, phase, ok, budget>>10)
			}
		}
		t.Logf("%s: live bytes at most %v", name, peak)
	}
}
