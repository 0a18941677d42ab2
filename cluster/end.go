package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// ValidRun reports what is wrong with a subject prefix or a run id.
func ValidRun(prefix, run string) error {
	_, err := newSubjects(prefix, run)
	return err
}

// ServedError says that a run has a living coordinator, which alone ends its workers.
type ServedError struct{ Run, Term string }

func (e *ServedError) Error() string {
	return fmt.Sprintf("run %s has a coordinator (term %s): stop that one, and its shards wait for another; only then can they be ended from here", e.Run, e.Term)
}

// EndRun tells the workers of a run that has no coordinator that it is over, and gives the
// number that said goodbye. It returns when no worker was heard for quiet, or with a
// *ServedError when a coordinator is. A quiet of Return reaches workers that lost NATS and are
// on their way back; the time in which this connection is broken is not quiet, and where it
// stays broken for Timeouts.Reach's default, the error is ErrAway. A worker whose coordinator
// died without a word listens once it takes that one for dead, which is after Timeouts.Dead.
func EndRun(ctx context.Context, conn *Conn, prefix, run string, quiet time.Duration) (int, error) {
	return endRun(ctx, conn, prefix, run, quiet, reach)
}

func endRun(ctx context.Context, conn *Conn, prefix, run string, quiet, reach time.Duration) (int, error) {
	subj, err := newSubjects(prefix, run)
	if err != nil {
		return 0, err
	}
	type word struct {
		verb string
		head head
	}
	done := make(chan struct{})
	defer close(done)
	heard := make(chan word, 64)
	subs, err := subscribeAll(conn, subj.all, []string{verbHello, verbAlive, verbBye}, func(verb string, m *nats.Msg) {
		if h, err := decodeHead(m, run); err == nil {
			select {
			case heard <- word{verb, h}:
			case <-done:
			}
		}
	})
	if err != nil {
		return 0, fmt.Errorf("cluster: end run %s: subscribe: %w", run, err)
	}
	defer unsubscribeAll(subs)
	out := newSender(conn, subj, nil)
	term := nonce(8)
	gone := map[string]bool{}
	silence := time.NewTimer(quiet)
	defer silence.Stop()
	connected := time.Now()
	again := time.NewTicker(quiet / 10)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return len(gone), context.Cause(ctx)
		case <-silence.C:
			return len(gone), nil
		case now := <-again.C:
			if conn.down() {
				if away := now.Sub(connected); away > reach {
					return len(gone), fmt.Errorf("%w for %v: the shards of run %s may still wait; end it again", ErrAway, away.Round(time.Second), run)
				}
				silence.Reset(quiet)
				continue
			}
			connected = now
			if err := out.send(subj.all(verbEnd), head{Term: term, Shard: -1}, nil); err != nil {
				return len(gone), err
			}
		case w := <-heard:
			switch {
			case w.verb == verbHello:
				return len(gone), &ServedError{Run: run, Term: w.head.Term}
			case w.verb == verbBye:
				gone[w.head.Worker] = true
			case !gone[w.head.Worker]:
				silence.Reset(quiet)
			}
		}
	}
}
