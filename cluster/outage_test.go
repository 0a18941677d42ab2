package cluster

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// outage is a server that goes away and comes back at the same port, and a cluster on it
// whose coordinator, workers and watchers find it again after pauses that the test decides.
type outage struct {
	*testCluster
	t      *testing.T
	port   int
	server *server.Server
}

func newOutage(t *testing.T, adjust func(*CoordinatorOptions)) *outage {
	t.Helper()
	o := &outage{t: t}
	o.start()
	t.Cleanup(func() { stop(o.server) })
	o.testCluster = newClusterAt(t, newGraph(400, 4, 1, 41), &Embedded{server: o.server, user: "u", password: "p"}, func(c *CoordinatorOptions) {
		c.Conn.Close()
		c.Conn = o.patient("coordinator", 10*time.Millisecond)
		c.Timeouts.Dead, c.Timeouts.End, c.Timeouts.Return, c.Timeouts.Reach = 200*time.Millisecond, 100*time.Millisecond, 2*time.Second, 10*time.Second
		if adjust != nil {
			adjust(c)
		}
	})
	return o
}

func (o *outage) start() {
	o.t.Helper()
	o.server = launch(o.t, &server.Options{Port: o.port, Username: "u", Password: "p", MaxPayload: embeddedPayload, NoSystemAccount: true})
	o.port = o.server.Addr().(*net.TCPAddr).Port
}

// patient is a connection that tries again after pauses of one length.
func (o *outage) patient(name string, pause time.Duration) *Conn {
	o.t.Helper()
	c, err := Connect(context.Background(), ConnectOptions{URL: o.server.ClientURL(), Name: name, user: "u", password: "p",
		pause: func(int) time.Duration { return pause }})
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(c.Close)
	return c
}

// serve starts the worker and waits until the coordinator has it.
func (o *outage) serve(pause time.Duration) {
	o.t.Helper()
	o.worker(0, func(s *ShardOptions) {
		s.Conn.Close()
		s.Conn = o.patient("shard", pause)
	})
	if err := o.c.WaitShards(o.ctx); err != nil {
		o.t.Fatal(err)
	}
}

// watch follows the run and closes the channel once it was told that the run is over.
func (o *outage) watch(pause time.Duration) <-chan struct{} {
	o.t.Helper()
	conn, first, ended := o.patient("watcher", pause), make(chan struct{}, 1), make(chan struct{})
	over := errors.New("over")
	o.wg.Go(func() {
		if err := Watch(o.ctx, conn, "privcom.test", "r1", func(s Status) error {
			select {
			case first <- struct{}{}:
			default:
			}
			if s.Ended {
				return over
			}
			return nil
		}); err == over {
			close(ended)
		}
	})
	select {
	case <-first:
	case <-time.After(10 * time.Second):
		o.t.Fatal("no status")
	}
	return ended
}

// away waits until the coordinator has lost its connection and its worker.
func (o *outage) away() {
	o.t.Helper()
	stop(o.server)
	o.until("the coordinator keeps its worker", func() bool { return o.c.Progress().Workers == 0 })
}

func (o *outage) until(otherwise string, met func() bool) {
	o.t.Helper()
	for end := time.Now().Add(10 * time.Second); !met(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			o.t.Fatal(otherwise)
		}
	}
}

// told checks that the worker and the watcher have heard the end of the run.
func (o *outage) told(watched <-chan struct{}) {
	o.t.Helper()
	o.until("the worker did not hear the end of the run", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.ends) == 1
	})
	if o.ends[0] != nil {
		o.t.Errorf("the worker ended with %v", o.ends[0])
	}
	if watched == nil {
		return
	}
	select {
	case <-watched:
	case <-time.After(10 * time.Second):
		o.t.Error("the watcher did not hear the end of the run")
	}
}

// The run ends when the coordinator has NATS again and the others do not yet.
func TestEndIsHeardByThoseWhoComeBackLate(t *testing.T) {
	t.Parallel()
	o := newOutage(t, nil)
	const pause = 700 * time.Millisecond
	o.serve(pause)
	watched := o.watch(pause)
	o.away()
	o.start()
	o.until("the coordinator does not come back", func() bool { return !o.c.o.Conn.down() })
	if err := o.c.Close(); err != nil {
		t.Fatal(err)
	}
	o.told(watched)
}

// The run ends while NATS is away.
func TestEndIsSaidWhenNATSIsBack(t *testing.T) {
	t.Parallel()
	o := newOutage(t, nil)
	o.serve(50 * time.Millisecond)
	watched := o.watch(50 * time.Millisecond)
	o.away()
	closed := make(chan error, 1)
	go func() { closed <- o.c.Close() }()
	time.Sleep(400 * time.Millisecond) // longer than Timeouts.End
	o.start()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	o.told(watched)
}

// Close waits for a NATS that stays away no longer than Timeouts.Reach, and not at all once
// its caller is told to stop.
func TestCloseWithoutNATSReturns(t *testing.T) {
	t.Parallel()
	o := newOutage(t, func(c *CoordinatorOptions) { c.Timeouts.Reach = 50 * time.Millisecond })
	o.serve(10 * time.Millisecond)
	o.away()
	o.c.Close()

	o = newOutage(t, func(c *CoordinatorOptions) { c.Timeouts.Reach = time.Hour })
	o.serve(10 * time.Millisecond)
	ctx, cancel := context.WithCancel(o.ctx)
	options := o.c.o
	o.c.Pause()
	c, err := NewCoordinator(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	stop(o.server)
	o.until("the connection does not break", options.Conn.down)
	closed := make(chan struct{})
	go func() { c.Close(); close(closed) }()
	select {
	case <-closed:
		t.Error("Close did not wait for NATS")
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	<-closed
}

func TestEndRunWithoutNATSSaysSo(t *testing.T) {
	t.Parallel()
	o := newOutage(t, nil)
	conn := o.patient("end", 10*time.Millisecond)
	stop(o.server)
	o.until("the connection does not break", conn.down)
	if n, err := endRun(o.ctx, conn, "privcom.test", "r1", 100*time.Millisecond, 50*time.Millisecond); n != 0 || !errors.Is(err, ErrAway) {
		t.Errorf("%d ended, %v", n, err)
	}
}

// The run is ended from elsewhere, by somebody who has NATS again before the workers do, and
// by somebody who loses it in between.
func TestEndRunReachesThoseWhoComeBackLate(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		o := newOutage(t, nil)
		o.serve(300 * time.Millisecond)
		if err := o.c.Pause(); err != nil {
			t.Fatal(err)
		}
		conn := o.patient("end", 10*time.Millisecond)
		stop(o.server)
		o.until("the connection does not break", conn.down)
		back := func() {
			o.start()
			o.until("the connection does not come back", func() bool { return !conn.down() })
		}
		if lost {
			o.wg.Go(func() {
				time.Sleep(1200 * time.Millisecond) // longer than the quiet
				back()
			})
		} else {
			back()
		}
		if n, err := EndRun(o.ctx, conn, "privcom.test", "r1", time.Second); n != 1 || err != nil {
			t.Errorf("lost %v: %d of 1 waiting workers ended, %v", lost, n, err)
		}
		o.told(nil)
	}
}
