package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/method"
	"github.com/privcom/privcom/export"
)

// baselineFlags are the flags of every method.
type baselineFlags struct {
	ingest       ingestFlags
	input, graph string
	out          string
	force        bool
	opts         method.Options
}

func newBaseline(a *app) *cobra.Command {
	c := group(&cobra.Command{Use: "baseline", Short: "Run another published method, for comparison (its output must not be published)",
		Long: `baseline makes a synthetic graph by another published method, so that a release can be compared with it:

  privcom baseline tmf --input graph.txt --epsilon 1 --out tmf.txt
  privcom evaluate --original graph.txt --synthetic tmf.txt

Noise is drawn as seeded floats and no ledger is kept: the result measures a method and must not be published.`})
	list := &cobra.Command{Use: "list", Short: "List the methods with unit, source and what their guarantee rests on", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return a.print(a.methods, func(w io.Writer) error {
				tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
				fmt.Fprintln(tw, "name\tunit\tδ\tvertices kept\tsource")
				for _, m := range a.methods {
					fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", m.Name, m.Unit, yes(m.Delta), yes(m.Matched), m.Source)
				}
				if err := tw.Flush(); err != nil {
					return err
				}
				fmt.Fprintln(w)
				for _, m := range a.methods {
					fmt.Fprintf(w, "%s: %s.\n", m.Name, m.Proviso)
				}
				_, err := fmt.Fprintf(w, "\n%s\n", method.Warning)
				return err
			})
		}}
	c.AddCommand(list)
	for _, m := range a.methods {
		c.AddCommand(a.baselineMethod(m))
	}
	return c
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (a *app) baselineMethod(m method.Method) *cobra.Command {
	var f baselineFlags
	c := &cobra.Command{Use: m.Name + " (--input FILE | --graph DIR) --epsilon E --out FILE", Short: m.Title + " (" + m.Source + "), " + m.Unit + " privacy",
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return a.baseline(cmd.Context(), m, &f) }}
	fs := c.Flags()
	f.ingest.add(fs)
	fs.StringVar(&f.input, "input", "", "graph file")
	fs.StringVar(&f.graph, "graph", "", "ingested graph folder, instead of --input")
	fs.StringVar(&f.out, "out", "", "graph file to write; its name says the format")
	fs.BoolVar(&f.force, "force", false, "replace a file that exists")
	fs.Float64Var(&f.opts.Epsilon, "epsilon", 0, "privacy budget (required)")
	fs.Uint64Var(&f.opts.Seed, "seed", 1, "seed of all randomness, noise too: for comparison only")
	if m.Delta {
		fs.Float64Var(&f.opts.Delta, "delta", 1e-5, "δ of the guarantee")
	}
	if m.Name == "hrg" {
		fs.Int64Var(&f.opts.Steps, "steps", 0, "steps of the Markov chain (default 250 for each vertex)")
	}
	if m.Unit == "node" {
		fs.Int64Var(&f.opts.Edges, "edges", 0, "public number of edges to release (default: the number of vertices)")
		if m.Name != "entry-noise" {
			fs.Int64Var(&f.opts.Steps, "steps", 0, "T, steps of the iteration (default 8)")
			fs.IntVar(&f.opts.Rank, "rank", 0, "k, number of eigenvectors (default 4)")
		}
	}
	return c
}

// baselined is what a baseline command reports.
type baselined struct {
	Method    string  `json:"method"`
	Source    string  `json:"source"`
	Unit      string  `json:"unit"`
	Epsilon   float64 `json:"epsilon"`
	Delta     float64 `json:"delta"`
	Guarantee string  `json:"guarantee"`
	Warning   string  `json:"warning"`
	Matched   bool    `json:"matched"`
	Seed      uint64  `json:"seed"`
	Out       string  `json:"out"`
	Vertices  int     `json:"vertices"`
	Edges     int64   `json:"edges"`
	Seconds   float64 `json:"seconds"`
}

func (a *app) baseline(ctx context.Context, m method.Method, f *baselineFlags) error {
	switch {
	case (f.graph == "") == (f.input == ""):
		return usagef("give either --input FILE or --graph DIR")
	case f.out == "":
		return usagef("--out is not set: name the graph file to write")
	case !(f.opts.Epsilon > 0):
		return usagef("--epsilon is %g: give a number above 0", f.opts.Epsilon)
	}
	if err := refuseExisting(f.out, f.force); err != nil {
		return err
	}
	if _, _, err := export.FormatOf(f.out); err != nil {
		return usage(err)
	}
	p := a.newProgress()
	defer p.close()
	ids, g, err := a.loadGraph(ctx, f.input+f.graph, &f.ingest, p)
	if err != nil {
		return err
	}
	start := time.Now()
	f.opts.Progress = func(done, total int64) { p.report(m.Title, done, total) }
	f.opts.Progress(0, 1)
	out, err := m.Run(ctx, g, f.opts)
	if err != nil {
		return usage(err)
	}
	took := time.Since(start).Seconds()
	p.report("writing", 0, out.Edges())
	if err := writeGraph(f.out, ids, out); err != nil {
		return err
	}
	p.close()
	res := baselined{Method: m.Name, Source: m.Source, Unit: m.Unit, Epsilon: f.opts.Epsilon, Delta: f.opts.Delta, Guarantee: m.Guarantee(f.opts),
		Warning: method.Warning, Matched: m.Matched, Seed: f.opts.Seed, Out: f.out, Vertices: out.Vertices(), Edges: out.Edges(), Seconds: took}
	return a.print(res, func(w io.Writer) error {
		fmt.Fprintf(w, "%s\n%s\n", wrap(res.Guarantee, 100), method.Warning)
		if !m.Matched {
			fmt.Fprintf(w, "vertices are in random order: the method does not know which is which\n")
		}
		_, err := fmt.Fprintf(w, "\n%s: %d vertices, %d edges (the original has %d), %.1f s\n", res.Out, res.Vertices, res.Edges, g.Edges(), res.Seconds)
		return err
	})
}

// writeGraph writes a graph under the ids of its vertices.
func writeGraph(path string, ids []string, g *community.Graph) error {
	w, err := export.NewWriter(path, export.Options{N: int64(len(ids)), IDs: func(i int64) string { return ids[i] }})
	if err != nil {
		return usage(err)
	}
	for u := range g.Vertices() {
		for _, v := range g.Neighbours(u) {
			if int32(u) < v {
				if err := w.Write(int64(u), int64(v)); err != nil {
					return firstError(err, w.Abort())
				}
			}
		}
	}
	return firstError(w.Close(), w.Abort())
}
