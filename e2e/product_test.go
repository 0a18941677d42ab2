package e2e

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/cluster"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/storage"
)

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// source gives workers of this process the rows of a graph folder.
type source struct{ g *partition.Graph }

func (s source) Rows() int     { return int(s.g.Manifest().Vertices) }
func (s source) Graph() string { return s.g.Manifest().Hash }
func (s source) Shards() []cluster.Range {
	var out []cluster.Range
	for _, f := range s.g.Manifest().Shards {
		out = append(out, cluster.Range{From: int(f.FirstRow), To: int(f.FirstRow + f.Rows)})
	}
	return out
}
func (s source) Load(ctx context.Context, i int) (*blockmatmul.CSR, error) {
	return s.g.LoadShard(ctx, i)
}

func operand(t *testing.T, n, k int, seed uint64) *blockmatmul.Operand {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float64, n*k)
	for i := range v {
		v[i] = r.NormFloat64() / 16
	}
	op, err := blockmatmul.Quantise(v, n, k, 0.5, 20)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// newCoordinator connects and waits for three workers.
func newCoordinator(t *testing.T, ctx context.Context, conn *cluster.Conn, s source, prefix string) *cluster.Coordinator {
	t.Helper()
	c, err := cluster.NewCoordinator(ctx, cluster.CoordinatorOptions{Conn: conn, Prefix: prefix, Run: "night-1", Rows: s.Rows(), Shards: s.Shards(), Graph: s.Graph()})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitShards(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestProductOfProcessesIsBitEqual(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	nats := startNATS(t)
	s := newSite(t, 500, nats)
	shards := s.startShards(t)
	bucket, err := storage.Open(ctx, s.graph)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bucket.Close() })
	g, err := partition.OpenGraph(ctx, bucket)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := g.LoadWhole(ctx)
	if err != nil {
		t.Fatal(err)
	}
	local := &blockmatmul.Local{N: 500, Blocks: []*blockmatmul.CSR{whole}}

	conn, err := cluster.Connect(ctx, cluster.ConnectOptions{URL: nats, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	processes := newCoordinator(t, ctx, conn, source{g}, "e2e")
	embedded := startEmbedded(t, ctx, source{g})

	compare := func(k int, clip int64) {
		t.Helper()
		v := operand(t, 500, k, uint64(k))
		want, err := local.Multiply(ctx, v, clip)
		if err != nil {
			t.Fatal(err)
		}
		for name, m := range map[string]blockmatmul.Multiplier{"processes": processes, "embedded": embedded} {
			have, err := m.Multiply(ctx, v, clip)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if have.Rows != want.Rows || have.Cols != want.Cols || !slices.Equal(have.Data, want.Data) {
				t.Errorf("%s, k = %d, clip %d: the product differs", name, k, clip)
			}
		}
	}
	compare(1, 0)
	compare(4, 0)
	compare(4, 700_000) // about half of the rows are longer
	shards[1].cmd.Process.Kill()
	<-shards[1].done
	compare(7, 0)
	if err := processes.Close(); err != nil {
		t.Fatal(err)
	}
	shards[0].exits(0)
	shards[2].exits(0)
}

// startEmbedded is the cluster in one process, with a worker per shard.
func startEmbedded(t *testing.T, ctx context.Context, s source) *cluster.Coordinator {
	t.Helper()
	server, err := cluster.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	connect := func(name string) *cluster.Conn {
		c, err := server.Connect(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	conns := []*cluster.Conn{connect("coordinator")}
	for i := range s.Shards() {
		c := connect("shard")
		conns = append(conns, c)
		workers.Go(func() {
			if err := cluster.RunShard(ctx, cluster.ShardOptions{Conn: c, Prefix: "embedded", Run: "night-1", Index: i, Source: s}); err != nil {
				t.Errorf("embedded worker %d: %v", i, err)
			}
		})
	}
	c := newCoordinator(t, ctx, conns[0], s, "embedded")
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		workers.Wait()
		for _, conn := range conns {
			conn.Close()
		}
		server.Shutdown()
	})
	return c
}
