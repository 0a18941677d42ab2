package export

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// The graph of the tests: 5 vertices, 4 isolated.
var (
	testEdges  = [][2]int64{{0, 1}, {1, 2}, {0, 3}}
	testNames  = []string{"a", "b & \"c\"", "Zoë <z>", "it's", "日本"}
	testLabels = []int{0, 0, 1, 1, 2}
)

func testName(i int64) string { return testNames[i] }

// write makes a file of the test graph and returns its plain content. byID
// writes identifiers, otherwise numbers.
func write(t *testing.T, name string, o Options, byID bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := NewWriter(path, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range testEdges {
		if byID {
			err = w.WriteIDs(testNames[e[0]], testNames[e[1]])
		} else {
			err = w.Write(e[0], e[1])
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatal("the file is there before Close")
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path)
	return content(t, path)
}

// onlyFile checks that nothing else is left in the folder.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader = bytes.NewReader(raw)
	switch filepath.Ext(path) {
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".zst":
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

const gmlHead = "graph [\n  directed 0\n"

func gmlNode(i int, label string, community int) string {
	s := fmt.Sprintf("  node [\n    id %d\n    label \"%s\"\n", i, label)
	if community >= 0 {
		s += fmt.Sprintf("    community %d\n", community)
	}
	return s + "  ]\n"
}

const gmlEdges = "  edge [\n    source 0\n    target 1\n  ]\n  edge [\n    source 1\n    target 2\n  ]\n  edge [\n    source 0\n    target 3\n  ]\n]\n"

func TestFormats(t *testing.T) {
	all := Options{N: 5, Labels: testLabels, IDs: testName}
	gmlNamed := gmlHead + gmlNode(0, "a", 0) + gmlNode(1, "b &#38; &#34;c&#34;", 0) + gmlNode(2, "Zo&#235; <z>", 1) +
		gmlNode(3, "it's", 1) + gmlNode(4, "&#26085;&#26412;", 2) + gmlEdges
	gmlFound := gmlHead + gmlNode(0, "a", -1) + gmlNode(1, "b &#38; &#34;c&#34;", -1) + gmlNode(2, "Zo&#235; <z>", -1) +
		gmlNode(3, "it's", -1) + gmlEdges
	gmlNumbers := gmlHead + gmlNode(0, "0", -1) + gmlNode(1, "1", -1) + gmlNode(2, "2", -1) + gmlNode(3, "3", -1) + gmlEdges
	for _, c := range []struct {
		name string
		opts Options
		byID bool
		want string
	}{
		{"g.txt", Options{}, false, "0\t1\n1\t2\n0\t3\n"},
		{"g.tsv.gz", Options{N: 5}, false, "0\t1\n1\t2\n0\t3\n"},
		{"g.EDGES.zst", Options{N: 5}, false, "0\t1\n1\t2\n0\t3\n"},
		{"g.csv", all, false, "Source,Target\na,\"b & \"\"c\"\"\"\n\"b & \"\"c\"\"\",Zoë <z>\na,it's\n"},
		{"g.csv", Options{}, true, "Source,Target\na,\"b & \"\"c\"\"\"\n\"b & \"\"c\"\"\",Zoë <z>\na,it's\n"},
		{"g.mtx", Options{N: 5}, false, "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n2 1\n3 2\n4 1\n"},
		{"g.mtx", Options{}, false, "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 1\n"},
		{"g.mtx.gz", all, true, "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n2 1\n3 2\n4 1\n"},
		{"g.gml", all, false, gmlNamed},
		{"g.gml", all, true, gmlNamed},
		{"g.gml", Options{}, true, gmlFound},
		{"g.gml.zst", Options{}, false, gmlNumbers},
		{"g.anything", Options{Format: Snap}, false, "0\t1\n1\t2\n0\t3\n"},
		{"g.anything.gz", Options{Format: MTX, N: 5}, false, "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n2 1\n3 2\n4 1\n"},
	} {
		if diff := cmp.Diff(c.want, write(t, c.name, c.opts, c.byID)); diff != "" {
			t.Errorf("%s, %+v:\n%s", c.name, c.opts, diff)
		}
	}
}

// Integer identifiers are GML's node ids, unless one of them does not fit.
func TestGMLIntegerIdentifiers(t *testing.T) {
	for last, want := range map[string][]string{
		"40":         {"id 7\n    label \"7\"", "source 7\n    target 300"},
		"040":        {"id 0\n    label \"7\"", "source 0\n    target 1"},
		"-4":         {"id 0\n    label \"7\"", "source 0\n    target 1"},
		"2147483648": {"id 0\n    label \"7\"", "source 0\n    target 1"},
	} {
		names := []string{"7", "300", "5", last}
		got := write(t, "g.gml", Options{N: 4, IDs: func(i int64) string { return names[i] }}, false)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("with identifier %s: no %q in\n%s", last, w, got)
			}
		}
	}
}

// graphmlFile is what an XML parser finds.
type graphmlFile struct {
	Graph struct {
		Default string `xml:"edgedefault,attr"`
		Nodes   []struct {
			ID        string `xml:"id,attr"`
			Community string `xml:"data"`
		} `xml:"node"`
		Edges []struct {
			Source string `xml:"source,attr"`
			Target string `xml:"target,attr"`
		} `xml:"edge"`
	} `xml:"graph"`
}

func TestGraphMLParsesBack(t *testing.T) {
	for _, byID := range []bool{false, true} {
		for _, o := range []Options{{N: 5, Labels: testLabels, IDs: testName}, {}} {
			if o.IDs == nil && !byID {
				continue
			}
			var f graphmlFile
			if err := xml.Unmarshal([]byte(write(t, "g.graphml", o, byID)), &f); err != nil {
				t.Fatal(err)
			}
			want := testNames
			if o.N == 0 {
				want = testNames[:4] // only those with an edge
			}
			if f.Graph.Default != "undirected" || len(f.Graph.Nodes) != len(want) || len(f.Graph.Edges) != len(testEdges) {
				t.Fatalf("%+v", f)
			}
			for i, n := range f.Graph.Nodes {
				if n.ID != want[i] || (o.Labels != nil && n.Community != fmt.Sprint(testLabels[i])) {
					t.Errorf("node %d is %+v, want %q", i, n, want[i])
				}
			}
			for i, e := range f.Graph.Edges {
				if e.Source != testNames[testEdges[i][0]] || e.Target != testNames[testEdges[i][1]] {
					t.Errorf("edge %d is %+v", i, e)
				}
			}
		}
	}
}

func TestParquetReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.parquet")
	const rows = 2*batchRows + 77
	for _, text := range []bool{false, true} {
		w, err := NewWriter(path, Options{StringIDs: text})
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(rows) {
			if i%2 == 0 {
				err = w.Write(i/3, i)
			} else {
				err = w.WriteIDs(fmt.Sprint(i/3), fmt.Sprint(i))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		onlyFile(t, path)
		got := make([]integerRow, 0, rows)
		if text {
			read, err := parquet.ReadFile[stringRow](path)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range read {
				row, err := parseRow(r.Src, r.Dst)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, row)
			}
		} else if got, err = parquet.ReadFile[integerRow](path); err != nil {
			t.Fatal(err)
		}
		if len(got) != rows {
			t.Fatalf("%d rows, want %d", len(got), rows)
		}
		for i, r := range got {
			if want := (integerRow{int64(i / 3), int64(i)}); r != want {
				t.Fatalf("row %d is %v, want %v", i, r, want)
			}
		}
	}
}

func TestParquetRowGroupsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.parquet")
	w, err := NewWriter(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(rowGroupRows + 5) {
		if err := w.Write(i, i+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	for i, g := range p.RowGroups() {
		sizes = append(sizes, g.NumRows())
		for _, c := range p.Metadata().RowGroups[i].Columns {
			for _, e := range c.MetaData.Encoding {
				if strings.Contains(e.String(), "DICTIONARY") {
					t.Errorf("column %v is encoded with %v", c.MetaData.PathInSchema, e)
				}
			}
		}
	}
	if !slices.Equal(sizes, []int64{rowGroupRows, 5}) {
		t.Errorf("row groups of %v rows", sizes)
	}
}

func TestEmptyGraphs(t *testing.T) {
	for name, want := range map[string]string{
		"g.txt": "", "g.csv": "Source,Target\n", "g.gml": gmlHead + "]\n",
		"g.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n0 0 0\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		w, err := NewWriter(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "g.parquet")
	w, err := NewWriter(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if rows, err := parquet.ReadFile[integerRow](path); err != nil || len(rows) != 0 {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
}

func TestWriteLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.txt.gz")
	if err := WriteLabels(path, []int{3, 0, 12}, nil); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "0\t3\n1\t0\n2\t12\n" {
		t.Errorf("%q", got)
	}
	if err := WriteLabels(path, []int{3, 0}, func(i int64) string { return []string{"x", "y"}[i] }); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "x\t3\ny\t0\n" {
		t.Errorf("%q", got)
	}
	if err := WriteLabels(path, []int{3}, func(i int64) string { return "two words" }); err == nil {
		t.Error("an identifier with white space is written")
	}
	onlyFile(t, path)
}

// Any text comes back from CSV and, if XML can hold it, from an XML attribute.
func TestEscapesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringN(1, 20, -1).Draw(t, "id")
		if !strings.Contains(id, "\r") { // encoding/csv reads CR LF as LF
			rows, err := csv.NewReader(strings.NewReader(quoteCSV(id) + "," + quoteCSV(id) + "\n")).Read()
			if err != nil || rows[0] != id || rows[1] != id {
				t.Fatalf("CSV: %q became %q (%v)", id, rows, err)
			}
		}
		if checkXML(id) == nil {
			var back struct {
				ID string `xml:"id,attr"`
			}
			if err := xml.Unmarshal([]byte(`<node id="`+escapeXML(id)+`"/>`), &back); err != nil || back.ID != id {
				t.Fatalf("XML: %q became %q (%v)", id, back.ID, err)
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"g.txt", "g.txt.zst", "g.txt.gz", "g.csv", "g.mtx", "g.graphml", "g.parquet"} {
		b.Run(name, func(b *testing.B) {
			const edges = 200_000
			path := filepath.Join(b.TempDir(), name)
			for b.Loop() {
				w, err := NewWriter(path, Options{N: edges})
				if err != nil {
					b.Fatal(err)
				}
				for i := range int64(edges) {
					if err := w.Write(i/20, (i*7919)%edges); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(edges)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}
