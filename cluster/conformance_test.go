package cluster

import (
	"context"
	"sync"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/blockmatmul/multipliertest"
)

// memorySource serves blocks that are in memory.
type memorySource struct {
	n      int
	blocks []*blockmatmul.CSR
}

func (s memorySource) Rows() int     { return s.n }
func (s memorySource) Graph() string { return "memory" }
func (s memorySource) Shards() []Range {
	var out []Range
	for _, b := range s.blocks {
		out = append(out, Range{b.First, b.First + b.Rows()})
	}
	return out
}
func (s memorySource) Load(_ context.Context, i int) (*blockmatmul.CSR, error) {
	return s.blocks[i], nil
}

// The coordinator over NATS passes the same suite as the multiplier in one process.
func TestCoordinatorConforms(t *testing.T) {
	multipliertest.Suite(t, func(t *testing.T, n int, blocks []*blockmatmul.CSR) blockmatmul.Multiplier {
		server, err := StartEmbedded()
		if err != nil {
			t.Fatal(err)
		}
		source := memorySource{n, blocks}
		var workers sync.WaitGroup
		var conns []*Conn
		connect := func(name string) *Conn {
			c, err := server.Connect(t.Context(), name, nil)
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
			return c
		}
		for i := range blocks {
			o := ShardOptions{Conn: connect("shard"), Prefix: "conform", Run: "run", Index: i, Source: source}
			workers.Go(func() {
				if err := RunShard(context.WithoutCancel(t.Context()), o); err != nil {
					t.Error(err)
				}
			})
		}
		c, err := NewCoordinator(context.WithoutCancel(t.Context()), CoordinatorOptions{Conn: connect("coordinator"), Prefix: "conform", Run: "run",
			Rows: n, Shards: source.Shards(), Graph: "memory"})
		if err != nil {
			t.Fatal(err)
		}
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
		if err := c.WaitShards(t.Context()); err != nil {
			t.Fatal(err)
		}
		return c
	})
}
