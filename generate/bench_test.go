package generate

import (
	"context"
	"testing"
)

// BenchmarkGenerate reports edges per second and bytes allocated per graph of
// about a million edges.
func BenchmarkGenerate(b *testing.B) {
	for name, spec := range map[string]Spec{
		"sbm":           SBM{N: 100_000, Communities: 20, DegreeIn: 16, DegreeOut: 4, Seed: 1},
		"sbm-dense":     SBM{N: 4000, Communities: 8, DegreeIn: 300, DegreeOut: 200, Seed: 1},
		"sbm-corrected": SBM{N: 100_000, Communities: 20, DegreeIn: 16, DegreeOut: 4, Exponent: 2.5, Seed: 1},
		"lfr":           DefaultLFR(100_000),
		"rmat":          DefaultRMAT(16),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			edges := 0
			for b.Loop() {
				if err := Generate(context.Background(), spec, func(u, v int64) error { edges++; return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(edges)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}
