package cluster

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Conn is a NATS connection that counts what goes wrong with it.
type Conn struct {
	*nats.Conn
	log    *slog.Logger
	counts connCounts
}

type connCounts struct {
	slow, async, disconnects, reconnects atomic.Int64
	back                                 atomic.Int64 // Unix nanoseconds of the last reconnect
}

// down reports whether the connection is broken at the moment.
func (c *Conn) down() bool {
	return !c.IsConnected() || c.counts.disconnects.Load() > c.counts.reconnects.Load()
}

// unsettled reports whether the connection is broken, or came back less than span ago:
// others who had lost the same server may not be back yet.
func (c *Conn) unsettled(now time.Time, span time.Duration) bool {
	back := c.counts.back.Load()
	return c.down() || back != 0 && now.Sub(time.Unix(0, back)) < span
}

// ConnStats counts the misfortunes of a connection.
type ConnStats struct {
	SlowConsumers int64 // times the client found a subscription too slow and dropped messages
	AsyncErrors   int64 // all other errors without a caller, such as a permission refused
	Disconnects   int64
	Reconnects    int64
}

// Stats gives the counts so far.
func (c *Conn) Stats() ConnStats {
	return ConnStats{
		SlowConsumers: c.counts.slow.Load(),
		AsyncErrors:   c.counts.async.Load(),
		Disconnects:   c.counts.disconnects.Load(),
		Reconnects:    c.counts.reconnects.Load(),
	}
}

func newConn(logger *slog.Logger) *Conn {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Conn{log: logger}
}

// observe gives the client options that count and log.
func (c *Conn) observe() []nats.Option {
	return []nats.Option{
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			attrs := []any{"error", err}
			if s != nil {
				attrs = append(attrs, "subject", s.Subject)
			}
			if errors.Is(err, nats.ErrSlowConsumer) {
				c.counts.slow.Add(1)
				c.log.Warn("NATS subscription was too slow; what was dropped will be asked for again", attrs...)
				return
			}
			c.counts.async.Add(1)
			c.log.Warn("NATS error", attrs...)
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			c.counts.disconnects.Add(1)
			if err != nil {
				c.log.Warn("NATS connection lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(n *nats.Conn) {
			c.counts.back.Store(time.Now().UnixNano())
			c.counts.reconnects.Add(1)
			c.log.Info("NATS connection is back", "url", n.ConnectedUrlRedacted())
		}),
	}
}

// publishFunc sends one message; it must not keep it.
type publishFunc func(*nats.Msg) error

// sender publishes the messages of one run under a size check.
type sender struct {
	subj  subjects
	limit func() int64 // the server's max_payload, 0 while unknown
	put   publishFunc
	sent  atomic.Int64 // bytes
	lost  atomic.Int64 // messages that the connection would not take
}

func newSender(conn *Conn, subj subjects, wrap func(publishFunc) publishFunc) *sender {
	s := &sender{subj: subj, limit: conn.MaxPayload, put: conn.PublishMsg}
	if wrap != nil {
		s.put = wrap(s.put)
	}
	return s
}

// send publishes on a subject. A connection that is broken at the moment loses
// the message, which counts as sent: the protocol repairs what is lost. Errors are
// a message too large and a connection that was closed.
func (s *sender) send(subject string, h head, payload []byte) error {
	m := &nats.Msg{Subject: subject, Header: h.encode(s.subj.run, payload), Data: payload}
	size, limit := int64(m.Size()), s.limit()
	if limit > 0 && size > limit {
		return &SizeError{Subject: subject, Size: size, Limit: limit}
	}
	s.sent.Add(size)
	err := s.put(m)
	if err == nil || errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrMaxPayload) {
		return err
	}
	s.lost.Add(1)
	return nil
}

// inbound is one message that passed the header check.
type inbound struct {
	verb string
	head head
	data []byte
	size int
	rows any // decoded Arrow entries of v, repair and q: []int32 or []int64
}

// subscribeAll subscribes handle to verbs with an unlimited client-side queue:
// the window of the sender bounds it, so nothing is dropped in silence here.
func subscribeAll(conn *Conn, subjectOf func(verb string) string, verbs []string, handle func(verb string, m *nats.Msg)) ([]*nats.Subscription, error) {
	var subs []*nats.Subscription
	for _, verb := range verbs {
		s, err := conn.Subscribe(subjectOf(verb), func(m *nats.Msg) { handle(verb, m) })
		if err == nil {
			err = s.SetPendingLimits(-1, -1)
		}
		if err != nil {
			unsubscribeAll(subs)
			return nil, err
		}
		subs = append(subs, s)
	}
	return subs, nil
}

func unsubscribeAll(subs []*nats.Subscription) {
	for _, s := range subs {
		_ = s.Unsubscribe() // fails only when the connection is closed already
	}
}

// forward hands a message to a loop that may have ended.
func forward(done <-chan struct{}, to chan<- inbound, in inbound) {
	select {
	case to <- in:
	case <-done:
	}
}
