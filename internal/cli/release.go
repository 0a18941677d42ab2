package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// releaseFlags are the flags of privcom release.
type releaseFlags struct {
	params release.Params
	ingest ingestFlags
	ledger ledgerFlags
	inputs []string
	graph  string
	out    string
	run    string
	runs   runFlags
	shards int
	dryRun bool
	logs   logFlags
}

func newRelease(a *app) *cobra.Command {
	var f releaseFlags
	c := &cobra.Command{Use: "release (--input FILE | --graph DIR) --epsilon E --out DIR", Short: "Publish a synthetic graph under a guarantee",
		Long: `release reads a graph (or an ingested graph folder), spends budget in the ledger, runs the private steps on shard
workers around an embedded NATS server, and writes a release folder. Only that folder may leave the boundary.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return a.release(cmd.Context(), &f) }}
	fs := c.Flags()
	paramFlags(fs, &f.params)
	f.ledger.add(fs)
	f.ingest.add(fs)
	f.logs.add(fs)
	fs.StringSliceVar(&f.inputs, "input", nil, "graph file (several, a folder or a pattern for parts; - for standard input)")
	fs.StringVar(&f.graph, "graph", "", "ingested graph folder, instead of --input")
	fs.StringVar(&f.out, "out", "", "folder for the release")
	f.runs.add(fs, "(default: a temporary one; with --run "+defaultRuns+")")
	fs.StringVar(&f.run, "run", "", "id of the run, by which the same command takes it up again after an interruption (default: a new one)")
	fs.IntVar(&f.shards, "shards", runtime.GOMAXPROCS(0), "number of shards and workers for --input")
	fs.Int64Var(&f.ingest.opts.DegreeBound, "declare-degree-bound", 0, "check while reading that no vertex has more neighbours")
	fs.BoolVar(&f.dryRun, "dry-run", false, "stop before the budget is touched: check everything, show the plan, release nothing")
	a.checked(c, f.check)
	return c
}

// check lists every fault of the flags.
func (f *releaseFlags) check() error {
	var faults []error
	if (f.graph == "") == (len(f.inputs) == 0) {
		faults = append(faults, usagef("give either --input FILE or --graph DIR"))
	}
	if f.out == "" {
		faults = append(faults, usagef("--out is not set: name the folder for the release"))
	}
	return usage(errors.Join(append(faults, checkShards(f.shards), f.params.Validate())...))
}

// runID names a run.
func runID() string {
	var b [6]byte
	rand.Read(b[:])
	return "r" + hex.EncodeToString(b[:])
}

func (a *app) release(ctx context.Context, f *releaseFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	p := a.newProgress()
	defer p.close()
	out, err := openOut(ctx, f.out, f.runs.work, f.ledger)
	if err != nil {
		return err
	}
	defer out.Close()
	leave := leaveNoFolder(out)
	defer func() { leave(err) }()
	lasting := f.run != "" || f.runs.work != ""
	id, tidy := f.run, false
	if id == "" {
		id = runID()
		if err := release.CheckEmpty(ctx, out); err != nil { // before a graph is read for nothing
			return err
		}
	}
	work, cleanWork, err := tempFolder(ctx)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, cleanWork()) }()
	read := work.Sub("graph") // the folder of a graph that is read from --input
	if lasting && !f.dryRun {
		var closeWork func()
		if work, tidy, closeWork, err = f.runs.open(ctx, id); err != nil {
			return err
		}
		defer closeWork()
		if read, err = f.keepGraph(ctx, work, read); err != nil {
			return err
		}
	}

	graph, closeGraph, rep, err := f.open(ctx, a, read, p)
	if err != nil {
		return err
	}
	defer closeGraph()
	if f.dryRun {
		p.close()
		return a.dryRun(ctx, f.params, f.ledger, graph)
	}
	ledger, closeLedger, err := f.ledger.open(ctx)
	if err != nil {
		return err
	}
	defer closeLedger()
	if err := a.warnUnlimited(ctx, f.ledger, ledger, f.params.Unit); err != nil {
		return err
	}

	log, err := f.logs.logger(a.stderr)
	if err != nil {
		return err
	}
	d := release.Describe(graph)
	plan, err := f.params.Plan(d) // before anything starts: all faults of the parameters
	if err != nil {
		return usage(err)
	}
	var initial []float64
	if f.params.Initial != "" {
		if initial, err = readMatrix(f.params.Initial, d.Vertices, plan.Params.Rank); err != nil {
			return input(err)
		}
	}
	job, err := release.Begin(ctx, release.Options{ID: id, Params: f.params, Initial: initial, Graph: graph, Ledger: ledger,
		Out: out, Work: work, Tool: Tool(), Progress: p.report, Resume: lasting, Lease: f.runs.lease})
	if err != nil {
		return err
	}
	defer job.Close()
	summarise := func(doc *release.Document) *summary {
		p.close()
		return &summary{Document: doc, Out: out.URL(), Report: out.Sub(release.ReportKey).URL(), Ledger: ledger.URL(), Phases: p.Phases, Input: rep}
	}
	if doc := job.Finished(); doc != nil {
		return a.finished(summarise(doc))
	}
	if err := a.sayTakenUp(ctx, job, id, plan.Params.Steps); err != nil {
		return err
	}
	p.report("starting the cluster", 0, 1)
	l, err := startLaptop(job.Context(), id, graph, log, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	doc, err := job.Run(l.coordinator)
	if err = firstError(l.explain(err), l.Close()); err != nil {
		if lasting && f.run == "" {
			err = fmt.Errorf("%w (with --run %s)", err, id)
		}
		return err
	}
	if tidy {
		if err := job.Tidy(ctx); err != nil {
			return err
		}
	}
	s := summarise(doc)
	return a.print(s, s.text)
}

// keepGraph is where a graph that is read from --input goes: to the run's folder, which is
// kept where the user named a place; but of a run that is taken up again the input is read
// afresh, to see that it is the same.
func (f *releaseFlags) keepGraph(ctx context.Context, work, temporary *storage.Bucket) (*storage.Bucket, error) {
	if f.runs.work == "" {
		return temporary, nil
	}
	kept := work.Sub("graph")
	have, err := kept.Exists(ctx, partition.ManifestKey)
	if have {
		kept = temporary
	}
	return kept, err
}

// open ingests --input into a folder, or opens --graph.
func (f *releaseFlags) open(ctx context.Context, a *app, bucket *storage.Bucket, p *progress) (*partition.Graph, func(), *partition.Report, error) {
	if f.graph != "" {
		g, closeGraph, err := openGraph(ctx, f.graph)
		return g, closeGraph, nil, err
	}
	for _, in := range f.inputs {
		if isGraphFolder(in) {
			return nil, nil, nil, usagef("%s is an ingested graph folder: give it with --graph", in)
		}
	}
	o := f.ingest.options(a, f.inputs)
	o.Shards, o.Progress = f.shards, p.report
	var rep *partition.Report
	if err := f.ingest.rejecting(a, &o, func() (err error) {
		_, rep, err = partition.Ingest(ctx, o, bucket)
		return ingestError(err)
	}); err != nil {
		return nil, nil, nil, err
	}
	a.sayNotes(rep)
	g, err := partition.OpenGraph(ctx, bucket)
	return g, func() {}, rep, err
}

// summary is what a person sees after a release.
type summary struct {
	*release.Document
	Out    string      `json:"out"`
	Report string      `json:"report"`
	Ledger string      `json:"ledger_url"`
	Phases []phaseTime `json:"phases"`
	// Already says that the run was finished before and this command did nothing.
	Already bool              `json:"already_finished,omitempty"`
	Input   *partition.Report `json:"-"` // counts of the input stay inside: only the terminal sees drops
}

func (s *summary) text(w io.Writer) error {
	d := s.Document
	fmt.Fprintf(w, "%s\n\n", wrap(d.Guarantee.Sentence, 100))
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "vertices\t%d\n", d.Graph.Vertices)
	fmt.Fprintf(tw, "edges written\t%d (target %d, sampled to within about ±%.0f; target from: %s%s)\n", d.Graph.Edges, d.Edges.Edges,
		math.Sqrt(float64(d.Edges.Edges)), d.Edges.Source, stdDev(d.Edges.StdDev))
	fmt.Fprintf(tw, "steps, rank\tT = %d, k = %d\n", d.Resolved.Steps, d.Resolved.Rank)
	fmt.Fprintf(tw, "noise\tN = %.4g per column, in units of an eigenvalue\n", d.Noise.Norm)
	fmt.Fprintf(tw, "eigenvalues found\t%s\n", eigenvalues(d.Spectrum))
	if asked := d.Resolved.Target.Epsilon; d.Guarantee.Epsilon.Float() < 0.99*asked.Float() {
		fmt.Fprintf(tw, "asked for\tepsilon %s; zCDP proves that this noise costs less\n", asked)
	}
	fmt.Fprintf(tw, "spent\tepsilon %s at delta %s (rho %s) of data set %s\n", d.Guarantee.Epsilon, d.Guarantee.Delta, d.Guarantee.Rho, d.Dataset)
	if err := tw.Flush(); err != nil {
		return err
	}
	if err := writeDegreeTable(w, d.Guarantee.DegreeTable, d.Guarantee.DegreeBound); err != nil {
		return err
	}
	for _, n := range d.Notes {
		fmt.Fprintf(w, "\nnote: %s\n", wrap(n, 100))
	}
	if len(s.Phases) > 0 && !s.Already { // of a finished run there is nothing to time
		var times []string
		for _, p := range s.Phases {
			times = append(times, fmt.Sprintf("%s %.2f s", p.Phase, p.Seconds))
		}
		fmt.Fprintf(w, "\ntime: %s\n", strings.Join(times, ", "))
	}
	fmt.Fprintf(w, "\nrelease   %s\nreport    %s\nledger    %s (entry %s)\n", s.Out, s.Report, s.Ledger, d.Ledger.Entry)
	fmt.Fprintf(w, "check it with: privcom verify %s\n", s.Out)
	return nil
}

func stdDev(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf(", standard deviation %.3g", s)
}

// eigenvalues lists the spectrum, with those that entered the graph marked.
func eigenvalues(s release.Spectrum) string {
	kept := map[int]bool{}
	for _, j := range s.Kept {
		kept[j] = true
	}
	var parts []string
	for j, x := range s.Eigenvalues {
		t := fmt.Sprintf("%.4g", x)
		if !kept[j] {
			if t += fmt.Sprintf(" (left out: noise reaches %.3g)", s.NoiseLevels[j]); x < 0 {
				t = fmt.Sprintf("%.4g (left out: negative)", x)
			}
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, ", ")
}

// wrap breaks text at spaces so that no line is wider than width runes.
func wrap(s string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(s) {
		l := len([]rune(word))
		if i > 0 {
			if n+1+l > width {
				b.WriteByte('\n')
				n = 0
			} else {
				b.WriteByte(' ')
				n++
			}
		}
		b.WriteString(word)
		n += l
	}
	return b.String()
}
