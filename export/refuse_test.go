package export

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAbortAndErrorsLeaveNothing(t *testing.T) {
	for _, f := range Formats() {
		for _, n := range []int64{0, 5} {
			path := filepath.Join(t.TempDir(), "kept")
			if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			abort, err := NewWriter(path, Options{Format: f, N: n})
			if err != nil {
				t.Fatal(err)
			}
			if err := abort.Write(0, 1); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(abort.Abort(), abort.Abort()); err != nil {
				t.Error(err)
			}
			if abort.Close() == nil || abort.Write(1, 2) == nil {
				t.Errorf("%s: an aborted writer goes on", f)
			}
			failed, err := NewWriter(path, Options{Format: f, N: n})
			if err != nil {
				t.Fatal(err)
			}
			if err := failed.Write(0, -1); err == nil || failed.Write(0, 1) != err || failed.Close() != err {
				t.Errorf("%s: an error does not stick: %v", f, err)
			}
			onlyFile(t, path)
			if got := content(t, path); got != "before" {
				t.Errorf("%s: the file that was there is now %q", f, got)
			}
			if err := failed.Abort(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestCloseThenAbortKeepsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.txt")
	w, err := NewWriter(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(0, 1), w.Close(), w.Abort(), w.Close()); err != nil {
		t.Error(err)
	}
	if w.Write(1, 2) == nil {
		t.Error("a closed writer takes edges")
	}
	if got := content(t, path); got != "0\t1\n" {
		t.Errorf("content %q", got)
	}
}

func TestRefusals(t *testing.T) {
	dup := func(int64) string { return "same" }
	number := func(u, v int64) func(EdgeWriter) error { return func(w EdgeWriter) error { return w.Write(u, v) } }
	id := func(a, b string) func(EdgeWriter) error {
		return func(w EdgeWriter) error { return w.WriteIDs(a, b) }
	}
	for _, c := range []struct {
		name string
		opts Options
		do   func(EdgeWriter) error // nil: NewWriter itself fails
		want string
	}{
		{"g", Options{}, nil, "does not say which format"},
		{"g.xlsx", Options{}, nil, "does not say which format"},
		{"g.parquet.gz", Options{}, nil, "compresses its own pages; leave .gz out"},
		{"g.txt", Options{Format: "pajek"}, nil, `unknown format "pajek"`},
		{"g.txt", Options{N: 2, Labels: []int{1}}, nil, "1 labels for 2 vertices"},
		{"no/such/g.txt", Options{}, nil, "cannot write beside"},
		{".", Options{Format: Snap}, nil, "is a folder"},
		{"g.gml", Options{N: 1, IDs: func(int64) string { return "\xff" }}, nil, "not UTF-8"},
		{"g.graphml", Options{N: 1, IDs: func(int64) string { return "\x01" }}, nil, "XML has no character U+0001"},
		{"g.graphml", Options{N: 1, IDs: func(int64) string { return "" }}, nil, "empty identifier"},
		{"g.txt", Options{N: 2}, number(0, 2), "edge (0, 2) of a graph with 2 vertices"},
		{"g.csv", Options{}, number(-1, 2), "edge (-1, 2)"},
		{"g.txt", Options{}, id("a b", "c"), "white space"},
		{"g.txt", Options{}, id("a", "#b"), "comment"},
		{"g.txt", Options{}, id("a", ""), "empty identifier"},
		{"g.csv", Options{N: 1, IDs: func(int64) string { return "" }}, number(0, 0), "empty identifier"},
		{"g.mtx", Options{}, id("a", "b"), "only known if all vertices are given"},
		{"g.mtx", Options{N: 5, IDs: testName}, id("a", "nobody"), `"nobody" is none of the graph's 5 vertices`},
		{"g.gml", Options{N: 5, IDs: dup}, id("same", "same"), "5 vertices have only 1 different"},
		{"g.gml", Options{}, func(w EdgeWriter) error { return errors.Join(w.Write(0, 1), w.WriteIDs("a", "b")) }, "after edges by number"},
		{"g.gml", Options{}, func(w EdgeWriter) error { return errors.Join(w.WriteIDs("a", "b"), w.Write(0, 1)) }, "after edges by identifier"},
		{"g.parquet", Options{}, id("1", "007"), `"007" is not a 64-bit integer`},
		{"g.parquet", Options{}, id("18446744073709551615", "1"), "is not a 64-bit integer"},
	} {
		dir := t.TempDir()
		w, err := NewWriter(filepath.Join(dir, c.name), c.opts)
		if err == nil && c.do != nil {
			err = c.do(w)
			if w.Close() == nil {
				t.Errorf("%s, %q: Close succeeds after the error", c.name, c.want)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s, %q: %s is left over", c.name, c.want, left[0].Name())
		}
	}
}
