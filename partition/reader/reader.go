package reader

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Options say how inputs are read. The zero value detects everything.
type Options struct {
	// Format overrides detection: edgelist, csv, tsv, adjlist, gml, graphml,
	// gexf, mtx, metis, pajek, parquet. Empty: by content.
	Format string
	// Source and Target choose the columns of a table by header name or by
	// number from 1. Empty: known names (Source/Target, from/to, id_1/id_2 and
	// so on), else the first two.
	Source, Target string
	// MaxBadLines is how many lines of an edge list, CSV, MatrixMarket file, Pajek list of
	// edges or Parquet file may be skipped before the next one is an error. Default 0.
	MaxBadLines int64
	// IDType "string" takes every non-empty label as it stands, "1.0" and "-3"
	// too. Empty: such labels are refused (they are the mark of ids that went
	// through a float).
	IDType string
	// Stdin is read for the input "-". Nil: os.Stdin.
	Stdin io.Reader
	// OnBadLine, if set, is told of every line that is skipped, with the whole of it: valid
	// until it returns, without its line end, in UTF-8 where the file is UTF-16, empty where
	// a format has no lines. An error of it ends the reading and is returned as it is.
	OnBadLine func(e *LineError, line []byte) error
}

// Edge is one row of an input. Source and Target are valid until the callback
// returns. Weight is set only when HasWeight: the row has a column, attribute
// or matrix value that is a number. Line counts from 1 within File.
type Edge struct {
	Source, Target []byte
	Weight         float64
	HasWeight      bool
	Line           int64
	File           string
}

// Stats describe what was read. Counts are complete only after ForEach has
// returned nil.
type Stats struct {
	Format           string   // as in Options.Format
	Encoding         string   // ASCII, UTF-8, UTF-16LE, ... or 8-bit
	Compression      string   // "", gzip, zstd, bzip2, xz, zip; "mixed" over parts
	Columns          []string // names in the header of a table
	Lines            int64    // lines of text, or rows of Parquet
	Comments         int64    // comment lines
	Blank            int64    // lines of white space only
	Rows             int64    // edges handed out, loops and repeats included
	BadLines         int64    // lines skipped under MaxBadLines
	DeclaredVertices int64    // vertices that a header or a node list declares
	DeclaredEdges    int64    // edges that a header declares
	Directed         string   // what the input says: yes, no, unknown
	Weighted         bool     // some row has a weight
	Notes            []string // plain sentences: what was skipped, what looks odd
}

// Reader reads the parts of one graph.
type Reader struct {
	opts    Options
	inputs  []*input
	format  string
	dialect []*dialect // of each input, for tables
	notes   []string
	stats   Stats
}

// Open finds the inputs and looks at the beginning of each one. Inputs are
// files, globs, folders of parts, or "-" for standard input; together they are
// one graph, and all have one format. Errors are FileError, LineError, or that
// of the context.
func Open(ctx context.Context, inputs []string, opts Options) (*Reader, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	opts.Format = formatNames[strings.ToLower(opts.Format)]
	ins, notes, err := expand(inputs, opts.Stdin)
	if err != nil {
		return nil, err
	}
	r := &Reader{opts: opts, inputs: ins, notes: notes}
	if err := r.detect(ctx); err != nil {
		r.Close()
		return nil, err
	}
	r.stats = r.freshStats()
	return r, nil
}

// Check gives an *OptionsError with every fault, or nil.
func (o *Options) Check() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	_, known := formatNames[strings.ToLower(o.Format)]
	fault(!known, "format %q is not known: it is one of edgelist, csv, tsv, adjlist, gml, graphml, gexf, mtx, metis, pajek, parquet", o.Format)
	fault(o.IDType != "" && o.IDType != "auto" && o.IDType != "string", "id type %q: it is auto or string", o.IDType)
	fault(o.MaxBadLines < 0, "max bad lines %d: it is 0 or more", o.MaxBadLines)
	fault((o.Source == "") != (o.Target == ""), "source and target columns: give both or none")
	fault(o.Source != "" && o.Source == o.Target, "source and target are both column %q", o.Source)
	if len(faults) > 0 {
		return &OptionsError{Faults: faults}
	}
	return nil
}

var formatNames = map[string]string{
	"": "", "auto": "",
	"edgelist": "edgelist", "edges": "edgelist", "el": "edgelist", "snap": "edgelist", "konect": "edgelist", "ncol": "edgelist",
	"csv": "csv", "tsv": "tsv", "adjlist": "adjlist",
	"gml": "gml", "graphml": "graphml", "gexf": "gexf",
	"mtx": "mtx", "matrixmarket": "mtx", "metis": "metis", "pajek": "pajek", "net": "pajek",
	"parquet": "parquet",
}

func isTable(format string) bool {
	return format == "edgelist" || format == "csv" || format == "tsv"
}

// canSplit says whether a graph of the format can lie in several files: those
// that declare their vertices hold a whole graph in one.
func canSplit(format string) bool {
	return isTable(format) || format == "adjlist" || format == "parquet"
}

// Close frees streams that detection has opened. It does not close Stdin.
func (r *Reader) Close() error {
	for _, in := range r.inputs {
		if in.opened != nil {
			in.opened.close()
			in.opened = nil
		}
	}
	return nil
}

// Stats returns what is known so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Notes = slices.Clone(s.Notes)
	return s
}

func (r *Reader) freshStats() Stats {
	return Stats{Format: r.format, Directed: "unknown", Notes: slices.Clone(r.notes)}
}

// ForEach reads all inputs once and calls onVertex for each vertex that the
// format lists and onEdge for each row, in the order of the inputs. Vertices
// can come after edges that use them. Either callback may be nil; an error
// from one ends the reading and is returned as it is. Files can be read again
// by a second call, streams cannot.
//
// What was handed out before an error is to be thrown away: an input is good
// only when ForEach returns nil, because counts and ends are checked last.
func (r *Reader) ForEach(ctx context.Context, onVertex func(id []byte) error, onEdge func(Edge) error) error {
	r.stats = r.freshStats()
	run := newRun(ctx, r, onVertex, onEdge)
	for i := range r.inputs {
		if err := run.input(i); err != nil {
			return err
		}
	}
	return run.finish()
}
