package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

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
		c.turned.Store(time.Now().UnixNano())
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
		c.log.Info("operation finished", "step", c.step, "kind", c.current.job.progress().Kind)
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
	c.refresh(time.Now())
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

func (c *Coordinator) tick(now time.Time) {
	switch silent := now.Sub(c.beat); {
	case silent >= c.t.Beat:
		c.hello(now)
		c.publishStatus(nil)
	case c.invite && silent >= c.t.Beat/10: // many may wait: one hello is for all
		c.hello(now)
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

// send publishes; what cannot be healed ends the coordinator.
func (c *Coordinator) send(subject string, h head, payload []byte) {
	h.Term = c.term
	if err := c.out.send(subject, h, payload); err != nil && c.fatal == nil {
		c.fatal = fmt.Errorf("cluster: coordinator of run %s: %w", c.o.Run, err)
	}
}
