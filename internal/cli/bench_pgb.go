package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/bench"
	"github.com/privcom/privcom/evaluate/method"
	"github.com/privcom/privcom/partition/reader"
)

func (a *app) benchPGB() *cobra.Command {
	var f benchFlags
	methods := []string{bench.PrivCom, "dk1", "dk2", "tmf", "privgraph", "hrg"}
	c := &cobra.Command{Use: "pgb", Short: "Run the grid of the Private Graph Benchmark on a folder of graphs (private)",
		Long: `bench pgb makes a release of every graph file in a folder by every method at ε of 0.1, 0.5, 1, 2, 5 and 10 for one edge, and
compares it with the original by the fifteen queries of PGB (arXiv 2408.02928): relative errors, KL divergences of
distributions, NMI and AMI of communities, mean absolute error of eigenvector centrality. Smaller is better, but
for NMI and AMI. Each release has a ledger of its own: the graphs must be public ones.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return a.runPGB(cmd.Context(), &f, methods) }}
	f.add(c, filepath.Join("..", "shared", "data", "pgb"), filepath.Join("out", "bench-pgb"), 10)
	c.Flags().StringSliceVar(&methods, "methods", methods, "what to run")
	return c
}

func (a *app) runPGB(ctx context.Context, f *benchFlags, methods []string) error {
	deltas := map[string]bool{bench.PrivCom: true, bench.PrivComOne: true}
	for _, name := range methods {
		if deltas[name] {
			continue
		}
		m, err := method.Find(a.methods, name)
		switch {
		case err != nil:
			return usagef("--methods: %w (or %s, %s)", err, bench.PrivCom, bench.PrivComOne)
		case m.Unit != "edge":
			return usagef("--methods: %s protects a %s; this grid is for one edge", name, m.Unit)
		}
		deltas[name] = m.Delta
	}
	if f.runs < 1 {
		return usagef("--runs is %d, must be at least 1", f.runs)
	}
	names, paths, err := a.graphFiles(ctx, f.data)
	if err != nil {
		return err
	}
	if f.quick {
		names, paths = names[:1], paths[:1]
	}
	jobs := bench.PGBJobs(bench.PGBOptions{Graphs: names, Runs: f.runs, Quick: f.quick, Methods: methods}, func(m string) bool { return deltas[m] })
	return a.bench(ctx, f, experiment{names: names, paths: paths, columns: bench.Queries, jobs: fixed(jobs)}, bench.MeasureQueries)
}

// graphFiles lists the graphs of a folder, smallest first. What is no graph, by its name or
// by how it begins, is skipped and said; a fault further on is found when the graph is read.
func (a *app) graphFiles(ctx context.Context, folder string) (names, paths []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, input(fmt.Errorf("--data: %w", err))
	}
	size := map[string]int64{}
	var folders, skipped []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, nil, input(fmt.Errorf("--data: %w", err))
		case info.IsDir():
			folders = append(folders, e.Name())
			continue
		case !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") || reader.IsCompanion(e.Name()):
			skipped = append(skipped, e.Name())
			continue
		}
		r, err := reader.Open(ctx, []string{path}, reader.Options{})
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, err
			}
			skipped = append(skipped, fmt.Sprintf("%s (%v)", e.Name(), err))
			continue
		}
		r.Close()
		size[e.Name()] = info.Size()
		names = append(names, e.Name())
	}
	if len(names) == 0 {
		fault := fmt.Errorf("--data: %s holds no graph file", folder)
		if len(skipped) > 0 {
			fault = fmt.Errorf("%w; no graphs: %s", fault, strings.Join(skipped, ", "))
		}
		if len(folders) > 0 {
			fault = fmt.Errorf("%w; it has folders (%s): give one of them, --data %s", fault, strings.Join(folders, ", "), filepath.Join(folder, folders[0]))
		}
		return nil, nil, input(fault)
	}
	if len(skipped)+len(folders) > 0 {
		fmt.Fprintf(a.stderr, "skipped in %s, no graph files: %s\n", folder, strings.Join(append(skipped, folders...), ", "))
	}
	slices.SortStableFunc(names, func(a, b string) int { return int(size[a] - size[b]) })
	for _, n := range names {
		paths = append(paths, filepath.Join(folder, n))
	}
	return names, paths, nil
}
