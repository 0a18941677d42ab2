package reader

import (
	"context"
	"fmt"
	"strings"
)

// run is one reading of all inputs.
type run struct {
	ctx     context.Context
	r       *Reader
	vertex  func(id []byte) error
	edge    func(Edge) error
	stats   *Stats
	strings bool  // ids of any form are taken
	bad     int64 // lines skipped
	listed  int64 // vertices handed out

	workers int // of ForEachParallel, 0 for ForEach
	to      Callbacks

	konect    int64 // rows that KONECT header lines declare, -1 without
	snapEdges int64 // edges that SNAP comments declare, -1 without
	lateLine  int64 // first comment that stands after an edge
	lateCount int64

	doubt     *doubt // the first row of all may be a header
	doubtFile string
	again     bool // no: an id of it came again
	widths    tableCounts
}

func newRun(ctx context.Context, r *Reader, onVertex func([]byte) error, onEdge func(Edge) error) *run {
	if onVertex == nil {
		onVertex = func([]byte) error { return nil }
	}
	if onEdge == nil {
		onEdge = func(Edge) error { return nil }
	}
	return &run{ctx: ctx, r: r, vertex: onVertex, edge: onEdge, stats: &r.stats,
		strings: r.opts.IDType == "string", konect: -1, snapEdges: -1}
}

// input reads input i with the reader of its format.
func (u *run) input(i int) error {
	in := u.r.inputs[i]
	if in.stream != nil && in.opened == nil {
		return &FileError{File: in.name, Byte: -1, Reason: "a stream can be read only once", Remedy: "Save it to a file."}
	}
	src, err := in.open(u.ctx)
	if err != nil {
		return err
	}
	defer src.close()
	if i == 0 {
		u.stats.Compression = src.compression
	} else if u.stats.Compression != src.compression {
		u.stats.Compression = "mixed"
	}
	rows := u.stats.Rows
	if err := u.read(src, i); err != nil {
		if u.stats.Rows == rows { // nothing in it was a row
			return u.r.stray(in, err)
		}
		return err
	}
	u.noteEncoding(src)
	return nil
}

func (u *run) read(src *source, i int) error {
	switch u.r.format {
	case "gml":
		return u.gml(src)
	case "graphml":
		return u.graphML(src)
	case "gexf":
		return u.gexf(src)
	case "mtx":
		return u.matrixMarket(src)
	case "metis":
		return u.metis(src)
	case "pajek":
		return u.pajek(src)
	case "adjlist":
		return u.adjacency(src)
	case "parquet":
		return u.parquet(src)
	}
	if u.workers > 1 {
		return u.tableParallel(src, u.r.dialect[i])
	}
	return u.table(src, u.r.dialect[i])
}

// addVertex hands out a vertex that the input lists.
func (u *run) addVertex(id []byte) error {
	u.listed++
	return u.vertex(id)
}

// addEdge hands out a row.
func (u *run) addEdge(e Edge) error {
	u.stats.Rows++
	u.stats.Weighted = u.stats.Weighted || e.HasWeight
	return u.edge(e)
}

// noteEncoding merges the encoding of one input: the least plain one wins.
func (u *run) noteEncoding(src *source) {
	name := src.encoding()
	if src.mark != "" && !src.notUTF8 {
		name = src.mark
	}
	if rank(name) > rank(u.stats.Encoding) {
		u.stats.Encoding = name
	}
}

func rank(encoding string) int {
	switch encoding {
	case "":
		return 0
	case "ASCII":
		return 1
	case "UTF-8":
		return 2
	case "UTF-8 with byte order mark":
		return 3
	case "UTF-16LE", "UTF-16BE":
		return 4
	}
	return 5
}

// skip decides over a bad line: nil when it may be skipped. line is the whole of it.
func (u *run) skip(e *LineError, line []byte) error {
	if u.bad >= u.r.opts.MaxBadLines {
		if u.bad > 0 {
			e.Reason += fmt.Sprintf(", after %s skipped", plural(u.bad, "bad line"))
		}
		return e
	}
	u.bad++
	u.stats.BadLines++
	if u.r.opts.OnBadLine == nil {
		return nil
	}
	return u.r.opts.OnBadLine(e, line)
}

// finish checks what can be said only at the end.
func (u *run) finish() error {
	s := u.stats
	if s.Rows == 0 && u.listed == 0 {
		name := u.r.inputs[0].name
		if len(u.r.inputs) > 1 {
			name += " and the other parts"
		}
		return &FileError{File: name, Byte: -1, Reason: fmt.Sprintf("no edge in %s (%s, %d blank, %d bad)",
			plural(s.Lines, "line"), plural(s.Comments, "comment"), s.Blank, s.BadLines), Remedy: "Check that this is the graph file."}
	}
	if u.konect >= 0 && u.konect != s.Rows && u.konect != s.Rows+s.BadLines {
		return &LineError{File: u.r.inputs[0].name, Line: 2,
			Reason: fmt.Sprintf("the KONECT header declares %d edges and the file has %d", u.konect, s.Rows),
			Remedy: "The file may be cut off: fetch it again, or correct the header."}
	}
	if u.snapEdges >= 0 && u.snapEdges != s.Rows && u.snapEdges != s.Rows+s.BadLines {
		return &FileError{File: u.r.inputs[0].name, Byte: -1, Reason: fmt.Sprintf("a comment declares %s and the file has %s", plural(u.snapEdges, "edge"), plural(s.Rows, "row")),
			Remedy: "The file may be cut off: fetch it again; or correct or remove the comment."}
	}
	if err := u.checkWidths(); err != nil {
		return err
	}
	if err := u.checkDoubt(); err != nil {
		return err
	}
	if u.lateCount > 0 {
		u.note("%s after the first edge, beginning with line %d: an id cannot begin with # or %%", plural(u.lateCount, "comment line"), u.lateLine)
	}
	return nil
}

// checkWidths refuses an edge list whose rows have now two, now three or four fields:
// what follows the ids may be a weight, or more neighbours of an adjacency list, which
// would be lost.
func (u *run) checkWidths() error {
	parts := len(u.r.inputs) > 1 // lines of several files do not compare
	var line int64
	var kinds []string
	for n, first := range u.widths.widths {
		if first > 0 {
			line = max(line, first)
			kind := fmt.Sprintf("%d fields", n)
			if !parts {
				kind += fmt.Sprintf(" (line %d)", first)
			}
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	name := u.r.inputs[0].name
	reason := "rows of " + strings.Join(kinds, " and of ") + ": an edge list where some rows have a weight, or an adjacency list"
	const remedy = "Say --format edgelist, which ignores what follows the two ids, or --format adjlist."
	if parts {
		return &FileError{File: name + " and the other parts", Byte: -1, Reason: reason, Remedy: remedy}
	}
	return &LineError{File: name, Line: line, Reason: reason, Remedy: remedy}
}

// checkDoubt refuses a table whose first row may be a header: taken for an
// edge, it would be two vertices that are nobody. Edge lists cut by white space
// have no headers as a rule, so there a note is enough.
func (u *run) checkDoubt() error {
	d := u.doubt
	if d == nil || u.again || u.stats.Rows < 2 {
		return nil
	}
	if d.delim == 0 {
		u.note("line %d was read as an edge, and neither of its ids comes again: say --format csv (or tsv) if it is a header", d.line)
		return nil
	}
	return &LineError{File: u.doubtFile, Line: d.line, Text: d.text,
		Reason: "this line is a header or an edge, and the file does not tell: neither of its two ids comes again",
		Remedy: "If it is a header, say --format csv (or tsv), or choose the columns with --source and --target; if it is an edge, say --format edgelist."}
}

func (u *run) note(format string, args ...any) {
	u.stats.Notes = append(u.stats.Notes, fmt.Sprintf(format, args...))
}

// plural is a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
