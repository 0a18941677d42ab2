package blockmatmul

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/privcom/privcom/generate"
)

// adjacency is a generated graph as one CSR, its vertices in the generator's random order.
func adjacency(b *testing.B, spec generate.Spec) *CSR {
	b.Helper()
	n := int(spec.Vertices())
	var ends [][2]int32
	c := &CSR{Ptr: make([]int64, n+1)}
	if err := generate.Generate(b.Context(), spec, func(u, v int64) error {
		ends = append(ends, [2]int32{int32(u), int32(v)})
		c.Ptr[u+1]++
		c.Ptr[v+1]++
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		c.Ptr[i+1] += c.Ptr[i]
	}
	c.Col = make([]int32, c.Ptr[n])
	next := slices.Clone(c.Ptr)
	for _, e := range ends {
		c.Col[next[e[0]]], c.Col[next[e[1]]] = e[1], e[0]
		next[e[0]]++
		next[e[1]]++
	}
	for i := range n {
		slices.Sort(c.Col[c.Ptr[i]:c.Ptr[i+1]])
	}
	return c
}

// floatProduct is the float64 product as one would write it.
func floatProduct(a *CSR, dst, v []float64, k int) {
	for i := range a.Rows() {
		out := dst[i*k : (i+1)*k]
		clear(out)
		for _, c := range a.Col[a.Ptr[i]:a.Ptr[i+1]] {
			for j, x := range v[int(c)*k : int(c)*k+k] {
				out[j] += x
			}
		}
	}
}

// BenchmarkMillion: 1 M vertices, 10 M edges (20 M arcs). Every iteration runs, one after
// the other, the float64 product in plain Go, this package without assembly, with it, with
// a row clip, with it on all processors, with 32-bit entries, and a copy of memory; the
// metrics are medians. Two arcs are one edge.
func BenchmarkMillion(b *testing.B) {
	for name, spec := range map[string]generate.Spec{
		"rmat":    generate.RMAT{Scale: 20, EdgeFactor: 10, A: 0.57, B: 0.19, C: 0.19, D: 0.05, Seed: 1},
		"planted": generate.SBM{N: 1_000_000, Communities: 8, DegreeIn: 14, DegreeOut: 6, Seed: 1},
	} {
		var a *CSR
		for _, k := range []int{4, 8, 16, 32} {
			b.Run(fmt.Sprintf("%s/k=%d", name, k), func(b *testing.B) {
				if a == nil {
					a = adjacency(b, spec)
				}
				million(b, a, k)
			})
		}
	}
}

func million(b *testing.B, a *CSR, k int) {
	n := a.Rows()
	rng := rand.New(rand.NewPCG(9, uint64(k)))
	op := randomOperand(b, rng, n, k, uint(14+10-k/16))
	packed, floats := Pack(op), op.Float(nil)
	if !op.Narrow() {
		b.Fatalf("entries reach %d", op.Radius())
	}
	broad := &Packed{rows: n, cols: k, stride: k, wide: op.Data()}
	local := &Local{N: n, Blocks: []*CSR{a}}
	out, dst := make([]int64, n*k), make([]float64, n*k)
	from, to := make([]byte, 1<<28), make([]byte, 1<<28)
	rates := map[string][]float64{}
	clock := func(name string, work float64, f func()) {
		start := time.Now()
		f()
		rates[name] = append(rates[name], work/time.Since(start).Seconds())
	}
	arcs := float64(len(a.Col)) / 1e6
	for b.Loop() {
		clock("float64_Marcs/s", arcs, func() { floatProduct(a, dst, floats, k) })
		clock("plain_Marcs/s", arcs, func() { a.gatherPlain(out, packed, 0, n) })
		clock("kernel_Marcs/s", arcs, func() { a.Multiply(out, packed, 0, n, 0) })
		clock("clipped_Marcs/s", arcs, func() { a.Multiply(out, packed, 0, n, 2*op.Radius()) })
		clock("wide_Marcs/s", arcs, func() { a.Multiply(out, broad, 0, n, 0) })
		clock("processors_Marcs/s", arcs, func() {
			if _, err := local.Multiply(context.Background(), op, 0); err != nil {
				b.Fatal(err)
			}
		})
		clock("copy_GB/s", 2*float64(len(from))/1e9, func() { copy(to, from) })
	}
	median := func(name string) float64 {
		r := rates[name]
		slices.Sort(r)
		return r[len(r)/2]
	}
	for name := range rates {
		b.ReportMetric(median(name), name)
	}
	b.ReportMetric(median("kernel_Marcs/s")/median("float64_Marcs/s"), "kernel/float64")
	// Bytes that a product has to touch: column indices, gathered rows, sums.
	bytes := float64(4*len(a.Col)+8*len(a.Ptr)+2*k*len(a.Col)+8*n*k) / 1e9
	b.ReportMetric(median("kernel_Marcs/s")/arcs*bytes, "kernel_GB/s")
	if rate, ok := scipy(b, a, k); ok {
		b.ReportMetric(rate, "scipy_Marcs/s")
		b.ReportMetric(median("kernel_Marcs/s")/rate, "kernel/scipy")
	}
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "processors")
}

// scipyScript multiplies the graph in two files with a random dense matrix, five times, and
// prints the median of the seconds. scipy's product runs on one core.
const scipyScript = `
import sys, time, numpy as np, scipy.sparse as sp
ptr = np.fromfile(sys.argv[1], dtype=np.int64); col = np.fromfile(sys.argv[2], dtype=np.int32); k = int(sys.argv[3])
n = len(ptr) - 1
a = sp.csr_matrix((np.ones(len(col)), col, ptr.astype(np.int32)), shape=(n, n))
v = np.random.default_rng(1).standard_normal((n, k))
t = []
for _ in range(5):
    s = time.perf_counter(); a @ v; t.append(time.perf_counter() - s)
print(sorted(t)[2])
`

// scipy is the rate of scipy.sparse on the same graph, where a Python has it.
func scipy(b *testing.B, a *CSR, k int) (rate float64, ok bool) {
	b.Helper()
	dir := b.TempDir()
	write := func(name string, data any) string {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		if err := binary.Write(f, binary.LittleEndian, data); err != nil {
			b.Fatal(err)
		}
		return f.Name()
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import scipy.sparse").Run() != nil {
			continue
		}
		out, err := exec.Command(python, "-c", scipyScript, write("ptr", a.Ptr), write("col", a.Col), strconv.Itoa(k)).Output()
		if err != nil {
			b.Fatal(err)
		}
		seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			b.Fatal(err)
		}
		return float64(len(a.Col)) / 1e6 / seconds, true
	}
	return 0, false
}
