//go:build slow

package cluster

import (
	"fmt"
	"testing"
	"time"
)

// 64 shards of a graph of 1,000,000 vertices finish a step over real NATS, and what the
// server hands on is at most 1.2 times what the design must move, n·k·4 B·(shards + 1).
// Traffic is counted by the server, so the load of the machine cannot fail this test short
// of a repair storm, which is what it looks for.
func TestScaleTraffic(t *testing.T) {
	const n, k, shards = 1_000_000, 8, 64
	g := newGraph(n, 10, 1, 1)
	g.ranges = nil
	for s := range shards {
		g.ranges = append(g.ranges, Range{n * s / shards, n * (s + 1) / shards})
	}
	tc := newCluster(t, g, func(o *CoordinatorOptions) { o.ChunkBytes, o.InFlight, o.Timeouts = 0, 0, Timeouts{} })
	for s := range shards {
		tc.worker(s, func(o *ShardOptions) { o.Cores, o.Timeouts = 1, Timeouts{} })
	}
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	v := operand(t, n, k, 1)
	const clip = 1 << 20
	if _, err := tc.c.Multiply(tc.ctx, operand(t, n, 1, 2), clip); err != nil { // shards are loaded
		t.Fatal(err)
	}
	time.Sleep(time.Second) // the server's count lags
	_, before := tc.server.Traffic()
	begin := time.Now()
	if _, err := tc.c.Multiply(tc.ctx, v, clip); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	time.Sleep(time.Second)
	_, after := tc.server.Traffic()
	least := float64(n) * k * 4 * (shards + 1)
	s := tc.c.Stats()
	fmt.Printf("n = %d, k = %d, %d shards: %.3f GB in %.1f s, %.3f times n·k·4 B·(shards+1) = %.3f GB; repaired %d, asked again %d\n",
		n, k, shards, float64(after-before)/1e9, took.Seconds(), float64(after-before)/least, least/1e9, s.Repaired, s.AskedAgain)
	if ratio := float64(after-before) / least; ratio > 1.2 {
		t.Errorf("traffic is %.3f times what the design must move, want at most 1.2", ratio)
	}
}
