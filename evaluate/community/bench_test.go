package community

import (
	"math/rand/v2"
	"testing"
)

func shuffleSource(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// A planted graph of a million vertices and about ten million edges, in 2,000
// blocks, a quarter of the edges anywhere.
func BenchmarkMillionVertices(b *testing.B) {
	g, _ := planted(b, 1_000_000, 2000, 15, 5, 1)
	for _, f := range finders {
		b.Run(f.name, func(b *testing.B) {
			var r *Result
			for b.Loop() {
				var err error
				if r, err = f.find(b.Context(), g, Options{Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(r.Modularity, "modularity")
			b.ReportMetric(float64(g.Edges())/b.Elapsed().Seconds()*float64(b.N), "edges/s")
		})
	}
}

// The hard case: no communities to find.
func BenchmarkMillionVerticesAtRandom(b *testing.B) {
	g, _ := planted(b, 1_000_000, 1, 0, 20, 1)
	for _, f := range finders {
		b.Run(f.name, func(b *testing.B) {
			var r *Result
			for b.Loop() {
				var err error
				if r, err = f.find(b.Context(), g, Options{Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(r.Modularity, "modularity")
		})
	}
}
