package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Run has the workers compute one result per item with their handler of that
// kind; results are in the order of items. An item whose worker died, or
// failed, runs again on another one; the third failure is a *HandlerError. Other
// errors are those of Multiply.
func (c *Coordinator) Run(ctx context.Context, kind string, items [][]byte) ([][]byte, error) {
	if err := checkToken("handler", kind); err != nil {
		return nil, err
	}
	for i, it := range items {
		if len(it) > maxItem {
			return nil, fmt.Errorf("cluster: item %d of %q has %d bytes; want at most %d", i, kind, len(it), maxItem)
		}
	}
	if len(items) == 0 {
		return nil, nil
	}
	limit, err := c.messageLimit()
	if err != nil {
		return nil, err
	}
	j, err := c.do(ctx, func(step uint64) job { return newErrand(c, step, kind, items, limit-headroom) })
	if err != nil {
		return nil, err
	}
	return j.(*errand).results, nil
}

// errand is one call of Run.
type errand struct {
	c          *Coordinator
	step       uint64
	kind       string
	items      [][]byte
	pieceBytes int
	window     int // pieces of results under way in all
	board      *board
	tempo      tempo
	trip       roundTrip // of pieces of results
	results    [][]byte
	digests    []string
	failures   []int
	failed     []string // worker of the last failure
	coming     map[int]*incoming
}

// incoming is a long result on its way.
type incoming struct {
	*parcel
	from *member
	news time.Time // last piece
}

const mostFailures = 3

func newErrand(c *Coordinator, step uint64, kind string, items [][]byte, pieceBytes int) *errand {
	n := len(items)
	return &errand{
		c: c, step: step, kind: kind, items: items, pieceBytes: pieceBytes,
		window:  max(c.o.InFlight/(pieceBytes+headroom), 1),
		board:   newBoard(pace{c.t.Retry, mostPauses * c.t.Retry, c.t.Slow}, []int{n}),
		results: make([][]byte, n), digests: make([]string, n),
		failures: make([]int, n), failed: make([]string, n),
		coming: map[int]*incoming{},
	}
}

func (j *errand) finished() bool { return j.board.left == 0 }
func (j *errand) head() head     { return head{Step: j.step, Shard: -1} }
func (j *errand) progress() Progress {
	return Progress{Kind: j.kind, Done: len(j.items) - j.board.left, Total: len(j.items)}
}

func (j *errand) begin(now time.Time) error             { return j.dispatchAll(now) }
func (j *errand) joined(now time.Time, _ *member) error { return j.dispatchAll(now) }

func (j *errand) left(now time.Time, m *member) error {
	j.board.drop(m)
	for u, in := range j.coming {
		if in.from == m {
			delete(j.coming, u)
		}
	}
	return j.dispatchAll(now)
}

func (j *errand) tick(now time.Time) error {
	// A worker that sends pieces is not asked to begin again; one that stopped is.
	arriving := func(m *member, u int) bool {
		at := j.coming[u]
		return at != nil && at.from == m && now.Sub(at.news) < 4*j.trip.patience(j.c.t.Retry)
	}
	for _, r := range j.board.overdue(now, j.c.members.list, j.tempo.median(), arriving) {
		j.c.ledger.count(func(s *Stats) { s.AskedAgain++ })
		j.ask(r.unit, r.worker, r.attempt)
	}
	j.pull(now)
	return j.dispatchAll(now)
}

func (j *errand) take(now time.Time, m *member, in inbound) error {
	u := in.head.From
	if u >= len(j.items) {
		j.c.reject(in.verb, m.id, fmt.Errorf("cluster: item %d of %d", u, len(j.items)))
		return nil
	}
	switch in.verb {
	case verbNeed:
		return j.takeNeed(now, m, in)
	case verbResult:
		return j.takeResult(now, m, in)
	case verbPiece:
		return j.takePiece(now, m, in)
	case verbFail:
		return j.takeFail(now, m, in)
	}
	return nil
}

// takeNeed sends the pieces of an item that a worker asks for.
func (j *errand) takeNeed(now time.Time, m *member, in inbound) error {
	u := in.head.From
	n := pieceCount(int64(len(j.items[u])), j.pieceBytes)
	wanted, ok := bitmapFrom(in.data, n)
	if !ok {
		j.c.reject(in.verb, m.id, errors.New("cluster: pieces that are not there"))
		return nil
	}
	m.progress = now
	h := head{Step: j.step, Shard: -1, From: u, To: u + 1, Size: int64(len(j.items[u])), Pieces: j.pieceBytes}
	for h.Piece = range n {
		if wanted.has(h.Piece) {
			j.c.send(j.c.subj.to(m.id, verbParam), h, piece(j.items[u], j.pieceBytes, h.Piece))
		}
	}
	return nil
}

// takeResult takes the announcement of a result, whole or to be fetched.
func (j *errand) takeResult(now time.Time, m *member, in inbound) error {
	h, u := in.head, in.head.From
	m.bytes += int64(in.size)
	if h.SHA256 == "" || h.Pieces != j.pieceBytes {
		j.c.reject(in.verb, m.id, errors.New("cluster: result without digest or in other pieces"))
		return nil
	}
	if known := j.digests[u]; known != "" && known != h.SHA256 {
		first := j.board.units[u].by
		if at := j.coming[u]; at != nil {
			first = at.from.id
		}
		return &ConflictError{Step: j.step, Shard: -1, From: u, To: u + 1, First: first, Second: m.id}
	}
	switch {
	case j.board.units[u].done:
		j.board.finish(u, m, now, h.Attempt)
		j.c.ledger.count(func(s *Stats) { s.Repeated++ })
		j.settled(u, m)
	case inline(h, in.data):
		j.finish(now, u, m, h.SHA256, in.data, h.Attempt)
	case len(in.data) != 0:
		j.c.reject(in.verb, m.id, errors.New("cluster: result does not match its digest"))
		return nil
	case j.coming[u] == nil:
		p, err := newParcel(h)
		if err != nil {
			j.c.reject(in.verb, m.id, err)
			return nil
		}
		j.digests[u] = h.SHA256
		j.coming[u] = &incoming{p, m, now}
		m.progress = now
		j.pull(now)
	}
	return j.dispatchAll(now)
}

func (j *errand) takePiece(now time.Time, m *member, in inbound) error {
	u := in.head.From
	at := j.coming[u]
	if at == nil || at.from != m {
		return nil
	}
	m.bytes += int64(in.size)
	m.progress, at.news = now, now
	err := at.put(now, in.head, in.data, &j.trip)
	if err == nil && at.got.full() {
		var all []byte
		if all, err = at.open(); err == nil {
			j.finish(now, u, m, at.parcel.head.SHA256, all, at.parcel.head.Attempt)
		}
	}
	if err != nil {
		j.c.reject(in.verb, m.id, err)
	}
	j.pull(now)
	return j.dispatchAll(now)
}

// pull asks for pieces of results, at most a window of them in all.
func (j *errand) pull(now time.Time) {
	room, stale := j.window, j.trip.patience(j.c.t.Retry)
	for _, at := range j.coming {
		room -= at.underway(now, stale)
	}
	for u, at := range j.coming {
		wanted, n := at.want(now, room, stale)
		if n > 0 {
			h := head{Step: j.step, Shard: -1, From: u, To: u + 1}
			j.c.send(j.c.subj.to(at.from.id, verbGet), h, wanted.set)
			room -= n
		}
	}
}

func (j *errand) finish(now time.Time, u int, m *member, sum string, result []byte, attempt int) {
	delete(j.coming, u)
	if _, took := j.board.finish(u, m, now, attempt); took > 0 {
		j.tempo.add(took)
		m.busy += took
	}
	m.progress = now
	m.blocks++
	j.results[u], j.digests[u] = result, sum
	j.settled(u, m)
}

// settled lets a worker forget an item.
func (j *errand) settled(u int, m *member) {
	j.c.send(j.c.subj.to(m.id, verbGot), head{Step: j.step, Shard: -1, From: u, To: u + 1}, nil)
}

func (j *errand) takeFail(now time.Time, m *member, in inbound) error {
	u := in.head.From
	f, ok := decodeFail(in.data)
	if !ok {
		j.c.reject(in.verb, m.id, errors.New("cluster: failure report is malformed"))
		return nil
	}
	if j.board.units[u].done || !j.board.holds(u, m) {
		return nil
	}
	j.failures[u]++
	if j.failures[u] >= mostFailures {
		return &HandlerError{Kind: j.kind, Item: u, Worker: m.id, Detail: f.Detail, Cause: f.Cause}
	}
	j.c.log.Warn("item failed; it runs again", "step", j.step, "kind", j.kind, "item", u, "worker", m.id, "error", f.Detail)
	j.failed[u] = m.id
	j.board.release(u, m)
	return j.dispatchAll(now)
}

func (j *errand) dispatchAll(now time.Time) error {
	for _, m := range j.c.members.list {
		for len(m.held) < m.cores {
			u := j.pick(now, m)
			if u < 0 {
				break
			}
			j.board.hold(u, m, now)
			j.ask(u, m, 1)
		}
	}
	return nil
}

// pick finds the next item for a worker; with none left, one that a slow worker
// sits on.
func (j *errand) pick(now time.Time, m *member) int {
	u := j.board.takeFront(0)
	if u >= 0 && j.failed[u] == m.id && len(j.c.members.list) > 1 {
		u = -1 // it failed here: somebody else tries it
	}
	if u >= 0 || len(m.held) > 0 {
		return u
	}
	u = j.board.rescue(m, now, j.tempo.median(), j.c.members.list, func(int) bool { return true })
	if u >= 0 {
		j.c.ledger.count(func(s *Stats) { s.Rescued++ })
	}
	return u
}

func (j *errand) ask(u int, m *member, attempt int) {
	h, payload := announce(head{Step: j.step, Attempt: attempt, Shard: -1, From: u, To: u + 1, Kind: j.kind}, j.items[u], j.pieceBytes)
	j.c.send(j.c.subj.to(m.id, verbTask), h, payload)
}
