package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/privcom/privcom/cluster"
	"github.com/privcom/privcom/internal/ops"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/release"
)

// Coordinator runs the coordinator's binary and returns its exit code.
func Coordinator(args []string) int { return main(args, newCoordinator) }

// Shard runs the shard worker's binary and returns its exit code.
func Shard(args []string) int { return main(args, newShard) }

// natsFlags say how a cluster process reaches NATS and which run it belongs to.
type natsFlags struct {
	conn        cluster.ConnectOptions
	prefix, run string
	wait        time.Duration
}

func (f *natsFlags) add(fs *pflag.FlagSet, wait time.Duration) {
	fs.StringVar(&f.conn.URL, "nats", "nats://127.0.0.1:4222", "address of NATS; several with commas")
	fs.StringVar(&f.conn.CredsFile, "nats-creds", "", "credentials file (JWT and seed)")
	fs.StringVar(&f.conn.NkeyFile, "nats-nkey", "", "nkey seed file")
	fs.StringVar(&f.conn.PasswordFile, "nats-password-file", "", "file with user:password")
	fs.StringVar(&f.conn.CAFile, "nats-ca", "", "certificate of the authority that signed the server's")
	fs.StringVar(&f.conn.CertFile, "nats-cert", "", "client certificate")
	fs.StringVar(&f.conn.KeyFile, "nats-key", "", "key of the client certificate")
	fs.BoolVar(&f.conn.Insecure, "insecure-nats", false, "allow a NATS that is not on this machine without TLS: rows of Q are private and would cross the network in the clear")
	fs.DurationVar(&f.wait, "nats-wait", wait, "how long to try to reach NATS before giving up")
	fs.StringVar(&f.prefix, "prefix", defaultPrefix, "first token of every subject")
	fs.StringVar(&f.run, "run", "", "id of the run, the same for the coordinator and its shards")
}

// connect opens a connection. A NATS that does not answer for the time of --nats-wait is
// a fault that another try may heal; a refused login or certificate is a matter of the flags.
func (f *natsFlags) connect(ctx context.Context) (*cluster.Conn, error) {
	if f.wait <= 0 {
		return nil, usagef("nats-wait is %v, must be positive", f.wait)
	}
	inner, cancel := context.WithTimeoutCause(ctx, f.wait, fmt.Errorf("%w for %v (--nats-wait)", errNoNATS, f.wait))
	defer cancel()
	c, err := cluster.Connect(inner, f.conn)
	if err != nil && inner.Err() == nil {
		err = usage(err)
	}
	return c, err
}

// connectTo is connect for commands that ask about one run: they must name it.
func (f *natsFlags) connectTo(ctx context.Context, name string) (*cluster.Conn, error) {
	if f.run == "" {
		return nil, usagef("--run is not set")
	}
	f.conn.Name = name
	return f.connect(ctx)
}

// errNoNATS says that nothing answered at the address of NATS.
var errNoNATS = errors.New("no NATS server answered")

func newCoordinator(a *app) *cobra.Command {
	var p release.Params
	var n natsFlags
	var ledger ledgerFlags
	var logs logFlags
	var runs runFlags
	var graph, out string
	var join time.Duration
	var dryRun bool
	op := newOperation(ops.RoleCoordinator)
	a.operation = op
	check := func() error {
		var unset error
		if graph == "" || out == "" || n.run == "" {
			unset = errors.New("--graph, --out and --run must be set")
		}
		return usage(errors.Join(unset, p.Validate()))
	}
	c := &cobra.Command{Use: "coordinator --graph URL --out URL --run ID --epsilon E", Short: "Coordinate one release over NATS",
		Long: `coordinator makes one release with shard workers that it reaches through NATS. It draws the noise and keeps the ledger;
the rows of the graph stay with the workers. Every flag can be given as PRIVCOM_… in the environment.

A run that was interrupted, by whatever, is taken up by the same command: it goes on after the last step that is
recorded in its work folder, under the same ledger entry. With other settings it is refused. Of a run that is
finished the same command changes nothing.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
			if err := check(); err != nil {
				return err
			}
			log, err := logs.logger(a.stderr)
			if err != nil {
				return err
			}
			if err := op.start(cmd.Context(), n.run, nil); err != nil {
				return err
			}
			return a.coordinate(cmd.Context(), coordination{dryRun: dryRun, params: p, nats: n, ledger: ledger, graph: graph, out: out, runs: runs,
				options: cluster.CoordinatorOptions{Prefix: n.prefix, Run: n.run, Logger: log, Timeouts: cluster.Timeouts{Join: join}}})
		}}
	a.common(c)
	a.checked(c, check)
	fs := c.Flags()
	paramFlags(fs, &p)
	n.add(fs, defaultNATSWait)
	ledger.add(fs)
	runs.add(fs, "(default "+defaultRuns+", which is emptied of what a finished run needs no more)")
	logs.add(fs)
	op.flags.add(fs)
	fs.StringVar(&graph, "graph", "", "ingested graph folder or bucket URL")
	fs.StringVar(&out, "out", "", "folder or bucket URL for the release")
	fs.BoolVar(&dryRun, "dry-run", false, "check the parameters, the places, the ledger's limit and the way to NATS, show the plan, and end")
	fs.DurationVar(&join, "join", 5*time.Minute, "how long to wait for all shards before making do with fewer")
	return c
}

// defaultNATSWait is how long coordinator and shards look for NATS.
const defaultNATSWait = 2 * time.Minute

// coordination is one run of the coordinator binary.
type coordination struct {
	dryRun     bool
	params     release.Params
	nats       natsFlags
	ledger     ledgerFlags
	runs       runFlags
	graph, out string
	options    cluster.CoordinatorOptions
}

func (a *app) coordinate(ctx context.Context, c coordination) (err error) {
	p, op := a.newProgress(), a.operation
	defer p.close()
	report := op.report(p.report)
	out, err := openOut(ctx, c.out, c.runs.place(), c.ledger)
	if err != nil {
		return err
	}
	defer out.Close()
	leave := leaveNoFolder(out)
	defer func() { leave(err) }()
	graph, closeGraph, err := openGraph(ctx, c.graph)
	if err != nil {
		return err
	}
	defer closeGraph()
	plan, err := c.params.Plan(release.Describe(graph))
	if err != nil {
		return usage(err)
	}
	var initial []float64
	if c.params.Initial != "" {
		if initial, err = readMatrix(c.params.Initial, plan.Params.Vertices, plan.Params.Rank); err != nil {
			return input(err)
		}
	}
	if c.dryRun {
		if err := release.CheckEmpty(ctx, out); err != nil {
			return err
		}
		c.nats.conn.Name = "privcom coordinator, dry run"
		conn, err := c.nats.connect(ctx)
		if err != nil {
			return err
		}
		conn.Close()
		return a.dryRun(ctx, c.params, c.ledger, graph)
	}
	ledger, closeLedger, err := c.ledger.open(ctx)
	if err != nil {
		return err
	}
	defer closeLedger()
	if err := a.warnUnlimited(ctx, c.ledger, ledger, c.params.Unit); err != nil {
		return err
	}
	work, tidy, closeWork, err := c.runs.open(ctx, c.nats.run)
	if err != nil {
		return err
	}
	defer closeWork()
	op.setEntry(ops.EntryUnknown)
	job, err := release.Begin(ctx, release.Options{ID: c.nats.run, Params: c.params, Initial: initial, Graph: graph, Ledger: ledger,
		Out: out, Work: work, Tool: Tool(), Progress: report, Resume: true, Lease: c.runs.lease})
	if err != nil {
		return err
	}
	defer job.Close()
	defer func() { op.lookUpEntry(ledger, job) }()
	summarise := func(doc *release.Document) *summary {
		p.close()
		return &summary{Document: doc, Out: out.URL(), Report: out.Sub(release.ReportKey).URL(), Ledger: ledger.URL(), Phases: p.Phases}
	}
	c.nats.conn.Name, c.nats.conn.Logger = "privcom coordinator "+c.nats.run, c.options.Logger
	if doc := job.Finished(); doc != nil {
		endWaiting(ctx, c.nats)
		return a.finished(summarise(doc))
	}
	if err := a.sayTakenUp(ctx, job, c.nats.run, plan.Params.Steps); err != nil {
		return err
	}
	conn, err := c.nats.connect(job.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	op.use(func(op *operation) { op.conn = conn })
	doc, err := c.run(job, graph, conn, op, report)
	if err != nil {
		return err
	}
	if tidy {
		if err := job.Tidy(ctx); err != nil {
			return err
		}
	}
	op.report(func(string, int64, int64) {})("done", 0, 0)
	s := summarise(doc)
	return a.print(s, s.text)
}

// run does the work of a job with the shards of its run.
func (c *coordination) run(job *release.Job, graph *partition.Graph, conn *cluster.Conn, op *operation, report func(phase string, done, total int64)) (*release.Document, error) {
	ctx, source := job.Context(), graphSource{graph}
	o := c.options
	o.Conn, o.Rows, o.Shards, o.Graph = conn, source.Rows(), source.Shards(), source.Graph()
	o.Lease = job.Term()
	coordinator, err := cluster.NewCoordinator(ctx, o)
	if err != nil {
		return nil, err
	}
	op.use(func(op *operation) { op.coordinator, op.planned = coordinator, len(o.Shards) })
	report(waitingPhase, 0, int64(len(o.Shards)))
	if err := waitShards(ctx, coordinator, source.Rows(), o.Timeouts.Join, o.Run); err != nil {
		return nil, firstError(err, leaveRun(coordinator, err))
	}
	doc, err := job.Run(coordinator)
	return doc, firstError(err, leaveRun(coordinator, err))
}

func newShard(a *app) *cobra.Command {
	var n natsFlags
	var logs logFlags
	var graph string
	var index, cores int
	var patience time.Duration
	op := newOperation(ops.RoleShard)
	a.operation = op
	c := &cobra.Command{Use: "shard --graph URL --run ID [--index I]", Short: "Serve rows of a graph to one run's coordinator",
		Long: `shard loads row shards of a graph folder and multiplies them for one run's coordinator until the run ends. In an
indexed Kubernetes job the index comes from JOB_COMPLETION_INDEX. Every flag can be given as PRIVCOM_… in the environment.`,
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error {
			if graph == "" || n.run == "" {
				return usagef("--graph and --run must be set")
			}
			if text, ok := os.LookupEnv("JOB_COMPLETION_INDEX"); ok && !cmd.Flags().Changed("index") {
				i, err := strconv.Atoi(text)
				if err != nil || i < 0 {
					return usagef("JOB_COMPLETION_INDEX=%q is not an index", text)
				}
				index = i
			}
			log, err := logs.logger(a.stderr)
			if err != nil {
				return err
			}
			if err := op.start(cmd.Context(), n.run, &index); err != nil {
				return err
			}
			g, closeGraph, err := openGraph(cmd.Context(), graph)
			if err != nil {
				return err
			}
			defer closeGraph()
			if shards := len(g.Manifest().Shards); index >= shards {
				return usagef("index is %d, the graph has shards 0 to %d", index, shards-1)
			}
			n.conn.Name, n.conn.Logger = fmt.Sprintf("privcom shard %d of %s", index, n.run), log
			conn, err := n.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer conn.Close()
			op.use(func(op *operation) { op.conn = conn })
			log.Info("connected, waiting for the coordinator", "run", n.run, "shard", index)
			return cluster.RunShard(cmd.Context(), cluster.ShardOptions{Conn: conn, Prefix: n.prefix, Run: n.run, Index: index, Cores: cores,
				Source: graphSource{g}, Handlers: handlers(), Logger: log,
				Observe: func(s cluster.ShardState) { op.use(func(op *operation) { op.shard = s }) }, Timeouts: cluster.Timeouts{Orphan: patience}})
		}}
	a.common(c)
	fs := c.Flags()
	n.add(fs, defaultNATSWait)
	logs.add(fs)
	op.flags.add(fs)
	fs.DurationVar(&patience, "coordinator-wait", 10*time.Minute, "how long to wait for a coordinator, the first one or another after one that stopped or died")
	fs.StringVar(&graph, "graph", "", "ingested graph folder or bucket URL")
	fs.IntVar(&index, "index", -1, "shard to load at once; -1: whatever the coordinator asks for")
	fs.IntVar(&cores, "cores", runtime.GOMAXPROCS(0), "goroutines that multiply")
	return c
}
