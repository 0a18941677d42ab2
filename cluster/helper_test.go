package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/privcom/privcom/blockmatmul"
)

// graph is a random graph in memory, cut into shards; a Source.
type graph struct {
	n      int
	rows   [][]int32
	ranges []Range
	hash   string
	fault  func(i int) error // of Load
	loads  *sync.Map
}

// newGraph draws about degree·n/2 edges and cuts the rows into unequal shards.
func newGraph(n, degree, shards int, seed uint64) *graph {
	r := rand.New(rand.NewPCG(seed, 7))
	g := &graph{n: n, rows: make([][]int32, n), hash: fmt.Sprintf("g%d-%d", n, seed), loads: new(sync.Map)}
	for range n * degree / 2 {
		a, b := r.IntN(n), r.IntN(n)
		if a != b {
			g.rows[a] = append(g.rows[a], int32(b))
			g.rows[b] = append(g.rows[b], int32(a))
		}
	}
	for i := range g.rows {
		slices.Sort(g.rows[i])
		g.rows[i] = slices.Compact(g.rows[i])
	}
	return g.cut(shards, r)
}

func (g *graph) cut(shards int, r *rand.Rand) *graph {
	cuts := []int{0, g.n}
	for range shards - 1 {
		cuts = append(cuts, r.IntN(g.n+1)) // an empty shard may come out
	}
	slices.Sort(cuts)
	g.ranges = nil
	for i := range shards {
		g.ranges = append(g.ranges, Range{cuts[i], cuts[i+1]})
	}
	return g
}

func (g *graph) Rows() int       { return g.n }
func (g *graph) Shards() []Range { return g.ranges }
func (g *graph) Graph() string   { return g.hash }

func (g *graph) Load(_ context.Context, i int) (*blockmatmul.CSR, error) {
	g.loads.Store(i, true)
	if g.fault != nil {
		if err := g.fault(i); err != nil {
			return nil, err
		}
	}
	return csrOf(g.rows, g.ranges[i]), nil
}

func csrOf(rows [][]int32, r Range) *blockmatmul.CSR {
	a := &blockmatmul.CSR{First: r.From, Ptr: []int64{0}}
	for i := r.From; i < r.To; i++ {
		a.Col = append(a.Col, rows[i]...)
		a.Ptr = append(a.Ptr, int64(len(a.Col)))
	}
	return a
}

// reference multiplies row by row, with nothing of this package.
func (g *graph) reference(v *blockmatmul.Operand, c int64) []int64 {
	k := v.Cols()
	out := make([]int64, g.n*k)
	for i, row := range g.rows {
		for _, j := range row {
			for x := range k {
				out[i*k+x] += int64(v.Data()[int(j)*k+x])
			}
		}
		blockmatmul.ClipRow(out[i*k:(i+1)*k], c)
	}
	return out
}

// operand draws V in units of 2^-12.
func operand(t testing.TB, n, k int, seed uint64) *blockmatmul.Operand {
	return fineOperand(t, n, k, seed, 12)
}

func fineOperand(t testing.TB, n, k int, seed uint64, bits uint) *blockmatmul.Operand {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 11))
	v := make([]float64, n*k)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	op, err := blockmatmul.Quantise(v, n, k, 1, bits)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// quick makes everything impatient.
func quick() Timeouts {
	return Timeouts{
		Beat: 40 * time.Millisecond, Dead: 600 * time.Millisecond, Repair: 15 * time.Millisecond, Retry: 30 * time.Millisecond,
		Slow: 200 * time.Millisecond, Join: 300 * time.Millisecond, Alone: 5 * time.Second, End: 500 * time.Millisecond, Orphan: 20 * time.Second,
	}
}

// cluster is a server, a coordinator and workers in this process, each with a
// connection of its own.
type testCluster struct {
	t      testing.TB
	ctx    context.Context
	server *Embedded
	g      *graph
	c      *Coordinator
	wg     sync.WaitGroup
	wrap   func(publishFunc) publishFunc
	mu     sync.Mutex
	ends   []error
}

func (tc *testCluster) conn(name string) *Conn {
	tc.t.Helper()
	c := tc.dial(name)
	tc.t.Cleanup(c.Close)
	return c
}

func (tc *testCluster) dial(name string) *Conn {
	tc.t.Helper()
	c, err := tc.server.Connect(tc.ctx, name, nil)
	if err != nil {
		tc.t.Fatal(err)
	}
	return c
}

// newCluster starts a server and a coordinator; workers come with worker().
func newCluster(t testing.TB, g *graph, adjust func(*CoordinatorOptions)) *testCluster {
	t.Helper()
	return newClusterOn(t, g, embeddedPayload, adjust)
}

func newClusterOn(t testing.TB, g *graph, maxPayload int32, adjust func(*CoordinatorOptions)) *testCluster {
	t.Helper()
	server, err := startEmbedded(maxPayload)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
	return newClusterAt(t, g, server, adjust)
}

func newClusterAt(t testing.TB, g *graph, server *Embedded, adjust func(*CoordinatorOptions)) *testCluster {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	tc := &testCluster{t: t, ctx: ctx, server: server, g: g}
	t.Cleanup(tc.wg.Wait)
	t.Cleanup(cancel)
	o := CoordinatorOptions{
		Conn: tc.conn("coordinator"), Prefix: "privcom.test", Run: "r1", Rows: g.n, Shards: g.ranges, Graph: g.hash,
		ChunkBytes: 32 << 10, InFlight: 1 << 20, Timeouts: quick(),
	}
	if adjust != nil {
		adjust(&o)
	}
	tc.wrap = o.wrap
	var err error
	if tc.c, err = NewCoordinator(ctx, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tc.c.Close() })
	return tc
}

// worker starts a shard worker and returns how to stop it.
func (tc *testCluster) worker(index int, adjust func(*ShardOptions)) (kill func()) {
	tc.t.Helper()
	ctx, cancel := context.WithCancel(tc.ctx)
	o := ShardOptions{
		Conn: tc.dial(fmt.Sprint("shard ", index)), Prefix: "privcom.test", Run: "r1", Index: index, Source: tc.g,
		Cores: 2, Timeouts: quick(), wrap: tc.wrap,
	}
	if adjust != nil {
		adjust(&o)
	}
	tc.wg.Go(func() {
		defer o.Conn.Close()
		err := RunShard(ctx, o)
		tc.mu.Lock()
		defer tc.mu.Unlock()
		tc.ends = append(tc.ends, err)
		if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errExpected) {
			tc.t.Logf("worker %d ended: %v", index, err)
		}
	})
	return cancel
}

var errExpected = errors.New("expected")

func (tc *testCluster) workers(indices ...int) {
	for _, i := range indices {
		tc.worker(i, nil)
	}
}

// multiply runs a step and compares it with the reference.
func (tc *testCluster) multiply(v *blockmatmul.Operand, c int64) {
	tc.t.Helper()
	ctx, cancel := context.WithTimeout(tc.ctx, 20*time.Second)
	defer cancel()
	q, err := tc.c.Multiply(ctx, v, c)
	if err != nil {
		tc.t.Fatalf("multiply: %v\nstats: %+v", err, tc.c.Stats())
	}
	if q.Rows != v.Rows() || q.Cols != v.Cols() || !slices.Equal(q.Data, tc.g.reference(v, c)) {
		tc.t.Fatalf("product of %d×%d differs from the reference", v.Rows(), v.Cols())
	}
}
