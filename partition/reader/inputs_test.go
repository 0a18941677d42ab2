package reader

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	dir := writeFiles(t, "b.txt", "3 4\n", "a.txt", "1 2\n", "c.txt", "", ".hidden", "x", "_SUCCESS", "")
	for _, paths := range [][]string{{dir}, {filepath.Join(dir, "*.txt")}, {filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")}} {
		g, err := readInputs(paths, Options{})
		if err != nil || g.edges != "1>2 3>4" {
			t.Errorf("%v: %q %v", paths, g.edges, err)
		}
	}
	g, err := readInputs([]string{dir, filepath.Join(dir, "..", filepath.Base(dir), "a.txt")}, Options{})
	if err != nil || g.edges != "1>2 3>4" {
		t.Fatalf("%q %v", g.edges, err)
	}
	notes := strings.Join(g.stats.Notes, "\n")
	if !strings.Contains(notes, "skipped in "+dir+": .hidden, _SUCCESS (names that begin with . or _)") || !strings.Contains(notes, "a.txt is given twice and was read once") {
		t.Errorf("notes %q", notes)
	}
}

// What lies beside the parts is left out of folders and patterns by its name, and said;
// named itself, it is read.
func TestCompanions(t *testing.T) {
	files := []string{"part-0.csv", "s,t\n1,2\n", "part-1.csv", "s,t\n3,4\n", "README.md", "# edges\n| a | b |\n", "part-0.csv.sha256", "ab  part-0.csv\n", "LICENSE", "Copy it.\n"}
	dir := writeFiles(t, files...)
	for _, path := range []string{dir, filepath.Join(dir, "*")} {
		g, err := readInputs([]string{path}, Options{})
		if err != nil || g.edges != "1>2 3>4" {
			t.Errorf("%s: %q, %v", path, g.edges, err)
		}
		if want := "skipped in " + path + ": LICENSE, README.md, part-0.csv.sha256 (" + companionWhy + ")"; !slices.Contains(g.stats.Notes, want) {
			t.Errorf("notes %q, want %q", g.stats.Notes, want)
		}
	}
	konect := writeFiles(t, "out.net", "% sym unweighted\n1 2\n", "meta.net", "name: a net\n", "ent.net", "% ent a\n7 8\n", "README.net", "A net.\n")
	if g, err := readInputs([]string{konect}, Options{}); err != nil || g.edges != "1>2" || len(g.stats.Notes) != 1 {
		t.Errorf("KONECT: %q, %q, %v", g.edges, g.stats.Notes, err)
	}
	alone := writeFiles(t, "README.txt", "1 2\n", "meta.csv", "3 4\n", "sources.csv", "5 6\n")
	if g, err := readInputs([]string{alone}, Options{}); err != nil || g.edges != "3>4 5>6" {
		t.Errorf("names that may be a graph's: %q, %v", g.edges, err)
	}
	for _, path := range []string{filepath.Join(alone, "README.txt"), filepath.Join(alone, "R*")} {
		if g, err := readInputs([]string{path}, Options{}); err != nil || g.edges != "1>2" {
			t.Errorf("%s: %q, %v", path, g.edges, err)
		}
	}
	var many []string
	for i := range 30 {
		many = append(many, ".part-"+itoa(int64(i))+".crc", "x")
	}
	g, err := readInputs([]string{writeFiles(t, append(many, "a", "1 2\n")...)}, Options{})
	if notes := strings.Join(g.stats.Notes, ""); err != nil || !strings.Contains(notes, ", and 10 others (") || strings.Count(notes, ".crc") != 20 {
		t.Errorf("%q, %v", notes, err)
	}
}

// A file of a folder that is no graph is refused with a pattern that leaves it out.
func TestStrays(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"notes.txt", "About these edges: they are old and new.\n", "If notes.txt is no part of the graph, give the parts by name, or the pattern 'DIR/*.csv'."},
		{"z.json", "{\"a\": 1}\n", "z.json:1: this looks like JSON"},
		{"z.json", "{\"a\": 1}\n", "or the pattern 'DIR/*.csv'."},
		{"z.gml", "graph [ node [ id 1 ] ]", "while DIR/a.csv is edgelist. Nothing was written. Give parts of one format, or say it with --format. If z.gml is"},
		{"z.csv", "word\n", "If z.csv is no part of the graph, give the parts by name."},
	} {
		dir := writeFiles(t, "a.csv", "1,2\n", "b.csv", "3,4\n", c.name, c.text)
		_, err := readInputs([]string{dir}, Options{})
		if want := strings.ReplaceAll(c.want, "DIR", dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", c.name, err, want)
		}
		_, err = readInputs([]string{filepath.Join(dir, "a.csv"), filepath.Join(dir, c.name)}, Options{})
		if err == nil || strings.Contains(err.Error(), "no part of the graph") {
			t.Errorf("%s by name: %v", c.name, err)
		}
	}
	dir := writeFiles(t, "a.csv", "1,2\n", "b.csv", "3,4\nword\n") // a part with a bad line is a part
	if _, err := readInputs([]string{dir}, Options{}); err == nil || strings.Contains(err.Error(), "no part of the graph") {
		t.Errorf("bad line: %v", err)
	}
	dir = writeFiles(t, "README.md", "x", "sub.pdf", "y")
	if _, err := readInputs([]string{dir}, Options{}); err == nil || !strings.Contains(err.Error(), "holds no graph file (") || !strings.Contains(err.Error(), "README.md") {
		t.Errorf("a folder of companions: %v", err)
	}
}

func TestPartsOfTables(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		o     Options
		edges string
	}{
		{"header in each", []string{"source,target\na,b\n", "source,target\nc,d\n"}, Options{}, "a>b c>d"},
		{"header in the first", []string{"source,target\na,b\n", "c,d\n"}, Options{}, "a>b c>d"},
		{"columns in another order", []string{"source,target\na,b\n", "target,source\nd,c\n"}, Options{}, "a>b c>d"},
		{"unknown names in each", []string{"p,q\n1,2\n", "p,q\n3,4\n"}, Options{}, "1>2 3>4"},
		{"unknown names over names", []string{"p,q\na,b\n", "p,q\nc,d\n"}, Options{Format: "csv"}, "a>b c>d"},
		{"format said, header in the first", []string{"p,q\na,b\n", "c,d\n"}, Options{Format: "csv"}, "a>b c>d"},
		{"columns said", []string{"x,p,q\n0,a,b\n", "x,p,q\n0,c,d\n"}, Options{Source: "p", Target: "q"}, "a>b c>d"},
		{"tabs, then blanks", []string{"1\t2\n", "3 4\n"}, Options{}, "1>2 3>4"},
		{"commas, then tabs", []string{"1,2\n", "3\t4\n"}, Options{}, "1>2 3>4"},
		{"what alone is METIS", []string{"1 2\n", "2 1\n2\n1\n"}, Options{Format: "edgelist", MaxBadLines: 9}, "1>2 2>1"},
		{"names between tabs", []string{"a b\tc\n", "d\te f\n"}, Options{Format: "edgelist"}, "a b>c d>e f"},
		{"comments only", []string{"1 2\n", "# nothing\n"}, Options{}, "1>2"},
		{"comments first", []string{"# nothing\n", "1,2\n"}, Options{}, "1>2"},
		{"adjacency", []string{"1 2\n", "3 4 5\n"}, Options{Format: "adjlist"}, "1>2 3>4 3>5"},
	} {
		dir := writeFiles(t, "0", c.files[0], "1", c.files[1])
		g, err := readInputs([]string{dir}, c.o)
		if err != nil || g.edges != c.edges {
			t.Errorf("%s: %q, want %q: %v", c.name, g.edges, c.edges, err)
		}
	}
}

func TestRefusedInputs(t *testing.T) {
	dir := writeFiles(t, "a.txt", "1 2\n", "b.gml", "graph [ node [ id 1 ] ]", "c.gml", "graph [ node [ id 1 ] ]")
	empty := t.TempDir()
	hidden := writeFiles(t, ".x", "1 2\n")
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{dir}, "b.gml: the format is gml while " + file("a.txt") + " is edgelist. Nothing was written. Give parts of one format"},
		{[]string{file("b.gml"), file("c.gml")}, "c.gml: a second gml file beside"},
		{[]string{file("b.gml"), file("a.txt")}, "a.txt: the format is edgelist while"},
		{[]string{file("none")}, "none: cannot be opened (no such file or directory)"},
		{[]string{file("*.csv")}, "*.csv: no file matches this pattern"},
		{[]string{file("[")}, "[: no file matches this pattern (syntax error in pattern)"},
		{[]string{empty}, "the folder holds no graph file"},
		{[]string{hidden}, "the folder holds no graph file"},
		{[]string{"s3://bucket/x.txt"}, "s3://bucket/x.txt: is a web or storage address"},
		{nil, "no input file"},
	} {
		_, err := readInputs(c.paths, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "Nothing was written.") {
			t.Errorf("%v: error %v, want %q", c.paths, err, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Format: "xls"}, "format \"xls\" is not known: it is one of edgelist"},
		{Options{IDType: "int"}, "id type \"int\": it is auto or string"},
		{Options{MaxBadLines: -1}, "max bad lines -1: it is 0 or more"},
		{Options{Source: "a"}, "source and target columns: give both or none"},
		{Options{Source: "a", Target: "a"}, "source and target are both column \"a\""},
	} {
		if _, err := readText("1 2\n", c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	for _, name := range []string{"SNAP", "konect", "ncol", "el", "auto"} {
		if g, err := readText("1 2\n", Options{Format: name}); err != nil || g.edges != "1>2" {
			t.Errorf("%s: %q %v", name, g.edges, err)
		}
	}
}

func TestReadAgain(t *testing.T) {
	dir := writeFiles(t, "a", "1 2\n3 4\n")
	r, err := Open(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if err := r.ForEach(context.Background(), nil, nil); err != nil || r.Stats().Rows != 2 {
			t.Errorf("%v %+v", err, r.Stats())
		}
	}
	r, err = Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader("1 2\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.ForEach(context.Background(), nil, nil); err != nil {
		t.Error(err)
	}
	if err := r.ForEach(context.Background(), nil, nil); err == nil || !strings.Contains(err.Error(), "a stream can be read only once") {
		t.Errorf("second reading of a stream: %v", err)
	}
}

func TestNamedPipe(t *testing.T) {
	rd, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	go func() {
		io.WriteString(wr, "1 2\n3 4\n")
		wr.Close()
	}()
	path := "/dev/fd/" + itoa(int64(rd.Fd()))
	if _, err := os.Stat(path); err != nil {
		t.Skip("no /dev/fd here")
	}
	g, err := readInputs([]string{path}, Options{})
	if err != nil || g.edges != "1>2 3>4" {
		t.Errorf("%q %v", g.edges, err)
	}
}

// failing gives some text, then an error.
type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.text == "" {
		return 0, f.err
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

func TestReadError(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, text := range []string{"", "1 2\n3", strings.Repeat("1 2\n", 200_000), "graph [ node [ id 1", "2 1\n2\n", "<graphml><gr", "*Vertices 3\n*Edges\n1"} {
		_, err := readInputs([]string{"-"}, Options{Stdin: &failing{text, broken}})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "cannot be read (disk on fire)") {
			t.Errorf("%.20q: error %v", text, err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	text := strings.Repeat("1 2\n", 1<<20)
	r, err := Open(ctx, []string{"-"}, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows := 0
	err = r.ForEach(ctx, nil, func(Edge) error {
		if rows++; rows == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || rows == 1<<20 {
		t.Errorf("%v after %d rows", err, rows)
	}
	if _, err := Open(ctx, []string{"-"}, Options{Stdin: strings.NewReader(text)}); !errors.Is(err, context.Canceled) {
		t.Errorf("open after cancel: %v", err)
	}
}

func TestCallbackError(t *testing.T) {
	enough := errors.New("enough")
	for _, text := range []string{"1 2\n", "a,b\nc,d\n", "graph [ node [ id 1 ] edge [ source 1 target 1 ] ]", "2 1\n2\n1\n", "*Vertices 2\n*Edges\n1 2\n",
		"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "<graphml><graph><node id='a'/><edge source='a' target='a'/></graph></graphml>",
		"<gexf><graph><node id='a'/><edge source='a' target='a'/></graph></gexf>"} {
		r, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.ForEach(context.Background(), nil, func(Edge) error { return enough }); err != enough {
			t.Errorf("%q: %v", text, err)
		}
		r.Close()
	}
}
