package reader

import (
	"strings"
	"testing"
)

func TestGML(t *testing.T) {
	runCases(t, []readCase{
		{name: "plain", text: "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]", format: "gml", vertices: "1 2", edges: "1>2"},
		{name: "graph and bracket apart", text: "Creator \"x\"\ngraph\n[\n  node\n  [\n    id 7\n  ]\n edge\n[ source 7\ntarget 7 ]\n]\n", vertices: "7", edges: "7>7"},
		{name: "comments", text: "# a [ \" comment\ngraph [ node [ id 1 ]\n# more\n edge [ source 1 target 1 ] ]\n", vertices: "1", edges: "1>1"},
		{name: "nested lists and keys of the same name", text: "graph [ node [ id 1 graphics [ id 9 x 1.0 source 4 [ ] ] source \"b\" ] edge [ source 1 data [ target 5 ] target 1 ] ]",
			vertices: "1", edges: "1>1"},
		{name: "strings with brackets and line ends", text: "graph [ node [ id 1 label \"a ] edge [\n x\" ] node [ label \"\" id 2 ] edge [ source 1 target 2 label \"&quot;\" ] ]",
			vertices: "1 2", edges: "1>2"},
		{name: "escaped quotes", text: "graph [ node [ id 1 label \"say \\\"hi\\\" \\\\\" ] node [ id 2 label \"C:\\\"\n ] edge [ source 1 target 2 ] ]", vertices: "1 2", edges: "1>2"},
		{name: "string ids", text: "graph [ node [ id \"a &amp; b\" ] node [ id \"1.0\" ] edge [ source \"a &amp; b\" target \"1.0\" ] ]", vertices: "a & b 1.0", edges: "a & b>1.0"},
		{name: "edges before nodes", text: "graph [ edge [ source 1 target 2 ] node [ id 1 ] node [ id 2 ] ]", vertices: "1 2", edges: "1>2"},
		{name: "weight", text: "graph [ node [ id 1 ] edge [ source 1 target 1 value 3 ] edge [ weight 2.5 source 1 target 1 value 9 ] ]", vertices: "1", edges: "1>1=3 1>1=2.5"},
		{name: "large ids", text: "graph [ node [ id 18446744073709551615 ] node [ id 9007199254740993 ] edge [ source 18446744073709551615 target 9007199254740993 ] ]",
			vertices: "18446744073709551615 9007199254740993", edges: "18446744073709551615>9007199254740993"},
		{name: "no edge", text: "graph [ node [ id 1 ] ]", vertices: "1"},
		{name: "CR", text: "graph\r[\rnode [ id 1 ]\redge [ source 1 target 1 ]\r]\r", vertices: "1", edges: "1>1"},

		{name: "duplicate node", text: "graph [\nnode [ id 1 ]\nnode [ id 1 ]\n]", err: ":3: vertex id \"1\" is declared twice"},
		{name: "undeclared", text: "graph [\nnode [ id 1 ]\n\nedge [ source 1 target 2 ]\nedge [ source 3 target 1 ] ]", err: ":4: an edge to \"2\", which no node declares"},
		{name: "undeclared on a line after CRs", text: "graph [\r\nnode [ id 1 ]\r\n\r\nedge [ source 1 target 2 ] ]", err: ":4: an edge to \"2\""},
		{name: "node without id", text: "graph [\nnode [ label \"x\" ]\n]", err: ":2: a node without an id"},
		{name: "edge without target", text: "graph [ node [ id 1 ]\nedge [ source 1 ] ]", err: ":2: an edge without source or target"},
		{name: "two ids", text: "graph [ node [ id 1\nid 2 ] ]", err: ":2: a second id"},
		{name: "list as id", text: "graph [ node [ id [ x 1 ] ] ]", err: ":1: a value was expected after id"},
		{name: "decimal id", text: "graph [ node [\nid 1.0 ] ]", err: ":2: vertex id \"1.0\" is written as a decimal number"},
		{name: "negative id", text: "graph [ node [ id -1 ] ]", err: ":1: negative vertex id \"-1\""},
		{name: "two graphs", text: "graph [ node [ id 1 ] ]\ngraph [ ]", err: ":2: a second graph in the file"},
		{name: "cut off", text: "graph [\nnode [ id 1 ]\nnode [ id", err: ":3: a value was expected after id"},
		{name: "not closed", text: "graph [\nnode [ id 1 ]\n", err: ":3: the GML text stops before the closing ]"},
		{name: "string not closed", text: "graph [\nnode [ id 1 label \"x\n ] ]\n", err: ":2: a string that is never closed"},
		{name: "text without quotes", text: "graph [ node [ label Ann Lee id 1 ] ]", err: ":1: a key was expected here (it reads \"1\")"},
		{name: "key missing", text: "graph [ node [ id 1 ] \"x\" ]", err: ":1: a key was expected here"},
		{name: "byte 0", text: "graph [ node [ id 1 ]\n \x00 ]", err: ":2: byte 0 in the text"},
	})
}

func TestMatrixMarket(t *testing.T) {
	const pattern = "%%MatrixMarket matrix coordinate pattern general\n"
	runCases(t, []readCase{
		{name: "pattern", text: pattern + "% c\n3 3 2\n1 2\n3 3\n", format: "mtx", vertices: "1 2 3", edges: "1>2 3>3"},
		{name: "one %", text: "%MatrixMarket matrix coordinate pattern symmetric \n2 2 1\n2 1\n", vertices: "1 2", edges: "2>1"},
		{name: "case and blanks", text: "%%matrixmarket  MATRIX Coordinate Real  General\r\n\r\n2 2 1\r\n 2  1\t0.5 \r\n\r\n", vertices: "1 2", edges: "2>1=0.5"},
		{name: "integer", text: "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 -3\n", vertices: "1 2", edges: "2>1=-3"},
		{name: "leading zeros", text: pattern + "12 12 1\n007 012\n", vertices: "1 2 3 4 5 6 7 8 9 10 11 12", edges: "7>12"},
		{name: "no last line end", text: pattern + "1 1 1\n1 1", vertices: "1", edges: "1>1"},
		{name: "no entries", text: pattern + "2 2 0\n", vertices: "1 2"},

		{name: "too few", text: pattern + "2 2 2\n1 2\n", err: ":3: the size line declares 2 entries and the file has 1"},
		{name: "too many", text: pattern + "2 2 1\n1 2\n2 1\n", err: ":4: text after the 1 entries"},
		{name: "junk at the end", text: pattern + "2 2 1\n1 2\n\nabc def\n", err: ":5: text after the 1 entries"},
		{name: "index 0", text: pattern + "2 2 1\n0 1\n", err: ":3: index \"0\" is not"},
		{name: "index too large", text: pattern + "2 2 1\n1 3\n", err: ":3: index \"3\" is not an integer from 1 to 2"},
		{name: "index decimal", text: pattern + "2 2 1\n1 2.0\n", err: ":3: index \"2.0\" is not an integer from 1 to 2"},
		{name: "value missing", text: "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n", err: ":3: 2 fields where an entry has 3"},
		{name: "value too many", text: pattern + "2 2 1\n1 2 3\n", err: ":3: 3 fields where an entry has 2"},
		{name: "value no number", text: "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 x\n", err: ":3: value \"x\" is not a number"},
		{name: "complex", text: "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 4\n", err: ":1: a complex matrix"},
		{name: "hermitian", text: "%%MatrixMarket matrix coordinate real hermitian\n", err: ":1: a matrix that is hermitian is not read"},
		{name: "skew", text: "%%MatrixMarket matrix coordinate real skew-symmetric\n", err: ":1: a matrix that is skew-symmetric is not read"},
		{name: "dense", text: "%%MatrixMarket matrix array real general\n", err: ":1: a dense matrix (array) is not read"},
		{name: "vector", text: "%%MatrixMarket vector coordinate real general\n", err: ":1: a MatrixMarket vector is not a matrix"},
		{name: "banner short", text: "%%MatrixMarket matrix coordinate real\n2 2 0\n", err: ":1: the first line of a MatrixMarket file is"},
		{name: "not square", text: pattern + "2 3 0\n", err: ":2: a matrix of 2 rows and 3 columns is not square"},
		{name: "size missing", text: pattern + "% only this\n", err: ":2: the file ends before the size line"},
		{name: "size of two numbers", text: pattern + "2 2\n", err: ":2: the size line has three integers"},
		{name: "size negative", text: pattern + "-2 -2 1\n", err: ":2: the size line has three non-negative integers"},
		{name: "2^60 rows", text: pattern + "1152921504606846976 1152921504606846976 1\n1 1\n", err: ":2: 1152921504606846976 vertices are more than 2147483647"},
		{name: "2^31 rows", text: pattern + "2147483648 2147483648 1\n1 1\n", err: ":2: 2147483648 vertices are more than"},
		{name: "2^64 rows", text: pattern + "18446744073709551616 18446744073709551616 1\n1 1\n", err: ":2: the size line has three non-negative integers"},
		{name: "2^60 entries", text: pattern + "2 2 1152921504606846976\n1 1\n", err: ":3: the size line declares 1152921504606846976 entries and the file has 1"},
	})
}

func TestMETIS(t *testing.T) {
	runCases(t, []readCase{
		{name: "path", text: "% c\n3 2\n2\n1 3\n2\n", format: "metis", vertices: "1 2 3", edges: "1>2 2>1 2>3 3>2"},
		{name: "blank row", text: "3 1 0\n3\n\n1\n", format: "metis", vertices: "1 2 3", edges: "1>3 3>1"},
		{name: "last blank row without line end", text: "3 1\n2\n1\n", format: "metis", options: Options{Format: "metis"}, vertices: "1 2 3", edges: "1>2 2>1"},
		{name: "comments between rows", text: "2 1\n% x\n2\n%y\n1\n% z\n", format: "metis", vertices: "1 2", edges: "1>2 2>1"},
		{name: "edge weights", text: "2 1 1\n2 5\n1 5\n", format: "metis", vertices: "1 2", edges: "1>2=5 2>1=5"},
		{name: "vertex weights", text: "2 1 011 2\n7 8 2 5\n9 9 1 5\n", format: "metis", vertices: "1 2", edges: "1>2=5 2>1=5"},
		{name: "vertex sizes", text: "2 1 100\n3 2\n4 1\n", format: "metis", vertices: "1 2", edges: "1>2 2>1"},
		{name: "ring", text: "4 4\n2 4\n1 3\n2 4\n1 3\n", format: "metis", vertices: "1 2 3 4", edges: "1>2 1>4 2>1 2>3 3>2 3>4 4>1 4>3"},
		{name: "edge list that is no METIS", text: "4 4\n2 4\n1 3\n2 4\n1 2\n", format: "edgelist", edges: "4>4 2>4 1>3 2>4 1>2"},
		{name: "edge list of loops", text: "2 2\n2 2\n1 1\n", format: "edgelist", edges: "2>2 2>2 1>1"},
		{name: "CRLF", text: "2 1\r\n2\r\n1\r\n", format: "metis", vertices: "1 2", edges: "1>2 2>1"},
		{name: "loop", text: "2 2\n1 2\n1\n", options: Options{Format: "metis"}, vertices: "1 2", edges: "1>1 1>2 2>1"},

		{name: "wrong m", text: "2 2\n2\n1\n", options: Options{Format: "metis"}, err: ":3: the header declares 2 edges, which are named twice each, and the rows name 2 neighbours"},
		{name: "too few rows", text: "4 1\n2\n1\n", options: Options{Format: "metis"}, err: ":3: the header declares 4 vertices and there are 2 rows"},
		{name: "too many rows", text: "2 1\n2\n1\n\n1\n", options: Options{Format: "metis"}, err: ":5: text after the rows of the 2 vertices"},
		{name: "out of range", text: "2 1\n3\n1\n", options: Options{Format: "metis"}, err: ":2: neighbour \"3\" of vertex 1 is not an integer from 1 to 2"},
		{name: "0", text: "2 1\n0\n1\n", options: Options{Format: "metis"}, err: ":2: neighbour \"0\" of vertex 1"},
		{name: "word", text: "2 1\nx\n1\n", options: Options{Format: "metis"}, err: ":2: neighbour \"x\" of vertex 1"},
		{name: "weight missing", text: "2 1 1\n2\n1 5\n", options: Options{Format: "metis"}, err: ":2: neighbour 2 of vertex 1 has no weight"},
		{name: "vertex weight missing", text: "2 1 10\n\n1 1\n", options: Options{Format: "metis"}, err: ":2: the row of vertex 1 has 0 of its 1 leading numbers"},
		{name: "format unknown", text: "2 1 7\n2\n1\n", options: Options{Format: "metis"}, err: ":1: the third number of a METIS header is one of"},
		{name: "header of words", text: "a b\n", options: Options{Format: "metis"}, err: ":1: the first line of a METIS file has two to four integers"},
		{name: "2^60 vertices", text: "1152921504606846976 1\n2\n1\n", options: Options{Format: "metis"}, err: ":1: 1152921504606846976 vertices are more than 2147483647"},
		{name: "2^31-1 vertices in a small file", text: "2147483647 1\n2\n1\n", options: Options{Format: "metis"}, err: ":3: the header declares 2147483647 vertices and there are 2 rows"},
	})
}

func TestPajek(t *testing.T) {
	runCases(t, []readCase{
		{name: "edges", text: "*Vertices 3\r\n1 \"a b\" 0.1 0.2\r\n2 \"*Arcs\"\r\n3 c ic Blue\r\n*Edges\r\n1 2 4 c Red\r\n 2 3\r\n", format: "pajek", vertices: "1 2 3", edges: "1>2=4 2>3"},
		{name: "no vertex list", text: "% x\n*vertices 2\n*arcs\n1 2 1\n", format: "pajek", vertices: "1 2", edges: "1>2=1"},
		{name: "lists", text: "*Vertices 4\n*Arcslist\n1 2 3\n4\n*Edgeslist\n3 4 1\n", vertices: "1 2 3 4", edges: "1>2 1>3 3>4 3>1"},
		{name: "relations", text: "*Vertices 2\n*Arcs :1 \"likes\"\n1 2 1 l \"x y\"\n*Arcs :2 \"knows\"\n2: 2 1 3\n", vertices: "1 2", edges: "1>2=1 2>1=3"},
		{name: "matrix", text: "*Vertices 2\n*Matrix\n0 1\n2.5 0\n", vertices: "1 2", edges: "1>2=1 2>1=2.5"},
		{name: "two-mode matrix", text: "*Vertices 3 1\n*Matrix\n0 1\n", vertices: "1 2 3", edges: "1>3=1"},
		{name: "project", text: "*Network \"x\"\n% c\n*Vertices 2\n1 \"a\"\n2 \"b\"\n*Arcs\n1 2\n*Partition p\n*Vertices 2\n1\n0\n*Vector v\n*Vertices 2\n0.5\n0.5\n", format: "pajek", vertices: "1 2", edges: "1>2"},
		{name: "project with matrix heading", text: "*Matrix x\n*Vertices 2\n*Edges\n1 2\n", format: "pajek", vertices: "1 2", edges: "1>2"},
		{name: "8-bit names", text: "*Vertices 1\n1 \"caf\xe9\"\n*Edges\n1 1\n", vertices: "1", edges: "1>1"},
		{name: "declared count", text: "*Vertices 2\n*Edges 1\n1 2\n", vertices: "1 2", edges: "1>2"},
		{name: "leading zeros", text: "*Vertices 2\n01 a\n*Edges\n001 02\n", vertices: "1 2", edges: "1>2"},

		{name: "out of range", text: "*Vertices 2\n*Edges\n1 3\n", err: ":3: vertex \"3\" is not an integer from 1 to 2"},
		{name: "negative", text: "*Vertices 2\n*Arcslist\n1 -2\n", err: ":3: vertex \"-2\" is not an integer from 1 to 2"},
		{name: "listed twice", text: "*Vertices 2\n1 a\n1 b\n", err: ":3: vertex 1 is listed twice"},
		{name: "listed out of range", text: "*Vertices 2\n3 a\n", err: ":2: vertex \"3\" is not"},
		{name: "one field", text: "*Vertices 2\n*Edges\n1\n", err: ":3: a line with one field"},
		{name: "count wrong", text: "*Vertices 2\n*Edges 2\n1 2\n", err: ":2: the heading declares 2 edges and the section has 1"},
		{name: "matrix row short", text: "*Vertices 2\n*Matrix\n0\n", err: ":3: row 1 of the matrix has 1 values where there are 2 rows of 2"},
		{name: "matrix cut off", text: "*Vertices 2\n*Matrix\n0 1\n", err: ":3: the matrix has 1 rows where 2 are needed"},
		{name: "matrix of words", text: "*Vertices 1\n*Matrix\nx\n", err: ":3: value \"x\" is not a number"},
		{name: "edges first", text: "*Edges\n1 2\n", err: ":1: *Vertices was expected before the edges"},
		{name: "two networks", text: "*Vertices 1\n*Edges\n1 1\n*Network b\n", err: ":4: a second network in the file"},
		{name: "two vertex headings", text: "*Vertices 1\n*Vertices 1\n", err: ":2: a second *Vertices"},
		{name: "no number", text: "*Vertices\n", err: ":1: *Vertices without a number"},
		{name: "2^60 vertices", text: "*Vertices 1152921504606846976\n*Edges\n1 2\n", err: ":1: 1152921504606846976 vertices are more than 2147483647"},
		{name: "edges of a partition", text: "*Vertices 1\n*Partition\n*Arcs\n1 1\n", err: ":3: edges that belong to no network"},
		{name: "events", text: "*Vertices 1\n*Events\nTI 1\n", err: ":2: a network of time events is not read"},
		{name: "unknown section", text: "*Vertices 1\n*Curves\n", err: ":2: a section that is not read"},
		{name: "only a network name", text: "*Network x\n", err: ":1: a Pajek file without *Vertices"},
	})
}

func TestAdjacencyList(t *testing.T) {
	o := Options{Format: "adjlist"}
	runCases(t, []readCase{
		{name: "plain", text: "# networkx\na b c\nb\n\nd a\n", options: o, format: "adjlist", vertices: "a b d", edges: "a>b a>c d>a"},
		{name: "one vertex", text: "a\n", options: o, vertices: "a"},
		{name: "CR", text: "1 2\r2 3\r", options: o, vertices: "1 2", edges: "1>2 2>3"},
		{name: "colon", text: "1: 2 3\n", options: o, err: ":1: an id that ends with :"},
		{name: "decimal", text: "1 2\n2 3.0\n", options: o, err: ":2: vertex id \"3.0\" is written as a decimal number"},
		{name: "byte 0", text: "1 2\n2 \x00\n", options: o, err: ":2: byte 0 in the text"},
	})
}

func TestRefusedKinds(t *testing.T) {
	runCases(t, []readCase{
		{name: "HTML", text: "<!DOCTYPE html>\n<html></html>\n", err: ":1: this is a web page (HTML)"},
		{name: "HTML after a comment", text: "\n<!-- x -->\n<HTML>\n", err: ":1: this is a web page (HTML)"},
		{name: "HTML in spite of the format", text: "<html>", options: Options{Format: "edgelist"}, err: ":1: this is a web page (HTML)"},
		{name: "other XML", text: "<?xml version=\"1.0\"?>\n<svg></svg>", err: ":1: XML with root element <svg>, which is not GraphML or GEXF"},
		{name: "JSON", text: "{\"nodes\": []}", err: ":1: this looks like JSON"},
		{name: "JSON list", text: "[[1, 2]]", err: ":1: this looks like JSON"},
		{name: "DOT", text: "strict digraph G {\n a -> b\n}\n", err: ":1: this looks like a GraphViz DOT file"},
		{name: "DIMACS", text: "c x\np edge 3 2\ne 1 2\n", err: ":1: this looks like a DIMACS file"},
		{name: "PDF", text: "%PDF-1.4\n1 2\n", err: ":1: this is a PDF document"},
		{name: "binary", text: strings.Repeat("7a\x01\xff\x05b\n\x13\x1ec", 9), err: ":1: this is not a text graph file"},
		{name: "PNG", text: "\x89PNG\r\n\x1a\n", err: ":1: this is a PNG image"},
		{name: "tar", text: "x.txt" + strings.Repeat("\x00", 252) + "ustar\x0000", err: ":1: this is a tar archive"},
		{name: "Parquet from a pipe", text: "PAR1xxxxPAR1", err: ":1: this is Parquet, which needs a plain file on disk"},
		{name: "LFS pointer", text: "version https://git-lfs.github.com/spec/v1\n", err: ":1: this is a Git LFS pointer"},
		{name: "columns of GML", text: "graph [ node [ id 1 ] ]", options: Options{Source: "1", Target: "2"}, err: ": the format is gml, which has no columns to choose"},
		{name: "LZ4", text: "\x04\x22\x4d\x18xxxx", err: ": byte 0: packed with LZ4, which is not read"},
	})
}
