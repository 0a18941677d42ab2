package synthesis

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/privcom/privcom/storage"
)

// edgesPerVertex is the density of the growth benchmarks.
const edgesPerVertex = 10

// bothProcessors draws all rows of a tree in 64 ranges and counts edges.
func bothProcessors(tr *tree, tau float64, seed uint64) int {
	const ranges = 64
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	found := make([]int, ranges)
	for i := range ranges {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			s := newRowSampler(tr, tau, seed)
			var row []int32
			for p := i * tr.n / ranges; p < (i+1)*tr.n/ranges; p++ {
				row = s.row(p, row[:0])
				found[i] += len(row)
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, f := range found {
		sum += f
	}
	return sum
}

// BenchmarkGrowth measures the three phases at 10 edges per vertex and k = 8:
// ordering the rows, solving for τ, sampling. One iteration each is enough.
func BenchmarkGrowth(b *testing.B) {
	for _, s := range []shape{plain, groups, heavy} {
		for _, n := range []int{100_000, 300_000, 1_000_000, 3_000_000} {
			m := testModel(n, 8, 1, s)
			name := fmt.Sprintf("%s/n=%d", s, n)
			var tr *tree
			b.Run("order/"+name, func(b *testing.B) {
				for b.Loop() {
					tr = testTree(m)
				}
			})
			var tau *Tau
			b.Run("tau/"+name, func(b *testing.B) {
				for b.Loop() {
					var err error
					if tau, _, err = solveTau(b.Context(), n, tr.mass(), float64(n*edgesPerVertex), localEstimate(tr, 1)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(tau.Error, "edges-error")
				b.ReportMetric(float64(tau.Candidates), "candidates")
			})
			if tau == nil {
				continue
			}
			b.Run("sample/"+name, func(b *testing.B) {
				edges := 0
				for b.Loop() {
					edges = bothProcessors(tr, tau.Value, 3)
				}
				b.ReportMetric(float64(edges), "edges")
				b.ReportMetric(float64(edges)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
			})
		}
	}
}

// BenchmarkGenerate is the whole way to Parquet parts in a folder, at 10 edges
// per vertex and k = 8.
func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			nodes, err := storage.Open(b.Context(), b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			spec := Spec{Model: testModel(n, 8, 1, heavy), Edges: float64(n * edgesPerVertex), Seed: 1, Nodes: numbers(b, nodes, n)}
			for b.Loop() {
				spec.Output, spec.Scratch = b.TempDir(), b.TempDir()
				if _, err := Generate(b.Context(), LocalRunner{Handlers: Handlers()}, spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBlockLaw draws 10 edges per vertex from three blocks with weights of
// a power law, on one processor.
func BenchmarkBlockLaw(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			m := testBlocks(n, slices.Repeat([]float64{float64(n) * edgesPerVertex / 6}, 9), true)
			g, err := newBlockGraph(m)
			if err != nil {
				b.Fatal(err)
			}
			var row []int32
			edges := 0
			for b.Loop() {
				s := newBlockSampler(g, 1)
				for p := range n {
					row = s.row(p, row[:0])
					edges += len(row)
				}
			}
			b.ReportMetric(float64(edges)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}
