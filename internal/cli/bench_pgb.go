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
	names, paths, err := graphFiles(f.data)
	if err != nil {
		return err
	}
	if f.quick {
		names, paths = names[:1], paths[:1]
	}
	jobs := bench.PGBJobs(bench.PGBOptions{Graphs: names, Runs: f.runs, Quick: f.quick, Methods: methods}, func(m string) bool { return deltas[m] })
	return a.bench(ctx, f, experiment{names: names, paths: paths, columns: bench.Queries, jobs: fixed(jobs)}, bench.MeasureQueries)
}

// graphFiles lists the files of a folder, smallest first.
func graphFiles(folder string) (names, paths []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, input(fmt.Errorf("--data: %w", err))
	}
	size := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		size[e.Name()] = info.Size()
		names = append(names, e.Name())
	}
	if len(names) == 0 {
		return nil, nil, input(fmt.Errorf("--data: %s holds no graph file", folder))
	}
	slices.SortStableFunc(names, func(a, b string) int { return int(size[a] - size[b]) })
	for _, n := range names {
		paths = append(paths, filepath.Join(folder, n))
	}
	return names, paths, nil
}
