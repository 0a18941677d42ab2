package partition

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/privcom/privcom/partition/reader"
)

// built is a graph ready to be written, in spills of its workspace.
type built struct {
	space  *workspace
	dict   *dictionary
	rows   *rows
	report *Report
	wrote  written
}

// build reads the source once and sorts it.
func build(ctx context.Context, space *workspace, o *Options, src source) (*built, error) {
	t := newIntake(ctx, space, o.Memory)
	report := &Report{VertexSource: "input"}
	progress := o.steadyProgress()
	listed := int64(0)
	if o.VerticesFile != "" {
		t.listName, report.VertexSource = o.VerticesFile, "list"
		var err error
		if listed, err = t.readVertexList(ctx, o); err != nil {
			return nil, err
		}
		if err := t.seal(); err != nil {
			return nil, err
		}
	}
	if err := t.read(ctx, o, src, report, progress("read")); err != nil {
		return nil, err
	}
	report.setStats(src.Stats())
	d, err := t.finish(progress("index"))
	if err != nil {
		return nil, err
	}
	rows, err := buildRows(ctx, t, d, o, progress("sort"))
	if err != nil {
		return nil, err
	}
	report.setRows(rows, d)
	if o.VerticesFile != "" {
		report.ListRepeats = listed - d.count
	}
	report.SpilledBytes = space.spilled.Load()
	if err := report.check(src.Stats()); err != nil {
		return nil, err
	}
	return &built{space: space, dict: d, rows: rows, report: report}, nil
}

// read parses in one goroutine or, where the order of rows plays no part in
// what is reported, in several, and takes in another the ids that they cannot
// take themselves.
func (t *intake) read(ctx context.Context, o *Options, src source, report *Report, progress func(done, total int64)) error {
	group, ctx := errgroup.WithContext(ctx)
	workers := len(t.sorter.lanes)
	if o.VerticesFile != "" || o.MaxBadLines > 0 { // errors name the first of several rows
		workers = 1
	}
	full, free := make(chan *batch, 4), make(chan *batch, 6)
	outer := t.ctx
	t.ctx = ctx
	defer func() { t.ctx = outer }()
	var rows atomic.Int64
	pumps := make([]pump, workers)
	for i := range pumps {
		pumps[i] = pump{ctx: ctx, o: o, intake: t, out: full, free: free, open: &batch{}, lines: o.VerticesFile != "",
			progress: func(more int64) { progress(rows.Add(more), 0) }}
		if o.VerticesFile == "" {
			pumps[i].dense, pumps[i].lane = t.dense, t.sorter.lanes[i]
		}
	}
	group.Go(func() error { return t.take(full, free) })
	group.Go(func() error {
		defer close(full)
		if err := readInto(ctx, src, pumps); err != nil {
			return err
		}
		for i := range pumps {
			if err := pumps[i].flush(); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range pumps {
		report.Rows += pumps[i].rows
		report.Loops += pumps[i].loops
		report.Light += pumps[i].light
	}
	return nil
}

// readInto reads the source into the pumps, one per goroutine that parses.
func readInto(ctx context.Context, src source, pumps []pump) error {
	if len(pumps) == 1 {
		return src.ForEach(ctx, pumps[0].vertex, pumps[0].edge)
	}
	to := reader.Callbacks{
		Vertex: func(w int, id []byte) error { return pumps[w].vertex(id) },
		Edge:   func(w int, e reader.Edge) error { return pumps[w].edge(e) },
	}
	if pumps[0].o.MinWeight == nil {
		to.Numbers = func(w int, pairs []uint64) error { return pumps[w].numbers(pairs) }
	}
	return src.ForEachParallel(ctx, len(pumps), to)
}

// steadyProgress makes one callback per phase of Options.Progress, safe for
// several goroutines.
func (o *Options) steadyProgress() func(phase string) func(done, total int64) {
	var mu sync.Mutex
	return func(phase string) func(done, total int64) {
		if o.Progress == nil {
			return func(int64, int64) {}
		}
		return func(done, total int64) {
			mu.Lock()
			defer mu.Unlock()
			o.Progress(phase, done, total)
		}
	}
}

// checkGraph refuses graphs that cannot be used, before anything is written.
func (b *built) checkGraph(o *Options) error {
	if b.rows.above > 0 {
		return &DegreeBoundError{Bound: o.DegreeBound, Vertices: b.rows.above}
	}
	if b.rows.arcs == 0 {
		r := b.report
		return fmt.Errorf("%s: %w: of %d rows %d are loops, %d one-way (--mutual), %d light (--min-weight). Nothing was written. Check that this is the graph file, or leave the flag out",
			strings.Join(o.Inputs, ", "), ErrNoEdges, r.Rows, r.Loops, r.OneWay, r.Light)
	}
	return nil
}

// withSource opens the inputs and a workspace, and closes both.
func withSource(ctx context.Context, o *Options, run func(space *workspace, src source) error) (err error) {
	r, err := reader.Open(ctx, o.Inputs, o.readerOptions())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return withSpace(o, func(space *workspace) error { return run(space, r) })
}

func withSpace(o *Options, run func(space *workspace) error) (err error) {
	space := &workspace{dir: o.TempDir}
	if space.dir == "" {
		space.dir = os.TempDir()
	}
	defer func() { err = errors.Join(err, space.close()) }()
	return run(space)
}

// Inspect reads the inputs once and reports what is in them. It writes nothing
// but temporary files. Graphs without edges are reported, not refused.
func Inspect(ctx context.Context, o Options) (*Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	var report *Report
	err = withSource(ctx, &o, func(space *workspace, src source) error {
		b, err := build(ctx, space, &o, src)
		if err != nil {
			return err
		}
		report = b.report
		return nil
	})
	return report, err
}
