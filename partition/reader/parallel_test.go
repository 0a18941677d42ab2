package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// edgeLines reads with workers and returns "line source>target" sorted.
func edgeLines(t testing.TB, paths []string, o Options, workers int) ([]string, Stats, error) {
	t.Helper()
	r, err := Open(context.Background(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	edges := make([][]string, max(workers, 1))
	err = r.ForEachParallel(context.Background(), workers, Callbacks{Edge: func(w int, e Edge) error {
		edges[w] = append(edges[w], fmt.Sprintf("%s %d %q>%q %v", filepath.Base(e.File), e.Line, e.Source, e.Target, e.Weight))
		return nil
	}})
	var all []string
	for _, some := range edges {
		all = append(all, some...)
	}
	sort.Strings(all)
	return all, r.Stats(), err
}

// tableText writes a table of some megabytes whose rows have comments, blank
// lines and mixed line ends between them.
func tableText(seed uint64, delim string, quoted bool) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	ends := []string{"\n", "\r\n", "\r", "\n\n", "\n# c\n"}
	if quoted {
		ends = ends[:4]
	}
	var b strings.Builder
	for range 40_000 {
		a, c := fmt.Sprint(rng.IntN(1<<20)), fmt.Sprint(rng.IntN(1<<20))
		if quoted && rng.IntN(4) == 0 {
			a = "\"" + a + strings.Repeat("\n,\"\"", rng.IntN(3)) + "\""
		}
		b.WriteString(a + delim + c + ends[rng.IntN(len(ends))])
	}
	return b.String()
}

// TestParallelIsSerial: ForEachParallel brings the same edges with the same
// lines and the same counts as ForEach.
func TestParallelIsSerial(t *testing.T) {
	defer goleak.VerifyNone(t)
	defer func(size int) { blockSize = size }(blockSize)
	blockSize = 3000
	for name, text := range map[string]string{
		"white space": "# Nodes: 5 Edges: 40002\n" + tableText(1, "\t", false),
		"comma":       tableText(2, ",", false),
		"CSV":         "source,target\n" + tableText(3, ",", true),
		"gzip":        string(gzipped(t, tableText(4, " ", false))),
		"8-bit":       "\xe9 b\n" + tableText(5, " ", false),
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, "a", text, "b", "7 8\n9 10", "c", "7,8\n")
			paths := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
			if name == "CSV" || name == "comma" {
				paths[1] = filepath.Join(dir, "c")
			}
			want, wantStats, err := edgeLines(t, paths, Options{}, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, workers := range []int{2, 3, 8} {
				got, stats, err := edgeLines(t, paths, Options{}, workers)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(want) || strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%d workers: %d edges, want %d", workers, len(got), len(want))
				}
				if fmt.Sprintf("%+v", stats) != fmt.Sprintf("%+v", wantStats) {
					t.Errorf("%d workers: stats %+v\nwant %+v", workers, stats, wantStats)
				}
			}
		})
	}
}

// countParallel reads with four workers.
func countParallel(t testing.TB, o Options) (Stats, error) {
	t.Helper()
	r, err := Open(context.Background(), []string{"-"}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = r.ForEachParallel(context.Background(), 4, Callbacks{})
	return r.Stats(), err
}

// TestParallelError: the first error of the file comes back, with its line.
func TestParallelError(t *testing.T) {
	defer goleak.VerifyNone(t)
	good := strings.Repeat("123456 7\n", 400_000)
	for range 3 {
		_, err := countParallel(t, Options{Stdin: strings.NewReader(good + "x\n" + good + "y\n" + good)})
		e, ok := err.(*LineError)
		if !ok || e.Line != 400_001 || e.Byte != int64(len(good)) || e.Text != "x" {
			t.Fatalf("error %v", err)
		}
	}
	stats, err := countParallel(t, Options{MaxBadLines: 2, Stdin: strings.NewReader(good + "x\n" + good + "y\n")})
	if err != nil || stats.BadLines != 2 || stats.Rows != 800_000 {
		t.Errorf("%+v %v", stats, err)
	}
	gz := gzipped(t, good)
	if _, err = countParallel(t, Options{Stdin: bytes.NewReader(gz[:len(gz)-9])}); err == nil || !strings.Contains(err.Error(), "the gzip data stop in the middle") {
		t.Errorf("error %v", err)
	}
	_, err = countParallel(t, Options{Stdin: strings.NewReader(good + "1 \x002\n")})
	if err == nil || !strings.Contains(err.Error(), ":400001: byte 0 in the text") {
		t.Errorf("error %v", err)
	}
	_, err = countParallel(t, Options{Stdin: strings.NewReader(good + strings.Repeat("1", maxLine+1))})
	if err == nil || !strings.Contains(err.Error(), ":400001: line longer than 16 MiB") {
		t.Errorf("error %v", err)
	}
}

func TestParallelCallbackErrorAndCancel(t *testing.T) {
	defer goleak.VerifyNone(t)
	text := strings.Repeat("123456 7\n", 2_000_000)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, stop := range []func() error{func() error { return enough }, func() error { cancel(); return nil }} {
		r, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		err = r.ForEachParallel(ctx, 2, Callbacks{Edge: func(_ int, e Edge) error {
			if e.Line == 300_000 {
				return stop()
			}
			return nil
		}})
		if !errors.Is(err, enough) && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		r.Close()
	}
}

// TestParallelOtherFormats: what is no table goes through worker 0.
func TestParallelOtherFormats(t *testing.T) {
	text := "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]"
	r, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	vertices, edges := 0, 0
	err = r.ForEachParallel(context.Background(), 4, Callbacks{
		Vertex: func(w int, _ []byte) error { vertices += 1 + 100*w; return nil },
		Edge:   func(w int, _ Edge) error { edges += 1 + 100*w; return nil },
	})
	if err != nil || vertices != 2 || edges != 1 {
		t.Errorf("%d vertices, %d edges, %v", vertices, edges, err)
	}
}
