package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/bench"
	"github.com/privcom/privcom/evaluate/community"
)

// paperGraphs are the paper's data sets, and where a data folder has them.
var paperGraphs = []struct{ name, path string }{
	{"PB", "polblogs/polblogs.pairs"},
	{"PH", "petster-hamster/out.petster-hamster"},
	{"CG", "ca-grqc/CA-GrQc-lf.txt"},
}

// benchFlags are the flags that both experiments share.
type benchFlags struct {
	data, out string
	runs      int
	quick     bool
}

func (f *benchFlags) add(c *cobra.Command, data, out string, runs int) {
	fs := c.Flags()
	fs.StringVar(&f.data, "data", data, "folder with the graphs")
	fs.StringVar(&f.out, "out", out, "folder for results; an experiment that was stopped there goes on")
	fs.IntVar(&f.runs, "runs", runs, "runs of each method, with different seeds")
	fs.BoolVar(&f.quick, "quick", false, "a small part of the grid, to see that it works")
}

func (a *app) benchPaper() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{Use: "paper", Short: "Repeat the paper's experiment: three graphs, four budgets, all methods (private)",
		Long: `bench paper makes releases of polblogs (PB), petster-hamster (PH) and CA-GrQc (CG) at ε of 0.1, 0.5, 1, 1.5 by PrivCom, by the
paper's own constants and by HRG, and at ε of 5, 10, 15, 20 by dK-2; then by every method at equal unit and ε. It writes
table.txt, results.json, results.csv and figure.svg, and every run at once to runs.jsonl.

Each release has a ledger of its own: the graphs must be public ones. The paper's profile and the first cuts are told
the true number of edges.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return a.runPaper(cmd.Context(), &f) }}
	f.add(c, filepath.Join("..", "shared", "data"), filepath.Join("out", "bench-paper"), 10)
	return c
}

func (a *app) runPaper(ctx context.Context, f *benchFlags) error {
	var names, paths []string
	for _, g := range paperGraphs {
		path := filepath.Join(f.data, g.path)
		if _, err := os.Stat(path); err != nil {
			return input(fmt.Errorf("%w: --data must name a folder that holds %s", err, g.path))
		}
		names, paths = append(names, g.name), append(paths, path)
		if f.quick {
			break
		}
	}
	if f.runs < 1 {
		return usagef("--runs is %d, must be at least 1", f.runs)
	}
	jobs := bench.PaperJobs(bench.PaperOptions{Graphs: names, Runs: f.runs, Quick: f.quick})
	return a.bench(ctx, f, experiment{names: names, paths: paths, columns: bench.Scores, jobs: fixed(jobs),
		draw: func(rows []bench.Row) []byte { return bench.PaperFigure(rows, names) }}, bench.MeasureScores)
}

// benched is what a bench command reports.
type benched struct {
	Notice  string      `json:"notice"`
	Out     string      `json:"out"`
	Runs    int         `json:"runs"`
	Seconds float64     `json:"seconds"`
	Rows    []bench.Row `json:"rows"`
}

// measurer compares a job's graph with the original.
type measurer = func(context.Context, bench.Job, *community.Graph, *community.Graph) (map[string]float64, error)

// bench reads the graphs, runs the jobs and writes the results.
func (a *app) bench(ctx context.Context, f *benchFlags, e experiment, measure measurer) error {
	start := time.Now()
	p := a.newProgress()
	defer p.close()
	temp, err := os.MkdirTemp("", "privcom-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := &benchRunner{a: a, temp: temp, graphs: map[string]*benchGraph{}}
	for i, name := range e.names {
		if err := r.load(ctx, name, e.paths[i], p); err != nil {
			return err
		}
	}
	jobs, err := e.jobs(r, p)
	if err != nil {
		return err
	}
	o := bench.Options{Jobs: jobs, Graphs: r.all(), Make: r.make, Measure: measure, Out: f.out}
	start = time.Now() // of the runs, for the time left
	var last time.Time
	o.Progress = func(j bench.Job, done, total int64) {
		p.report("runs", done, total)
		if p.bars == nil && !p.quiet && time.Since(last) > 10*time.Second { // without bars a line now and then
			last = time.Now()
			fmt.Fprintf(a.stderr, "%d of %d%s: %s\n", done, total, eta(start, done, total), benchTitle(j))
		}
	}
	results, err := bench.Run(ctx, o)
	if err != nil {
		return err
	}
	p.close()
	rows := bench.Summarise(results)
	var drawing []byte
	if e.draw != nil {
		drawing = e.draw(rows)
	}
	if err := bench.Write(f.out, rows, e.columns, drawing); err != nil {
		return err
	}
	kind := "means"
	if e.table == nil {
		e.table = func(w io.Writer, rows []bench.Row) error { return bench.Table(w, rows, e.columns) }
	} else {
		kind = "medians"
	}
	if e.file != "" {
		var text bytes.Buffer
		fmt.Fprintf(&text, "%s; medians of %d runs\n", bench.Notice, f.runs)
		if err := firstError(e.table(&text, rows), os.WriteFile(filepath.Join(f.out, e.file), text.Bytes(), 0o644)); err != nil {
			return err
		}
	}
	res := benched{Notice: bench.Notice, Out: f.out, Runs: f.runs, Seconds: time.Since(start).Seconds(), Rows: rows}
	return a.print(res, func(w io.Writer) error {
		if err := e.table(w, rows); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\n%s of %d runs, %.0f s; %s\nresults in %s\n", kind, f.runs, res.Seconds, bench.Notice, f.out)
		return err
	})
}

// eta guesses the time left from the time so far.
func eta(start time.Time, done, total int64) string {
	if done == 0 {
		return ""
	}
	left := time.Duration(float64(time.Since(start)) / float64(done) * float64(total-done))
	return ", about " + left.Round(time.Second).String() + " left"
}
