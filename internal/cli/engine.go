package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/cluster"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/synthesis"
)

// graphSource lets shard workers read an ingested graph.
type graphSource struct{ g *partition.Graph }

func (s graphSource) Rows() int     { return int(s.g.Manifest().Vertices) }
func (s graphSource) Graph() string { return s.g.Manifest().Hash }
func (s graphSource) Shards() []cluster.Range {
	var out []cluster.Range
	for _, f := range s.g.Manifest().Shards {
		out = append(out, cluster.Range{From: int(f.FirstRow), To: int(f.FirstRow + f.Rows)})
	}
	return out
}
func (s graphSource) Load(ctx context.Context, i int) (*blockmatmul.CSR, error) {
	return s.g.LoadShard(ctx, i)
}

// handlers are the named jobs that shards do for the synthesis.
func handlers() map[string]cluster.Handler {
	out := map[string]cluster.Handler{}
	for kind, h := range synthesis.Handlers() {
		out[kind] = cluster.Handler(h)
	}
	return out
}

// laptop is a whole cluster in one process: an embedded NATS server on loopback, a
// coordinator and one worker per shard, which talk only through NATS and storage.
type laptop struct {
	server      *cluster.Embedded
	coordinator *cluster.Coordinator
	conns       []*cluster.Conn
	workers     *errgroup.Group
	ctx         context.Context // ends when a worker fails; its cause says why
	stop        context.CancelCauseFunc
}

// mostWorkers bounds the workers of one process; with more shards, each serves several.
const mostWorkers = 32

// startLaptop starts it; the caller must Close it.
func startLaptop(ctx context.Context, run string, g *partition.Graph, log *slog.Logger, cores int) (l *laptop, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	l = &laptop{ctx: ctx, stop: stop}
	defer func() {
		if err != nil {
			err = firstError(err, l.Close())
		}
	}()
	if l.server, err = cluster.StartEmbedded(); err != nil {
		return l, err
	}
	connect := func(name string) (*cluster.Conn, error) {
		c, err := l.server.Connect(ctx, name, log)
		if err == nil {
			l.conns = append(l.conns, c)
		}
		return c, err
	}
	conn, err := connect("coordinator")
	if err != nil {
		return l, err
	}
	source := graphSource{g}
	l.workers = &errgroup.Group{}
	shards := source.Shards()
	workers := min(len(shards), mostWorkers)
	for i := range workers {
		c, err := connect("shard")
		if err != nil {
			return l, err
		}
		l.workers.Go(func() error {
			err := cluster.RunShard(ctx, cluster.ShardOptions{Conn: c, Prefix: defaultPrefix, Run: run, Index: i, Source: source,
				Handlers: handlers(), Logger: log, Cores: max(1, cores/workers)})
			if err != nil {
				stop(err) // without this worker's end being known the coordinator would wait for it
			}
			return err
		})
	}
	l.coordinator, err = cluster.NewCoordinator(ctx, cluster.CoordinatorOptions{Conn: conn, Prefix: defaultPrefix, Run: run,
		Rows: source.Rows(), Shards: shards, Workers: workers, Graph: source.Graph(), Logger: log})
	if err != nil {
		return l, err
	}
	return l, l.explain(waitShards(ctx, l.coordinator, source.Rows(), time.Minute, run))
}

// explain puts a failed worker's error in the place of the cancellation that it caused.
func (l *laptop) explain(err error) error {
	if cause := context.Cause(l.ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		return fmt.Errorf("a shard worker failed: %w", cause)
	}
	return err
}

// waitShards waits for the workers and has every one load its rows, by a product of zeros:
// missing workers and damaged shards are found before any budget is spent. Without a single
// worker it ends after join.
func waitShards(ctx context.Context, c *cluster.Coordinator, vertices int, join time.Duration, run string) error {
	gone := &cluster.NoWorkerError{Run: run, Prefix: defaultPrefix, Waited: join.String()}
	first, cancel := context.WithTimeoutCause(ctx, join+time.Second, gone)
	defer cancel()
	if err := c.WaitShards(first); err != nil {
		if ctx.Err() == nil && first.Err() != nil {
			return gone
		}
		return err
	}
	zeros, err := blockmatmul.Quantise(make([]float64, vertices), vertices, 1, 1, 0)
	if err != nil {
		return err
	}
	if _, err := c.Multiply(ctx, zeros, 0); err != nil {
		return fmt.Errorf("%w\nnothing was spent", err)
	}
	return nil
}

// Close ends the run: workers leave on the coordinator's word, then the server stops.
func (l *laptop) Close() error {
	var errs []error
	if l.coordinator != nil {
		errs = append(errs, l.coordinator.Close())
	}
	if l.workers != nil {
		if l.coordinator == nil {
			l.stop(nil)
		}
		if err := l.workers.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, err)
		}
	}
	l.stop(nil)
	for _, c := range l.conns {
		c.Close()
	}
	if l.server != nil {
		l.server.Shutdown()
	}
	return errors.Join(errs...)
}

// defaultPrefix is the first token of every subject.
const defaultPrefix = "privcom"
