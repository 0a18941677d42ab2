package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Coordinator gives the work of one run to its shard workers. It never sees the
// graph: only row ranges, V, and rows of Q.
//
// All state is owned by one goroutine; jobs (a multiplication, a list of items)
// are handed to it one at a time.
type Coordinator struct {
	o       CoordinatorOptions
	t       Timeouts
	subj    subjects
	out     *sender
	log     *slog.Logger
	session string

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
	members roster
	owners  []*member // of each shard
	step    uint64
	current *order
	waiting []waiter
	refused map[string]string // worker → reason
	tempo   tempo             // of row blocks
	trip    roundTrip         // of chunks of V
	beat    time.Time         // last hello
	alone   time.Time         // since when there is no worker
	fatal   error

	ledger ledger
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
		o: o, t: o.Timeouts, subj: subj, session: nonce(8),
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
	c.ledger.s.Session = c.session
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
// their goodbyes. Further calls of the coordinator give ErrClosed.
func (c *Coordinator) Close() error {
	c.closing.Do(func() { c.cancel(ErrClosed) })
	<-c.done
	return nil
}

// Session names this coordinator among all that ever served the run.
func (c *Coordinator) Session() string { return c.session }

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
		if h.Session != c.session {
			c.other(h.Session)
		}
		return
	case h.Worker == "" || h.Session != c.session && verb != verbAlive:
		return // of another session, or nobody's
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

func (c *Coordinator) other(session string) {
	fresh := false
	c.ledger.count(func(s *Stats) { fresh = s.Other != session; s.Other = session })
	if fresh {
		c.log.Warn("another coordinator serves this run; workers stay with the one that they heard first", "session", session)
	}
}

func (c *Coordinator) loop(subs []*nats.Subscription) {
	defer close(c.done)
	defer unsubscribeAll(subs)
	ticker := time.NewTicker(min(c.t.Beat, c.t.Retry, c.t.Repair, c.t.Slow) / 4)
	defer ticker.Stop()
	c.alone = time.Now()
	c.hello(time.Now())
	for c.fatal == nil {
		select {
		case <-c.ctx.Done():
			c.settle(context.Cause(c.ctx))
			c.farewell()
			return
		case in := <-c.inbox:
			c.take(time.Now(), in)
		case o := <-c.jobs:
			c.start(time.Now(), o)
		case o := <-c.abandon:
			if o == c.current {
				c.settle(context.Canceled)
			}
		case w := <-c.waiters:
			c.waiting = append(c.waiting, w)
			c.checkWaiting(time.Now())
		case now := <-ticker.C:
			c.tick(now)
		}
		c.report()
	}
	c.settle(c.fatal)
}

func (c *Coordinator) start(now time.Time, o *order) {
	c.step++
	o.job = o.make(c.step)
	c.current = o
	if len(c.members.list) == 0 {
		c.alone = now
	}
	c.after(o.job.begin(now))
}

// after looks at the job in hand once something happened to it.
func (c *Coordinator) after(err error) {
	switch {
	case c.current == nil:
	case err != nil:
		c.settle(err)
	case c.current.job.finished():
		c.ledger.count(func(s *Stats) { s.Steps++ })
		c.settle(nil)
	}
}

// settle ends the job in hand and lets its caller go.
func (c *Coordinator) settle(err error) {
	o := c.current
	if o == nil {
		return
	}
	c.report()
	c.current = nil
	for _, m := range c.members.list {
		m.held, m.matrix = nil, nil
	}
	o.done <- err
}

func (c *Coordinator) take(now time.Time, in inbound) {
	switch in.verb {
	case verbRefuse:
		c.refuse(in.head.Worker, string(in.data))
		return
	case verbAlive:
		c.heard(now, in)
		return
	}
	m := c.members.find(in.head.Worker)
	if m == nil {
		return // it will be heard, and join, first
	}
	m.seen = now
	c.ledger.count(func(s *Stats) { s.BytesReceived += int64(in.size) })
	if in.verb == verbBye {
		c.leave(now, m, "said goodbye")
		return
	}
	if c.current != nil && in.head.Step == c.step {
		c.after(c.current.job.take(now, m, in))
	}
}

// heard takes a heartbeat: of a member, or of a worker that would join.
func (c *Coordinator) heard(now time.Time, in inbound) {
	note, ok := decodeAlive(in.data)
	id := in.head.Worker
	switch {
	case !ok:
		c.reject(verbAlive, id, errors.New("cluster: heartbeat is malformed"))
		return
	case note.Rows != c.o.Rows || note.Shards != len(c.o.Shards) || c.o.Graph != "" && note.Graph != c.o.Graph:
		c.refuse(id, fmt.Sprintf("it serves another graph (index %d, %d vertices in %d shards, hash %q) than this run (%d vertices in %d shards, hash %q)",
			note.Index, note.Rows, note.Shards, note.Graph, c.o.Rows, len(c.o.Shards), c.o.Graph))
		return
	case in.head.Session != c.session:
		if in.head.Session == "" && now.Sub(c.beat) > c.t.Beat/10 {
			c.hello(now) // an invitation
		}
		return
	}
	m := c.members.find(id)
	if m == nil {
		if len(c.members.list) >= maxMembers {
			return
		}
		m = &member{id: id, index: note.Index, progress: now, unable: map[int]string{}}
		c.members.add(m)
		c.log.Info("worker joined", "worker", id, "index", note.Index)
		defer func() {
			c.checkWaiting(now)
			if c.current != nil {
				c.after(c.current.job.joined(now, m))
			}
		}()
	}
	m.seen, m.cores = now, note.Cores
	m.loaded = map[int]bool{}
	for _, s := range note.Loaded {
		m.loaded[s] = true
	}
	switch {
	case !note.Loading:
		m.loading = time.Time{}
	case m.loading.IsZero():
		m.loading = now
	}
	if note.Loading && now.Sub(m.loading) < c.t.Load {
		m.progress = now
	}
}

func (c *Coordinator) refuse(id, reason string) {
	if _, known := c.refused[id]; !known && len(c.refused) < 1024 {
		c.refused[id] = reason
		c.log.Warn("worker refused", "worker", id, "reason", reason)
		c.ledger.count(func(s *Stats) { s.Refused = append(s.Refused, id+": "+reason) })
	}
	c.send(c.subj.to(id, verbRefuse), head{Shard: -1}, []byte(reason))
}

func (c *Coordinator) leave(now time.Time, m *member, why string) {
	c.members.remove(m)
	if len(c.members.list) == 0 {
		c.alone = now
	}
	c.ledger.count(func(s *Stats) { s.Left++ })
	c.log.Warn("worker left; its rows go to others", "worker", m.id, "index", m.index, "why", why)
	for s, owner := range c.owners {
		if owner == m {
			c.owners[s] = nil
		}
	}
	if c.current != nil {
		c.after(c.current.job.left(now, m))
	}
}

func (c *Coordinator) tick(now time.Time) {
	if now.Sub(c.beat) >= c.t.Beat {
		c.hello(now)
		c.publishStatus()
	}
	for _, m := range append([]*member(nil), c.members.list...) {
		if now.Sub(m.seen) > c.t.Dead {
			c.leave(now, m, fmt.Sprintf("silent for %v", now.Sub(m.seen).Round(time.Millisecond)))
		}
	}
	c.checkWaiting(now)
	if c.current == nil {
		return
	}
	if len(c.members.list) == 0 && now.Sub(c.alone) > c.t.Alone {
		c.settle(c.noWorker(now.Sub(c.alone)))
		return
	}
	c.after(c.current.job.tick(now))
}

func (c *Coordinator) noWorker(waited time.Duration) error {
	s, _ := c.ledger.snapshot()
	return &NoWorkerError{Run: c.o.Run, Prefix: c.o.Prefix, Waited: waited.Round(time.Millisecond).String(), Refused: s.Refused, Other: s.Other}
}

func (c *Coordinator) checkWaiting(now time.Time) {
	have := len(c.members.list)
	keep := c.waiting[:0]
	for _, w := range c.waiting {
		switch waited := now.Sub(w.since); {
		case have >= c.o.Workers:
			w.done <- nil
		case have > 0 && waited > c.t.Join:
			c.log.Warn("fewer workers than planned; going on with those that are here", "workers", have, "planned", c.o.Workers)
			w.done <- nil
		case have == 0 && waited > c.t.Alone:
			w.done <- c.noWorker(waited)
		default:
			keep = append(keep, w)
		}
	}
	c.waiting = keep
}

// send publishes; what cannot be healed ends the coordinator.
func (c *Coordinator) send(subject string, h head, payload []byte) {
	h.Session = c.session
	if err := c.out.send(subject, h, payload); err != nil && c.fatal == nil {
		c.fatal = fmt.Errorf("cluster: coordinator of run %s: %w", c.o.Run, err)
	}
}

func (c *Coordinator) hello(now time.Time) {
	c.beat = now
	h := head{Shard: -1}
	if c.current != nil {
		h = c.current.job.head()
	}
	c.send(c.subj.all(verbHello), h, nil)
}

// endPause as the kind of an end message: the coordinator stops, but the run goes
// on under another one.
const endPause = "pause"

// farewell tells the workers that the run is over, a few times, since any message
// may be lost. When not Close but the end of ctx stopped the coordinator, workers
// are told to wait for its successor.
func (c *Coordinator) farewell() {
	defer func() { _ = c.o.Conn.FlushTimeout(c.t.End) }() // a courtesy
	if !errors.Is(context.Cause(c.ctx), ErrClosed) {
		c.send(c.subj.all(verbEnd), head{Shard: -1, Kind: endPause}, nil)
		return
	}
	deadline := time.NewTimer(c.t.End)
	defer deadline.Stop()
	again := time.NewTicker(max(c.t.End/20, time.Millisecond))
	defer again.Stop()
	for {
		c.send(c.subj.all(verbEnd), head{Shard: -1}, nil)
		for left := false; !left; {
			if len(c.members.list) == 0 || c.fatal != nil {
				return
			}
			select {
			case <-deadline.C:
				return
			case in := <-c.inbox:
				if m := c.members.find(in.head.Worker); m != nil && in.verb == verbBye {
					c.members.remove(m)
				}
			case <-again.C:
				left = true
			}
		}
	}
}

// report refreshes what Stats and Progress show.
func (c *Coordinator) report() {
	p := Progress{Step: c.step, Workers: len(c.members.list)}
	if c.current != nil {
		p = c.current.job.progress()
		p.Step, p.Workers = c.step, len(c.members.list)
	}
	changed := false
	c.ledger.mu.Lock()
	changed = p != c.ledger.now
	c.ledger.now = p
	c.ledger.mu.Unlock()
	if changed && c.o.Progress != nil {
		c.o.Progress(p)
	}
}

// publishStatus shows the state to whoever watches.
func (c *Coordinator) publishStatus() {
	now := time.Now()
	c.ledger.count(func(s *Stats) { s.Workers = c.workerStats(now) })
	s, p := c.ledger.snapshot()
	s.BytesSent, s.Lost = c.out.sent.Load(), c.out.lost.Load()
	note, err := json.Marshal(Status{Run: c.o.Run, Rows: c.o.Rows, Shards: len(c.o.Shards), Progress: p, Stats: s})
	if err == nil && len(note) < c.o.ChunkBytes-headroom {
		c.send(c.subj.all(verbStatus), head{Shard: -1}, note)
	}
}

func (c *Coordinator) workerStats(now time.Time) []WorkerStats {
	var all []WorkerStats
	for _, m := range c.members.list {
		w := WorkerStats{ID: m.id, Index: m.index, Blocks: m.blocks, Bytes: m.bytes, Busy: m.busy, Silent: now.Sub(m.seen)}
		for s, owner := range c.owners {
			if owner == m {
				w.Shards = append(w.Shards, s)
			}
		}
		all = append(all, w)
	}
	return all
}
