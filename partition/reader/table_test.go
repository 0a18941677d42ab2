package reader

import (
	"context"
	"strings"
	"testing"
)

func TestEdgeLists(t *testing.T) {
	tooLong := strings.Repeat("9", maxLine+1)
	runCases(t, []readCase{
		{name: "white space of every kind", text: "1 2\n 3\t4 \n5 \t\v6\f\n", format: "edgelist", edges: "1>2 3>4 5>6"},
		{name: "no last line end", text: "1 2\n3 4", edges: "1>2 3>4"},
		{name: "CRLF", text: "1 2\r\n3 4\r\n", edges: "1>2 3>4"},
		{name: "lone CR", text: "1 2\r3 4\r", edges: "1>2 3>4"},
		{name: "line ends mixed", text: "1 2\r\n3 4\n5 6\r7 8\n\r\n\r9 10", edges: "1>2 3>4 5>6 7>8 9>10"},
		{name: "comments", text: "# a b\n%c d\n  # e f\n1 2\n", edges: "1>2"},
		{name: "mark inside an id", text: "http://a/#x http://b/%20y\nc#1 d%2\n", edges: "http://a/#x>http://b/%20y c#1>d%2"},
		{name: "weights", text: "1 2 0.5\n3 4 -2e3\n5 6 7\n", edges: "1>2=0.5 3>4=-2000 5>6=7"},
		{name: "weight and time", text: "1 2 1 1082008561\n3 4 -1 1082008562\n", edges: "1>2=1 3>4=-1"},
		{name: "time stamp that is no number", text: "1 2 2004-01-02\n", edges: "1>2"},
		{name: "columns may differ where that is said", text: "1 2\n3 4 5\n6 7 8 9\n", options: Options{Format: "edgelist"}, edges: "1>2 3>4=5 6>7=8"},
		{name: "networkx data", text: "1 2 {}\n3 4 {'weight': 3, 'a': 'b c d'}\n", edges: "1>2 3>4"},
		{name: "loops and repeats", text: "1 1\n1 2\n2 1\n1 2\n", edges: "1>1 1>2 2>1 1>2"},
		{name: "comma", text: "1,2\n3,4\n", edges: "1>2 3>4", format: "edgelist"},
		{name: "comma and blank", text: "1, 2\n3, 4\n", edges: "1>2 3>4"},
		{name: "semicolon", text: "a b;c d\ne;a b\n", edges: "a b>c d e>a b"},
		{name: "bar", text: "a,1|b,2\nc,3|d,4\n", edges: "a,1>b,2 c,3>d,4"},
		{name: "decimal comma", text: "1 2 0,5\n3 4 1,5\n", edges: "1>2 3>4"},
		{name: "names with spaces between tabs", text: "Ann Lee\tBob\nBob\tCy Doe\n", edges: "Ann Lee>Bob Bob>Cy Doe"},
		{name: "quoted names", text: "\"Ann Lee\" \"Bob \"\"B\"\" Ray\" 2\n\"x\" y 3\n", edges: "Ann Lee>Bob \"B\" Ray=2 x>y=3"},
		{name: "header without mark", text: "FromNodeId\tToNodeId\n1\t2\n", edges: "1>2", format: "tsv"},
		{name: "header of white space", text: "source target weight\n1 2 3\n", edges: "1>2=3", format: "edgelist"},
		{name: "names that could be a header", text: "node1 node2\nnode2 node3\n", edges: "node1>node2 node2>node3"},
		{name: "columns by number", text: "x 1 2\ny 3 4\n", options: Options{Source: "3", Target: "2"}, edges: "2>1 4>3"},
		{name: "wide table by number", text: "1 2 3 4 5 6\n", options: Options{Source: "1", Target: "6"}, edges: "1>6"},
		{name: "wide table by format", text: "1 2 3 x y z\n", options: Options{Format: "edgelist"}, edges: "1>2=3"},
		{name: "8-bit names", text: "caf\xe9 b\n\xff\xfe\xfd c\n", edges: "caf\xe9>b \xff\xfe\xfd>c"},

		{name: "one field", text: "1 2\n\n# x\n3\n", err: ":4: a line with one field where two ids are needed"},
		{name: "web address", text: "https://example.org/x.txt\n1 2\n", err: ":1: a web address and not an edge"},
		{name: "five fields", text: "1 2 3 4 5\n", err: ":1: more than 4 fields"},
		{name: "prose", text: "This is a text\nof two lines here\n", err: ":1: a third field that is no number"},
		{name: "comma and one field", text: "1,2\n3\n4,5\n", err: ":2: a line with one field"},
		{name: "empty id", text: "1,2\n,3\n", err: ":2: an empty vertex id"},
		{name: "column too far", text: "1 2 3\n4 5\n", options: Options{Source: "1", Target: "3"}, err: ":2: 2 fields where column 3 is needed"},
		{name: "quote never closed", text: "\"a b\n", err: ":1: a quoted field that is never closed"},
		{name: "byte 0", text: "1 2\n3 \x004\n", err: ":2: byte 0 in the text"},
		{name: "byte 0 far inside", text: strings.Repeat("1 2\n", 200_000) + "3\x00 4\n", err: ":200001: byte 0 in the text"},
		{name: "empty", text: "", err: ": byte 0: the file is empty"},
		{name: "only comments", text: "# nothing\n\n% here\n", err: ": no edge in 3 lines (2 comments, 1 blank, 0 bad)"},
		{name: "long line", text: "1 2\n3 " + tooLong, err: ":2: line longer than 16 MiB"},
		{name: "bipartite", text: "% bip unweighted\n1 1\n", err: ":1: a bipartite KONECT graph"},
		{name: "KONECT count", text: "% sym unweighted\n% 3 4 4\n1 2\n3 4\n", err: ":2: the KONECT header declares 3 edges and the file has 2"},
	})
}

func TestDelimitedTables(t *testing.T) {
	quoted := Options{}
	runCases(t, []readCase{
		{name: "Gephi", text: "Source,Target,Weight\na b,c,2\n", options: quoted, format: "csv", edges: "a b>c=2"},
		{name: "Gephi with more columns", text: "Id,Source,Target,Type,Label,Weight\n0,a,b,Undirected,,1.5\n", edges: "a>b=1.5"},
		{name: "columns turned", text: "Weight;Target;Source\n2;b;a\n", edges: "a>b=2"},
		{name: "id_1,id_2", text: "id_1,id_2\n1,2\n", edges: "1>2"},
		{name: "node columns", text: "node_a|node_b|x\nq|r|s\n", edges: "q>r"},
		{name: "unknown names over integers", text: "alpha,beta\n1,2\n3,4\n", edges: "1>2 3>4", format: "csv"},
		{name: "quotes", text: "source,target\n\"a, b\",\"c \"\"d\"\"\"\n\"#x\", e \n", edges: "a, b>c \"d\" #x>e"},
		{name: "mark at the front of an id", text: "source,target\n#x,%y\n", edges: "#x>%y"},
		{name: "blanks inside quotes stay", text: "source,target\n\" a \",b\n", edges: " a >b"},
		{name: "line end inside quotes", text: "source,target\r\n\"a\r\nb\",c\r\nd,e\r\n", edges: "a\r\nb>c d>e"},
		{name: "quoted header", text: "\"source\";\"target\"\n1;2\n", edges: "1>2"},
		{name: "byte order mark", text: "\ufeffsource,target\n1,2\n", edges: "1>2"},
		{name: "by name", text: "id,friend,name\n1,2,x\n", options: Options{Source: "id", Target: "friend"}, edges: "1>2"},
		{name: "by name without case", text: "ID,Friend,name\n1,2,x\n", options: Options{Source: "id", Target: "friend"}, edges: "1>2"},
		{name: "by number under a header", text: "id,x,source,target\n1,2,3,4\n", options: Options{Source: "1", Target: "2"}, edges: "1>2"},
		{name: "no header said", text: "Ann,Bob\nBob,Cy\n", edges: "Ann>Bob Bob>Cy", format: "edgelist"},
		{name: "header said", text: "Person,Other\nBob,Cy\n", options: Options{Format: "csv"}, edges: "Bob>Cy", format: "csv"},
		{name: "tsv said", text: "p q\to\nBob B\tCy\n", options: Options{Format: "tsv"}, edges: "Bob B>Cy", format: "tsv"},
		{name: "weight that is no number", text: "source,target,weight\n1,2,x\n3,4,\n", edges: "1>2 3>4"},
		{name: "first columns beside attributes", text: "u,v,weight\n1,2,3\n", edges: "1>2=3"},

		{name: "field too many", text: "source,target\n1,2\n3,4,5\n", err: ":3: 3 fields where the header has 2"},
		{name: "field missing", text: "source,target,x\n1,2\n", err: ":2: 2 fields where the header has 3"},
		{name: "unknown columns", text: "a1,b1,c1\n1,2,3\n", err: ":1: the header does not say which columns are source and target; they are a1, b1, c1"},
		{name: "no such column", text: "id,x\n1,2\n", options: Options{Source: "id", Target: "y"}, err: ":1: no column \"y\"; the columns are id, x"},
		{name: "the same column", text: "id,x\n1,2\n", options: Options{Source: "id", Target: "1"}, err: ":1: source and target are the same column"},
		{name: "quote never closed", text: "source,target\n1,2\n\"a,b\n", err: ":3: a quoted field that is never closed"},
		{name: "text after quote", text: "source,target\n\"a\"b,c\n", err: ":2: text after a closing quote"},
		{name: "quote inside", text: "source,target\na\"b\"c,d\n", err: ":2: a quote in the middle of a field"},
		{name: "error behind a field of two lines", text: "source,target\n\"a\nb\",c\nd,1.0\n", err: ":4: vertex id \"1.0\" is written as a decimal number"},
	})
}

// TestIDs: ids are labels; what went through a float is refused.
func TestIDs(t *testing.T) {
	big := "4294967296 9007199254740993\n9223372036854775808 18446744073709551615\n18446744073709551616 340282366920938463463374607431768211457\n"
	bigEdges := "4294967296>9007199254740993 9223372036854775808>18446744073709551615 18446744073709551616>340282366920938463463374607431768211457"
	var cases []readCase
	for _, c := range []struct{ id, err string }{
		{"1.0", "is written as a decimal number"}, {"1e6", "is written as a decimal number"}, {"1E+06", "is written as a decimal number"},
		{"12.5", "is written as a decimal number"}, {"1.", "is written as a decimal number"}, {".5", "is written as a decimal number"},
		{"-1.5e-3", "is written as a decimal number"}, {"+2.0", "is written as a decimal number"},
	} {
		cases = append(cases, readCase{name: "source " + c.id, text: "1 2\n" + c.id + " 3\n", err: ":2: vertex id \"" + c.id + "\" " + c.err},
			readCase{name: "target " + c.id, text: "1 2\n3 " + c.id + "\n", err: ":2: vertex id \"" + c.id + "\" " + c.err},
			readCase{name: "string " + c.id, text: "1 2\n3 " + c.id + "\n", options: Options{IDType: "string"}, edges: "1>2 3>" + c.id})
	}
	for _, id := range []string{"007", "+7", "1e", "e1", "1.2.3", "10.1.2.3", "-", "-x", "1-2", "0x1F", "1_000", "NaN", "inf", "1.0f", ".", "1e6x", "--1", "é"} {
		cases = append(cases, readCase{name: "label " + id, text: id + " b\n", edges: id + ">b"})
	}
	cases = append(cases,
		readCase{name: "large integers", text: big, edges: bigEdges},
		readCase{name: "large integers in CSV", text: "source,target\n" + strings.ReplaceAll(big, " ", ","), edges: bigEdges},
		readCase{name: "negative", text: "1 -2\n", err: ":1: negative vertex id \"-2\""},
		readCase{name: "negative as string", text: "1 -2\n", options: Options{IDType: "string"}, edges: "1>-2"},
		readCase{name: "decimal in CSV", text: "source,target\n\"1.0\",2\n", err: ":2: vertex id \"1.0\""},
	)
	runCases(t, cases)
}

func TestStatsOfTables(t *testing.T) {
	g, err := readText("# Undirected graph: x.txt\n# Nodes: 9 Edges: 2\n1 2\n\n# late\n3 4\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := g.stats
	if s.Lines != 6 || s.Comments != 3 || s.Blank != 1 || s.Rows != 2 || s.DeclaredVertices != 9 || s.DeclaredEdges != 2 || s.Directed != "no" || s.Weighted {
		t.Errorf("stats %+v", s)
	}
	if len(s.Notes) != 1 || !strings.HasPrefix(s.Notes[0], "1 comment line after the first edge, beginning with line 5") {
		t.Errorf("notes %q", s.Notes)
	}
	g, err = readText("% asym weighted\n% 1 2 2\n1 2 3\n", Options{})
	if err != nil || g.stats.Directed != "yes" || g.stats.DeclaredEdges != 1 || g.stats.DeclaredVertices != 2 || !g.stats.Weighted {
		t.Errorf("KONECT: %v %+v", err, g.stats)
	}
	g, err = readText("Source\tTarget\nä\tb\n", Options{})
	if err != nil || g.stats.Encoding != "UTF-8" || strings.Join(g.stats.Columns, ",") != "Source,Target" {
		t.Errorf("TSV: %v %+v", err, g.stats)
	}
}

// TestRowsOfSeveralWidths: what follows two ids is a weight or more neighbours, and
// where rows differ nobody can tell.
func TestRowsOfSeveralWidths(t *testing.T) {
	runCases(t, []readCase{
		{name: "adjacency list", text: "0 1 2 3\n1 2\n2 3\n", err: ":2: rows of 2 fields (line 2) and of 4 fields (line 1)"},
		{name: "three and four", text: "0 1 2\n1 2 3 0\n", err: ":2: rows of 3 fields (line 1) and of 4 fields (line 2)"},
		{name: "commas", text: "0,1,2\n1,2\n", err: ":2: rows of 2 fields (line 2) and of 3 fields (line 1)"},
		{name: "said to be an edge list", text: "0 1 2 3\n1 2\n", options: Options{Format: "edgelist"}, edges: "0>1=2 1>2"},
		{name: "said to be an adjacency list", text: "0 1 2\n1 2\n", options: Options{Format: "adjlist"}, edges: "0>1 0>2 1>2", vertices: "0 1"},
		{name: "a comment that counts edges", text: "# Nodes: 3 Edges: 3\n1 2\n2 3\n", err: ": a comment declares 3 edges and the file has 2 rows"},
	})
}

// TestAdjacencyListOfNetworkX: its comments tell what its rows do not.
func TestAdjacencyListOfNetworkX(t *testing.T) {
	const head = "#make.py\n# GMT Sat Nov 28 07:00:00 2026\n# \n"
	runCases(t, []readCase{
		{name: "adjacency list", text: head + "0 1 2\n1 2\n2\n", edges: "0>1 0>2 1>2", vertices: "0 1 2", format: "adjlist"},
		{name: "of several lines", text: head + "0 2\n1 {}\n2 {}\n", err: ":1: this is an adjacency list of several lines a vertex"},
	})
}

// TestDoubtfulHeader: a first row of words that never come again is refused in
// a delimited table and noted in an edge list, and there are ways out of both.
func TestDoubtfulHeader(t *testing.T) {
	for text, noted := range map[string]bool{"Ann,Bob\nBob,Cy\n": false, "node1 node2\nnode2 node3\n": false, "Ann Bob\nBob Cy\n": false, "1,2\n3,4\n": false,
		"n1,n2\nn3,n4\n": false, "ann,bob\n": false, "ego alter\nann bob\nbob eve\n": true} {
		g, err := readText(text, Options{})
		if err != nil || (len(g.stats.Notes) > 0) != noted {
			t.Errorf("%q: notes %q, %v", text, g.stats.Notes, err)
		}
	}
	const text = "person,contact\nann,bob\nbob,eve\n"
	for _, o := range []Options{{}, {MaxBadLines: 3}} {
		if _, err := readText(text, o); err == nil || !strings.Contains(err.Error(), ":1: this line is a header or an edge") || !strings.Contains(err.Error(), "--source") {
			t.Errorf("error %v", err)
		}
	}
	for _, c := range []struct {
		o    Options
		want string
	}{{Options{Format: "csv"}, "ann>bob bob>eve"}, {Options{Source: "person", Target: "contact"}, "ann>bob bob>eve"}, {Options{Format: "edgelist"}, "person>contact ann>bob bob>eve"}} {
		if g, err := readText(text, c.o); err != nil || g.edges != c.want {
			t.Errorf("%+v: %q, %v", c.o, g.edges, err)
		}
	}
	r, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.ForEachParallel(context.Background(), 2, Callbacks{}); err == nil || !strings.Contains(err.Error(), "a header or an edge") {
		t.Errorf("in parallel: %v", err)
	}
}

func TestBadLines(t *testing.T) {
	text := "1 2\nx\n3 4\n5 1.0\n6 7\n"
	var lines []int64
	g, err := readText(text, Options{MaxBadLines: 2, OnBadLine: func(e *LineError, line []byte) error { lines = append(lines, e.Line); return nil }})
	if err != nil || g.edges != "1>2 3>4 6>7" || g.stats.BadLines != 2 || g.stats.Rows != 3 || g.stats.Lines != 5 {
		t.Errorf("%v %q %+v", err, g.edges, g.stats)
	}
	if len(lines) != 2 || lines[0] != 2 || lines[1] != 4 {
		t.Errorf("told of lines %v", lines)
	}
	_, err = readText(text, Options{MaxBadLines: 1})
	if err == nil || !strings.Contains(err.Error(), ":4: vertex id \"1.0\" is written as a decimal number, after 1 bad line skipped") {
		t.Errorf("error %v", err)
	}
}

func TestErrorPosition(t *testing.T) {
	_, err := readText("1 2\r\n\r\n# x\r\nfoo\r\n", Options{})
	e, ok := err.(*LineError)
	if !ok || e.Line != 4 || e.Byte != 12 || e.Text != "foo" {
		t.Errorf("%#v", err)
	}
	_, err = readText("source,target\n1,2\n3\n", Options{})
	if e, ok := err.(*LineError); !ok || e.Line != 3 || e.Byte != 18 || e.Text != "3" {
		t.Errorf("%#v", err)
	}
	_, err = readText(strings.Repeat("12345 67890\n", 100_000)+strings.Repeat("x", 300), Options{})
	if e, ok := err.(*LineError); !ok || e.Line != 100_001 || e.Byte != 1_200_000 || len(e.Text) != shortText+3 {
		t.Errorf("%#v", err)
	}
}
