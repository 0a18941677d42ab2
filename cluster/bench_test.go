package cluster

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkStep is one multiplication over a real NATS server on loopback, at
// n = 100,000 and k = 8. V/Q MB/s counts the bytes that the design must move,
// n·k·4·(shards+1); "traffic" is what the server sent to clients, over that.
func BenchmarkStep(b *testing.B) {
	const n, k = 100_000, 8
	for _, shards := range []int{1, 2, 8, 64} {
		b.Run(fmt.Sprint(shards, " shards"), func(b *testing.B) { benchmarkStep(b, n, k, shards) })
	}
}

func benchmarkStep(b *testing.B, n, k, shards int) {
	g := newGraph(n, 10, 1, 1)
	g.ranges = nil
	for s := range shards {
		g.ranges = append(g.ranges, Range{n * s / shards, n * (s + 1) / shards})
	}
	tc := newCluster(b, g, func(o *CoordinatorOptions) {
		o.ChunkBytes, o.InFlight = 0, 0
		o.Timeouts = Timeouts{}
	})
	for s := range shards {
		tc.worker(s, func(o *ShardOptions) { o.Cores, o.Timeouts = 1, Timeouts{} })
	}
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		b.Fatal(err)
	}
	v := operand(b, n, k, 1)
	const c = 1 << 20
	if _, err := tc.c.Multiply(tc.ctx, v, c); err != nil { // shards are loaded
		b.Fatal(err)
	}
	least := float64(n) * float64(k) * 4 * float64(shards+1)
	_, before := tc.server.Traffic()
	for b.Loop() {
		if _, err := tc.c.Multiply(tc.ctx, v, c); err != nil {
			b.Fatal(err)
		}
	}
	time.Sleep(10 * time.Millisecond) // the server's count lags
	_, after := tc.server.Traffic()
	s := tc.c.Stats()
	b.ReportMetric(float64(after-before)/float64(b.N)/least, "traffic")
	b.ReportMetric(least*float64(b.N)/b.Elapsed().Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(s.Repaired)/float64(s.Steps), "repaired/step")
	b.ReportMetric(float64(s.AskedAgain)/float64(s.Steps), "again/step")
}

// BenchmarkStepMillion is one multiplication at n = 1,000,000 and k = 8 on 64
// shards: 2 GB through one server on loopback.
func BenchmarkStepMillion(b *testing.B) { benchmarkStep(b, 1_000_000, 8, 64) }

// BenchmarkSmallStep is what a step costs when there is next to nothing to do.
func BenchmarkSmallStep(b *testing.B) { benchmarkStep(b, 1_490, 4, 2) }
