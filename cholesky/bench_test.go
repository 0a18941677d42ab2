package cholesky

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

var benchSizes = []struct{ n, k int }{{100_000, 16}, {1_000_000, 8}, {1_000_000, 16}}

func BenchmarkGram(b *testing.B) {
	for _, s := range benchSizes {
		b.Run(fmt.Sprintf("n=%d/k=%d", s.n, s.k), func(b *testing.B) {
			a := gaussian(s.n, s.k, 1)
			b.SetBytes(int64(len(a) * 8))
			for b.Loop() {
				Gram(a, s.n, s.k)
			}
		})
	}
}

// BenchmarkQR: the matrix is copied anew for each run, outside the clock.
func BenchmarkQR(b *testing.B) {
	for _, s := range benchSizes {
		for _, condition := range []float64{3, 100, 1e9} {
			b.Run(fmt.Sprintf("n=%d/k=%d/condition=%g", s.n, s.k, condition), func(b *testing.B) {
				a := conditioned(s.n, s.k, condition, 1)
				q := slices.Clone(a)
				b.SetBytes(int64(len(a) * 8))
				var method Method
				for b.Loop() {
					b.StopTimer()
					copy(q, a)
					b.StartTimer()
					r, err := QR(q, s.n, s.k)
					if err != nil {
						b.Fatal(err)
					}
					method = r.Method
				}
				b.ReportMetric(0, string(method))
			})
		}
	}
}

func BenchmarkMultiplyRight(b *testing.B) {
	n, k := 1_000_000, 16
	a := gaussian(n, k, 1)
	f := mat.NewDense(k, k, gaussian(k, k, 2))
	b.SetBytes(int64(len(a) * 8))
	for b.Loop() {
		MultiplyRight(a, k, f)
	}
}
