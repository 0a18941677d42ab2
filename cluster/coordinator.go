package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Coordinator gives the work of one run to its shard workers. It never sees the
// graph: only row ranges, V, and rows of Q.
//
// All state is owned by one goroutine; jobs (a multiplication, a list of items)
// are handed to it one at a time.
type Coordinator struct {
	o    CoordinatorOptions
	t    Timeouts
	subj subjects
	out  *sender
	log  *slog.Logger
	term string

	inbox   chan inbound
	jobs    chan *order
	abandon chan *order
	waiters chan waiter
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when the loop has ended
	closing sync.Once
	turn    chan struct{} // one job at a time

	// owned by the loop
	ctx     context.Context
	outer   context.Context // the caller's
	members roster
	owners  []*member // of each shard
	step    uint64
	current *order
	waiting []waiter
	refused map[string]string // worker → reason
	tempo   tempo             // of row blocks
	trip    roundTrip         // of chunks of V
	beat    time.Time         // last hello
	invite  bool              // a worker waits for a hello
	alone   time.Time         // since when there is no worker
	fatal   error

	ledger ledger
	clock  phaseClock
	turned atomic.Int64 // Unix nanoseconds of the last turn of the loop
}

// job is the work in hand. Its methods run in the loop; an error ends it.
type job interface {
	begin(now time.Time) error
	take(now time.Time, m *member, in inbound) error
	tick(now time.Time) error
	joined(now time.Time, m *member) error
	left(now time.Time, m *member) error
	finished() bool
	progress() Progress
	head() head // of hello: step and matrix
}

// order is a job on its way through the loop.
type order struct {
	make func(step uint64) job
	job  job
	done chan error
}

type waiter struct {
	since time.Time
	done  chan error
}

// NewCoordinator takes up the run: it subscribes, says hello and gathers
// workers in the background until Close, or until ctx ends.
func NewCoordinator(ctx context.Context, o CoordinatorOptions) (*Coordinator, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	subj, err := newSubjects(o.Prefix, o.Run)
	if err != nil {
		return nil, err
	}
	c := &Coordinator{
		o: o, t: o.Timeouts, subj: subj, term: nonce(8),
		out:     newSender(o.Conn, subj, o.wrap),
		log:     o.Logger.With("run", o.Run),
		inbox:   make(chan inbound, 64),
		jobs:    make(chan *order),
		abandon: make(chan *order),
		waiters: make(chan waiter),
		done:    make(chan struct{}),
		turn:    make(chan struct{}, 1),
		refused: map[string]string{},
		owners:  make([]*member, len(o.Shards)),
	}
	c.ledger.s.Term = c.term
	c.turned.Store(time.Now().UnixNano())
	c.ledger.s.ShardBusy = make([]time.Duration, len(o.Shards))
	c.outer = ctx
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	subs, err := subscribeAll(o.Conn, subj.all, append(upwardVerbs, verbHello), c.receive)
	if err != nil {
		c.cancel(ErrClosed)
		unsubscribeAll(subs)
		return nil, fmt.Errorf("cluster: coordinator of run %s: subscribe: %w", o.Run, err)
	}
	go c.loop(subs)
	return c, nil
}

// Close ends the run: workers are told to end, and Close waits a little for
// their goodbyes (Timeouts.End), or until those are back that lost NATS a moment ago
// (Timeouts.Return, Timeouts.Reach), or until ctx ends. Further calls of the coordinator give ErrClosed.
func (c *Coordinator) Close() error {
	c.closing.Do(func() { c.cancel(ErrClosed) })
	<-c.done
	return nil
}

// Pause stops the coordinator and leaves the run open: workers wait for the next
// coordinator, as they do when ctx ends.
func (c *Coordinator) Pause() error {
	c.closing.Do(func() { c.cancel(errPaused) })
	<-c.done
	return nil
}

var errPaused = fmt.Errorf("%w (paused)", ErrClosed)

// Term names this coordinator among all that ever served the run.
func (c *Coordinator) Term() string { return c.term }

// Stats gives the counts so far.
func (c *Coordinator) Stats() Stats {
	s, _ := c.ledger.snapshot()
	s.BytesSent, s.Lost = c.out.sent.Load(), c.out.lost.Load()
	return s
}

// Progress gives the state of the work in hand.
func (c *Coordinator) Progress() Progress {
	_, p := c.ledger.snapshot()
	return p
}

// WaitShards returns when the wanted number of workers is there, or when
// Timeouts.Join has passed and there is at least one. With none for
// Timeouts.Alone it gives a *NoWorkerError.
func (c *Coordinator) WaitShards(ctx context.Context) error {
	w := waiter{since: time.Now(), done: make(chan error, 1)}
	select {
	case c.waiters <- w:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.done:
		return c.ended()
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.done:
		return c.ended()
	}
}

func (c *Coordinator) ended() error {
	if c.fatal != nil {
		return c.fatal
	}
	return context.Cause(c.ctx)
}

// do takes a job through the loop.
func (c *Coordinator) do(ctx context.Context, make func(step uint64) job) (job, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.done:
		return nil, c.ended()
	}
	o := &order{make: make, done: chanOfError()}
	select {
	case c.jobs <- o:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.done:
		return nil, c.ended()
	}
	select {
	case err := <-o.done:
		return o.job, err
	case <-ctx.Done():
		select {
		case c.abandon <- o:
		case <-c.done:
		}
		return nil, context.Cause(ctx)
	case <-c.done:
		return nil, c.ended()
	}
}

func chanOfError() chan error { return make(chan error, 1) }

// receive checks one message, decodes its rows, and hands it to the loop.
func (c *Coordinator) receive(verb string, m *nats.Msg) {
	h, err := decodeHead(m, c.o.Run)
	var version *VersionError
	switch {
	case errors.As(err, &version) && h.Worker != "" && verb == verbAlive:
		forward(c.done, c.inbox, inbound{verb: verbRefuse, head: h, data: []byte(err.Error())})
		return
	case err != nil:
		c.reject(verb, h.Worker, err)
		return
	case verb == verbHello:
		if h.Term != c.term {
			c.other(h.Term)
		}
		return
	case h.Worker == "" || h.Term != c.term && verb != verbAlive:
		return // of another term, or nobody's
	}
	in := inbound{verb: verb, head: h, data: m.Data, size: m.Size()}
	if verb == verbRows {
		if in.rows, err = decodeRows(h, m.Data); err != nil {
			c.reject(verb, h.Worker, err)
			return
		}
		in.data = nil
	}
	forward(c.done, c.inbox, in)
}

func (c *Coordinator) reject(verb, worker string, err error) {
	c.ledger.count(func(s *Stats) { s.Rejected++ })
	c.log.Warn("message rejected; it will be asked for again", "verb", verb, "worker", worker, "error", err)
}

func (c *Coordinator) other(term string) {
	fresh := false
	c.ledger.count(func(s *Stats) { fresh = s.Other != term; s.Other = term })
	if fresh {
		c.log.Warn("another coordinator serves this run; workers stay with the one that they heard first", "term", term)
	}
}
