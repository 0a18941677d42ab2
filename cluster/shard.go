package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/privcom/privcom/blockmatmul"
)

// Handler computes the result of one item of Run. It must be a deterministic
// function of params and of the graph: an item may run twice, on two workers,
// and the results are compared. ctx ends when the item is no longer wanted.
type Handler = func(ctx context.Context, params []byte) ([]byte, error)

// ShardOptions describes a shard worker.
type ShardOptions struct {
	Conn   *Conn
	Prefix string
	Run    string

	// Index is the shard that this worker is meant for, loaded at once; -1 for
	// any. Several workers may have the same index, and a worker may be given
	// other shards too.
	Index int
	// Worker is the worker's id, one token. Default: from the index and a random part.
	Worker string

	Source   Source
	Handlers map[string]Handler

	// Cores is how many goroutines multiply, and how many items run at a time.
	// Default: GOMAXPROCS.
	Cores int
	// KeepLoaded bounds the shards held in memory; 0 for no bound.
	KeepLoaded int
	// MatrixBytes bounds V in memory. Default 16 GiB.
	MatrixBytes int64

	Timeouts Timeouts
	Logger   *slog.Logger // run, shard and step; nil is silent
	// Observe is told once per beat where the worker stands; it must return at once. May
	// be nil.
	Observe func(ShardState)

	wrap func(publishFunc) publishFunc // faults, in tests
	slow time.Duration                 // pause before every row block, in tests
}

func (o *ShardOptions) check() error {
	if o.Conn == nil {
		return errors.New("cluster: no NATS connection")
	}
	if o.Source == nil {
		return errors.New("cluster: no source of shards")
	}
	if err := checkRanges(o.Source.Shards(), o.Source.Rows()); err != nil {
		return err
	}
	if o.Index < -1 || o.Index >= len(o.Source.Shards()) {
		return fmt.Errorf("cluster: shard index %d of a graph of %d shards; want 0 to %d, or -1 for any", o.Index, len(o.Source.Shards()), len(o.Source.Shards())-1)
	}
	if o.Worker == "" {
		o.Worker = "w-" + nonce(4)
		if o.Index >= 0 {
			o.Worker = fmt.Sprintf("w%d-%s", o.Index, nonce(4))
		}
	}
	if err := checkToken("worker id", o.Worker); err != nil {
		return err
	}
	if o.Cores <= 0 {
		o.Cores = runtime.GOMAXPROCS(0)
	}
	if o.MatrixBytes <= 0 {
		o.MatrixBytes = maxMatrix
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Timeouts = o.Timeouts.withDefaults()
	return nil
}

// worker is the state of RunShard. One goroutine owns it; loading, multiplying
// and handlers run beside it and report back through events.
type worker struct {
	o     ShardOptions
	t     Timeouts
	subj  subjects
	out   *sender
	log   *slog.Logger
	inbox chan inbound
	event chan func(now time.Time)
	done  chan struct{}
	ctx   context.Context
	wg    sync.WaitGroup

	term  string
	lease int       // of that term
	heard time.Time // last word of that term
	beat  time.Time // last heartbeat sent
	err   error     // why the loop ends
	over  bool

	shards shelf
	step   uint64              // the step at hand
	matrix *assembly           // its V, where it is a multiplication
	spare  *blockmatmul.Packed // memory of an earlier V
	queue  []head              // row blocks to do, in order
	busy   *head               // the one in hand
	items  map[int]*item
	active int       // handlers running
	trip   roundTrip // of pieces of items

	stepCtx context.Context // ends with the step
	stop    context.CancelFunc
}

// RunShard serves a run until its coordinator ends it (nil), ctx ends (its
// cause), the coordinator refuses it (*RefusedError, *VersionError), or no
// coordinator is heard for Timeouts.Orphan (ErrNoCoordinator).
func RunShard(ctx context.Context, o ShardOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	subj, err := newSubjects(o.Prefix, o.Run)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	w := &worker{
		o: o, t: o.Timeouts, subj: subj,
		out:   newSender(o.Conn, subj, o.wrap),
		log:   o.Logger.With("run", o.Run, "shard", o.Index, "worker", o.Worker),
		inbox: make(chan inbound, 64),
		event: make(chan func(time.Time)),
		done:  make(chan struct{}),
		ctx:   inner,
		heard: time.Now(),
	}
	w.shards = shelf{w: w, slots: map[int]*slot{}}
	w.stepCtx, w.stop = context.WithCancel(inner)
	defer w.wg.Wait()
	defer cancel()
	subs, err := w.subscribe()
	defer unsubscribeAll(subs)
	defer close(w.done)
	if err != nil {
		return fmt.Errorf("cluster: shard worker %s of run %s: subscribe: %w", o.Worker, o.Run, err)
	}
	return w.loop(ctx)
}

func (w *worker) subscribe() ([]*nats.Subscription, error) {
	subs, err := subscribeAll(w.o.Conn, w.subj.all, broadcastVerbs, w.receive)
	if err != nil {
		return nil, err
	}
	to := func(verb string) string { return w.subj.to(w.o.Worker, verb) }
	more, err := subscribeAll(w.o.Conn, to, unicastVerbs, w.receive)
	return append(subs, more...), err
}

// receive checks one message and hands it to the loop.
func (w *worker) receive(verb string, m *nats.Msg) {
	h, err := decodeHead(m, w.o.Run)
	if err == nil && (verb == verbMatrix || verb == verbRepair) {
		var rows any
		if rows, err = decodeMatrix(h, m.Data); err == nil {
			forward(w.done, w.inbox, inbound{verb: verb, head: h, rows: rows})
			return
		}
	}
	var version *VersionError
	switch {
	case errors.As(err, &version):
		version.Peer = "the coordinator of run " + w.o.Run
		forward(w.done, w.inbox, inbound{verb: verbRefuse, head: head{Kind: "version"}, rows: version})
	case err != nil:
		w.log.Warn("message rejected; it will be asked for again", "verb", verb, "error", err)
	default:
		forward(w.done, w.inbox, inbound{verb: verb, head: h, data: m.Data})
	}
}

func (w *worker) loop(ctx context.Context) error {
	ticker := time.NewTicker(min(w.t.Beat, w.t.Repair) / 2)
	defer ticker.Stop()
	defer func() { w.stop() }()
	if w.o.Index >= 0 {
		w.shards.load(w.o.Index)
	}
	w.alive(time.Now())
	for !w.over && w.err == nil {
		select {
		case <-ctx.Done():
			w.err = context.Cause(ctx)
		case in := <-w.inbox:
			w.take(time.Now(), in)
		case f := <-w.event:
			f(time.Now())
		case now := <-ticker.C:
			w.tick(now)
		}
		w.work()
	}
	w.send(verbBye, head{Shard: -1}, nil)
	_ = w.o.Conn.FlushTimeout(w.t.End) // the goodbye is a courtesy
	return w.err
}

// post hands a result to the loop from beside it.
func (w *worker) post(f func(now time.Time)) {
	select {
	case w.event <- f:
	case <-w.done:
	}
}

func (w *worker) take(now time.Time, in inbound) {
	if in.verb == verbRefuse {
		if version, ok := in.rows.(*VersionError); ok {
			w.err = version
			return
		}
		w.err = &RefusedError{Worker: w.o.Worker, Reason: clean(string(in.data))}
		return
	}
	switch in.verb {
	case verbHello:
		w.hello(now, in.head)
	case verbEnd:
		// A run may end before this worker was found by its coordinator.
		if w.alone(now) && in.head.Kind != endPause {
			w.over = true
			return
		}
	}
	if in.head.Term != w.term {
		return
	}
	w.heard = now
	h := in.head
	switch in.verb {
	case verbEnd:
		w.end(h)
	case verbHello:
		if h.Matrix.Rows > 0 {
			w.open(now, h)
		} else if h.Step > w.step {
			w.enter(h.Step)
		}
	case verbMatrix, verbRepair:
		w.takeMatrix(now, in)
	case verbWork:
		w.takeWork(now, h)
	case verbTask:
		w.takeTask(now, in)
	case verbParam:
		w.takeParam(now, in)
	case verbGet:
		w.takeGet(in)
	case verbGot:
		if h.Step == w.step { // a late one of an earlier step is about another item
			delete(w.items, h.From)
		}
	}
}

// hello joins the term that calls, unless another one was heard lately: a
// second coordinator finds no workers while the first one lives. One that has taken the
// run's lease over is followed at once.
func (w *worker) hello(now time.Time, h head) {
	if h.Term == "" || h.Term == w.term || !w.alone(now) && h.Lease <= w.lease {
		return
	}
	w.log.Info("coordinator found", "term", h.Term)
	w.term, w.lease, w.heard = h.Term, h.Lease, now
	w.enter(0)
	w.alive(now)
}

// alone reports whether no coordinator was heard lately.
func (w *worker) alone(now time.Time) bool {
	return w.term == "" || now.Sub(w.heard) >= w.t.Dead
}

func (w *worker) end(h head) {
	if h.Kind == endPause {
		w.log.Info("the coordinator stopped before the end of the run; waiting for the next one")
		w.term = ""
		w.enter(0)
		return
	}
	w.over = true
}

// enter goes to another step and leaves behind what belongs to the one before.
func (w *worker) enter(step uint64) {
	w.spare = nil
	if w.matrix != nil && w.busy == nil {
		w.spare = w.matrix.data
	}
	w.step, w.matrix, w.queue = step, nil, nil
	w.log.Debug("operation begins", "step", step)
	w.stop()
	w.stepCtx, w.stop = context.WithCancel(w.ctx)
	w.items = map[int]*item{}
}

func (w *worker) tick(now time.Time) {
	if now.Sub(w.beat) >= w.t.Beat {
		w.alive(now)
		w.observe(now)
		w.have(now, false)
	}
	if w.matrix != nil && !w.matrix.got.full() && now.Sub(w.matrix.news) > w.t.Repair {
		w.matrix.news = now
		w.have(now, true)
	}
	w.fetch(now)
	if now.Sub(w.heard) > w.t.Orphan {
		w.err = fmt.Errorf("%w of run %s (subjects %s.%s.…) for %v; start it with the same prefix and run", ErrNoCoordinator, w.o.Run, w.o.Prefix, w.o.Run, w.t.Orphan)
	}
}

// alive sends a heartbeat.
func (w *worker) alive(now time.Time) {
	w.beat = now
	loaded, loading := w.shards.state()
	note, err := json.Marshal(aliveNote{
		Index: w.o.Index, Cores: w.o.Cores, Rows: w.o.Source.Rows(), Shards: len(w.o.Source.Shards()),
		Graph: w.o.Source.Graph(), Loaded: loaded, Loading: loading,
	})
	if err != nil {
		w.err = fmt.Errorf("cluster: heartbeat: %w", err)
		return
	}
	w.send(verbAlive, head{Shard: w.o.Index}, note)
}

// send publishes to the coordinator. Safe beside the loop but for its error,
// which the loop takes.
func (w *worker) send(verb string, h head, payload []byte) {
	if err := w.publish(verb, w.term, h, payload); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *worker) publish(verb, term string, h head, payload []byte) error {
	h.Worker, h.Term = w.o.Worker, term
	if err := w.out.send(w.subj.all(verb), h, payload); err != nil {
		return fmt.Errorf("cluster: shard worker %s: %w", w.o.Worker, err)
	}
	return nil
}

func (w *worker) fail(h head, note failNote) {
	note.Detail = clean(note.Detail)
	w.log.Warn("work failed", "step", h.Step, "rows_of_shard", h.Shard, "kind", note.Kind, "error", note.Detail)
	payload, err := json.Marshal(note)
	if err != nil {
		w.err = fmt.Errorf("cluster: failure report: %w", err)
		return
	}
	w.send(verbFail, head{Step: h.Step, Shard: h.Shard, From: h.From, To: h.To}, payload)
}
