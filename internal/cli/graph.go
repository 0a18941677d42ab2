package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// ingestFlags are the flags of every command that reads graph files.
type ingestFlags struct {
	opts      partition.Options
	memory    byteSize
	minWeight optionalFloat
	rejects   string
}

func (f *ingestFlags) add(fs *pflag.FlagSet) {
	f.memory = 1 << 30
	fs.StringVar(&f.opts.Format, "format", "", "edgelist, csv, tsv, adjlist, gml, graphml, gexf, pajek, mtx, metis or parquet, instead of detecting it from the content")
	fs.StringVar(&f.opts.VerticesFile, "vertices", "", "file with the public vertex list, one id per line (packed, encoded and named as graph files are; - for standard input)")
	fs.StringVar(&f.opts.Source, "source", "", "column of the edge's first end (name or number)")
	fs.StringVar(&f.opts.Target, "target", "", "column of the edge's second end (name or number)")
	fs.Int64Var(&f.opts.MaxBadLines, "max-bad-lines", 0, "lines that may be unreadable before the file is refused")
	fs.StringVar(&f.rejects, "reject-file", "", "new file for the unreadable lines, with their numbers (private; with --max-bad-lines)")
	fs.BoolVar(&f.opts.Mutual, "mutual", false, "keep only pairs that are listed in both directions")
	fs.StringVar(&f.opts.IDType, "id-type", "", `"string" takes ids like 1.0 or -3 as they stand`)
	fs.Var(&f.minWeight, "min-weight", "drop rows of a lower weight (their vertices stay)")
	fs.Var(&f.memory, "memory", "memory for sorting, for example 512MiB or 2GiB")
	fs.StringVar(&f.opts.TempDir, "temp-dir", "", "folder for sorted runs on disk (default: the system's)")
}

// options completes the flags for some inputs.
func (f *ingestFlags) options(a *app, inputs []string) partition.Options {
	o := f.opts
	o.Inputs, o.Memory, o.Stdin, o.MinWeight = inputs, int64(f.memory), a.stdin, f.minWeight.value
	return o
}

// optionalFloat is a number that a flag may leave unset.
type optionalFloat struct{ value *float64 }

func (o *optionalFloat) String() string {
	if o.value == nil {
		return ""
	}
	return strconv.FormatFloat(*o.value, 'g', -1, 64)
}

func (o *optionalFloat) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%q is not a finite number", s)
	}
	o.value = &x
	return nil
}

func (o *optionalFloat) Type() string { return "number" }

// byteSize is a flag like 512MiB.
type byteSize int64

func (b *byteSize) String() string {
	for _, u := range []struct {
		name string
		size byteSize
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if *b >= u.size && *b%u.size == 0 {
			return fmt.Sprintf("%d%s", *b/u.size, u.name)
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteSize) Set(s string) error {
	number := strings.TrimRight(s, "kKMGTiIBb")
	scale, ok := map[string]int64{"": 1, "b": 1, "k": 1 << 10, "kb": 1000, "kib": 1 << 10, "m": 1 << 20, "mb": 1e6, "mib": 1 << 20,
		"g": 1 << 30, "gb": 1e9, "gib": 1 << 30, "t": 1 << 40, "tb": 1e12, "tib": 1 << 40}[strings.ToLower(s[len(number):])]
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !ok || n <= 0 || n > (1<<62)/scale {
		return fmt.Errorf("%q is not a size such as 512MiB or 2GiB", s)
	}
	*b = byteSize(n * scale)
	return nil
}

func (b *byteSize) Type() string { return "size" }

func newInspect(a *app) *cobra.Command {
	var f ingestFlags
	c := &cobra.Command{Use: "inspect FILE...", Short: "Read a graph file once and say what is in it (private)",
		Args: args(cobra.MinimumNArgs(1)), RunE: func(cmd *cobra.Command, files []string) error {
			p := a.newProgress()
			defer p.close()
			o := f.options(a, files)
			o.Progress = p.report
			var rep *partition.Report
			err := f.rejecting(a, &o, func() (err error) {
				rep, err = partition.Inspect(cmd.Context(), o)
				return input(err)
			})
			p.close()
			if err != nil {
				return err
			}
			return a.print(rep, func(w io.Writer) error { return writeIngestReport(w, rep) })
		}}
	f.add(c.Flags())
	return c
}

// ingested is what the ingest command reports.
type ingested struct {
	Graph  string            `json:"graph"`
	Report *partition.Report `json:"report"`
}

func newIngest(a *app) *cobra.Command {
	var f ingestFlags
	var out string
	var keep bool
	check := func() error {
		var unset error
		if out == "" {
			unset = usagef("--out is not set: name the folder for the graph")
		}
		o := f.options(a, f.opts.Inputs)
		if len(o.Inputs) == 0 { // the flags could not be read, and the arguments were not looked at
			o.Inputs = []string{"-"}
		}
		o.Shards = max(o.Shards, 1)
		return usage(errors.Join(unset, checkShards(f.opts.Shards), o.Validate()))
	}
	c := &cobra.Command{Use: "ingest FILE... --out DIR", Short: "Turn a graph file into a verified, row-partitioned graph folder",
		Long: `ingest reads graph files, a folder of parts, a pattern, or - for standard input, all of them one graph, and writes a graph
folder. Formats are found by content.

In a folder or pattern, files whose names begin with . or _, and read-me, licence, documentation, checksum and signature files are
skipped, and listed as notes; so are KONECT's meta.NAME and ent.NAME beside out.NAME. Every other file is a part of the graph or an error.

A list of vertices (--vertices) has one id per line, held to the rules for ids in graphs. Blank lines and lines that begin with # or %
are skipped. An id that holds a tab, comma, semicolon or bar, or words behind a number, stands in double quotes.`,
		Args: args(cobra.MinimumNArgs(1)), RunE: func(cmd *cobra.Command, files []string) error {
			f.opts.Inputs = files
			if err := check(); err != nil {
				return err
			}
			bucket, err := storage.Open(cmd.Context(), out)
			if err != nil {
				return usage(err)
			}
			defer bucket.Close()
			if keep {
				if kept, err := a.keepGraph(cmd.Context(), bucket, cmd.Flags(), &f); kept || err != nil {
					return err
				}
			}
			var rep *partition.Report
			o := f.options(a, files)
			err = f.rejecting(a, &o, func() (err error) {
				rep, err = a.ingest(cmd.Context(), o, bucket)
				return err
			})
			if err != nil {
				return err
			}
			return a.print(ingested{bucket.URL(), rep}, func(w io.Writer) error {
				if err := writeIngestReport(w, rep); err != nil {
					return err
				}
				_, err := fmt.Fprintf(w, "\ngraph folder: %s\n", bucket.URL())
				return err
			})
		}}
	f.add(c.Flags())
	c.Flags().StringVar(&out, "out", "", "folder (or bucket URL) for the graph")
	c.Flags().BoolVar(&keep, "keep", false, "where the folder holds a graph already, check it, leave it, and read no file; other --shards and the like than it has are refused")
	c.Flags().IntVar(&f.opts.Shards, "shards", runtime.GOMAXPROCS(0), "number of row shards")
	c.Flags().Int64Var(&f.opts.DegreeBound, "declare-degree-bound", 0, "check that no vertex has more neighbours, and record it")
	a.checked(c, check)
	return c
}

// checkShards refuses a number that was said and is none, which the library would take for
// its default.
func checkShards(n int) error {
	if n < 1 || n > partition.MaxShards {
		return usagef("shards is %d, must be from 1 to %d", n, partition.MaxShards)
	}
	return nil
}

// keepGraph checks a graph that stands already; false where there is none.
func (a *app) keepGraph(ctx context.Context, b *storage.Bucket, fs *pflag.FlagSet, f *ingestFlags) (bool, error) {
	ok, err := b.Exists(ctx, partition.ManifestKey)
	if err != nil || !ok {
		return false, err
	}
	g, err := partition.OpenGraph(ctx, b)
	if err != nil {
		return true, fmt.Errorf("%w: %w", errCheckFailed, err)
	}
	if other := otherThan(g.Manifest(), fs, f); len(other) > 0 {
		return true, usagef("%s holds a graph that was ingested with other settings: %s; nothing was changed; leave these flags out to keep it, or choose another folder", b.URL(), strings.Join(other, "; "))
	}
	if err := a.verifyGraph(ctx, b); err != nil {
		return true, err
	}
	if !a.quiet {
		fmt.Fprintf(a.stderr, "%s was kept: the input was not read, and whether it still holds that graph was not looked at\n", b.URL())
	}
	return true, nil
}

// otherThan lists what flags that were set say otherwise than a manifest.
func otherThan(m *partition.Manifest, fs *pflag.FlagSet, f *ingestFlags) (other []string) {
	compare := func(flag string, asked, has any) {
		if fs.Changed(flag) && asked != has {
			other = append(other, fmt.Sprintf("--%s is %v, and the graph has %v", flag, asked, has))
		}
	}
	number := func(x *float64) any {
		if x == nil {
			return "none"
		}
		return *x
	}
	source := "input"
	if f.opts.VerticesFile != "" {
		source = "list"
	}
	compare("shards", f.opts.Shards, len(m.Shards))
	compare("declare-degree-bound", f.opts.DegreeBound, m.DegreeBound)
	compare("mutual", f.opts.Mutual, m.Mutual)
	compare("min-weight", number(f.minWeight.value), number(m.MinWeight))
	if fs.Changed("vertices") && source != m.VertexSource {
		other = append(other, fmt.Sprintf("--vertices is %q, and the graph has the vertices of its %s", f.opts.VerticesFile, m.VertexSource))
	}
	return other
}

func (a *app) ingest(ctx context.Context, o partition.Options, out *storage.Bucket) (*partition.Report, error) {
	p := a.newProgress()
	defer p.close()
	o.Progress = p.report
	_, rep, err := partition.Ingest(ctx, o, out)
	return rep, ingestError(err)
}

// ingestError tells a folder that holds a graph already from a fault of the input.
func ingestError(err error) error {
	if errors.Is(err, storage.ErrExists) {
		return fmt.Errorf("%w: %w", release.ErrOccupied, err)
	}
	return input(err)
}

// openGraph opens an ingested graph folder.
func openGraph(ctx context.Context, where string) (*partition.Graph, func(), error) {
	bucket, err := storage.Open(ctx, where)
	if err != nil {
		return nil, nil, usage(err)
	}
	g, err := partition.OpenGraph(ctx, bucket)
	if err != nil {
		bucket.Close()
		return nil, nil, err
	}
	return g, func() { bucket.Close() }, nil
}

// isGraphFolder reports whether a path is an ingested graph and not a file or a folder
// of files.
func isGraphFolder(path string) bool {
	if strings.Contains(path, "://") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "manifest.json"))
	return err == nil
}
