package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/evaluate/report"
)

// evaluateFlags are the flags of privcom evaluate.
type evaluateFlags struct {
	ingest              ingestFlags
	original, synthetic string
	labels, labelColumn string
	labelID, html       string
	opts                evaluate.Options
	method              string
	skipPaths           bool
}

func newEvaluate(a *app) *cobra.Command {
	var f evaluateFlags
	c := &cobra.Command{Use: "evaluate --original FILE|DIR --synthetic DIR|FILE", Short: "Compare a release with the original (private: stays inside)",
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return a.evaluate(cmd.Context(), &f) }}
	fs := c.Flags()
	f.ingest.add(fs)
	fs.StringVar(&f.original, "original", "", "graph file or ingested graph folder")
	fs.StringVar(&f.synthetic, "synthetic", "", "release folder, or a graph file on the same vertex ids")
	fs.StringVar(&f.labels, "labels", "", "file with ground-truth communities")
	fs.StringVar(&f.labelColumn, "label-column", "", "column or attribute of the label")
	fs.StringVar(&f.labelID, "label-id", "", "column of the vertex id in the label file")
	fs.StringVar(&f.method, "method", string(evaluate.Louvain), "how communities are found: louvain, leiden or label-propagation")
	fs.Uint64Var(&f.opts.Seed, "seed", 1, "seed of the community search")
	fs.IntVar(&f.opts.Repeat, "repeat", 1, "community searches to take the median of")
	fs.BoolVar(&f.skipPaths, "skip-paths", false, "leave out distances and centrality, the slowest figures")
	fs.StringVar(&f.html, "html", "", "also write a report for people to this file; refused inside a release folder")
	return c
}

func (a *app) evaluate(ctx context.Context, f *evaluateFlags) error {
	switch {
	case f.original == "":
		return usagef("--original is not set: name the graph that was released")
	case f.synthetic == "":
		return usagef("--synthetic is not set: name the release folder")
	}
	if f.html != "" && inside(f.html, f.synthetic) {
		return usagef("%s lies in the release folder: an evaluation is private and must not be published", f.html)
	}
	p := a.newProgress()
	defer p.close()
	ids, original, err := a.loadGraph(ctx, f.original, &f.ingest, p)
	if err != nil {
		return err
	}
	p.report("reading the release", 0, 1)
	name, synthetic, err := a.loadSynthetic(ctx, f, ids, p)
	if err != nil {
		return err
	}
	o := f.opts
	o.Method, o.SkipPaths, o.Progress = evaluate.Method(f.method), f.skipPaths, p.report
	if f.labels != "" {
		if o.Labels, err = f.readLabels(ids); err != nil {
			return input(err)
		}
	}
	e, err := evaluate.Compare(ctx, original, synthetic, o)
	if err != nil {
		return usage(err)
	}
	p.close()
	if f.html != "" {
		if err := writeEvaluation(f.html, name, e); err != nil {
			return err
		}
	}
	return a.print(e, func(w io.Writer) error {
		if err := e.Text(w); err != nil {
			return err
		}
		if f.html != "" {
			_, err := fmt.Fprintf(w, "\nreport (private): %s\n", f.html)
			return err
		}
		return nil
	})
}

func (f *evaluateFlags) readLabels(ids []string) ([]int32, error) {
	l, err := evaluate.ReadLabelFile(f.labels, evaluate.LabelOptions{Column: f.labelColumn, IDColumn: f.labelID})
	if err != nil {
		return nil, err
	}
	labels, _, err := l.Align(len(ids), func(v int) string { return ids[v] })
	return labels, err
}

func writeEvaluation(path, name string, e *evaluate.Evaluation) error {
	f, err := os.Create(path)
	if err != nil {
		return usage(err)
	}
	return firstError(report.WriteEvaluation(f, report.EvaluationReport{Title: "Evaluation of " + name,
		Original: "original", Synthetic: "release", Version: Tool(), Evaluation: e}), f.Close())
}
