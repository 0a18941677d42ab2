package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Timeouts says how long to wait for what. A zero field takes its default. None
// of them can change a result: they only decide when work is asked for again
// or given to somebody else.
type Timeouts struct {
	// Beat is the time between two heartbeats, of both sides. Default 500 ms.
	Beat time.Duration
	// Dead: a worker (or, for workers, the coordinator) that is silent for this
	// long is gone. Default 10 beats.
	Dead time.Duration
	// Repair: a worker whose V is incomplete asks for the rest when nothing came
	// for this long. Default 250 ms.
	Repair time.Duration
	// Retry: work that is not answered is asked for again after this long, then
	// after twice as long, and so on up to 4 times. Default 500 ms.
	Retry time.Duration
	// Slow: a worker is not called slow before this, whatever the median is.
	// Default 2 s.
	Slow time.Duration
	// Load bounds how long the loading of a shard file counts as progress.
	// Default 10 min.
	Load time.Duration
	// Join: WaitShards makes do with fewer workers than shards after this.
	// Default 30 s.
	Join time.Duration
	// Alone: with no worker at all for this long, a step fails. Default 5 min.
	Alone time.Duration
	// End: Close waits this long for workers to say goodbye. Default 2 s.
	End time.Duration
	// Return: after NATS was away, Close says goodbye until its connection has been back
	// for this long, since others may come back later. Default: the constant Return.
	Return time.Duration
	// Reach: Close waits this long for a connection that is broken. Default 30 s.
	Reach time.Duration
	// Orphan: a worker that hears no coordinator for this long gives up.
	// Default 10 min.
	Orphan time.Duration
}

func (t Timeouts) withDefaults() Timeouts {
	set := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	set(&t.Beat, 500*time.Millisecond)
	set(&t.Dead, 10*t.Beat)
	set(&t.Repair, 250*time.Millisecond)
	set(&t.Retry, 500*time.Millisecond)
	set(&t.Slow, 2*time.Second)
	set(&t.Load, 10*time.Minute)
	set(&t.Join, 30*time.Second)
	set(&t.Alone, 5*time.Minute)
	set(&t.End, 2*time.Second)
	set(&t.Return, Return)
	set(&t.Reach, reach)
	set(&t.Orphan, 10*time.Minute)
	return t
}

// reach is the default of Timeouts.Reach.
const reach = 30 * time.Second

const (
	maxChunk      = 1 << 20  // most bytes of a message
	headroom      = 8 << 10  // of them, for headers and Arrow framing
	leastBlock    = 64 << 10 // bytes of a row block of Q, unless messages are smaller
	inlineBytes   = 64 << 10 // an item or result up to this travels with its announcement
	maxItem       = 1 << 30  // bytes of an item or a result of Run
	defaultFlight = 32 << 20
	leastFlight   = 8    // messages; half of them may be V
	ackEvery      = 2    // chunks of V per acknowledgement; less than leastFlight/2
	maxQueue      = 4096 // requests that a worker keeps; a coordinator sends far fewer
	maxMembers    = 1 << 14
	mostPauses    = 4       // of Timeouts.Retry, between two requests for the same work
	maxCredit     = 4       // row blocks that a worker is asked for at a time
	maxMatrix     = 1 << 34 // bytes of V that a worker holds, unless told otherwise
)

// CoordinatorOptions describes a run to its coordinator.
type CoordinatorOptions struct {
	Conn   *Conn
	Prefix string // first tokens of every subject
	Run    string // run id, one token of letters, digits, - and _

	Rows   int     // n, vertices of the graph
	Shards []Range // row ranges, covering 0..n-1 in order
	Graph  string  // hash of the graph; workers of another graph are refused. Empty: not checked

	// Lease is the term of the lease under which this coordinator serves the run: workers
	// leave a coordinator of a lower one for it at once. 0: none; they then wait until the
	// other one has been silent for Timeouts.Dead.
	Lease int

	// Workers is how many workers WaitShards waits for. Default: one per shard.
	Workers int

	// ChunkBytes bounds a message; at most 1 MiB, and always less than the
	// server's max_payload. Default 1 MiB.
	ChunkBytes int
	// InFlight bounds the bytes that are under way to one worker, and those
	// under way to the coordinator, so that nobody's queue at the server overflows
	// (its max_pending is 64 MiB by default). Default 32 MiB.
	InFlight int

	Timeouts Timeouts

	Logger *slog.Logger // run, shard and step; nil is silent
	// Progress is called as rows and items come in, from one goroutine, and must
	// return quickly. May be nil.
	Progress func(Progress)

	wrap func(publishFunc) publishFunc // faults, in tests
}

func (o *CoordinatorOptions) check() error {
	if o.Conn == nil {
		return errors.New("cluster: no NATS connection")
	}
	if err := checkRanges(o.Shards, o.Rows); err != nil {
		return err
	}
	if o.ChunkBytes == 0 {
		o.ChunkBytes = maxChunk
	}
	if o.InFlight == 0 {
		o.InFlight = defaultFlight
	}
	if o.Workers == 0 {
		o.Workers = len(o.Shards)
	}
	if o.ChunkBytes < 2*headroom || o.ChunkBytes > maxChunk {
		return fmt.Errorf("cluster: messages of %d bytes; want %d to %d", o.ChunkBytes, 2*headroom, maxChunk)
	}
	if o.InFlight < leastFlight*o.ChunkBytes {
		return fmt.Errorf("cluster: %d bytes in flight; want at least %d messages of %d bytes", o.InFlight, leastFlight, o.ChunkBytes)
	}
	if o.Workers < 1 {
		return fmt.Errorf("cluster: wait for %d workers; want at least 1", o.Workers)
	}
	o.Timeouts = o.Timeouts.withDefaults()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}
