package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A coordinator that stops without Close leaves its workers to its successor.
func TestWorkersOutliveCoordinator(t *testing.T) {
	t.Parallel()
	g := newGraph(2000, 4, 2, 21)
	tc := newCluster(t, g, nil)
	tc.workers(0, 1)
	tc.multiply(operand(t, g.n, 3, 1), 0)
	for _, kind := range []string{"stopped", "killed"} {
		if kind == "killed" {
			tc.c.o.Conn.Close() // not a word
		} else {
			tc.c.cancel(context.Canceled)
			<-tc.c.done
		}
		o := tc.c.o
		o.Conn = tc.conn("successor")
		next, err := NewCoordinator(tc.ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { next.Close() })
		tc.c = next
		if err := tc.c.WaitShards(tc.ctx); err != nil {
			t.Fatal(kind, err)
		}
		tc.multiply(operand(t, g.n, 3, 2), 0)
	}
	tc.mu.Lock()
	defer tc.mu.Unlock()
	if len(tc.ends) != 0 {
		t.Errorf("workers ended: %v", tc.ends)
	}
}

// With two coordinators at once the workers stay with the first; the second one
// says why it gets none.
func TestTwoCoordinators(t *testing.T) {
	t.Parallel()
	g := newGraph(2000, 4, 2, 22)
	tc := newCluster(t, g, nil)
	tc.workers(0, 1)
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	o := tc.c.o
	o.Conn = tc.conn("second")
	o.Timeouts.Alone = 800 * time.Millisecond
	second, err := NewCoordinator(tc.ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	tc.multiply(operand(t, g.n, 3, 1), 0)
	err = second.WaitShards(tc.ctx)
	var alone *NoWorkerError
	if !errors.As(err, &alone) || !strings.Contains(err.Error(), tc.c.Term()) {
		t.Errorf("the second coordinator says %v", err)
	}
	tc.multiply(operand(t, g.n, 3, 2), 0)
}

// A coordinator that has taken the run's lease over gets the workers at once, though the
// other one still calls them, and keeps them.
func TestWorkersFollowTheHigherLease(t *testing.T) {
	t.Parallel()
	g := newGraph(2000, 4, 2, 24)
	tc := newCluster(t, g, nil)
	tc.workers(0, 1)
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	o := tc.c.o
	o.Conn, o.Lease = tc.conn("second"), 2
	second, err := NewCoordinator(tc.ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	first := tc.c
	tc.c = second
	for range 3 {
		if err := second.WaitShards(tc.ctx); err != nil {
			t.Fatal(err)
		}
		tc.multiply(operand(t, g.n, 3, 1), 0)
		time.Sleep(2 * first.t.Beat) // the first one says hello again
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	tc.multiply(operand(t, g.n, 3, 2), 0) // the end of the first is not the workers' end
}

// EndRun leaves a served run alone and ends the workers of one that nobody serves.
func TestEndRun(t *testing.T) {
	t.Parallel()
	g := newGraph(2000, 4, 2, 25)
	tc := newCluster(t, g, nil)
	tc.workers(0, 1)
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	conn := tc.conn("end")
	var served *ServedError
	if n, err := EndRun(tc.ctx, conn, tc.c.o.Prefix, tc.c.o.Run, 2*time.Second); !errors.As(err, &served) || n != 0 || served.Term != tc.c.Term() {
		t.Errorf("a served run: %d ended, %v", n, err)
	}
	tc.multiply(operand(t, g.n, 3, 1), 0)
	if err := tc.c.Pause(); err != nil {
		t.Fatal(err)
	}
	if n, err := EndRun(tc.ctx, conn, tc.c.o.Prefix, tc.c.o.Run, 2*time.Second); n != 2 || err != nil {
		t.Errorf("%d of 2 waiting workers ended, %v", n, err)
	}
	if n, err := EndRun(tc.ctx, conn, tc.c.o.Prefix, tc.c.o.Run, 100*time.Millisecond); n != 0 || err != nil {
		t.Errorf("%d of no workers ended, %v", n, err)
	}
}

// A status that is damaged, too long, another run's or out of bounds is passed over; the
// words of one that counts cannot move a terminal's cursor.
func TestWatchPassesOverWhatIsNoStatus(t *testing.T) {
	t.Parallel()
	tc := newCluster(t, newGraph(20, 2, 1, 29), nil)
	subj := subjects{"p", "watched"}
	conn, speaker := tc.conn("watcher"), tc.conn("speaker")
	out := newSender(speaker, subj, nil)
	say := func(note string, adjust func(*nats.Msg)) {
		t.Helper()
		m := &nats.Msg{Subject: subj.all(verbStatus), Data: []byte(note), Header: head{Term: "t", Shard: -1}.encode(subj.run, []byte(note))}
		if adjust != nil {
			adjust(m)
		}
		if err := out.put(m); err != nil {
			t.Error(err)
		}
	}
	over := errors.New("over")
	done := make(chan error, 1)
	var seen []Status
	tc.wg.Go(func() {
		done <- Watch(tc.ctx, conn, subj.prefix, subj.run, func(s Status) error {
			seen = append(seen, s)
			if s.Ended {
				return over
			}
			return nil
		})
	})
	end := time.After(20 * time.Second)
	for { // again, since the watcher may not listen yet
		say(`{"run":"watched","progress":{"done":3,"total":2}}`, nil)
		say(`{"run":"watched","phase":{"done":-1}}`, nil)
		say(`{"run":"another"}`, nil)
		say(`{"run":"watched","rows":1}`, func(m *nats.Msg) { m.Data = []byte(`{"run":"watched","rows":2}`) })
		say(`{"run":"watched","stats":{"term":"`+strings.Repeat("t", maxNote)+`"}}`, nil)
		say(`{"run":"watched","phase":{"name":"\u001b[2J"},"ended":true}`, nil)
		select {
		case err := <-done:
			if err != over || len(seen) != 1 || seen[0].Phase.Name != " [2J" {
				t.Errorf("%v after %+v", err, seen)
			}
			return
		case <-end:
			t.Fatal("no status came through")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestWatchShowsProgress(t *testing.T) {
	g := newGraph(2000, 4, 2, 23)
	tc := newCluster(t, g, nil)
	tc.worker(0, func(o *ShardOptions) { o.slow = 50 * time.Millisecond })
	tc.workers(1)
	seen := make(chan Status, 1)
	watcher := tc.conn("watcher")
	tc.wg.Go(func() {
		_ = Watch(tc.ctx, watcher, "privcom.test", "r1", func(s Status) error {
			if s.Progress.Kind == "multiply" && len(s.Stats.Workers) == 2 {
				select {
				case seen <- s:
				default:
				}
			}
			return nil
		})
	})
	for step := range 20 {
		tc.multiply(operand(t, g.n, 8, uint64(step)), 0)
		select {
		case s := <-seen:
			if s.Rows != g.n || s.Shards != 2 || s.Progress.Total != g.n || s.Stats.Term != tc.c.Term() {
				t.Errorf("status %+v", s)
			}
			return
		default:
		}
	}
	t.Error("no status in 20 steps")
}
