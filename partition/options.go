package partition

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"github.com/privcom/privcom/partition/reader"
)

// Defaults of Options.
const (
	DefaultMemory = 1 << 30
	MinMemory     = 1 << 20
	MaxShards     = 10_000
)

// Options say what is read and how. The zero value of every field but Inputs
// is its default.
type Options struct {
	// Inputs are files, globs, folders of parts, or "-": together one graph.
	Inputs []string
	// Format overrides detection by content; see package reader.
	Format string
	// IDType "string" takes every label as it stands, also "1.0" and "-3".
	IDType string
	// Source and Target choose the columns of a table.
	Source, Target string
	// MaxBadLines may be skipped before the next one is an error. Default 0.
	MaxBadLines int64
	// OnBadLine is told of every skipped line (see reader.Options).
	OnBadLine func(e *reader.LineError, line []byte) error
	// Stdin is read for the input "-". Default os.Stdin.
	Stdin io.Reader

	// VerticesFile lists the vertices, one id per line, or is "-" for Stdin
	// where no input is; see reader.ReadList. It makes the vertex
	// list public knowledge of its own: an input that names another vertex is
	// refused. Default "": the vertices are those that the input names.
	VerticesFile string
	// Mutual keeps an edge only if the input lists it both ways. Default:
	// either way is enough.
	Mutual bool
	// MinWeight drops rows of a lower weight (their vertices stay). A row
	// without weight is an error then. Default nil: weights are ignored.
	MinWeight *float64
	// DegreeBound is declared to hold for every vertex; it is checked and
	// recorded. Default 0: none.
	DegreeBound int64

	// Shards is the number of row shards, 1 to MaxShards. Default: the number
	// of CPUs. The files depend on it, so set it where runs must agree.
	Shards int
	// RowGroupArcs bounds a row group. Default 1 Mi.
	RowGroupArcs int64
	// Memory bounds the working memory, in bytes. Default 1 GiB; the process
	// needs up to 256 MiB beside it.
	Memory int64
	// TempDir is where temporary files go: up to about three times the size of
	// the input as text. Default: the system's.
	TempDir string
	// Progress is called now and then, never by two goroutines at a time.
	// total is 0 where it is not known.
	Progress func(phase string, done, total int64)
}

// Validate gives a *reader.OptionsError with every fault, or nil.
func (o Options) Validate() error {
	_, err := o.withDefaults()
	return err
}

// withDefaults checks every field and names all faults at once, in a
// *reader.OptionsError.
func (o Options) withDefaults() (Options, error) {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Shards == 0 {
		o.Shards = min(runtime.GOMAXPROCS(0), MaxShards)
	}
	if o.RowGroupArcs == 0 {
		o.RowGroupArcs = 1 << 20
	}
	fault(len(o.Inputs) == 0, "no input")
	fault(o.VerticesFile == "-" && slices.Contains(o.Inputs, "-"), "standard input is the graph or the list of vertices, not both: give one of them as a file")
	fault(o.Memory < MinMemory, "memory of %d bytes: it is 1 MiB (%d) or more", o.Memory, MinMemory)
	fault(o.Shards < 1 || o.Shards > MaxShards, "%d shards: there are 1 to %d", o.Shards, MaxShards)
	fault(o.RowGroupArcs < 1 || o.RowGroupArcs > 1<<26, "row groups of %d arcs; 1 to %d", o.RowGroupArcs, 1<<26)
	fault(o.DegreeBound < 0 || o.DegreeBound > maxVertices, "degree bound %d: it is 0 (none) to %d", o.DegreeBound, maxVertices)
	fault(o.MinWeight != nil && (math.IsNaN(*o.MinWeight) || math.IsInf(*o.MinWeight, 0)), "the least weight is not a finite number")
	var wrong *reader.OptionsError
	ro := o.readerOptions()
	if errors.As(ro.Check(), &wrong) {
		faults = append(faults, wrong.Faults...)
	}
	if len(faults) > 0 {
		return o, &reader.OptionsError{Faults: faults}
	}
	return o, nil
}

func (o *Options) readerOptions() reader.Options {
	return reader.Options{
		Format: o.Format, Source: o.Source, Target: o.Target, MaxBadLines: o.MaxBadLines,
		IDType: o.IDType, Stdin: o.Stdin, OnBadLine: o.OnBadLine,
	}
}
