package cli

import (
	"context"
	"errors"
	"log/slog"

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
	stop        context.CancelFunc
}

// startLaptop starts it; the caller must Close it.
func startLaptop(ctx context.Context, run string, g *partition.Graph, log *slog.Logger, cores int) (l *laptop, err error) {
	ctx, stop := context.WithCancel(ctx)
	l = &laptop{stop: stop}
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
	for i := range shards {
		c, err := connect("shard")
		if err != nil {
			return l, err
		}
		l.workers.Go(func() error {
			return cluster.RunShard(ctx, cluster.ShardOptions{Conn: c, Prefix: defaultPrefix, Run: run, Index: i, Source: source,
				Handlers: handlers(), Logger: log, Cores: max(1, cores/len(shards))})
		})
	}
	l.coordinator, err = cluster.NewCoordinator(ctx, cluster.CoordinatorOptions{Conn: conn, Prefix: defaultPrefix, Run: run,
		Rows: source.Rows(), Shards: shards, Graph: source.Graph(), Logger: log})
	if err != nil {
		return l, err
	}
	return l, l.coordinator.WaitShards(ctx)
}

// Close ends the run: workers leave on the coordinator's word, then the server stops.
func (l *laptop) Close() error {
	var errs []error
	if l.coordinator != nil {
		errs = append(errs, l.coordinator.Close())
	}
	if l.workers != nil {
		if l.coordinator == nil {
			l.stop()
		}
		if err := l.workers.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, err)
		}
	}
	l.stop()
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
