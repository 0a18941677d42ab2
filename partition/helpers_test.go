package partition

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/partition/reader"
	"github.com/privcom/privcom/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// row is one row of a made-up input.
type row struct {
	a, b   string
	weight float64
}

// sliceSource is an input in memory.
type sliceSource struct {
	vertices []string
	rows     []row
	weighted bool
	fail     error // returned at the end
}

func (s *sliceSource) ForEach(ctx context.Context, onVertex func([]byte) error, onEdge func(reader.Edge) error) error {
	for _, v := range s.vertices {
		if err := onVertex([]byte(v)); err != nil {
			return err
		}
	}
	for i, r := range s.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := reader.Edge{Source: []byte(r.a), Target: []byte(r.b), Weight: r.weight, HasWeight: s.weighted, Line: int64(i + 1), File: "made-up"}
		if err := onEdge(e); err != nil {
			return err
		}
	}
	return s.fail
}

// ForEachParallel deals the rows out to the workers, one after the other.
func (s *sliceSource) ForEachParallel(ctx context.Context, workers int, to reader.Callbacks) error {
	n := 0
	return s.ForEach(ctx, func(id []byte) error { return to.Vertex(0, id) }, func(e reader.Edge) error {
		n++
		a, okA := parseNumber(e.Source)
		b, okB := parseNumber(e.Target)
		if to.Numbers != nil && okA && okB && n%3 > 0 {
			return to.Numbers(n%workers, []uint64{a, b})
		}
		return to.Edge(n%workers, e)
	})
}

func (s *sliceSource) Stats() reader.Stats {
	return reader.Stats{Format: "test", Rows: int64(len(s.rows))}
}

// expected is what a graph must be, computed the plain way.
type expected struct {
	ids                         []string
	neighbours                  [][]int32
	edges, loops, light         int64
	repeats, reciprocal, oneWay int64
}

func expect(s *sliceSource, o *Options, listed []string) *expected {
	e := &expected{}
	seen := map[string]bool{}
	ordered := map[[2]string]bool{}
	numbers := true
	name := func(id string) {
		seen[id] = true
		x, err := strconv.ParseUint(id, 10, 64)
		numbers = numbers && err == nil && strconv.FormatUint(x, 10) == id
	}
	for _, v := range slices.Concat(listed, s.vertices) {
		name(v)
	}
	for _, r := range s.rows {
		name(r.a)
		name(r.b)
		switch pair := [2]string{r.a, r.b}; {
		case r.a == r.b:
			e.loops++
		case o.MinWeight != nil && r.weight < *o.MinWeight:
			e.light++
		case ordered[pair]:
			e.repeats++
		default:
			ordered[pair] = true
		}
	}
	for id := range seen {
		e.ids = append(e.ids, id)
	}
	slices.SortFunc(e.ids, func(a, b string) int {
		if numbers && len(a) != len(b) {
			return len(a) - len(b)
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	index := map[string]int32{}
	for i, id := range e.ids {
		index[id] = int32(i)
	}
	e.neighbours = make([][]int32, len(e.ids))
	for p := range ordered {
		back := ordered[[2]string{p[1], p[0]}]
		switch {
		case back && p[0] < p[1]:
			e.reciprocal++
		case back:
			continue
		case o.Mutual:
			e.oneWay++
			continue
		}
		a, b := index[p[0]], index[p[1]]
		e.neighbours[a] = append(e.neighbours[a], b)
		e.neighbours[b] = append(e.neighbours[b], a)
		e.edges++
	}
	for _, n := range e.neighbours {
		slices.Sort(n)
	}
	return e
}

// ingestSource ingests s into a new memory bucket. o.Memory may be below the
// documented least, to force spills with few rows.
func ingestSource(t testing.TB, o Options, s source) (*storage.Bucket, *Manifest, *Report, error) {
	t.Helper()
	b, err := storage.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	memory := o.Memory
	o.Inputs, o.Memory = []string{"made-up"}, 0
	o, err = o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if memory > 0 {
		o.Memory = memory
	}
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	var m *Manifest
	var r *Report
	err = withSpace(&o, func(space *workspace) error {
		m, r, err = ingest(t.Context(), &o, space, s, b)
		return err
	})
	wantEmptyDir(t, o.TempDir)
	return b, m, r, err
}

func wantEmptyDir(t testing.TB, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v %v", left, err)
	}
}

// wantGraph checks everything that a folder and its report say.
func wantGraph(t testing.TB, b *storage.Bucket, m *Manifest, r *Report, want *expected) {
	t.Helper()
	g, err := OpenGraph(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if g.Manifest().Hash != m.Hash || m.Vertices != int64(len(want.ids)) || m.Arcs != 2*want.edges {
		t.Fatalf("manifest of %d vertices, %d arcs; want %d, %d", m.Vertices, m.Arcs, len(want.ids), 2*want.edges)
	}
	if r.Edges != want.edges || r.Loops != want.loops || r.Light != want.light || r.Repeats != want.repeats ||
		r.Reciprocal != want.reciprocal || r.OneWay != want.oneWay || r.Vertices != m.Vertices {
		t.Fatalf("report %+v\nwant %+v", *r, *want)
	}
	ids, err := g.VertexIDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range want.ids {
		if ids.At(i) != id {
			t.Fatalf("vertex %d is %q, want %q", i, ids.At(i), id)
		}
		if at, ok := ids.Find(id); !ok || at != i {
			t.Fatalf("%q found at %d %v, want %d", id, at, ok, i)
		}
	}
	wantRows(t, g, want.neighbours)
	if err := g.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func wantRows(t testing.TB, g *Graph, want [][]int32) {
	t.Helper()
	whole, err := LoadWhole(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	if err := whole.Check(len(want)); err != nil {
		t.Fatal(err)
	}
	isolated := int64(0)
	for i, n := range want {
		if !slices.Equal(rowOf(whole, i), n) {
			t.Fatalf("row %d is %v, want %v", i, rowOf(whole, i), n)
		}
		if len(n) == 0 {
			isolated++
		}
	}
	next := 0
	for i := range g.Manifest().Shards {
		part, err := g.LoadShard(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if part.First != next {
			t.Fatalf("shard %d begins at row %d, want %d", i, part.First, next)
		}
		next += part.Rows()
	}
	if next != len(want) {
		t.Fatalf("shards have %d rows, want %d", next, len(want))
	}
}

func rowOf(m *blockmatmul.CSR, i int) []int32 { return m.Col[m.Ptr[i]:m.Ptr[i+1]] }

// rowsOf makes rows from pairs of words.
func rowsOf(words ...string) []row {
	var out []row
	for i := 0; i+1 < len(words); i += 2 {
		out = append(out, row{a: words[i], b: words[i+1]})
	}
	return out
}

func number(i int) string { return fmt.Sprint(i) }
