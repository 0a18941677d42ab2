package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/bench"
	"github.com/privcom/privcom/generate"
	"github.com/privcom/privcom/privacy"
)

// utilityGraphs are the real graphs of the utility grid, and where a data folder has them.
var utilityGraphs = []struct{ name, path string }{
	{"polblogs", "polblogs/polblogs.pairs"},
	{"ca-grqc", "ca-grqc/CA-GrQc-lf.txt"},
	{"petster-hamster", "petster-hamster/out.petster-hamster"},
	{"facebook-ego", "facebook-ego/facebook_combined.txt.gz"},
	{"mit8", "facebook100/MIT8.edgelist"},
	{"email-eu-core", "email-eu-core/email-Eu-core.txt.gz"},
}

// plantedGraphs are generated; their largest degree is the public bound of the node rows.
var plantedGraphs = []struct {
	name string
	spec generate.SBM
}{
	{"planted-4000-400-40", generate.SBM{N: 4000, Communities: 2, DegreeIn: 400, DegreeOut: 40, Seed: 1}},
	{"planted-4000-900-60", generate.SBM{N: 4000, Communities: 2, DegreeIn: 900, DegreeOut: 60, Seed: 1}},
	{"planted-8000-2000-200", generate.SBM{N: 8000, Communities: 2, DegreeIn: 2000, DegreeOut: 200, Seed: 1}},
}

// utilityChoice is what of the grid is run.
type utilityChoice struct {
	benchFlags
	graphs   []string
	epsilons []string
}

func (a *app) benchUtility() *cobra.Command {
	var f utilityChoice
	c := &cobra.Command{Use: "utility", Short: "What a release keeps: nine graphs, ten budgets, one edge and one person (private)",
		Long: `bench utility makes releases with default settings of polblogs, CA-GrQc, petster-hamster, Facebook ego, MIT8 and email-Eu-core
(those of them that are in --data) and of three planted graphs that it generates, at ε of 0.1 to 20: for one edge, and for
one person at degree bounds of n-1, 200 and 50 (planted graphs: their largest degree). It compares Louvain communities of
release and original by AMI, ARI, NMI and Avg-F1 weighted by size, both ways, and for planted graphs counts the vertices
placed right. Beside them: one community, singletons, a random graph, a second search on the original, the largest share
of two equal communities that any mechanism places right (ceiling), and the row without noise, for which a release for one
edge at ε = 1000 stands. It writes utility.md (medians), table.txt, results.json, results.csv, and every run at once to
runs.jsonl: the same command goes on where it was stopped.

Each release has a ledger of its own: the graphs must be public ones.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return a.runUtility(cmd.Context(), &f) }}
	f.add(c, filepath.Join("..", "shared", "data"), filepath.Join("out", "bench-utility"), 10)
	c.Flags().StringSliceVar(&f.graphs, "graphs", nil, "only these graphs (default: all)")
	c.Flags().StringSliceVar(&f.epsilons, "epsilons", nil, "only these budgets (default: 0.1,0.5,1,1.5,2,3,5,8,12,20)")
	return c
}

func (a *app) runUtility(ctx context.Context, f *utilityChoice) error {
	epsilons, err := f.budgets()
	if err != nil {
		return err
	}
	if f.runs < 1 {
		return usagef("--runs is %d, must be at least 1", f.runs)
	}
	known := []string{}
	for _, g := range utilityGraphs {
		known = append(known, g.name)
	}
	for _, g := range plantedGraphs {
		known = append(known, g.name)
	}
	for _, g := range f.graphs {
		if !slices.Contains(known, g) {
			return usagef("--graphs: there is no %q, only %s", g, strings.Join(known, ", "))
		}
	}
	wanted := func(name string) bool { return len(f.graphs) == 0 || slices.Contains(f.graphs, name) }
	var names, paths []string
	for _, g := range utilityGraphs {
		path := filepath.Join(f.data, g.path)
		switch _, err := os.Stat(path); {
		case !wanted(g.name):
		case err == nil:
			names, paths = append(names, g.name), append(paths, path)
		case len(f.graphs) > 0 || !errors.Is(err, os.ErrNotExist):
			return input(fmt.Errorf("%w: --data must name a folder that holds %s", err, g.path))
		case !a.quiet:
			fmt.Fprintf(a.stderr, "%s is left out: --data %s does not hold %s\n", g.name, f.data, g.path)
		}
		if f.quick && len(names) > 0 {
			break
		}
	}
	planted := plantedGraphs
	if f.quick && len(names) > 0 {
		planted = nil
	}
	measure := &bench.UtilityMeasure{Planted: map[string][]int32{}, Most: func(j bench.Job) float64 {
		unit, err := privacy.ParseUnit(j.Unit)
		if err != nil {
			return 1
		}
		return privacy.Ceiling(unit, j.Epsilon, 2)
	}}
	e := experiment{names: names, paths: paths, columns: bench.UtilityScores, table: bench.UtilityMarkdown, file: "utility.md"}
	e.jobs = func(r *benchRunner, p *progress) ([]bench.Job, error) {
		var grid []bench.UtilityGraph
		for _, name := range names {
			bounds := []int64{0, 200, 50}
			if f.quick {
				bounds = bounds[2:]
			}
			grid = append(grid, bench.UtilityGraph{Name: name, Bounds: bounds})
		}
		for _, g := range planted {
			if !wanted(g.name) {
				continue
			}
			bound, labels, err := r.plant(ctx, g.name, g.spec, p)
			if err != nil {
				return nil, err
			}
			measure.Planted[g.name] = labels
			grid = append(grid, bench.UtilityGraph{Name: g.name, Bounds: []int64{bound}})
			if f.quick {
				break
			}
		}
		return bench.UtilityJobs(bench.UtilityOptions{Graphs: grid, Epsilons: epsilons, Runs: f.runs}), nil
	}
	return a.bench(ctx, &f.benchFlags, e, measure.Measure)
}

// budgets are those of --epsilons, or the grid's.
func (f *utilityChoice) budgets() ([]float64, error) {
	if len(f.epsilons) == 0 {
		if f.quick {
			return []float64{1, 12}, nil
		}
		return bench.UtilityEpsilons, nil
	}
	var list []float64
	for _, s := range f.epsilons {
		e, err := strconv.ParseFloat(s, 64)
		if err != nil || !(e > 0) || e > bench.NoNoiseEpsilon {
			return nil, usagef("--epsilons: %q is not a number above 0 and at most %d", s, bench.NoNoiseEpsilon)
		}
		list = append(list, e)
	}
	return list, nil
}

// plant generates a graph and loads it. It returns the largest degree and the planted
// community of each vertex.
func (r *benchRunner) plant(ctx context.Context, name string, spec generate.SBM, p *progress) (int64, []int32, error) {
	path := filepath.Join(r.temp, name+".txt")
	file, err := os.Create(path)
	if err != nil {
		return 0, nil, err
	}
	defer os.Remove(path)
	w := bufio.NewWriterSize(file, 1<<20)
	degree := make([]int64, spec.N)
	err = generate.Generate(ctx, spec, func(u, v int64) error {
		degree[u]++
		degree[v]++
		_, err := fmt.Fprintln(w, u, v)
		return err
	})
	if err := errors.Join(err, w.Flush(), file.Close()); err != nil {
		return 0, nil, err
	}
	if err := r.load(ctx, name, path, p); err != nil {
		return 0, nil, err
	}
	all, err := spec.Labels()
	if err != nil {
		return 0, nil, err
	}
	labels := make([]int32, len(r.graphs[name].ids))
	for v, id := range r.graphs[name].ids {
		u, err := strconv.Atoi(id)
		if err != nil {
			return 0, nil, fmt.Errorf("bench: vertex %q of a generated graph: %w", id, err)
		}
		labels[v] = int32(all[u])
	}
	return slices.Max(degree), labels, nil
}

// experiment is what the bench commands differ in.
type experiment struct {
	names, paths []string // graphs to load
	columns      []string
	jobs         func(*benchRunner, *progress) ([]bench.Job, error) // after loading; may load more
	table        func(io.Writer, []bench.Row) error                 // printed
	file         string                                             // where the table is written too, if not empty
	draw         func([]bench.Row) []byte                           // may be nil
}

// fixed is a list of jobs that does not depend on the graphs.
func fixed(jobs []bench.Job) func(*benchRunner, *progress) ([]bench.Job, error) {
	return func(*benchRunner, *progress) ([]bench.Job, error) { return jobs, nil }
}
