package cluster

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/privcom/privcom/storage"
)

// faults loses, repeats, delays and damages messages at the publisher, by chance
// from a seed.
type faults struct {
	loss, repeat, delay, damage float64

	mu     sync.Mutex
	random *rand.Rand
	late   sync.WaitGroup
}

func newFaults(t *testing.T, seed uint64, f *faults) *faults {
	f.random = rand.New(rand.NewPCG(seed, 3))
	t.Cleanup(f.late.Wait)
	return f
}

func (f *faults) chance(p float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.Float64() < p
}

func (f *faults) wrap(put publishFunc) publishFunc {
	return func(m *nats.Msg) error {
		if f.chance(f.loss) {
			return nil
		}
		if len(m.Data) > 0 && f.chance(f.damage) {
			bad := *m
			bad.Data = bytes.Clone(m.Data)
			bad.Data[len(bad.Data)/2] ^= 4
			m = &bad
		}
		if f.chance(f.delay) {
			later := *m
			later.Data = bytes.Clone(m.Data) // the sender may change its bitmap
			f.late.Add(1)
			time.AfterFunc(time.Duration(1+len(m.Data)%20)*time.Millisecond, func() {
				defer f.late.Done()
				_ = put(&later) // the connection may be closed by now
			})
			return nil
		}
		if f.chance(f.repeat) {
			if err := put(m); err != nil {
				return err
			}
		}
		return put(m)
	}
}

func TestMultiplySurvivesBadNetwork(t *testing.T) {
	for name, f := range map[string]*faults{
		"30% lost":     {loss: 0.3},
		"repeated":     {repeat: 0.7},
		"reordered":    {delay: 0.5},
		"damaged":      {damage: 0.2},
		"all together": {loss: 0.15, repeat: 0.2, delay: 0.3, damage: 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newFaults(t, 42, f)
			g := newGraph(4000, 6, 3, 5)
			tc := newCluster(t, g, func(o *CoordinatorOptions) { o.wrap = f.wrap; o.ChunkBytes = 16 << 10; o.InFlight = 256 << 10 })
			tc.workers(0, 1, 2)
			for step := range 4 {
				tc.multiply(operand(t, g.n, 4, uint64(step)), int64(step)*1500)
			}
			s := tc.c.Stats()
			t.Logf("repaired %d, asked again %d, repeated %d, rejected %d", s.Repaired, s.AskedAgain, s.Repeated, s.Rejected)
			if f.loss > 0.2 && s.Repaired+s.AskedAgain == 0 {
				t.Error("messages were lost, and nothing was repaired")
			}
			if f.repeat > 0.5 && s.Repeated == 0 {
				t.Error("results were repeated, and none was noticed")
			}
			if f.damage > 0.1 && s.Rejected == 0 {
				t.Error("payloads were damaged, and the coordinator rejected none")
			}
		})
	}
}

// A worker that dies in the middle of a step loses its rows to the others; one that
// comes late gets some.
func TestWorkerKilledMidStep(t *testing.T) {
	g := newGraph(6000, 4, 3, 6)
	tc := newCluster(t, g, nil)
	tc.workers(0, 1)
	slow := func(o *ShardOptions) { o.slow = 30 * time.Millisecond }
	kill := tc.worker(2, slow)
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, kill)
	tc.multiply(operand(t, g.n, 8, 1), 0)
	tc.multiply(operand(t, g.n, 8, 2), 0)
	if s := tc.c.Stats(); s.Left != 1 {
		t.Errorf("%d workers left, want 1", s.Left)
	}
	tc.worker(2, nil)
	tc.multiply(operand(t, g.n, 8, 3), 0)
}

// A worker that falls silent, without a goodbye, is dead after Timeouts.Dead.
func TestWorkerFallsSilent(t *testing.T) {
	t.Parallel()
	g := newGraph(5000, 4, 2, 6)
	tc := newCluster(t, g, nil)
	tc.workers(0)
	var muted sync.Once
	mute := make(chan struct{})
	tc.worker(1, func(o *ShardOptions) {
		o.slow = 20 * time.Millisecond
		o.wrap = func(put publishFunc) publishFunc {
			return func(m *nats.Msg) error {
				if strings.Contains(m.Subject, ".q") {
					muted.Do(func() { close(mute) }) // from its first rows on
				}
				select {
				case <-mute:
					return nil
				default:
					return put(m)
				}
			}
		}
	})
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	tc.multiply(operand(t, g.n, 8, 1), 0)
	if _, loaded := g.loads.Load(1); !loaded {
		t.Error("shard 1 was never loaded")
	}
	tc.multiply(operand(t, g.n, 8, 2), 0)
}

func TestLateWorkerAndNoWorker(t *testing.T) {
	g := newGraph(2000, 4, 2, 9)
	tc := newCluster(t, g, nil)
	done := make(chan struct{})
	tc.wg.Go(func() {
		defer close(done)
		tc.multiply(operand(t, g.n, 2, 1), 0)
	})
	time.Sleep(100 * time.Millisecond) // the step has begun without anybody
	tc.worker(-1, nil)
	<-done
	tc.worker(1, nil)
	tc.multiply(operand(t, g.n, 2, 2), 0)
}

func TestTwoWorkersWithOneIndex(t *testing.T) {
	g := newGraph(5000, 4, 2, 10)
	tc := newCluster(t, g, func(o *CoordinatorOptions) { o.Workers = 3 })
	tc.workers(0, 0, 1)
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	for step := range 3 {
		tc.multiply(operand(t, g.n, 3, uint64(step)), 900)
	}
}

// A straggler loses its rows to a worker with nothing to do.
func TestStragglerIsRescued(t *testing.T) {
	g := newGraph(8000, 4, 2, 11)
	tc := newCluster(t, g, nil)
	tc.worker(0, nil)
	tc.worker(1, func(o *ShardOptions) { o.slow = 3 * time.Second })
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	tc.multiply(operand(t, g.n, 4, 1), 0)
	if took := time.Since(begin); took > 2500*time.Millisecond {
		t.Errorf("the step waited %v for a straggler", took)
	}
	if s := tc.c.Stats(); s.Rescued == 0 {
		t.Error("nothing was rescued")
	}
}

func TestCorruptShardIsNamed(t *testing.T) {
	g := newGraph(1000, 4, 3, 12)
	const file = "rows-00001-of-00003-abc.parquet"
	g.fault = func(i int) error {
		if i == 1 {
			return &storage.CorruptError{Key: file, Detail: "sha256 differs from the manifest"}
		}
		return nil
	}
	tc := newCluster(t, g, nil)
	tc.workers(0, 1, 2)
	_, err := tc.c.Multiply(tc.ctx, operand(t, g.n, 2, 1), 0)
	var shard *ShardError
	if !errors.As(err, &shard) || shard.Shard != 1 || shard.File != file || shard.Kind != FailCorrupt {
		t.Fatalf("got %v, want a corrupt shard 1 with its file", err)
	}
	if !strings.Contains(err.Error(), file) {
		t.Errorf("error %q does not name the file", err)
	}
}

// Storage that is out of reach from one worker only costs that worker the shard; out
// of reach from all, it is an error.
func TestShardThatOneWorkerCannotLoad(t *testing.T) {
	g := newGraph(1000, 4, 2, 13)
	tc := newCluster(t, g, nil)
	away := *g
	away.fault = func(i int) error { return errors.New("connection refused") }
	tc.worker(0, func(o *ShardOptions) { o.Source = &away })
	kill := tc.worker(1, nil)
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	tc.multiply(operand(t, g.n, 2, 1), 0)
	kill()
	_, err := tc.c.Multiply(tc.ctx, operand(t, g.n, 2, 2), 0)
	var shard *ShardError
	if !errors.As(err, &shard) || shard.Kind != FailLoad || !strings.Contains(err.Error(), "connection refused") {
		t.Fatalf("got %v, want the load error", err)
	}
}

// forge changes a header of what a worker publishes.
func forge(key, value string) func(publishFunc) publishFunc {
	return func(put publishFunc) publishFunc {
		return func(m *nats.Msg) error {
			m.Header[key] = []string{value}
			return put(m)
		}
	}
}

func TestOtherVersionIsRefusedByName(t *testing.T) {
	t.Parallel()
	g := newGraph(500, 4, 1, 14)
	tc := newCluster(t, g, func(o *CoordinatorOptions) { o.Timeouts.Alone = 300 * time.Millisecond })
	var end error
	o := ShardOptions{Conn: tc.conn("old"), Prefix: "privcom.test", Run: "r1", Index: 0, Worker: "old-one", Source: g, Timeouts: quick(), wrap: forge(keyVersion, "7")}
	tc.wg.Go(func() { end = RunShard(tc.ctx, o) })
	err := tc.c.WaitShards(tc.ctx)
	var alone *NoWorkerError
	if !errors.As(err, &alone) || !strings.Contains(err.Error(), "shard worker old-one speaks protocol version 7, this program 2") {
		t.Errorf("coordinator says %v", err)
	}
	tc.wg.Wait()
	var refused *RefusedError
	if !errors.As(end, &refused) || !strings.Contains(end.Error(), "version 7") {
		t.Errorf("worker ended with %v", end)
	}
}

// A worker recognises a coordinator of another version by itself.
func TestWorkerMeetsOtherVersion(t *testing.T) {
	g := newGraph(500, 4, 1, 14)
	tc := newCluster(t, g, func(o *CoordinatorOptions) { o.wrap = forge(keyVersion, "9") })
	o := ShardOptions{Conn: tc.conn("w"), Prefix: "privcom.test", Run: "r1", Index: 0, Source: g, Timeouts: quick()}
	err := RunShard(tc.ctx, o)
	var version *VersionError
	if !errors.As(err, &version) || version.Theirs != 9 || version.Ours != Version {
		t.Errorf("worker ended with %v", err)
	}
}

func TestOtherGraphIsRefused(t *testing.T) {
	g := newGraph(500, 4, 1, 15)
	other := *g
	other.hash = "another"
	tc := newCluster(t, g, nil)
	o := ShardOptions{Conn: tc.conn("w"), Prefix: "privcom.test", Run: "r1", Index: -1, Source: &other, Timeouts: quick()}
	err := RunShard(tc.ctx, o)
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "another graph") {
		t.Errorf("worker ended with %v", err)
	}
}

// A result that comes again and differs ends the step, and names rows and worker.
func TestDifferingRepeatIsAnError(t *testing.T) {
	t.Parallel()
	g := newGraph(1000, 4, 2, 16)
	tc := newCluster(t, g, nil)
	tc.worker(1, func(o *ShardOptions) { o.slow = 10 * time.Second })
	f := newFake(tc, "liar", 0)
	f.on(verbWork, func(h head, _ []byte) {
		for answer := range 2 {
			rows := make([]int32, (h.To-h.From)*h.Matrix.Cols)
			rows[0] = int32(answer)
			payload, err := encodeRows(h.From, h.Matrix.Cols, rows)
			if err != nil {
				t.Error(err)
			}
			f.say(verbRows, h, payload)
		}
	})
	f.join()
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	_, err := tc.c.Multiply(tc.ctx, operand(t, g.n, 4, 1), 0)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.First != "liar" || conflict.Second != "liar" || conflict.Shard != 0 || conflict.From != 0 {
		t.Fatalf("got %v, want a conflict of rows of shard 0", err)
	}
}
