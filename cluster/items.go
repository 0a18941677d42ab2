package cluster

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// item is one item of Run at a worker.
type item struct {
	head    head
	params  []byte // once complete
	coming  *parcel
	ready   bool
	running bool
	result  []byte // once there
	done    bool
}

// fetchWindow is how many pieces of an item are asked for at a time.
const fetchWindow = 8

// takeTask takes an item, or a second request for one.
func (w *worker) takeTask(now time.Time, in inbound) {
	h := in.head
	if h.Step < w.step || h.Step == w.step && w.matrix != nil {
		return // an item of the past
	}
	if h.Step > w.step {
		w.enter(h.Step)
	}
	if it := w.items[h.From]; it != nil {
		if it.done {
			w.sendResult(it)
		}
		return
	}
	if len(w.items) >= maxQueue {
		return
	}
	it := &item{head: h}
	if inline(h, in.data) {
		it.params, it.ready = in.data, true
	} else {
		p, err := newParcel(h)
		if err != nil {
			w.log.Warn("message rejected", "verb", in.verb, "step", h.Step, "error", err)
			return
		}
		it.coming = p
	}
	w.items[h.From] = it
	w.fetch(now)
}

// fetch asks for the missing pieces of items.
func (w *worker) fetch(now time.Time) {
	stale := w.trip.patience(w.t.Repair)
	for _, it := range w.items {
		if it.coming == nil {
			continue
		}
		most := fetchWindow - it.coming.underway(now, stale)
		if wanted, n := it.coming.want(now, most, stale); n > 0 {
			w.send(verbNeed, itemHead(it.head), wanted.set)
		}
	}
}

// itemHead names an item and its size in a message about it.
func itemHead(h head) head {
	return head{Step: h.Step, Shard: -1, From: h.From, To: h.To, Size: h.Size, Pieces: h.Pieces, SHA256: h.SHA256}
}

func (w *worker) takeParam(now time.Time, in inbound) {
	it := w.items[in.head.From]
	if it == nil || it.coming == nil || it.head.Step != in.head.Step {
		return
	}
	err := it.coming.put(now, in.head, in.data, &w.trip)
	if err == nil && it.coming.got.full() {
		var all []byte
		if all, err = it.coming.open(); err == nil {
			it.params, it.ready, it.coming = all, true, nil
		}
	}
	if err != nil {
		w.log.Warn("message rejected", "verb", in.verb, "step", in.head.Step, "error", err)
	}
	w.fetch(now)
}

// startItems runs what is ready, as many at a time as there are cores.
func (w *worker) startItems() {
	for w.active < w.o.Cores {
		var next *item
		for _, it := range w.items {
			if it.ready && !it.running && !it.done && (next == nil || it.head.From < next.head.From) {
				next = it
			}
		}
		if next == nil {
			return
		}
		w.start(next)
	}
}

func (w *worker) start(it *item) {
	it.running = true
	w.active++
	ctx, params, kind := w.stepCtx, it.params, it.head.Kind
	w.wg.Go(func() {
		result, err := w.handle(ctx, kind, params)
		w.post(func(time.Time) {
			w.active--
			if ctx.Err() != nil || w.items[it.head.From] != it {
				return // no longer wanted
			}
			if err != nil {
				delete(w.items, it.head.From)
				w.fail(it.head, failNote{Kind: FailHandler, Detail: err.Error(), Cause: causeOf(err)})
				return
			}
			it.running, it.params = false, nil
			it.result, it.done = result, true
			w.sendResult(it)
		})
	})
}

// handle runs a handler; a panic in it is its error.
func (w *worker) handle(ctx context.Context, kind string, params []byte) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler %q panicked: %v\n%s", kind, p, debug.Stack())
		}
	}()
	handler := w.o.Handlers[kind]
	if handler == nil {
		return nil, fmt.Errorf("this worker has no handler %q; run coordinator and shards from the same release", kind)
	}
	result, err = handler(ctx, params)
	if err == nil && len(result) > maxItem {
		err = fmt.Errorf("result of %d bytes is over the limit of %d", len(result), maxItem)
	}
	return result, err
}

// sendResult announces a result; a short one travels along.
func (w *worker) sendResult(it *item) {
	h, payload := announce(head{Step: it.head.Step, Attempt: it.head.Attempt, Shard: -1, From: it.head.From, To: it.head.To}, it.result, it.head.Pieces)
	w.send(verbResult, h, payload)
}

// takeGet sends pieces of a result.
func (w *worker) takeGet(in inbound) {
	it := w.items[in.head.From]
	if it == nil || !it.done || it.head.Step != in.head.Step {
		return
	}
	size, n := it.head.Pieces, pieceCount(int64(len(it.result)), it.head.Pieces)
	wanted, ok := bitmapFrom(in.data, n)
	if !ok {
		w.log.Warn("message rejected: pieces that are not there", "step", in.head.Step)
		return
	}
	h := head{Step: it.head.Step, Shard: -1, From: it.head.From, To: it.head.To, Size: int64(len(it.result)), Pieces: size}
	for h.Piece = range n {
		if wanted.has(h.Piece) {
			w.send(verbPiece, h, piece(it.result, size, h.Piece))
		}
	}
}
