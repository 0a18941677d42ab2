package export

import (
	"errors"
	"fmt"
	"strconv"
)

// EdgeWriter takes the edges of one graph, each undirected edge once.
type EdgeWriter interface {
	// Write adds the edge between vertices number u and v.
	Write(u, v int64) error
	// WriteIDs adds the edge between the vertices with these identifiers.
	WriteIDs(src, dst string) error
	// Close completes the file. It is an error after Abort.
	Close() error
	// Abort removes what was written. After Close it does nothing, so that it
	// can be deferred.
	Abort() error
}

// Options of a writer. The zero value writes vertex numbers.
type Options struct {
	// Format overrides what the file's name says; the suffix .gz or .zst counts
	// all the same.
	Format Format
	// N is the number of vertices. Formats that list vertices list all N, also
	// those without an edge. 0 means unknown: the vertices are those of the
	// edges, and with Write all numbers up to the largest.
	N int64
	// Labels are the vertices' communities, N of them, for formats that hold
	// vertex attributes (gml, graphml: attribute "community").
	Labels []int
	// IDs gives vertex i its identifier; nil means the number. It must name
	// each vertex differently.
	IDs func(i int64) string
	// StringIDs makes the columns of a Parquet file strings. Otherwise they are
	// 64-bit integers, and an identifier that is none is an error.
	StringIDs bool
}

func (o Options) validate(path string) error {
	if o.Format != "" && !o.Format.known() {
		return fmt.Errorf("export: %s: unknown format %q; known are %v", path, o.Format, Formats())
	}
	if o.N < 0 {
		return fmt.Errorf("export: %s: %d vertices", path, o.N)
	}
	if o.Labels != nil && int64(len(o.Labels)) != o.N {
		return fmt.Errorf("export: %s: %d labels for %d vertices", path, len(o.Labels), o.N)
	}
	return nil
}

// NewWriter starts a file in the format of its name. Nothing is at path before
// Close.
func NewWriter(path string, o Options) (EdgeWriter, error) {
	if err := o.validate(path); err != nil {
		return nil, err
	}
	format, compression := o.Format, None
	if format == "" {
		var err error
		if format, compression, err = FormatOf(path); err != nil {
			return nil, err
		}
	} else if format != Parquet {
		_, compression = splitCompression(path)
	}
	out, err := createFile(path, compression)
	if err != nil {
		return nil, err
	}
	w := &writer{path: path, opts: o}
	switch format {
	case Snap:
		w.enc = &snapRows{out}
	case CSV:
		w.enc, err = newCSVRows(out)
	case Parquet:
		w.enc = newParquetRows(out, o.StringIDs)
	default:
		w.enc, err = newDocument(format, out, o)
	}
	if err != nil {
		out.abort()
		return nil, fmt.Errorf("export: %s: %w", path, err)
	}
	if _, lists := w.enc.(*document); o.IDs != nil && !lists {
		w.enc = named{w.enc, o.IDs}
	}
	return w, nil
}

// encoder writes edges in one format.
type encoder interface {
	numbers(u, v int64) error    // numbers are within 0..N-1
	names(src, dst string) error // identifiers
	finish() error               // writes what is left and names the file
	abort()
}

// writer checks and counts, and leaves the bytes to its encoder.
type writer struct {
	path  string
	opts  Options
	enc   encoder
	edges int64
	err   error // the first error, or errClosed
}

var (
	errClosed  = errors.New("export: the writer is closed")
	errAborted = errors.New("export: the writer was aborted")
)

func (w *writer) Write(u, v int64) error {
	if w.err != nil {
		return w.err
	}
	if u < 0 || v < 0 || (w.opts.N > 0 && (u >= w.opts.N || v >= w.opts.N)) {
		return w.fail(fmt.Errorf("edge (%d, %d) of a graph with %s vertices", u, v, w.size()))
	}
	if err := w.enc.numbers(u, v); err != nil {
		return w.fail(err)
	}
	w.edges++
	return nil
}

func (w *writer) size() string {
	if w.opts.N == 0 {
		return "any number of"
	}
	return strconv.FormatInt(w.opts.N, 10)
}

func (w *writer) WriteIDs(src, dst string) error {
	if w.err != nil {
		return w.err
	}
	if src == "" || dst == "" {
		return w.fail(fmt.Errorf("edge (%q, %q) has an empty identifier", src, dst))
	}
	if err := w.enc.names(src, dst); err != nil {
		return w.fail(err)
	}
	w.edges++
	return nil
}

func (w *writer) fail(err error) error {
	w.err = fmt.Errorf("export: %s, after %d edges: %w; nothing was kept", w.path, w.edges, err)
	w.enc.abort()
	return w.err
}

func (w *writer) Close() error {
	if w.err != nil {
		if w.err == errClosed {
			return nil
		}
		return w.err
	}
	if err := w.enc.finish(); err != nil {
		return w.fail(err)
	}
	w.err = errClosed
	return nil
}

func (w *writer) Abort() error {
	if w.err == nil {
		w.enc.abort()
		w.err = errAborted
	}
	return nil
}
