package reader

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// edgeText writes n rows of integer pairs, seeded.
func edgeText(n int, format string) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for range n {
		fmt.Fprintf(&b, format, rng.IntN(4_000_000), rng.IntN(4_000_000))
	}
	return b.Bytes()
}

func benchmarkText(b *testing.B, data []byte, rows int, o Options) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		o.Stdin = bytes.NewReader(data)
		r, err := Open(context.Background(), []string{"-"}, o)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		if err := r.ForEach(context.Background(), nil, func(Edge) error { n++; return nil }); err != nil || n != rows {
			b.Fatal(n, err)
		}
		r.Close()
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

const benchRows = 1 << 20

func BenchmarkEdgeList(b *testing.B) {
	benchmarkText(b, edgeText(benchRows, "%d\t%d\n"), benchRows, Options{})
}

func BenchmarkEdgeListCRLF(b *testing.B) {
	benchmarkText(b, edgeText(benchRows, "%d\t%d\r\n"), benchRows, Options{})
}

func BenchmarkEdgeListWeighted(b *testing.B) {
	benchmarkText(b, edgeText(benchRows, "%d %d 0.25\n"), benchRows, Options{})
}

func BenchmarkGzip(b *testing.B) {
	benchmarkText(b, gzipped(b, string(edgeText(benchRows, "%d\t%d\n"))), benchRows, Options{})
}

func BenchmarkZstd(b *testing.B) {
	benchmarkText(b, zstandard(b, string(edgeText(benchRows, "%d\t%d\n"))), benchRows, Options{})
}

func BenchmarkXZ(b *testing.B) {
	benchmarkText(b, xzed(b, string(edgeText(benchRows/4, "%d\t%d\n"))), benchRows/4, Options{})
}

func BenchmarkCSV(b *testing.B) {
	data := append([]byte("Source,Target\n"), edgeText(benchRows, "%d,%d\n")...)
	benchmarkText(b, data, benchRows, Options{})
}

func BenchmarkCSVQuoted(b *testing.B) {
	data := append([]byte("Source,Target\n"), edgeText(benchRows, "\"%d\",\"%d\"\n")...)
	benchmarkText(b, data, benchRows, Options{})
}

func BenchmarkGML(b *testing.B) {
	var t bytes.Buffer
	const n = 1 << 15
	t.WriteString("graph [\n")
	for i := range n {
		fmt.Fprintf(&t, "  node [\n    id %d\n    label \"v%d\"\n  ]\n", i, i)
	}
	for i := range n {
		fmt.Fprintf(&t, "  edge [\n    source %d\n    target %d\n  ]\n", i, (i*7+1)%n)
	}
	t.WriteString("]\n")
	benchmarkText(b, t.Bytes(), n, Options{})
}

func BenchmarkGraphML(b *testing.B) {
	var t bytes.Buffer
	const n = 1 << 15
	t.WriteString("<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/><graph edgedefault=\"undirected\">\n")
	for i := range n {
		fmt.Fprintf(&t, "<node id=\"n%d\"><data key=\"l\">v%d</data></node>\n", i, i)
	}
	for i := range n {
		fmt.Fprintf(&t, "<edge source=\"n%d\" target=\"n%d\"><data key=\"w\">1.5</data></edge>\n", i, (i*7+1)%n)
	}
	t.WriteString("</graph></graphml>\n")
	benchmarkText(b, t.Bytes(), n, Options{})
}

func BenchmarkMatrixMarket(b *testing.B) {
	var t bytes.Buffer
	const n = 1 << 18
	fmt.Fprintf(&t, "%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n", n, n, n)
	for i := range n {
		fmt.Fprintf(&t, "%d %d\n", i+1, (i*7+1)%n+1)
	}
	benchmarkText(b, t.Bytes(), n, Options{})
}

// benchmarkPasses opens an edge list anew for every pass over it.
func benchmarkPasses(b *testing.B, pass func(r *Reader)) {
	data := edgeText(8*benchRows, "%d\t%d\n")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(data)})
		if err != nil {
			b.Fatal(err)
		}
		pass(r)
		r.Close()
	}
	b.ReportMetric(8*benchRows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkEdgeListParallel parses with two workers.
func BenchmarkEdgeListParallel(b *testing.B) {
	benchmarkPasses(b, func(r *Reader) {
		var n [2]struct {
			rows int
			_    [64]byte
		}
		err := r.ForEachParallel(context.Background(), 2, Callbacks{Edge: func(w int, _ Edge) error { n[w].rows++; return nil }})
		if err != nil || n[0].rows+n[1].rows != 8*benchRows {
			b.Fatal(n, err)
		}
	})
}

// BenchmarkEdgeListNumbers parses with two workers to numbers.
func BenchmarkEdgeListNumbers(b *testing.B) {
	benchmarkPasses(b, func(r *Reader) {
		err := r.ForEachParallel(context.Background(), 2, Callbacks{Numbers: func(int, []uint64) error { return nil }})
		if err != nil || r.Stats().Rows != 8*benchRows {
			b.Fatal(r.Stats().Rows, err)
		}
	})
}
