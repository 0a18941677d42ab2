package synthesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/privcom/privcom/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place opens a new memory bucket.
func place(t testing.TB, name string) *storage.Bucket {
	t.Helper()
	b, err := storage.Open(t.Context(), "mem://"+strings.ReplaceAll(t.Name(), "/", "-")+"-"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func writeNodes[T any](t testing.TB, b *storage.Bucket, key string, rows []T) Object {
	t.Helper()
	w, err := b.NewWriter(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	p, err := storage.NewParquet[T](w, storage.ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Write(rows), p.Close(), w.Commit()); err != nil {
		t.Fatal(err)
	}
	return Object{Key: key, Rows: int64(len(rows)), Bytes: w.Bytes(), SHA256: w.SHA256()}
}

// numbers lists n numeric ids 10·i + 1<<63, in two files.
func numbers(t testing.TB, b *storage.Bucket, n int) Nodes {
	t.Helper()
	var rows []numberNode
	for i := range n {
		rows = append(rows, numberNode{1<<63 + 10*uint64(i)})
	}
	return Nodes{Bucket: b.URL(), Type: "uint64", Files: []Object{
		writeNodes(t, b, "nodes-0.parquet", rows[:n/3]), writeNodes(t, b, "nodes-1.parquet", rows[n/3:]),
	}}
}

func readEdges[T any](t *testing.T, b *storage.Bucket, parts []Object) []T {
	t.Helper()
	var out []T
	for _, p := range parts {
		n, err := storage.ReadParquet(t.Context(), b, p.Key, func(rows []T) error { out = append(out, rows...); return nil })
		if err != nil || n != p.Rows {
			t.Fatalf("%s: %d rows of %d, %v", p.Key, n, p.Rows, err)
		}
		sum, bytes, err := b.Hash(t.Context(), p.Key)
		if err != nil || sum != p.SHA256 || bytes != p.Bytes {
			t.Fatalf("%s: %d bytes, hash %s, want %d and %s: %v", p.Key, bytes, sum, p.Bytes, p.SHA256, err)
		}
	}
	return out
}

// twice runs every item two times and compares.
type twice struct{ Runner }

func (r twice) Run(ctx context.Context, kind string, items [][]byte) ([][]byte, error) {
	first, err := r.Runner.Run(ctx, kind, items)
	if err != nil {
		return nil, err
	}
	again, err := r.Runner.Run(ctx, kind, items)
	if err != nil {
		return nil, err
	}
	for i := range first {
		if string(first[i]) != string(again[i]) {
			return nil, fmt.Errorf("item %d of %s: %s, then %s", i, kind, first[i], again[i])
		}
	}
	return again, nil
}

func TestGenerateWritesASimpleGraph(t *testing.T) {
	const n, target = 3000, 20_000
	out := place(t, "out")
	spec := Spec{
		Model: testModel(n, 4, 3, groups), Edges: target, Seed: 9, EdgesPerPart: 4000,
		Nodes: numbers(t, place(t, "nodes"), n), Output: out.URL(), Scratch: place(t, "scratch").URL(),
	}
	result, err := Generate(t.Context(), LocalRunner{Handlers: Handlers()}, spec)
	if err != nil {
		t.Fatal(err)
	}
	// The number of edges has a standard deviation below √target: |z| < 5.
	if off := math.Abs(float64(result.Edges) - target); off > 5*(math.Sqrt(target)+result.Tau.Error) || result.Expected != target {
		t.Errorf("%d edges, expected %g ± %g", result.Edges, result.Expected, math.Sqrt(target))
	}
	if len(result.Parts) < 3 {
		t.Errorf("%d parts of 4,000 edges for %d edges", len(result.Parts), result.Edges)
	}
	seen := map[numberEdge]bool{}
	for _, e := range readEdges[numberEdge](t, out, result.Parts) {
		if e.Src >= e.Dst || seen[e] || e.Src < 1<<63 || (e.Src-1<<63)%10 != 0 || e.Dst >= 1<<63+10*n {
			t.Fatalf("edge %v is a loop, a repeat or has ids of no vertex", e)
		}
		seen[e] = true
	}
	if int64(len(seen)) != result.Edges {
		t.Errorf("%d edges in the files, %d in the result", len(seen), result.Edges)
	}
	keys, err := out.List(t.Context(), "")
	if err != nil || len(keys) != len(result.Parts) {
		t.Errorf("the output holds %v", keys)
	}
	for i, p := range result.Parts {
		if want := fmt.Sprintf("edges-%05d-of-%05d-%s.parquet", i, len(result.Parts), p.SHA256[:16]); path.Base(p.Key) != want {
			t.Errorf("part %d is called %s, want %s", i, p.Key, want)
		}
	}
}

// TestPartsDoNotDependOnWorkers: one worker, four, every item twice, separate
// handlers, memory or folder: the same objects.
func TestPartsDoNotDependOnWorkers(t *testing.T) {
	const n = 2000
	nodes := numbers(t, place(t, "nodes"), n)
	score := Spec{Model: testModel(n, 4, 3, heavy), Edges: 9000, Seed: 4, EdgesPerPart: 2000, Nodes: nodes}
	block := Spec{Blocks: testBlocks(n, []float64{2000, 1000, 500, 1000, 1500, 10, 500, 10, 6000}, true), Seed: 4, EdgesPerPart: 3000, Nodes: nodes}
	for name, spec := range map[string]Spec{"score": score, "blocks": block} {
		var first []Object
		for i, runner := range []Runner{
			LocalRunner{Handlers: Handlers(), Workers: 1},
			LocalRunner{Handlers: Handlers(), Workers: 4},
			twice{LocalRunner{Handlers: Handlers()}},
		} {
			spec.Output, spec.Scratch = place(t, fmt.Sprint(name, "out", i)).URL(), place(t, fmt.Sprint(name, "scratch", i)).URL()
			if i == 1 {
				spec.Output, spec.Scratch = t.TempDir(), t.TempDir()
			}
			result, err := Generate(t.Context(), runner, spec)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = result.Parts
			} else if !slices.Equal(first, result.Parts) {
				t.Errorf("%s, runner %d: other parts", name, i)
			}
		}
		if len(first) < 2 {
			t.Errorf("%s: one part shows nothing", name)
		}
		spec.Seed++
		result, err := Generate(t.Context(), LocalRunner{Handlers: Handlers()}, spec)
		if err != nil || result.Parts[0].SHA256 == first[0].SHA256 {
			t.Errorf("%s: another seed gives the same edges, %v", name, err)
		}
	}
}

func TestGenerateWritesNames(t *testing.T) {
	out, b := place(t, "out"), place(t, "nodes")
	names := []nameNode{{"ann"}, {"bob"}, {"cem"}, {"dül"}}
	m := &BlockModel{N: 4, Q: 2, Label: []int32{0, 1, 0, 1}, Edges: []float64{0.999999, 0, 0, 0.999999}}
	result, err := Generate(t.Context(), LocalRunner{Handlers: Handlers()}, Spec{
		Blocks: m, Output: out.URL(), Scratch: place(t, "scratch").URL(),
		Nodes: Nodes{Bucket: b.URL(), Type: "string", Files: []Object{writeNodes(t, b, "n.parquet", names)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := readEdges[nameEdge](t, out, result.Parts)
	if want := []nameEdge{{"ann", "cem"}, {"bob", "dül"}}; !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
}

func TestGenerateOfVeryFewVertices(t *testing.T) {
	for n := range 4 {
		out := place(t, fmt.Sprint("out", n))
		m := &Model{N: n, K: 1, X: []float64{1, 1, 1}[:n], M: []float64{1}}
		spec := Spec{Model: m, Edges: float64(n*(n-1)/2) * 0.999, Output: out.URL(), Scratch: place(t, fmt.Sprint("scratch", n)).URL(), Nodes: numbers(t, place(t, fmt.Sprint("nodes", n)), n)}
		result, err := Generate(t.Context(), LocalRunner{Handlers: Handlers()}, spec)
		if err != nil {
			t.Fatalf("n=%d: %v", n, err)
		}
		if got := readEdges[numberEdge](t, out, result.Parts); len(got) > n*(n-1)/2 || int64(len(got)) != result.Edges {
			t.Errorf("n=%d: %v", n, got)
		}
	}
}

func TestGenerateRefusals(t *testing.T) {
	const n = 100
	nodes := numbers(t, place(t, "nodes"), n)
	good := func() Spec {
		return Spec{Model: testModel(n, 2, 1, plain), Edges: 50, Nodes: nodes, Output: place(t, "out").URL(), Scratch: place(t, "scratch").URL()}
	}
	for want, spoil := range map[string]func(s *Spec){
		"exactly one":    func(s *Spec) { s.Model = nil },
		"id type":        func(s *Spec) { s.Nodes.Type = "int" },
		"99 vertices":    func(s *Spec) { s.Nodes.Files = []Object{{Rows: 99}} },
		"edges per part": func(s *Spec) { s.EdgesPerPart = -1 },
		"coordinate (":   func(s *Spec) { s.Model.X[3] = math.NaN() },
		"50000 edges":    func(s *Spec) { s.Edges = 50_000 },
		"NaN edges":      func(s *Spec) { s.Edges = math.NaN() },
		"SHA-256": func(s *Spec) {
			s.Nodes.Files = slices.Clone(s.Nodes.Files)
			s.Nodes.Files[1].SHA256 = strings.Repeat("0", 64)
		},
	} {
		spec := good()
		spoil(&spec)
		if _, err := Generate(t.Context(), LocalRunner{Handlers: Handlers()}, spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Generate(ctx, LocalRunner{Handlers: Handlers()}, good()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestHandlersRefuseMalformedItems: what comes over a wire is checked.
func TestHandlersRefuseMalformedItems(t *testing.T) {
	const n = 300
	scratch, out := place(t, "scratch"), place(t, "out")
	spec := Spec{Model: testModel(n, 2, 1, plain), Edges: 500, Nodes: numbers(t, place(t, "nodes"), n), Output: out.URL(), Scratch: scratch.URL()}
	recorder := &recording{Runner: LocalRunner{Handlers: Handlers()}}
	if _, err := Generate(t.Context(), recorder, spec); err != nil {
		t.Fatal(err)
	}
	for kind, item := range recorder.last {
		handle := Handlers()[kind]
		if _, err := handle(t.Context(), item); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		for _, spoil := range []func(m map[string]any){
			func(m map[string]any) { m["to"] = 1_000_000 },
			func(m map[string]any) { m["from"] = -1 },
			func(m map[string]any) { m["scratch"] = place(t, "empty").URL() },
			func(m map[string]any) { m["model"].(map[string]any)["sha256"] = "00" },
		} {
			var m map[string]any
			if err := json.Unmarshal(item, &m); err != nil {
				t.Fatal(err)
			}
			spoil(m)
			bad, _ := json.Marshal(m)
			if _, err := handle(t.Context(), bad); err == nil {
				t.Errorf("%s accepts %s", kind, bad)
			}
		}
		if _, err := handle(t.Context(), []byte("{")); err == nil {
			t.Errorf("%s accepts half an object", kind)
		}
	}
	keys, err := scratch.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		data, _ := scratch.ReadAll(t.Context(), key)
		data[len(data)/2] ^= 1
		if err := scratch.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
		var corrupt *storage.CorruptError
		if _, err := Handlers()[KindEstimate](t.Context(), recorder.last[KindEstimate]); !errors.As(err, &corrupt) {
			t.Errorf("a flipped bit in %s gives %v", key, err)
		}
		data[len(data)/2] ^= 1
		if err := scratch.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
	}
}

// recording keeps an item of each kind.
type recording struct {
	Runner
	last map[string][]byte
}

func (r *recording) Run(ctx context.Context, kind string, items [][]byte) ([][]byte, error) {
	if r.last == nil {
		r.last = map[string][]byte{}
	}
	r.last[kind] = items[0]
	return r.Runner.Run(ctx, kind, items)
}
