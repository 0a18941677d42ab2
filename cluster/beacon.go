package cluster

import (
	"context"
	"encoding/json"
	"time"
)

// endPause as the kind of an end message: the coordinator stops, but the run goes
// on under another one.
const endPause = "pause"

func (c *Coordinator) hello(now time.Time) {
	c.beat, c.invite = now, false
	h := head{Shard: -1}
	if c.current != nil {
		h = c.current.job.head()
	}
	h.Lease = c.o.Lease
	c.send(c.subj.all(verbHello), h, nil)
}

// farewell tells the workers that the run is over, a few times, since any message
// may be lost. When not Close but Pause or the end of ctx stopped the coordinator,
// workers are told to wait for its successor.
//
// Nobody hears a word that is said while NATS is away, or while only some have found their
// way back to it. So the end of a run is said until everybody can have heard it.
func (c *Coordinator) farewell() {
	defer func() { _ = c.o.Conn.FlushTimeout(c.t.End) }() // a courtesy
	if context.Cause(c.ctx) != ErrClosed {                // itself: errPaused wraps it
		c.publishStatus(func(s *Status) { s.Paused = true })
		c.send(c.subj.all(verbEnd), head{Shard: -1, Kind: endPause}, nil)
		return
	}
	began := time.Now()
	again := time.NewTicker(max(c.t.End/20, time.Millisecond))
	defer again.Stop()
	if c.o.Conn.down() {
		c.log.Warn("NATS is away; waiting for it, to tell the shards that the run is over", "at_most", c.t.Reach)
	}
	for {
		c.publishStatus(func(s *Status) { s.Ended = true })
		c.send(c.subj.all(verbEnd), head{Shard: -1}, nil)
		for left := false; !left; {
			now := time.Now()
			switch waited := now.Sub(began); {
			case c.fatal != nil:
				return
			case c.o.Conn.down() && waited >= c.t.Reach:
				c.log.Warn("NATS stayed away: shards that wait were not told that the run is over, and go on waiting for a coordinator; \"privcom end\" ends them", "waited", waited.Round(time.Millisecond))
				return
			case c.o.Conn.unsettled(now, c.t.Return):
			case len(c.members.list) == 0 || waited >= c.t.End:
				return
			}
			select {
			case <-c.outer.Done():
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
//
// How long a worker was busy follows from its number of arcs, and is not told: watchers
// have the least rights of all.
func (c *Coordinator) publishStatus(finish func(*Status)) {
	c.refresh(time.Now())
	s, p := c.ledger.snapshot()
	s.BytesSent, s.Lost = c.out.sent.Load(), c.out.lost.Load()
	s.ShardBusy = nil
	for i := range s.Workers {
		s.Workers[i].Busy = 0
	}
	status := Status{Run: c.o.Run, Rows: c.o.Rows, Shards: len(c.o.Shards), Progress: p, Stats: s, Phase: c.clock.get(time.Now(), covered(p))}
	if finish != nil {
		finish(&status)
	}
	note, err := json.Marshal(status)
	if err == nil && len(note) >= c.o.ChunkBytes-headroom { // thousands of workers
		status.Stats.Workers = nil
		note, err = json.Marshal(status)
	}
	if err == nil && len(note) < c.o.ChunkBytes-headroom {
		c.send(c.subj.all(verbStatus), head{Shard: -1}, note)
	}
}

// refresh brings the workers' part of the statistics up to date.
func (c *Coordinator) refresh(now time.Time) {
	workers := c.workerStats(now)
	c.ledger.count(func(s *Stats) { s.Workers = workers })
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
