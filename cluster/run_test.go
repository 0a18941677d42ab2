package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// stretch repeats its params: long results from short items, and the reverse.
func stretch(times int) Handler {
	return func(_ context.Context, params []byte) ([]byte, error) { return bytes.Repeat(params, times), nil }
}

func measure(_ context.Context, params []byte) ([]byte, error) {
	return []byte(digest(params)), nil
}

func someItems(n, size int) [][]byte {
	items := make([][]byte, n)
	for i := range items {
		items[i] = bytes.Repeat([]byte{byte(i), byte(i >> 8), 1}, size/3+i%5)
	}
	return items
}

func withHandlers(h map[string]Handler) func(*ShardOptions) {
	return func(o *ShardOptions) { o.Handlers = h }
}

func (tc *testCluster) run(kind string, items [][]byte, want Handler) {
	tc.t.Helper()
	ctx, cancel := context.WithTimeout(tc.ctx, 20*time.Second)
	defer cancel()
	got, err := tc.c.Run(ctx, kind, items)
	if err != nil {
		tc.t.Fatalf("run: %v\nstats: %+v", err, tc.c.Stats())
	}
	if len(got) != len(items) {
		tc.t.Fatalf("%d results for %d items", len(got), len(items))
	}
	for i := range items {
		right, err := want(ctx, items[i])
		if err != nil {
			tc.t.Fatal(err)
		}
		if !bytes.Equal(got[i], right) {
			tc.t.Fatalf("result %d: %d bytes, want %d", i, len(got[i]), len(right))
		}
	}
}

func TestRunGivesResultsInOrder(t *testing.T) {
	handlers := map[string]Handler{"stretch": stretch(3), "measure": measure, "long": stretch(60_000)}
	for _, workers := range []int{1, 3} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			g := newGraph(300, 4, 2, 3)
			tc := newCluster(t, g, nil)
			for i := range workers {
				tc.worker(i%2, withHandlers(handlers))
			}
			tc.run("stretch", someItems(40, 30), handlers["stretch"])
			tc.run("measure", someItems(7, 400_000), handlers["measure"]) // items in pieces
			tc.run("long", someItems(9, 12), handlers["long"])            // results in pieces
			tc.run("stretch", [][]byte{{}, {1}}, handlers["stretch"])     // empty item and result
			tc.multiply(operand(t, g.n, 2, 1), 0)
			tc.run("stretch", nil, handlers["stretch"])
		})
	}
}

func TestRunSurvivesBadNetwork(t *testing.T) {
	f := newFaults(t, 7, &faults{loss: 0.15, repeat: 0.2, delay: 0.2, damage: 0.05})
	handlers := map[string]Handler{"stretch": stretch(3), "measure": measure, "long": stretch(20_000)}
	g := newGraph(300, 4, 2, 3)
	tc := newCluster(t, g, func(o *CoordinatorOptions) { o.wrap = f.wrap })
	for i := range 3 {
		tc.worker(i%2, withHandlers(handlers))
	}
	tc.run("stretch", someItems(30, 30), handlers["stretch"])
	tc.run("measure", someItems(4, 300_000), handlers["measure"])
	tc.run("long", someItems(5, 12), handlers["long"])
	tc.multiply(operand(t, g.n, 2, 1), 0)
}

func TestRunWorkerKilled(t *testing.T) {
	var started atomic.Int64
	slow := map[string]Handler{"echo": func(ctx context.Context, p []byte) ([]byte, error) {
		started.Add(1)
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return p, nil
	}}
	g := newGraph(300, 4, 1, 3)
	tc := newCluster(t, g, nil)
	tc.worker(0, withHandlers(slow))
	kill := tc.worker(0, withHandlers(slow))
	tc.wg.Go(func() {
		for started.Load() < 6 {
			time.Sleep(time.Millisecond)
		}
		kill()
	})
	tc.run("echo", someItems(40, 9), stretch(1))
}

func TestRunStraggler(t *testing.T) {
	var first atomic.Bool
	h := map[string]Handler{"echo": func(ctx context.Context, p []byte) ([]byte, error) {
		if first.CompareAndSwap(false, true) {
			<-ctx.Done() // until nobody wants it any more
			return nil, ctx.Err()
		}
		return p, nil
	}}
	g := newGraph(300, 4, 1, 3)
	tc := newCluster(t, g, nil)
	tc.worker(0, withHandlers(h))
	tc.worker(0, withHandlers(h))
	tc.run("echo", someItems(10, 9), stretch(1))
}

func TestRunFailures(t *testing.T) {
	var failures atomic.Int64
	h := map[string]Handler{
		"bad":   func(context.Context, []byte) ([]byte, error) { return nil, errors.New("no such block") },
		"panic": func(context.Context, []byte) ([]byte, error) { panic("out of cheese") },
		"twice": func(_ context.Context, p []byte) ([]byte, error) {
			if failures.Add(1) <= 2 {
				return nil, errors.New("try again")
			}
			return p, nil
		},
	}
	g := newGraph(300, 4, 2, 3)
	tc := newCluster(t, g, nil)
	tc.worker(0, withHandlers(h))
	tc.worker(1, withHandlers(h))
	for kind, want := range map[string]string{"bad": "no such block", "panic": "out of cheese", "unknown": "no handler"} {
		_, err := tc.c.Run(tc.ctx, kind, someItems(3, 3))
		var failed *HandlerError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), want) || failed.Kind != kind {
			t.Errorf("%s: got %v", kind, err)
		}
	}
	tc.run("twice", someItems(1, 3), stretch(1))
}

// Handlers that are not deterministic are found out when an item runs twice.
func TestDifferingResultIsAnError(t *testing.T) {
	t.Parallel()
	g := newGraph(300, 4, 1, 3)
	tc := newCluster(t, g, nil)
	f := newFake(tc, "liar", 0)
	f.on(verbTask, func(h head, _ []byte) {
		if h.From != 0 {
			return // so that the run goes on
		}
		for answer := range 2 {
			r, payload := announce(head{Step: h.Step, From: h.From, To: h.To}, []byte{byte(answer)}, h.Pieces)
			f.say(verbResult, r, payload)
		}
	})
	f.join()
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	_, err := tc.c.Run(tc.ctx, "echo", someItems(2, 3))
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.From != 0 || conflict.Shard != -1 || !strings.Contains(err.Error(), "item 0") {
		t.Errorf("got %v", err)
	}
}

func TestRunShardEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	g := newGraph(300, 4, 2, 3)
	tc := newCluster(t, g, func(o *CoordinatorOptions) { o.Workers = 3 })
	tc.workers(0, 1, -1)
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	tc.multiply(operand(t, g.n, 2, 1), 0)
	tc.c.Close()
	tc.wg.Wait()
	if want := []error{nil, nil, nil}; !slices.Equal(tc.ends, want) {
		t.Errorf("workers ended with %v", tc.ends)
	}
	tc.server.Shutdown()
	tc.c.o.Conn.Close()
}

func TestRunShardOptions(t *testing.T) {
	g := newGraph(300, 4, 2, 3)
	tc := newCluster(t, g, nil)
	good := ShardOptions{Conn: tc.conn("w"), Prefix: "p", Run: "r", Source: g}
	for name, spoil := range map[string]func(*ShardOptions){
		"no connection": func(o *ShardOptions) { o.Conn = nil },
		"no source":     func(o *ShardOptions) { o.Source = nil },
		"index":         func(o *ShardOptions) { o.Index = 2 },
		"worker id":     func(o *ShardOptions) { o.Worker = "a.b" },
		"run":           func(o *ShardOptions) { o.Run = "*" },
	} {
		o := good
		spoil(&o)
		if err := RunShard(tc.ctx, o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	good.Timeouts = quick()
	good.Timeouts.Orphan = 100 * time.Millisecond
	if err := RunShard(tc.ctx, good); !errors.Is(err, ErrNoCoordinator) {
		t.Errorf("without a coordinator: %v", err)
	}
}
