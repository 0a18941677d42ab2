package reader

import (
	"bytes"
	"context"
	"strings"
)

// detect looks at the first window of each input and settles the format, and
// for tables the dialect of each.
func (r *Reader) detect(ctx context.Context) error {
	r.dialect = make([]*dialect, len(r.inputs))
	var first *input
	var base *dialect
	for i, in := range r.inputs {
		src, err := in.open(ctx)
		if err != nil {
			return err
		}
		format, err := r.detectOne(src, i, base)
		if in.stream != nil || !src.regular {
			in.stream, in.opened = src.rd, src
		} else {
			src.close()
		}
		if err != nil {
			return r.stray(in, err)
		}
		if format == "" { // an empty part
			continue
		}
		if first == nil {
			first, r.format, base = in, format, r.dialect[i]
			continue
		}
		if err := r.sameFormat(first, in, format); err != nil {
			return r.stray(in, err)
		}
	}
	if first == nil {
		return &FileError{File: r.inputs[0].name, Byte: 0, Reason: "the file is empty", Remedy: "Check that this is the graph file."}
	}
	if r.opts.Source != "" && !isTable(r.format) && r.format != "parquet" {
		return &FileError{File: first.name, Byte: -1, Reason: "the format is " + r.format + ", which has no columns to choose",
			Remedy: "Leave out the source and target columns, or say the format."}
	}
	return nil
}

// sameFormat refuses a folder of different things. Headerless comma tables
// pass as parts of a CSV file.
func (r *Reader) sameFormat(first, in *input, format string) error {
	if !canSplit(r.format) || !canSplit(format) && !isTable(r.format) {
		if r.format == format {
			return &FileError{File: in.name, Byte: -1, Reason: "a second " + format + " file beside " + first.name + ": such a file holds a whole graph",
				Remedy: "Give one file, or convert the parts to edge lists."}
		}
	}
	if r.format == format || isTable(r.format) && isTable(format) {
		return nil
	}
	return &FileError{File: in.name, Byte: -1, Reason: "the format is " + format + " while " + first.name + " is " + r.format,
		Remedy: "Give parts of one format, or say it with --format."}
}

// detectOne names the format of one input; "" for an empty one.
func (r *Reader) detectOne(src *source, i int, base *dialect) (string, error) {
	format := r.opts.Format
	if src.parquet {
		if format != "" && format != "parquet" {
			return "", &FileError{File: src.text.file, Byte: 0, Reason: "this is a Parquet file, not " + format, Remedy: "Leave out --format."}
		}
		return "parquet", nil
	}
	sample, whole := src.sample(), src.eof && src.err == nil
	if len(sample) == 0 {
		if src.err != nil {
			return "", src.err
		}
		return "", nil
	}
	if err := refuse(src, sample, format != ""); err != nil {
		return "", err
	}
	if format == "" {
		format = guess(sample, whole)
		if format == "metis" && base != nil { // a small part of an edge list may look like it
			format = ""
		}
	}
	if xml := xmlRoot(sample); format == "xml" {
		return "", &LineError{File: src.text.file, Line: 1, Text: firstLine(sample), Reason: "XML with root element <" + xml + ">, which is not GraphML or GEXF",
			Remedy: "Export the graph as GraphML, GEXF, GML, CSV or an edge list."}
	}
	if format != "" && !isTable(format) {
		return format, nil
	}
	d, err := detectTable(src.text.file, sample, whole, r.opts, base)
	if err != nil {
		return "", err
	}
	r.dialect[i] = d
	return d.format, nil
}

// guess names the format by its content; "" for a table.
func guess(sample []byte, whole bool) string {
	trimmed := bytes.TrimLeft(sample, " \t\r\n\v\f")
	switch {
	case len(trimmed) == 0:
		return ""
	case trimmed[0] == '<':
		switch strings.ToLower(xmlRoot(trimmed)) {
		case "graphml":
			return "graphml"
		case "gexf":
			return "gexf"
		case "":
			return ""
		}
		return "xml"
	case isMatrixBanner(trimmed):
		return "mtx"
	case looksPajek(trimmed):
		return "pajek"
	case looksGML(trimmed):
		return "gml"
	case looksMETIS(sample, whole):
		return "metis"
	}
	if list, _ := looksNetworkX(trimmed); list {
		return "adjlist"
	}
	return ""
}

// looksNetworkX knows an adjacency list by the comments that networkx writes above one: the
// program, the hour in GMT, the graph's name. Rows alone do not tell it from a list of
// communities, so that without them --format has to say it. A list of several lines a vertex has
// the same comments, and its rows end with dictionaries.
func looksNetworkX(b []byte) (list, severalLines bool) {
	lines := bytes.SplitN(b, []byte{'\n'}, 4)
	if len(lines) < 4 || !bytes.HasPrefix(lines[0], []byte{'#'}) || !bytes.HasPrefix(lines[1], []byte("# GMT ")) || !bytes.HasPrefix(lines[2], []byte{'#'}) {
		return false, false
	}
	severalLines = bytes.IndexByte(lines[3], '{') >= 0
	return !severalLines, severalLines
}

// refusals are other kinds of file, by their first bytes.
var refusals = []struct{ magic, kind string }{
	{"PAR1", "Parquet, which needs a plain file on disk and not a pipe or a packed file"},
	{"%PDF-", "a PDF document"},
	{"%!PS", "a PostScript document"},
	{"\x89PNG", "a PNG image"},
	{"GIF8", "a GIF image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"\x7fELF", "a program"},
	{"SQLite format 3", "an SQLite database"},
	{"\x89HDF", "an HDF5 file"},
	{"ARROW1", "an Arrow file"},
	{"Obj\x01", "an Avro file"},
	{"\x1f\x8b", "gzip inside another packing"},
	{"\x28\xb5\x2f\xfd", "zstd inside another packing"},
	{"BZh9", "bzip2 inside another packing"},
	{"\xfd7zXZ", "xz inside another packing"},
	{"PK\x03\x04", "zip inside another packing, or from a pipe"},
	{"version https://git-lfs", "a Git LFS pointer and not the file itself"},
	{">>graph6<<", "graph6"},
	{">>sparse6<<", "sparse6"},
	{">>digraph6<<", "digraph6"},
}

// isBinary tells data from text by the control characters that no text has. One kind of
// them may be a separator, or a fault of one line with a better message of its own;
// byte 0 alone is UTF-16 without a mark.
func isBinary(sample []byte) bool {
	var kinds [32]bool
	total, distinct := 0, 0
	for _, c := range sample {
		if c == 0 || c >= 32 || c >= '\t' && c <= '\r' {
			continue
		}
		total++
		if !kinds[c] {
			kinds[c] = true
			distinct++
		}
	}
	return distinct >= 4 && total*50 > len(sample)
}

// refuse recognises what is certainly no graph file, and says so. Where the
// user has said the format, text is not second-guessed, web pages excepted.
func refuse(src *source, sample []byte, said bool) error {
	name := src.text.file
	for _, k := range refusals {
		if bytes.HasPrefix(sample, []byte(k.magic)) {
			return refused(name, sample, "this is "+k.kind)
		}
	}
	if len(sample) > 262 && bytes.Equal(sample[257:262], []byte("ustar")) {
		return refused(name, sample, "this is a tar archive: unpack it")
	}
	if !said && isBinary(sample) {
		return refused(name, nil, "this is not a text graph file: its first bytes are no text")
	}
	trimmed := bytes.TrimLeft(sample, " \t\r\n\v\f")
	if len(trimmed) == 0 {
		return nil
	}
	lower := bytes.ToLower(trimmed[:min(len(trimmed), 64)])
	_, severalLines := looksNetworkX(trimmed)
	switch {
	case bytes.HasPrefix(lower, []byte("<!doctype html")), bytes.HasPrefix(lower, []byte("<html")),
		strings.EqualFold(xmlRoot(trimmed), "html"):
		return refused(name, sample, "this is a web page (HTML), perhaps saved in place of the file")
	case said:
		return nil
	case trimmed[0] == '<' && xmlRoot(trimmed) == "" && bytes.HasPrefix(lower, []byte("<?xml")):
		return refused(name, sample, "XML without a root element in its first 256 KiB")
	case trimmed[0] == '{' || trimmed[0] == '[' && looksJSON(trimmed):
		return refused(name, sample, "this looks like JSON, which is not read")
	case dotStart(lower):
		return refused(name, sample, "this looks like a GraphViz DOT file, which is not read")
	case severalLines:
		return refused(name, sample, "this is an adjacency list of several lines a vertex (networkx write_multiline_adjlist), which is not read")
	case looksDIMACS(trimmed):
		return refused(name, sample, "this looks like a DIMACS file, which is not read")
	}
	return nil
}

func refused(name string, sample []byte, reason string) error {
	text := firstLine(sample)
	if strings.IndexByte(text, 0) >= 0 {
		text = "" // says nothing to anybody
	}
	return &LineError{File: name, Line: 1, Text: text, Reason: reason,
		Remedy: "Give an edge list, CSV, GML, GraphML, GEXF, MatrixMarket, METIS, Pajek or Parquet file."}
}

func firstLine(sample []byte) string {
	b := sample[:min(len(sample), shortText)]
	if i := bytes.IndexAny(b, "\r\n"); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// looksJSON: an opening bracket followed by JSON punctuation.
func looksJSON(b []byte) bool {
	rest := bytes.TrimLeft(b[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '[' || rest[0] == '{' || rest[0] == '"' || isDigit(rest[0]))
}

// dotStart: [strict] (graph|digraph) [name] { — GML has [ there.
func dotStart(lower []byte) bool {
	words := bytes.Fields(lower)
	if len(words) > 0 && string(words[0]) == "strict" {
		words = words[1:]
	}
	if len(words) == 0 || string(words[0]) != "graph" && string(words[0]) != "digraph" {
		return len(words) > 0 && (string(words[0]) == "graph{" || string(words[0]) == "digraph{")
	}
	return bytes.IndexByte(lower, '{') >= 0 && bytes.IndexByte(lower, '[') < 0
}

// looksDIMACS finds the problem line "p edge 10 20" after "c" comments.
func looksDIMACS(b []byte) bool {
	t := blockText("", b, 0, 0, -1)
	for i := 0; i < 1000; i++ {
		line, err := t.next()
		if err != nil {
			return false
		}
		words := bytes.Fields(line)
		switch {
		case len(words) == 0 || string(words[0]) == "c":
			continue
		case string(words[0]) == "p" && len(words) >= 3:
			switch string(words[1]) {
			case "edge", "edges", "col", "sp", "max", "tw", "td":
				return true
			}
		}
		return false
	}
	return false
}

// xmlRoot is the name of the root element without its prefix, "" when the
// sample does not come to one.
func xmlRoot(sample []byte) string {
	l := xmlLexer{tx: blockText("", sample, 0, 0, -1)}
	for {
		kind, err := l.next(false)
		switch {
		case len(l.name) > 0:
			return string(l.name[:min(len(l.name), 64)])
		case err != nil || kind == xmlEOF || kind == xmlEnd:
			return ""
		}
	}
}
