package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// stepView says where the time of a step goes: seconds per step, means.
type stepView struct {
	Vertices   int     `json:"vertices"`
	Arcs       int64   `json:"arcs"`
	Rank       int     `json:"rank"`
	Shards     int     `json:"shards"`
	Processors int     `json:"processors"`
	Steps      int     `json:"steps"`
	Total      float64 `json:"total_seconds"`
	Product    float64 `json:"product_seconds"`
	Noise      float64 `json:"noise_seconds"`
	QR         float64 `json:"qr_seconds"`
	Wire       float64 `json:"wire_seconds"` // of the answer of the shards, what the product did not take
	Other      float64 `json:"other_seconds"`
}

func (a *app) benchStep() *cobra.Command {
	var graph string
	var steps int
	p := release.Defaults()
	p.Unit, p.Epsilon = privacy.Edge, "1"
	c := &cobra.Command{Use: "step --graph DIR", Short: "Where the time of a private step goes: product, noise, QR, and the rest (private)",
		Long: `bench step runs private steps on an ingested graph, as a release does: shard workers around an embedded NATS server, noise,
QR. Nothing is published and nothing leaves the process, so it spends no budget of yours: its ledger and its
records live in memory. The product is timed by itself, on the same operand and all processors, after each step; "wire and
copies" is what the answer of the shards took beyond that. A first step, which warms up, is not counted.
Times tell of the graph: they stay inside the boundary.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
			if graph == "" {
				return usagef("--graph is not set: name an ingested graph folder")
			}
			if steps < 1 || steps > 1000 {
				return usagef("steps is %d, must be from 1 to 1000", steps)
			}
			p.Steps = steps + 1
			v, err := benchStep(cmd.Context(), graph, p)
			if err != nil {
				return err
			}
			return a.print(v, v.text)
		}}
	c.Flags().StringVar(&graph, "graph", "", "ingested graph folder")
	c.Flags().IntVar(&steps, "steps", 5, "number of steps that are timed")
	c.Flags().IntVar(&p.Rank, "rank", 8, "k: number of columns")
	c.Flags().Var(unitFlag{&p.Unit}, "unit", "who is protected: node, node-rewire or edge")
	return c
}

func benchStep(ctx context.Context, folder string, params release.Params) (v *stepView, err error) {
	g, closeGraph, err := openGraph(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer closeGraph()
	plan, err := params.Plan(release.Describe(g))
	if err != nil {
		return nil, usage(err)
	}
	memory, err := storage.Open(ctx, "mem://")
	if err != nil {
		return nil, err
	}
	ledger, err := privacy.OpenLedger(memory, "bench")
	if err != nil {
		return nil, err
	}
	if err := ledger.SetLimit(ctx, plan.Params.Unit, privacy.Limit{Epsilon: &plan.Params.Target.Epsilon, Delta: &plan.Params.Target.Delta}); err != nil {
		return nil, err
	}
	grant, err := ledger.Reserve(ctx, privacy.Request{Unit: plan.Params.Unit, DegreeBound: plan.Params.DegreeBound, Cost: plan.Cost,
		Target: plan.Params.Target, Graph: g.Manifest().Hash})
	if err != nil {
		return nil, err
	}
	l, err := startLaptop(ctx, runID(), g, slog.New(slog.DiscardHandler), runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(l.explain(err), l.Close()) }()
	m := g.Manifest()
	v = &stepView{Vertices: int(m.Vertices), Arcs: m.Arcs, Rank: plan.Params.Rank, Shards: len(m.Shards), Processors: runtime.GOMAXPROCS(0), Steps: params.Steps - 1}
	timed := &timedProduct{Multiplier: l.coordinator}
	for i := range m.Shards {
		rows, err := g.LoadShard(ctx, i)
		if err != nil {
			return nil, err
		}
		timed.blocks = append(timed.blocks, rows)
	}
	parts := map[privoja.Part]time.Duration{}
	machine, err := privoja.New(privoja.Config{Plan: plan, Centre: params.Centre, Seed: params.Seed,
		Observe: func(p privoja.Part, d time.Duration) { parts[p] += d }}, timed, grant, &privoja.Memory{})
	if err != nil {
		return nil, err
	}
	var total time.Duration
	for !machine.Done() {
		start := time.Now()
		if err := machine.Step(l.ctx); err != nil {
			return nil, err
		}
		if total += time.Since(start); machine.StepNumber() == 1 {
			total, timed.product, timed.extra = 0, 0, 0
			clear(parts)
		}
	}
	mean := func(d time.Duration) float64 { return d.Seconds() / float64(v.Steps) }
	v.Total, v.Product = mean(total-timed.extra), mean(timed.product)
	v.Noise, v.QR = mean(parts[privoja.PartNoise]), mean(parts[privoja.PartQR])
	v.Wire = mean(parts[privoja.PartMultiply]-timed.extra) - v.Product
	v.Other = v.Total - v.Product - v.Noise - v.QR - v.Wire
	return v, nil
}

// timedProduct repeats every product by itself after the cluster has answered.
type timedProduct struct {
	blockmatmul.Multiplier
	blocks         []*blockmatmul.CSR
	product, extra time.Duration // of the kernel alone; of everything that a step would not do
}

func (t *timedProduct) Multiply(ctx context.Context, v *blockmatmul.Operand, c int64) (*blockmatmul.Product, error) {
	q, err := t.Multiplier.Multiply(ctx, v, c)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	k, packed, again := v.Cols(), blockmatmul.Pack(v), make([]int64, len(q.Data))
	clear(again) // its pages are there before the clock runs
	began := time.Now()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	const rows = 4096
	for _, b := range t.blocks {
		for from := 0; from < b.Rows(); from += rows {
			to := min(from+rows, b.Rows())
			group.Go(func() error {
				b.Multiply(again[(b.First+from)*k:(b.First+to)*k], packed, from, to, c)
				return nil
			})
		}
	}
	err = group.Wait()
	t.product += time.Since(began)
	t.extra += time.Since(start)
	return q, err
}

func (v *stepView) text(w io.Writer) error {
	fmt.Fprintf(w, "%d vertices, %d arcs, k = %d, %d shards, %d processors: mean of %d steps\n\n", v.Vertices, v.Arcs, v.Rank, v.Shards, v.Processors, v.Steps)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "part\tseconds\tshare\t")
	for _, r := range []struct {
		name    string
		seconds float64
	}{{"product", v.Product}, {"noise", v.Noise}, {"QR", v.QR}, {"wire and copies", v.Wire}, {"other sums and bookkeeping", v.Other}, {"step", v.Total}} {
		fmt.Fprintf(tw, "%s\t%.3f\t%.0f %%\t\n", r.name, r.seconds, 100*r.seconds/v.Total)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nproduct: %.0f M arcs/s. Inside the boundary: do not publish.\n", float64(v.Arcs)/v.Product/1e6)
	return err
}
