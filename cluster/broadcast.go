package cluster

import (
	"fmt"
	"time"
)

// delivery is what the coordinator knows of one worker's copy of V.
type delivery struct {
	got  bitmap      // chunks that the worker says it has
	sent []time.Time // when each chunk was last sent to it
	more bitmap      // chunks that were sent more than once
	out  int         // chunks sent at least once
	news time.Time   // when it last told of a new chunk
}

func newDelivery(chunks int, now time.Time) *delivery {
	return &delivery{got: newBitmap(chunks), more: newBitmap(chunks), sent: make([]time.Time, chunks), news: now}
}

func (d *delivery) mark(chunk int, now time.Time) {
	if d.sent[chunk].IsZero() {
		d.out++
	} else {
		d.more.add(chunk)
	}
	d.sent[chunk] = now
}

// underway is the number of chunks that were sent and not acknowledged.
func (d *delivery) underway() int { return max(d.out-d.got.count(), 0) }

// broadcast sends further chunks of V to all, as far as the slowest reader
// allows. A reader without news for too long is not waited for: it gets what it
// misses by repair.
func (j *multiplication) broadcast(now time.Time) error {
	if len(j.c.members.list) == 0 {
		return nil
	}
	stalled := max(j.c.t.Slow, 2*j.c.trip.patience(j.c.t.Repair))
	for ; j.next < j.matrix.chunks(); j.next++ {
		for _, m := range j.c.members.list {
			if m.matrix.underway() >= j.window && now.Sub(m.matrix.news) < stalled {
				return nil
			}
		}
		if err := j.sendChunk(j.c.subj.all(verbMatrix), j.next); err != nil {
			return err
		}
		j.c.ledger.count(func(s *Stats) { s.Broadcast++ })
		for _, m := range j.c.members.list {
			if m.matrix.underway() == 0 {
				m.matrix.news = now // it had nothing to tell until now
			}
			m.matrix.mark(j.next, now)
		}
	}
	return nil
}

func (j *multiplication) sendChunk(subject string, chunk int) error {
	from, to := j.matrix.chunkRange(chunk)
	k := j.matrix.Cols
	var payload []byte
	var err error
	if j.matrix.Narrow {
		payload, err = encodeRows(from, k, j.v.Narrowed(from, to))
	} else {
		payload, err = encodeRows(from, k, j.v.Data()[from*k:to*k])
	}
	if err != nil {
		return err
	}
	j.c.send(subject, head{Step: j.step, Shard: -1, From: from, To: to, Matrix: j.matrix}, payload)
	return nil
}

// takeHave takes a worker's bitmap of V: acknowledgement and request in one.
func (j *multiplication) takeHave(now time.Time, m *member, in inbound) error {
	got, ok := bitmapFrom(in.data, j.matrix.chunks())
	if !ok || in.head.Matrix != j.matrix {
		j.c.reject(in.verb, m.id, fmt.Errorf("cluster: bitmap of %d bytes for %d messages of V", len(in.data), j.matrix.chunks()))
		return nil
	}
	d, fresh := m.matrix, false
	for i := range d.sent {
		if got.has(i) && !d.got.has(i) {
			d.got.add(i)
			fresh = true
			if !d.more.has(i) && !d.sent[i].IsZero() {
				j.c.trip.sample(now.Sub(d.sent[i]))
			}
		}
	}
	if fresh {
		d.news, m.progress = now, now
	}
	if !d.got.full() {
		if err := j.repair(now, m); err != nil {
			return err
		}
	}
	return j.broadcast(now)
}

// repair sends a worker the chunks that it misses and that were broadcast: those never
// sent to it, and those sent so long ago that they must be lost.
func (j *multiplication) repair(now time.Time, m *member) error {
	d, patience := m.matrix, j.c.trip.patience(j.c.t.Repair)
	room := j.window - j.fresh(now, d, patience)
	for i := 0; i < j.next && room > 0; i++ {
		if d.got.has(i) || !d.sent[i].IsZero() && now.Sub(d.sent[i]) < patience {
			continue
		}
		if err := j.sendChunk(j.c.subj.to(m.id, verbRepair), i); err != nil {
			return err
		}
		j.c.ledger.count(func(s *Stats) { s.Repaired++ })
		d.mark(i, now)
		room--
	}
	return nil
}

// fresh is the number of chunks on their way to a worker that may still arrive.
func (j *multiplication) fresh(now time.Time, d *delivery, patience time.Duration) int {
	n := 0
	for i := 0; i < j.next; i++ {
		if !d.got.has(i) && !d.sent[i].IsZero() && now.Sub(d.sent[i]) < patience {
			n++
		}
	}
	return n
}
