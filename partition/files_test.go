package partition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/privcom/privcom/partition/reader"
	"github.com/privcom/privcom/storage"
)

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// Counts of ../shared/data/SOURCES.md.
func TestKnownGraphs(t *testing.T) {
	for _, c := range []struct {
		file                                      string
		vertices, edges, loops, repeats, reciproc int64
	}{
		{"polblogs/polblogs.gml", 1490, 16715, 3, 65, 2307},
		{"polblogs/polblogs.pairs", 1224, 16715, 3, 65, 2307},
		{"polblogs/polblogs-undirected-0based.gml", 1224, 16715, 0, 0, 0},
		{"ca-grqc/CA-GrQc.txt", 5242, 14484, 12, 0, 14484},
		{"ca-grqc/CA-GrQc-lf.txt", 5242, 14484, 12, 0, 14484},
		{"petster-hamster/out.petster-hamster", 2426, 16631, 0, 0, 0},
		{"karate/karate.gml", 34, 78, 0, 0, 0},
		{"karate/karate.mtx", 34, 78, 0, 0, 0},
		{"email-eu-core/email-Eu-core.txt.gz", 1005, 16064, 642, 0, 8865},
		{"pgb/econ-poli-large-no-weights.txt", 15575, 17468, 15575, 0, 31},
		{"ugly/quaker-edges.csv", 96, 162, 0, 0, 0},
	} {
		name := filepath.Join("../../shared/data", c.file)
		if _, err := os.Stat(name); err != nil {
			t.Skipf("no data here: %v", err)
		}
		b, _ := storage.Open(t.Context(), "mem://")
		m, r, err := Ingest(t.Context(), Options{Inputs: []string{name}, Shards: 3, TempDir: t.TempDir()}, b)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if r.Vertices != c.vertices || r.Edges != c.edges || r.Loops != c.loops || r.Repeats != c.repeats || r.Reciprocal != c.reciproc {
			t.Errorf("%s: %+v", c.file, r)
		}
		g, err := OpenGraph(t.Context(), b)
		if err != nil || g.Manifest().Hash != m.Hash {
			t.Fatalf("%s: %v", c.file, err)
		}
		if err := g.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		seen, err := Inspect(t.Context(), Options{Inputs: []string{name}, TempDir: t.TempDir()})
		if err != nil || seen.Edges != r.Edges || seen.Vertices != r.Vertices || seen.Isolated != r.Isolated {
			t.Errorf("%s: inspect gave %+v, %v", c.file, seen, err)
		}
	}
}

// The polblogs graph is one graph, in whatever format it comes.
func TestFormatsAgree(t *testing.T) {
	if _, err := os.Stat("../../shared/data/polblogs"); err != nil {
		t.Skipf("no data here: %v", err)
	}
	content := func(o Options) string {
		o.Shards, o.TempDir = 2, t.TempDir()
		b, _ := storage.Open(t.Context(), "mem://")
		m, _, err := Ingest(t.Context(), o, b)
		if err != nil {
			t.Fatal(err)
		}
		return m.Content
	}
	gml := content(Options{Inputs: []string{"../../shared/data/karate/karate.gml"}})
	mtx := content(Options{Inputs: []string{"../../shared/data/karate/karate.mtx"}})
	if gml != mtx {
		t.Error("karate.gml and karate.mtx are different graphs")
	}
}

// The same edges, split over files, in another order, with comments and blank
// lines, packed or not, give the same manifest.
func TestSplitInputsSameManifest(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var lines []string
	for range 2000 {
		lines = append(lines, fmt.Sprintf("%d\t%d", rng.IntN(300), rng.IntN(300)))
	}
	ingest := func(o Options) *Manifest {
		o.Shards, o.TempDir = 4, t.TempDir()
		b, _ := storage.Open(t.Context(), "mem://")
		m, _, err := Ingest(t.Context(), o, b)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	one := ingest(Options{Inputs: []string{writeFile(t, "all.txt", strings.Join(lines, "\n"))}})
	rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	dir := t.TempDir()
	for i := range 3 {
		text := "# part\n\n" + strings.Join(lines[i*600:min(len(lines), (i+1)*600+200*(i/2))], "\r\n") + "\r\n\r\n"
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%d.txt", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	parts := ingest(Options{Inputs: []string{dir}, Memory: MinMemory})
	if one.Hash != parts.Hash {
		t.Errorf("manifest %s from one file, %s from parts", one.Hash, parts.Hash)
	}
}

func TestVerticesFile(t *testing.T) {
	s := func(words ...string) *sliceSource { return &sliceSource{rows: rowsOf(words...)} }
	numbers := "# all of them\n1\n 2 \r\n\n3\n2\n99\n"
	for _, memory := range []int64{1 << 10, 1 << 22} {
		list := writeFile(t, "v.txt", numbers)
		src := s("1", "2", "3", "2", "3", "3")
		o := Options{VerticesFile: list, Memory: memory}
		b, m, r, err := ingestSource(t, o, src)
		if err != nil {
			t.Fatalf("memory %d: %v", memory, err)
		}
		wantGraph(t, b, m, r, expect(src, &o, []string{"1", "2", "3", "99"}))
		if m.VertexSource != "list" || r.ListRepeats != 1 || r.Isolated != 1 {
			t.Errorf("memory %d: %+v", memory, r)
		}
		for _, bad := range []struct {
			rows []string
			id   string
			line int64
		}{
			{[]string{"1", "2", "2", "4"}, "4", 2},
			{[]string{"1", "2", "2", "3", "5", "5"}, "5", 3},
			{[]string{"1", "word"}, "word", 1},
			{[]string{"01", "1"}, "01", 1},
			{[]string{"1", "2", "1", "18446744073709551615"}, "18446744073709551615", 2},
			{[]string{"1", "4000000000"}, "4000000000", 1},
		} {
			_, _, _, err := ingestSource(t, o, s(bad.rows...))
			var unlisted *UnlistedError
			if !errors.As(err, &unlisted) || unlisted.ID != bad.id || unlisted.Line != bad.line || unlisted.File != "made-up" || unlisted.List != list {
				t.Errorf("memory %d, rows %q: %v", memory, bad.rows, err)
			}
		}
		listed := s("1", "2")
		listed.vertices = []string{"3", "7"}
		if _, _, _, err := ingestSource(t, o, listed); err == nil || !strings.Contains(err.Error(), `"7"`) || strings.Contains(err.Error(), "made-up") {
			t.Errorf("memory %d, node list: %v", memory, err)
		}
	}
}

// A list that fits the memory is checked as rows come, one that does not when
// the chunks are merged, for every kind of id.
func TestVerticesFileOfAnySize(t *testing.T) {
	for kind, id := range kinds {
		var list strings.Builder
		distinct := map[string]bool{}
		for i := range 1000 {
			list.WriteString(id(i) + "\n")
			distinct[id(i)] = true
		}
		if strings.ContainsAny(id(2), "\x00") {
			continue // such an id cannot stand in a list
		}
		for _, memory := range []int64{1 << 12, 1 << 16, 1 << 22, 0} {
			o := Options{VerticesFile: writeFile(t, "v.txt", list.String()), Memory: memory}
			rows := rowsOf(id(5), id(999), id(7), id(8))
			if _, m, _, err := ingestSource(t, o, &sliceSource{rows: rows}); err != nil || m.Vertices != int64(len(distinct)) {
				t.Errorf("%s, memory %d: %v", kind, memory, err)
			}
			for _, stranger := range []string{"77777777777777", "stranger"} {
				bad := append(slices.Clone(rows), row{a: stranger, b: id(5)})
				_, _, _, err := ingestSource(t, o, &sliceSource{rows: bad})
				var unlisted *UnlistedError
				if !errors.As(err, &unlisted) || unlisted.ID != stranger || unlisted.Line != 3 {
					t.Errorf("%s, memory %d: %v", kind, memory, err)
				}
			}
		}
	}
}

// What reader.ReadList refuses is refused here, before anything of the graph is read.
func TestVerticesFileFaults(t *testing.T) {
	src := &sliceSource{rows: rowsOf("1", "2"), fail: errors.New("the graph was read")}
	for text, want := range map[string]string{
		"":           "lists no vertex",
		"1\n1.0\n":   ":2: vertex id \"1.0\"",
		"1\n2,Ann\n": ":2: a row of several columns",
	} {
		list := writeFile(t, "v", text)
		_, _, _, err := ingestSource(t, Options{VerticesFile: list}, src)
		if err == nil || !strings.Contains(err.Error(), list) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	if _, _, _, err := ingestSource(t, Options{VerticesFile: "/not/there"}, src); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent list: %v", err)
	}
	src.fail = nil
	stdin := func() io.Reader { return strings.NewReader("\xef\xbb\xbf1\r2\r") }
	if _, m, _, err := ingestSource(t, Options{VerticesFile: "-", Stdin: stdin()}, src); err != nil || m.Vertices != 2 {
		t.Errorf("list from standard input: %v", err)
	}
	b, _ := storage.Open(t.Context(), "mem://")
	var wrong *reader.OptionsError
	if _, _, err := Ingest(t.Context(), Options{Inputs: []string{"-"}, VerticesFile: "-", Stdin: stdin()}, b); !errors.As(err, &wrong) {
		t.Errorf("graph and list from standard input: %v", err)
	}
	o := Options{VerticesFile: writeFile(t, "v", "1.0\n-2\n"), IDType: "string"}
	if _, m, _, err := ingestSource(t, o, &sliceSource{rows: rowsOf("1.0", "-2")}); err != nil || m.Vertices != 2 {
		t.Errorf("list of strings: %v", err)
	}
}

// Cancelling in any phase ends the call, leaves no manifest and no temporary
// file.
func TestCancelCleansUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	src := &sliceSource{}
	for range 200_000 {
		src.rows = append(src.rows, row{a: fmt.Sprintf("u%d", rng.IntN(5000)), b: fmt.Sprintf("u%d", rng.IntN(5000))})
	}
	for _, phase := range []string{"read", "index", "sort", "write"} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		reached := false
		o, err := Options{Inputs: []string{"x"}, TempDir: dir, Memory: MinMemory, Shards: 4, Progress: func(p string, _, _ int64) {
			if p == phase {
				reached = true
				cancel()
			}
		}}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := storage.Open(t.Context(), t.TempDir())
		err = withSpace(&o, func(space *workspace) error {
			_, _, err := ingest(ctx, &o, space, src, b)
			return err
		})
		if !reached || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: reached %v, %v", phase, reached, err)
		}
		wantEmptyDir(t, dir)
		if ok, err := b.Exists(t.Context(), ManifestKey); ok || err != nil {
			t.Errorf("%s: a manifest was written (%v)", phase, err)
		}
		cancel()
	}
}

func TestOutsideFaultsAreNamed(t *testing.T) {
	file := writeFile(t, "g.txt", "1 2\n")
	b, _ := storage.Open(t.Context(), filepath.Join(file, "below", "a", "file"))
	_, _, err := Ingest(t.Context(), Options{Inputs: []string{file}}, b)
	if err == nil || storage.Class(err) != storage.ClassUser {
		t.Errorf("folder below a file: %v", err)
	}
	big := &sliceSource{}
	for i := range 5000 {
		big.rows = append(big.rows, row{a: fmt.Sprint("a", i), b: "b"})
	}
	o, _ := Options{Inputs: []string{"x"}, TempDir: "/not/there"}.withDefaults()
	o.Memory = 1 << 12
	err = withSpace(&o, func(space *workspace) error {
		_, err := build(t.Context(), space, &o, big)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "/not/there") || storage.Class(err) != storage.ClassUser {
		t.Errorf("no temporary folder: %v", err)
	}
}
