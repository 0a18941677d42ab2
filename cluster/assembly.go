package cluster

import (
	"fmt"
	"time"

	"github.com/privcom/privcom/blockmatmul"
)

// assembly gathers V of one step.
type assembly struct {
	step     uint64
	matrix   matrix
	data     *blockmatmul.Packed
	got      bitmap
	count    int
	reported int       // count in the last bitmap sent
	news     time.Time // last chunk
}

// open goes to the step of a message and makes room for its V. It is false where
// the message is of an earlier step or makes no sense.
func (w *worker) open(now time.Time, h head) bool {
	if h.Step < w.step || h.Step == w.step && w.matrix != nil && h.Matrix != w.matrix.matrix {
		return false
	}
	if h.Step == w.step && w.matrix != nil {
		return true
	}
	m := h.Matrix
	if m.Rows != w.o.Source.Rows() || m.Cols > maxChunk/4 || m.ChunkRows > maxChunk/(m.entryBytes()*m.Cols) {
		w.log.Warn("message rejected: V does not fit the graph", "step", h.Step)
		return false
	}
	if size := int64(m.Rows) * int64((m.Cols+3)/4*4) * int64(m.entryBytes()); size > w.o.MatrixBytes {
		w.fail(head{Step: h.Step, Shard: max(w.o.Index, 0)}, failNote{Kind: FailInternal,
			Detail: fmt.Sprintf("V of %d bytes is over this worker's limit of %d", size, w.o.MatrixBytes)})
		return false
	}
	w.enter(h.Step)
	data := w.spare
	w.spare = nil
	if data == nil || !data.Has(m.Rows, m.Cols, m.Narrow) {
		data = blockmatmul.NewPacked(m.Rows, m.Cols, m.Narrow)
	}
	w.matrix = &assembly{step: h.Step, matrix: m, data: data, got: newBitmap(m.chunks()), news: now}
	return true
}

// takeMatrix takes one chunk of V.
func (w *worker) takeMatrix(now time.Time, in inbound) {
	h := in.head
	if !w.open(now, h) {
		return
	}
	a := w.matrix
	i := h.From / h.Matrix.ChunkRows
	if from, to := h.Matrix.chunkRange(i); from != h.From || to != h.To {
		w.log.Warn("message rejected: rows of V are no chunk of it", "step", h.Step)
		return
	}
	if a.got.has(i) {
		return
	}
	switch rows := in.rows.(type) {
	case []int16:
		a.data.SetNarrow(h.From, rows)
	case []int32:
		a.data.SetWide(h.From, rows)
	}
	a.got.add(i)
	a.count++
	a.news = now
	if a.count == a.got.size || a.count-a.reported >= ackEvery {
		w.have(now, false)
	}
}

// have tells the coordinator which chunks are here.
func (w *worker) have(now time.Time, stalled bool) {
	a := w.matrix
	if a == nil {
		return
	}
	a.reported = a.count
	w.send(verbHave, head{Step: a.step, Shard: -1, Matrix: a.matrix, Stalled: stalled}, a.got.set)
}

// takeWork queues a row block, once.
func (w *worker) takeWork(now time.Time, h head) {
	ranges := w.o.Source.Shards()
	if h.Shard < 0 || h.Shard >= len(ranges) || h.From < ranges[h.Shard].From || h.To > ranges[h.Shard].To || h.From >= h.To {
		w.log.Warn("message rejected: work outside the graph", "step", h.Step)
		return
	}
	if !w.open(now, h) {
		return
	}
	same := func(o head) bool { return o.Shard == h.Shard && o.From == h.From && o.To == h.To && o.Step == h.Step }
	if w.busy != nil && same(*w.busy) || len(w.queue) >= maxQueue {
		return
	}
	for _, o := range w.queue {
		if same(o) {
			return
		}
	}
	w.queue = append(w.queue, h)
	w.shards.load(h.Shard)
}

// work starts the next row block and the next items, where they can run.
func (w *worker) work() {
	w.startItems()
	if w.busy != nil || w.matrix == nil || w.matrix.count != w.matrix.got.size {
		return
	}
	for i := 0; i < len(w.queue); i++ {
		h := w.queue[i]
		s := w.shards.slots[h.Shard]
		switch {
		case s == nil:
			w.shards.load(h.Shard)
		case s.rows != nil:
			w.queue = append(w.queue[:i], w.queue[i+1:]...)
			w.multiply(h, s)
			return
		case s.err != nil:
			w.queue = append(w.queue[:i], w.queue[i+1:]...)
			i--
			w.fail(h, s.note)
			if s.note.Kind == FailLoad {
				delete(w.shards.slots, h.Shard) // the next request tries again
			}
		}
	}
}

// multiply computes a row block and sends it, beside the loop.
func (w *worker) multiply(h head, s *slot) {
	a, term, ctx := w.matrix, w.term, w.stepCtx
	w.busy = &h
	w.shards.use(s)
	w.wg.Go(func() {
		if w.o.slow > 0 {
			select {
			case <-time.After(w.o.slow):
			case <-ctx.Done():
			}
		}
		rows, err := multiplyBlock(ctx, s.rows, a.data, a.matrix, h.From, h.To, w.o.Cores)
		var payload []byte
		if err == nil {
			payload, err = encodeProduct(a.matrix, h.From, rows)
		}
		var fatal error
		if err == nil {
			fatal = w.publish(verbRows, term, h, payload)
		}
		w.post(func(time.Time) {
			w.busy = nil
			switch {
			case fatal != nil && w.err == nil:
				w.err = fatal
			case err != nil && ctx.Err() == nil:
				w.fail(h, failNote{Kind: FailInternal, Detail: err.Error()})
			}
		})
	})
}
