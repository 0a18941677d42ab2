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
func (c *Coordinator) farewell() {
	defer func() { _ = c.o.Conn.FlushTimeout(c.t.End) }() // a courtesy
	over := context.Cause(c.ctx) == ErrClosed             // itself: errPaused wraps it
	c.publishStatus(func(s *Status) { s.Ended, s.Paused = over, !over })
	if !over {
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
