package cluster

import (
	"errors"
	"fmt"
	"time"
)

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
	case in.head.Term != c.term:
		c.invite = c.invite || in.head.Term == ""
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
