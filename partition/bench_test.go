package partition

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/privcom/privcom/storage"
)

// BenchmarkIngest reads, sorts, writes and verifies a million edges of a
// skewed graph, from text in the system's temporary folder to a folder there.
func BenchmarkIngest(b *testing.B) {
	const edges = 1_000_000
	for name, id := range map[string]func(uint64) string{
		"dense":  func(x uint64) string { return fmt.Sprint(x) },
		"sparse": func(x uint64) string { return fmt.Sprint(mix(x + 1)) },
		"text":   func(x uint64) string { return fmt.Sprintf("user-%x", mix(x+1)) },
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		file := filepath.Join(b.TempDir(), "edges.txt")
		out, err := os.Create(file)
		if err != nil {
			b.Fatal(err)
		}
		w := bufio.NewWriter(out)
		for range edges {
			pick := func() string { return id(uint64(100_000 * rng.Float64() * rng.Float64())) }
			fmt.Fprintf(w, "%s\t%s\n", pick(), pick())
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		out.Close()
		for _, memory := range []int64{DefaultMemory, 4 << 20} {
			b.Run(fmt.Sprintf("%s/%dMiB", name, memory>>20), func(b *testing.B) {
				for b.Loop() {
					bucket, err := storage.Open(b.Context(), b.TempDir())
					if err != nil {
						b.Fatal(err)
					}
					if _, _, err := Ingest(b.Context(), Options{Inputs: []string{file}, Shards: 2, Memory: memory}, bucket); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(edges*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
			})
		}
	}
}

// BenchmarkLoadShard opens, hashes and decodes a shard of two million arcs.
func BenchmarkLoadShard(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	src := &sliceSource{}
	for range 1_000_000 {
		src.rows = append(src.rows, row{a: number(rng.IntN(100_000)), b: number(rng.IntN(100_000))})
	}
	bucket, m, _, err := ingestSource(b, Options{Shards: 1}, src)
	if err != nil {
		b.Fatal(err)
	}
	g, err := OpenGraph(b.Context(), bucket)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := g.LoadShard(b.Context(), 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(m.Arcs)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Marcs/s")
}
