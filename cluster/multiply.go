package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/privcom/privcom/blockmatmul"
)

// Multiply has the shards compute Q_i = clip_c(Σ_{j∈N(i)} V_j) for every vertex i.
// The integers are the same for any number of shards, workers, repeats and
// losses. Errors: *ShardError, *ConflictError, *NoWorkerError, *SizeError,
// ErrClosed, the cause of ctx, and bounds of v or c that cannot be kept.
func (c *Coordinator) Multiply(ctx context.Context, v *blockmatmul.Operand, clip int64) (*blockmatmul.Product, error) {
	if v.Rows() != c.o.Rows {
		return nil, fmt.Errorf("%w: V has %d rows, the graph %d vertices", blockmatmul.ErrShape, v.Rows(), c.o.Rows)
	}
	if err := v.CheckOverflow(clip); err != nil {
		return nil, err
	}
	limit, err := c.messageLimit()
	if err != nil {
		return nil, err
	}
	m, blockRows, err := planStep(v, clip, limit, c.o.InFlight, max(len(c.o.Shards), c.o.Workers))
	if err != nil {
		return nil, err
	}
	j, err := c.do(ctx, func(step uint64) job { return newMultiplication(c, step, v, m, blockRows) })
	if err != nil {
		return nil, err
	}
	return j.(*multiplication).product, nil
}

// messageLimit is the most bytes of one message, headers included.
func (c *Coordinator) messageLimit() (int, error) {
	limit, server := int64(c.o.ChunkBytes), c.out.limit()
	if server > 0 {
		limit = min(limit, server)
	}
	if limit < 2*headroom {
		return 0, fmt.Errorf("cluster: the NATS server takes messages of %d bytes only; set its max_payload to 1MB or more (at least %d)", server, 2*headroom)
	}
	return int(limit), nil
}

// multiplication is one step: V goes out once to all, work is handed out row
// block by row block, Q comes in.
type multiplication struct {
	c         *Coordinator
	step      uint64
	v         *blockmatmul.Operand
	matrix    matrix
	blockRows int
	window    int // messages of V under way to one worker
	credit    int // row blocks asked of one worker
	most      int // row blocks under way in all
	board     *board
	product   *blockmatmul.Product
	next      int // messages of V broadcast so far
	rows      int // rows of Q taken
	log       *slog.Logger
}

func newMultiplication(c *Coordinator, step uint64, v *blockmatmul.Operand, m matrix, blockRows int) *multiplication {
	sizes := make([]int, len(c.o.Shards))
	for s, r := range c.o.Shards {
		sizes[s] = (r.Len() + blockRows - 1) / blockRows
	}
	width := 4
	if m.Wide {
		width = 8
	}
	blockBytes := blockRows*m.Cols*width + headroom
	most := max(c.o.InFlight/blockBytes, 1)
	return &multiplication{
		c: c, step: step, v: v, matrix: m, blockRows: blockRows,
		window:  max(c.o.InFlight/2/(m.ChunkRows*m.Cols*m.entryBytes()+headroom), 1),
		credit:  min(max(most/max(len(c.members.list), 1), 1), maxCredit),
		most:    most,
		board:   newBoard(pace{c.t.Retry, mostPauses * c.t.Retry, c.t.Slow}, sizes),
		product: &blockmatmul.Product{Rows: m.Rows, Cols: m.Cols, Data: make([]int64, m.Rows*m.Cols)},
		log:     c.log.With("step", step),
	}
}

func (j *multiplication) finished() bool { return j.board.left == 0 }

func (j *multiplication) progress() Progress {
	return Progress{Kind: "multiply", Done: j.rows, Total: j.matrix.Rows}
}

func (j *multiplication) head() head {
	return head{Step: j.step, Shard: -1, Matrix: j.matrix}
}

// unitRows is the row range of a unit.
func (j *multiplication) unitRows(u int) Range {
	s := j.board.units[u].group
	r := j.c.o.Shards[s]
	from := r.From + (u-j.board.groups[s].first)*j.blockRows
	return Range{from, min(from+j.blockRows, r.To)}
}

// unitOf finds the unit of a row range, or -1 where it is none.
func (j *multiplication) unitOf(shard, from, to int) int {
	if shard < 0 || shard >= len(j.c.o.Shards) {
		return -1
	}
	r := j.c.o.Shards[shard]
	if from < r.From || to > r.To || from >= to || (from-r.From)%j.blockRows != 0 {
		return -1
	}
	u := j.board.groups[shard].first + (from-r.From)/j.blockRows
	if j.unitRows(u).To != to {
		return -1
	}
	return u
}

func (j *multiplication) begin(now time.Time) error {
	for _, m := range j.c.members.list {
		m.matrix = newDelivery(j.matrix.chunks(), now)
		clear(m.unable) // storage may be back
	}
	if err := j.assign(); err != nil {
		return err
	}
	if err := j.broadcast(now); err != nil {
		return err
	}
	return j.dispatchAll(now)
}

// assign gives shards without an owner to somebody.
func (j *multiplication) assign() error {
	c := j.c
	c.owners = assignShards(len(c.o.Shards), c.members.list, c.owners)
	for s := range c.owners {
		g := &j.board.groups[s]
		if g.owner = c.owners[s]; g.owner == nil && g.left > 0 && len(c.members.list) > 0 {
			m := c.members.list[0]
			return &ShardError{Shard: s, Worker: m.id, Kind: FailLoad, Detail: m.unable[s] + "; every live worker failed to load it"}
		}
	}
	return nil
}

func (j *multiplication) joined(now time.Time, m *member) error {
	m.matrix = newDelivery(j.matrix.chunks(), now)
	if err := j.assign(); err != nil {
		return err
	}
	if err := j.repair(now, m); err != nil {
		return err
	}
	if err := j.broadcast(now); err != nil {
		return err
	}
	return j.dispatchAll(now)
}

func (j *multiplication) left(now time.Time, m *member) error {
	j.board.drop(m)
	if len(j.c.members.list) == 0 {
		return nil
	}
	if err := j.assign(); err != nil {
		return err
	}
	if err := j.broadcast(now); err != nil { // it may have been the slowest reader
		return err
	}
	return j.dispatchAll(now)
}

func (j *multiplication) tick(now time.Time) error {
	noMatrix := func(m *member, _ int) bool { return !m.matrix.got.full() }
	for _, r := range j.board.overdue(now, j.c.members.list, j.c.tempo.median(), noMatrix) {
		j.c.ledger.count(func(s *Stats) { s.AskedAgain++ })
		j.ask(r.unit, r.worker, r.attempt)
	}
	if err := j.broadcast(now); err != nil {
		return err
	}
	return j.dispatchAll(now)
}

func (j *multiplication) take(now time.Time, m *member, in inbound) error {
	switch in.verb {
	case verbHave:
		return j.takeHave(now, m, in)
	case verbRows:
		return j.takeRows(now, m, in)
	case verbFail:
		return j.takeFail(now, m, in)
	}
	return nil
}

// takeRows takes a row block of Q: the first time it is kept, again it is compared.
func (j *multiplication) takeRows(now time.Time, m *member, in inbound) error {
	h := in.head
	u := j.unitOf(h.Shard, h.From, h.To)
	if u < 0 || h.Matrix != j.matrix {
		j.c.reject(in.verb, m.id, fmt.Errorf("cluster: rows [%d, %d) of shard %d are no block of step %d", h.From, h.To, h.Shard, j.step))
		return nil
	}
	m.bytes += int64(in.size)
	k := j.matrix.Cols
	dst := j.product.Data[h.From*k : h.To*k]
	if j.board.units[u].done {
		if !sameRows(dst, in.rows) {
			return &ConflictError{Step: j.step, Shard: h.Shard, From: h.From, To: h.To, First: j.board.units[u].by, Second: m.id}
		}
		j.board.finish(u, m, now, h.Attempt)
		j.c.ledger.count(func(s *Stats) { s.Repeated++ })
		return j.dispatch(now, m)
	}
	copyRows(dst, in.rows)
	if _, took := j.board.finish(u, m, now, h.Attempt); took > 0 {
		j.c.tempo.add(took)
		m.busy += took
		j.c.ledger.count(func(s *Stats) { s.ShardBusy[h.Shard] += took })
	}
	m.progress = now
	m.blocks++
	j.rows += h.To - h.From
	return j.dispatch(now, m)
}

func sameRows(dst []int64, rows any) bool {
	switch rows := rows.(type) {
	case []int64:
		return slices.Equal(dst, rows)
	case []int32:
		return slices.EqualFunc(dst, rows, func(a int64, b int32) bool { return a == int64(b) })
	}
	return false
}

func copyRows(dst []int64, rows any) {
	switch rows := rows.(type) {
	case []int64:
		copy(dst, rows)
	case []int32:
		for i, x := range rows {
			dst[i] = int64(x)
		}
	}
}

// takeFail takes a worker's report that it cannot serve a shard.
func (j *multiplication) takeFail(now time.Time, m *member, in inbound) error {
	f, ok := decodeFail(in.data)
	if s := in.head.Shard; !ok || s < 0 || s >= len(j.c.o.Shards) {
		j.c.reject(in.verb, m.id, fmt.Errorf("cluster: failure report is malformed"))
		return nil
	}
	e := &ShardError{Shard: in.head.Shard, Worker: m.id, File: f.File, Kind: f.Kind, Detail: f.Detail}
	if f.Kind != FailLoad {
		return e
	}
	// Storage may be out of reach from that worker only: another one tries.
	j.log.Warn("worker cannot load a shard; another one tries", "worker", m.id, "shard", e.Shard, "error", f.Detail)
	m.unable[e.Shard] = f.Detail
	g := j.board.groups[e.Shard]
	for u := g.first; u < g.last; u++ {
		j.board.release(u, m)
	}
	if j.c.owners[e.Shard] == m {
		j.c.owners[e.Shard] = nil
	}
	if err := j.assign(); err != nil {
		return err
	}
	return j.dispatchAll(now)
}

// dispatchAll asks every worker for as much as it may hold.
func (j *multiplication) dispatchAll(now time.Time) error {
	for _, m := range j.c.members.list {
		if err := j.dispatch(now, m); err != nil {
			return err
		}
	}
	return nil
}

func (j *multiplication) dispatch(now time.Time, m *member) error {
	under := 0
	for _, o := range j.c.members.list {
		under += len(o.held)
	}
	for ; len(m.held) < j.credit && (under < j.most || len(m.held) == 0); under++ {
		u := j.pick(now, m)
		if u < 0 {
			return nil
		}
		j.board.hold(u, m, now)
		j.ask(u, m, 1)
	}
	return nil
}

// pick finds the next unit for a worker: of its own shards from the front, of
// shards that it has in memory from the back, and, when it has nothing to
// do, what a slow worker sits on.
func (j *multiplication) pick(now time.Time, m *member) int {
	b := j.board
	for g := range b.groups {
		if b.groups[g].owner == m {
			if u := b.takeFront(g); u >= 0 {
				return u
			}
		}
	}
	for g := range b.groups {
		if b.groups[g].left > 0 && m.loaded[g] {
			if u := b.takeBack(g); u >= 0 {
				return u
			}
		}
	}
	if len(m.held) > 0 || !m.matrix.got.full() {
		return -1
	}
	return j.rescue(now, m)
}

func (j *multiplication) rescue(now time.Time, m *member) int {
	b, median := j.board, j.c.tempo.median()
	able := func(g int) bool { _, failed := m.unable[g]; return !failed }
	u := -1
	for g := 0; g < len(b.groups) && u < 0; g++ {
		if b.groups[g].left > 0 && able(g) && b.slowOwner(g, now, median) {
			u = b.takeBack(g)
		}
	}
	if u < 0 {
		u = b.rescue(m, now, median, j.c.members.list, able)
	}
	if u >= 0 {
		j.c.ledger.count(func(s *Stats) { s.Rescued++ })
		j.log.Info("worker takes over from a slow one", "worker", m.id, "shard", b.units[u].group)
	}
	return u
}

// ask sends the request for one row block.
func (j *multiplication) ask(u int, m *member, attempt int) {
	r := j.unitRows(u)
	j.c.send(j.c.subj.to(m.id, verbWork), head{
		Step: j.step, Attempt: attempt, Shard: j.board.units[u].group, From: r.From, To: r.To, Matrix: j.matrix,
	}, nil)
}
