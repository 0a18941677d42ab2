package release

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/storage"
	"github.com/privcom/privcom/synthesis"
)

// Engine is what holds the rows of the graph and the hands to work with: shard workers
// over NATS, or goroutines in a test.
type Engine interface {
	blockmatmul.Multiplier
	synthesis.Runner
}

// Options is everything a release needs.
type Options struct {
	ID      string // the run's id; recorded in the release and the ledger
	Params  Params
	Initial []float64 // V₀ as read from Params.Initial, n×k; nil for the seed's
	Graph   *partition.Graph
	Engine  Engine
	Ledger  *privacy.Ledger
	Out     *storage.Bucket // the release folder
	Work    *storage.Bucket // the run's own folder: records and scratch. It stays inside the boundary
	Tool    string
	// Resume says that Work outlives the process: a run that was interrupted is taken up
	// again from what it has recorded. Without it a failure removes what was written to Out.
	Resume bool
	Lease  time.Duration // how long another coordinator must be silent; 0: DefaultLease
	// Progress is told of phases; it may be nil.
	Progress func(phase string, done, total int64)
}

// Phases in the order in which Progress reports them.
const (
	PhaseLease   = "waiting for the lease"
	PhaseReserve = "reserving budget"
	PhaseOja     = "private Oja steps"
	PhaseFit     = "fitting"
	PhasePlace   = "placing vertices"
	PhaseEdges   = "sampling edges"
	PhaseWrite   = "writing the release"
)

// Describe reads what is public of an ingested graph.
func Describe(g *partition.Graph) Graph {
	m := g.Manifest()
	d := Graph{Vertices: int(m.Vertices), DegreeLimit: max(m.Vertices-1, 1)}
	if m.DegreeBound > 0 {
		d.DegreeLimit, d.DegreeKnown = min(m.DegreeBound, d.DegreeLimit), true
	}
	return d
}

// Run makes a release: Begin and Job.Run in one. A finished run gives its release.
func Run(ctx context.Context, o Options) (*Document, error) {
	j, err := Begin(ctx, o)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	if d := j.Finished(); d != nil {
		return d, nil
	}
	return j.Run(o.Engine)
}

// Run makes the release. On an error before the reservation nothing is spent; after it the
// reservation stays spent, and the error says so.
func (j *Job) Run(engine Engine) (*Document, error) {
	ctx := j.ctx
	if j.started || j.done != nil {
		return nil, errors.New("release: a job runs once")
	}
	j.started = true
	r := &runner{Options: j.o, plan: j.plan, file: j.file}
	r.Engine = engine
	last := func(err error) error { // of a run that has spent nothing; ctx may be over already
		if lost := j.lost(); lost != nil {
			return lost
		}
		return errors.Join(err, j.giveUp(context.WithoutCancel(ctx)))
	}
	if err := r.claim(ctx); err != nil {
		return nil, err
	}
	if err := r.prepare(ctx); err != nil {
		if spent, _ := j.begun(context.WithoutCancel(ctx), j.file); j.taken && spent {
			return nil, err
		}
		return nil, last(err)
	}
	r.Progress(PhaseReserve, 0, 1)
	var err error
	r.grant, err = r.Ledger.Reserve(ctx, privacy.Request{ID: r.file.Reservation, Unit: r.plan.Params.Unit, DegreeBound: r.plan.Params.DegreeBound,
		Cost: r.plan.Cost, Target: r.plan.Params.Target, Graph: r.Graph.Manifest().Hash})
	if err != nil && j.taken {
		return nil, err // it may have been reserved before
	}
	if err != nil {
		return nil, last(err)
	}
	doc, err := r.run(ctx)
	if err == nil {
		return doc, nil
	}
	if lost := j.lost(); lost != nil {
		return nil, lost
	}
	if !j.o.Resume || errors.Is(err, privacy.ErrVoided) {
		// What was written is of no use to anybody.
		err = errors.Join(err, clean(context.WithoutCancel(ctx), j.o.Out))
	}
	if errors.Is(err, privacy.ErrVoided) {
		return nil, fmt.Errorf("%w\nnothing was published", err)
	}
	err = fmt.Errorf("%w\nledger entry %s of data set %s keeps epsilon %s reserved: noise may have been drawn for it",
		err, r.grant.ID(), r.Ledger.Dataset, r.plan.Params.Target.Epsilon)
	if j.o.Resume {
		err = fmt.Errorf("%w\nrun %s can be taken up again: the same command goes on from the last recorded step and spends nothing more", err, r.ID)
	}
	return nil, err
}

// lost is the error of a job that another coordinator has taken over.
func (j *Job) lost() error {
	var lost *LeaseError
	if errors.As(context.Cause(j.ctx), &lost) {
		return lost
	}
	return nil
}

// runner is one release under way.
type runner struct {
	Options
	plan  *privacy.Plan
	file  *runFile
	grant *privacy.Grant
	steps *transcript
	doc   Document
	nodes File // the public vertex list, written before anything is spent

	placed   []int32   // community of every vertex, where a mixture placed them
	activity []float64 // how much every vertex takes part, relative
}

func (r *runner) run(ctx context.Context) (*Document, error) {
	var err error
	if r.steps, err = openTranscript(ctx, reservationSteps(r.Work, r.grant)); err != nil {
		return nil, err
	}
	estimate, err := r.estimate(ctx)
	if err != nil {
		return nil, err
	}
	law, err := r.law(ctx, estimate)
	if err != nil {
		return nil, err
	}
	factors, err := writeFactors(ctx, r.Out, estimate)
	if err != nil {
		return nil, err
	}
	r.Progress(PhaseEdges, 0, 1)
	law.Edges, law.Seed = float64(r.doc.Edges.Edges), r.Params.Seed
	law.Nodes = synthesis.Nodes{Bucket: r.Out.URL(), Type: r.Graph.Manifest().IDType, Files: []synthesis.Object{object(r.nodes)}}
	law.Output, law.Scratch = r.Out.URL(), r.Work.Sub("scratch").URL()
	made, err := r.generate(ctx, law)
	if err != nil {
		return nil, err
	}
	if made.Tau != nil {
		r.doc.Edges.Tau = made.Tau.Value
	}
	r.doc.Edges.Expected = made.Expected
	r.doc.Graph.Edges = made.Edges
	for _, p := range made.Parts {
		r.doc.Files = append(r.doc.Files, File{Key: p.Key, Rows: p.Rows, Bytes: p.Bytes, SHA256: p.SHA256})
	}
	r.doc.Files = append(r.doc.Files, r.nodes, factors)
	if r.placed != nil {
		labels, err := writeLabels(ctx, r.Out, r.placed)
		if err != nil {
			return nil, err
		}
		r.doc.Files = append(r.doc.Files, labels)
	}
	return r.finish(ctx)
}

func object(f File) synthesis.Object {
	return synthesis.Object{Key: f.Key, Rows: f.Rows, Bytes: f.Bytes, SHA256: f.SHA256}
}

// estimate runs the Oja steps and gives V and Λ.
func (r *runner) estimate(ctx context.Context) (*privoja.Estimate, error) {
	p := r.plan.Params
	paper := r.Params.Profile == ProfilePaper
	m, err := privoja.New(r.config(), r.Engine, r.grant, r.steps)
	if err != nil {
		return nil, err
	}
	for !m.Done() {
		r.Progress(PhaseOja, int64(m.StepNumber()), int64(p.Steps))
		if err := m.Step(ctx); err != nil {
			return nil, err
		}
	}
	r.Progress(PhaseFit, 0, 1)
	if paper {
		lambda, err := m.PaperEigenvalues(ctx)
		if err != nil {
			return nil, err
		}
		return &privoja.Estimate{N: p.Vertices, K: p.Rank, V: m.Vectors(), Lambda: lambda}, nil
	}
	e, err := privoja.Fit(ctx, r.steps, m.Vectors(), p.Vertices, p.Rank, r.Params.Centre, r.fitRounds())
	if err != nil {
		return nil, err
	}
	// The operator that was multiplied is H̃/β; from here on Λ is of H̃.
	for j := range e.Lambda {
		e.Lambda[j] *= p.Beta()
	}
	for j := range e.Held {
		e.Held[j] *= p.Beta()
		e.HeldNoise[j] *= p.Beta()
	}
	return e, nil
}

func (r *runner) fitRounds() int {
	switch {
	case r.Params.Fit:
		return privoja.FitRounds
	case r.Params.reconstruction() == Blocks:
		return 1 // the placement needs the noise of a row, which a fit tells
	}
	return 0
}

func (r *runner) note(format string, args ...any) {
	r.doc.Notes = append(r.doc.Notes, fmt.Sprintf(format, args...))
}

// finish writes release.html and release.json, commits, and writes _SUCCESS.
func (r *runner) finish(ctx context.Context) (*Document, error) {
	r.Progress(PhaseWrite, 0, 1)
	if err := r.describe(ctx); err != nil {
		return nil, err
	}
	page, err := r.report(ctx)
	if err != nil {
		return nil, err
	}
	r.doc.Files = append(r.doc.Files, File{Key: ReportKey, Bytes: int64(len(page)), SHA256: sum(page)})
	if err := r.Out.Put(ctx, ReportKey, page); err != nil {
		return nil, err
	}
	data, err := r.doc.marshal()
	if err != nil {
		return nil, err
	}
	if err := r.Out.Put(ctx, DocumentKey, data); err != nil {
		return nil, err
	}
	if err := r.sweep(ctx); err != nil {
		return nil, err
	}
	// The ledger learns of the release before the world does: a run that dies between the two
	// has spent budget on nothing, where the other order could leave a published release
	// whose reservation a person might take for dead and void.
	if err := r.grant.Commit(ctx, r.ID); err != nil {
		return nil, err
	}
	if err := unclaim(ctx, r.Out); err != nil {
		return nil, err
	}
	if err := createOwn(ctx, r.Out, SuccessKey, []byte(sum(data)+"  "+DocumentKey+"\n")); err != nil {
		return nil, err
	}
	return &r.doc, nil
}

// describe fills the document from what ran.
func (r *runner) describe(ctx context.Context) error {
	p := r.plan.Params
	total := r.costAt(p.DegreeBound)
	if !total.Within(r.plan.Cost) {
		return fmt.Errorf("release: the mechanisms cost %v, more than the reserved %v; this is a fault of the program", total, r.plan.Cost)
	}
	m := r.Graph.Manifest()
	state, err := r.Ledger.State(ctx)
	if err == nil {
		err = r.grant.Check(state, r.ID)
	}
	if err != nil {
		return err
	}
	renewed := state.Limits[p.Unit].Renew
	if err := r.steps.fix(ctx, "renewed", &renewed); err != nil {
		return err
	}
	// The certified figure is the reservation's: everything reserved counts as used.
	eps := r.plan.Certified()
	if w := weakness(eps, p.Target.Delta, p.Vertices); w != "" {
		r.note("%s", w)
	}
	d := &r.doc
	d.Format, d.Version, d.Tool, d.ID, d.Dataset = "privcom-release", FormatVersion, r.Tool, r.ID, r.Ledger.Dataset
	d.Created = r.file.Created
	d.Parameters, d.Resolved = r.Params, p
	d.Parameters.Dataset = r.Ledger.Dataset
	if r.Params.Initial != "" {
		d.Parameters.Initial = filepath.Base(r.Params.Initial) // where the owner keeps it is not public
	}
	d.Graph.Vertices, d.Graph.IDType, d.Graph.VertexSource = p.Vertices, m.IDType, m.VertexSource
	d.Noise = Noise{Norm: r.plan.NoiseNorm, LambdaMin: r.plan.LambdaMin}
	for _, c := range r.grant.Charges() {
		d.Noise.Charges = append(d.Noise.Charges, mechanism(c))
	}
	d.Ledger = LedgerRef{Dataset: r.Ledger.Dataset, Entry: r.grant.ID()}
	d.Guarantee = Guarantee{Unit: p.Unit, Renewed: renewed, Epsilon: eps, Delta: p.Target.Delta, Rho: r.plan.Cost.Rho, PureEpsilon: r.plan.Cost.Pure,
		GaussianDelta: r.plan.Cost.GaussianDelta(eps),
		Sentence:      sentence(p, eps, p.Target.Delta, m.VertexSource, renewed)}
	if r.Params.Profile == ProfilePaper {
		d.Guarantee.PaperSum = fmt.Sprintf("(%s, %s) as %d times (%s, %s)", p.Target.Epsilon, p.Target.Delta, p.Steps+p.Rank,
			strconv.FormatFloat(p.Target.Epsilon.Float()/float64(p.Steps+p.Rank), 'g', 4, 64),
			strconv.FormatFloat(p.Target.Delta.Float()/float64(p.Steps+p.Rank), 'g', 4, 64))
		r.paperNotes()
	}
	if p.Unit.PerVertex() {
		d.Guarantee.DegreeBound = p.DegreeBound
		for _, degree := range p.TableDegrees() {
			d.Guarantee.DegreeTable = append(d.Guarantee.DegreeTable,
				privacy.DegreeRow{Degree: degree, Epsilon: r.costAt(degree).Epsilon(p.Target.Delta)})
		}
	}
	return nil
}

// costAt is the certified cost for a vertex of degree ≤ d. Up to the degree bound no
// mechanism costs more than was booked for it, so the sum, whose last digit is rounded up,
// need not pass what was booked.
func (r *runner) costAt(d int64) privacy.Cost {
	c, booked := r.grant.CostAt(d), privacy.Cost{}
	for _, charge := range r.grant.Charges() {
		booked = booked.Plus(charge.Cost)
	}
	if d <= r.plan.Params.DegreeBound && !c.Within(booked) {
		return booked
	}
	return c
}

// paperNotes says what to expect of the paper's constants.
func (r *runner) paperNotes() {
	n := float64(r.plan.Params.Vertices)
	r.note("The paper's calibration adds noise of norm %.3g to each column where the signal, an eigenvalue of A, is at most n-1 = %.0f: %.1e times more. Expect a random graph.",
		r.plan.NoiseNorm, n-1, r.plan.NoiseNorm/(n-1))
	r.note("The paper's reconstruction has the wrong sign for a similarity: even without noise it keeps the edges between different communities (docs/paper.md).")
}
