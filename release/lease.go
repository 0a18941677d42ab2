package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/privcom/privcom/storage"
)

// DefaultLease is how long a coordinator must be silent before another takes its run.
const DefaultLease = 15 * time.Second

// LeaseError says that another coordinator works on the run. What it does is not disturbed,
// and the ledger has one reservation for both.
type LeaseError struct {
	Run, Holder string
	Lost        bool // the run was ours and was taken over
}

func (e *LeaseError) Error() string {
	if e.Lost {
		return fmt.Sprintf("run %s was taken over by another coordinator (%s), which heard nothing of this one: it goes on there", e.Run, e.Holder)
	}
	return fmt.Sprintf("run %s is under way in another coordinator (%s): nothing was spent or written by this one; stop one of the two, or start a run of another name", e.Run, e.Holder)
}

// lease is the right to work on a run, as a chain of terms in storage: term-N is made by
// create-if-absent, so that a term has one holder, and the last one counts. Its holder
// writes a count that grows to beat-N. Who wants the run watches that count for ttl of its
// own time: a count that stands still so long is of a dead holder, and the watcher makes
// the next term. No clock of the day is read or compared, so a clock that jumps changes
// nothing.
//
// The lease saves work; it does not guard the noise. Two that believe to hold it do no harm:
// the records do that (transcript).
type lease struct {
	bucket *storage.Bucket
	run    string
	ttl    time.Duration
	note   leaseNote
	stop   chan struct{}
	once   sync.Once
	done   chan struct{}
}

// leaseNote is the content of both kinds of object.
type leaseNote struct {
	Term     int    `json:"term"`
	Holder   string `json:"holder"` // host and process, for people
	Token    string `json:"token"`
	Beat     int64  `json:"beat"`
	Released bool   `json:"released,omitempty"` // the holder has stopped
}

func termKey(n int) string { return fmt.Sprintf("term-%08d.json", n) }
func beatKey(n int) string { return fmt.Sprintf("beat-%08d.json", n) }

// holderName tells people who holds a lease.
func holderName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// acquire takes the lease of a run. While a holder may be alive it watches for ttl and tells
// waiting of it; a holder that lives is a *LeaseError.
func acquire(ctx context.Context, b *storage.Bucket, run string, ttl time.Duration, waiting func(holder string)) (*lease, error) {
	l := &lease{bucket: b, run: run, ttl: ttl, stop: make(chan struct{}), done: make(chan struct{})}
	var seen leaseNote
	var since time.Time
	for first := true; ; first = false {
		last, err := look(ctx, b)
		if err != nil {
			return nil, err
		}
		switch {
		case last.Term == 0 || last.Released, !first && last == seen && time.Since(since) >= ttl:
			return l, l.take(ctx, last.Term+1)
		case first:
			seen, since = last, time.Now()
			waiting(last.Holder)
		case last != seen:
			return nil, &LeaseError{Run: run, Holder: last.Holder}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(ttl / 10):
		}
	}
}

// look reads the last term and its beat; term 0 where there is none.
func look(ctx context.Context, b *storage.Bucket) (leaseNote, error) {
	var n leaseNote
	keys, err := b.List(ctx, "term-")
	if err != nil || len(keys) == 0 {
		return n, err
	}
	if _, err := fmt.Sscanf(keys[len(keys)-1], "term-%d.json", &n.Term); err != nil || n.Term < 1 {
		return n, &storage.CorruptError{Key: keys[len(keys)-1], Detail: "it is not the name of a term"}
	}
	for _, key := range []string{beatKey(n.Term), termKey(n.Term)} {
		data, err := b.ReadAll(ctx, key)
		if errors.Is(err, storage.ErrNotExist) {
			continue // no beat yet
		}
		if err != nil {
			return n, err
		}
		term := n.Term
		if err := json.Unmarshal(data, &n); err != nil || n.Term != term {
			return n, &storage.CorruptError{Key: key, Detail: "it is not a lease"}
		}
		return n, nil
	}
	return n, nil
}

// take makes a term and begins to beat.
func (l *lease) take(ctx context.Context, term int) error {
	l.note = leaseNote{Term: term, Holder: holderName(), Token: newToken()}
	data, err := json.Marshal(l.note)
	if err != nil {
		return err
	}
	have, err := settle(ctx, l.bucket, termKey(term), data)
	if err != nil {
		return err
	}
	if string(have) != string(data) {
		var other leaseNote
		_ = json.Unmarshal(have, &other) // only its name is wanted
		return &LeaseError{Run: l.run, Holder: other.Holder}
	}
	return nil
}

// keep renews the lease until release, and calls lost when somebody else has the run.
func (l *lease) keep(ctx context.Context, lost func(error)) {
	defer close(l.done)
	tick := time.NewTicker(l.ttl / 5)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		if err := l.renew(ctx); err != nil {
			lost(err)
			return
		}
	}
}

// renew writes the next beat. Storage that does not answer is no reason to stop: whoever
// takes the run then makes a term, which the next renewal finds.
func (l *lease) renew(ctx context.Context) error {
	last, err := look(ctx, l.bucket)
	if err != nil {
		return nil
	}
	if last.Term != l.note.Term {
		return &LeaseError{Run: l.run, Holder: last.Holder, Lost: true}
	}
	l.note.Beat++
	data, err := json.Marshal(l.note)
	if err != nil {
		return err
	}
	_ = l.bucket.Put(ctx, beatKey(l.note.Term), data) // the next beat tries again
	return nil
}

// held asks storage whether the run is still ours.
func (l *lease) held(ctx context.Context) bool {
	last, err := look(ctx, l.bucket)
	return err == nil && last.Term == l.note.Term
}

// release stops renewing and lets others have the run at once.
func (l *lease) release(ctx context.Context) {
	l.once.Do(func() {
		close(l.stop)
		<-l.done
		if !l.held(ctx) {
			return
		}
		l.note.Beat, l.note.Released = l.note.Beat+1, true
		if data, err := json.Marshal(l.note); err == nil {
			_ = l.bucket.Put(ctx, beatKey(l.note.Term), data) // else others wait for ttl
		}
	})
}
