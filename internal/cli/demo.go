package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/generate"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/release"
)

// newDemo is the README's first command: it makes a graph, releases it, and says what the
// release is worth.
func newDemo(a *app) *cobra.Command {
	var out, epsilon string
	c := &cobra.Command{Use: "demo [--out DIR]", Short: "Generate a graph, release it, and compare: the whole way in one command",
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
			if a.output != "text" {
				return usagef("demo prints text only; run generate, release and evaluate for JSON")
			}
			return a.demo(cmd.Context(), out, epsilon)
		}}
	c.Flags().StringVar(&out, "out", filepath.Join("out", "demo"), "folder for everything the demonstration makes")
	c.Flags().StringVar(&epsilon, "epsilon", demoEpsilon, "privacy budget of the demonstration")
	return c
}

func (a *app) demo(ctx context.Context, out, epsilon string) error {
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%w: %s holds something already; give another --out, or remove it", release.ErrOccupied, out)
	}
	spec := demoGraph
	graph, labels, dir := filepath.Join(out, "graph.txt"), filepath.Join(out, "labels.txt"), filepath.Join(out, "release")
	fmt.Fprintf(a.stdout, "1. A private graph: %d people in %d communities, about %.0f contacts inside and %.0f outside each.\n\n",
		spec.N, spec.Communities, spec.DegreeIn, spec.DegreeOut)
	if err := a.generate(ctx, spec, graph, labels); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\n2. Its release, written to %s.\n\n", dir)
	f := releaseFlags{params: demoParams(epsilon), inputs: []string{graph}, out: dir, shards: 2,
		ledger: ledgerFlags{url: filepath.Join(out, "ledger"), dataset: "demo"}, logs: logFlags{"text", "warn"},
		ingest: ingestFlags{opts: partition.Options{}, memory: 1 << 30}}
	if err := a.release(ctx, &f); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\n3. What it is worth. Only somebody who holds the private graph can see this.\n\n")
	e := evaluateFlags{original: graph, synthetic: dir, labels: labels, method: "louvain", skipPaths: true,
		ingest: ingestFlags{memory: 1 << 30}, html: filepath.Join(out, "evaluation.html")}
	e.opts.Seed, e.opts.Repeat = 1, 1
	if err := a.evaluate(ctx, &e); err != nil {
		return err
	}
	_, err := io.WriteString(a.stdout, "\nOpen "+filepath.Join(dir, release.ReportKey)+" in a browser: that page and its folder are public.\n")
	return err
}

// The demonstration: a dense graph, where strict protection of whole contact lists leaves
// something to see. Nobody in it has more contacts than the public cap.
const (
	demoEpsilon   = "3"
	demoDegreeCap = 1100
)

var demoGraph = generate.SBM{N: 4000, Communities: 2, DegreeIn: 900, DegreeOut: 60, Seed: 1}

func demoParams(epsilon string) release.Params {
	p := release.Defaults()
	p.Epsilon, p.DegreeBound, p.Dataset = epsilon, demoDegreeCap, "demo"
	return p
}
