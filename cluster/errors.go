package cluster

import (
	"errors"
	"fmt"
	"strings"
)

// ErrClosed says that the coordinator was closed, by Close or by the end of the
// context it was made with.
var ErrClosed = errors.New("cluster: the coordinator is closed")

// ErrNoCoordinator says that a shard worker heard no coordinator of its run for
// the whole of Timeouts.Orphan.
var ErrNoCoordinator = errors.New("cluster: no coordinator")

// ErrAway says that a connection to NATS broke and did not come back in time.
var ErrAway = errors.New("cluster: NATS is away")

// VersionError says that the other end speaks another protocol version. Nothing
// was computed with it.
type VersionError struct {
	Ours, Theirs int
	Peer         string // "coordinator of run r" or "shard worker w0-3fa9"
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("cluster: %s speaks protocol version %d, this program %d; run both from the same release", e.Peer, e.Theirs, e.Ours)
}

// RefusedError says that the coordinator refused this shard worker, and why.
type RefusedError struct {
	Worker string
	Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("cluster: the coordinator refused shard worker %s: %s", e.Worker, e.Reason)
}

// SizeError says that a message would not fit. It was not sent.
type SizeError struct {
	Subject     string
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("cluster: a message of %d bytes on %s is larger than the server's max_payload of %d bytes; it was not sent: raise max_payload or use fewer columns", e.Size, e.Subject, e.Limit)
}

// ShardError says that the rows of a shard could not be had: its file is
// corrupt or missing, or every live worker failed to load it.
type ShardError struct {
	Shard  int
	Worker string // who reported it
	File   string // object key, when known
	Kind   string // one of the Fail… kinds
	Detail string
}

// Kinds of failure that a worker reports.
const (
	FailCorrupt  = "corrupt"  // the bytes are not those of the manifest
	FailMissing  = "missing"  // the object does not exist
	FailLoad     = "load"     // storage could not be read
	FailInternal = "internal" // a bound that must hold did not
	FailHandler  = "handler"  // an item of Run returned an error
)

func (e *ShardError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster: shard %d", e.Shard)
	if e.File != "" {
		fmt.Fprintf(&b, " (file %s)", e.File)
	}
	fmt.Fprintf(&b, " cannot be used, says worker %s: %s: %s", e.Worker, e.Kind, e.Detail)
	switch e.Kind {
	case FailCorrupt, FailMissing:
		b.WriteString("; ingest the graph again or restore the file")
	}
	return b.String()
}

// Causes of a handler's failure that lie in storage.
const (
	CauseStorage = "storage" // it did not answer; another try may help
	CauseUser    = "user"    // a full disk, a missing permission, an object that is not there
	CauseCorrupt = "corrupt" // bytes that are not what they should be
)

// HandlerError says that an item of Run failed on every worker that tried it.
type HandlerError struct {
	Kind   string
	Item   int
	Worker string
	Detail string
	Cause  string // one of the Cause… words, or ""
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("cluster: item %d of %q failed on worker %s: %s", e.Item, e.Kind, e.Worker, e.Detail)
}

// ConflictError says that the same work came back twice with different results.
// One of the two workers is wrong (memory, file or program), so neither result
// can be trusted.
type ConflictError struct {
	Step          uint64
	Shard         int // -1 for an item of Run
	From, To      int // rows, or From is the item
	First, Second string
}

func (e *ConflictError) Error() string {
	what := fmt.Sprintf("rows %d to %d of shard %d", e.From, e.To-1, e.Shard)
	if e.Shard < 0 {
		what = fmt.Sprintf("item %d", e.From)
	}
	return fmt.Sprintf("cluster: step %d: workers %s and %s returned different values for %s; the result is refused: check that both run the same release and their memory", e.Step, e.First, e.Second, what)
}

// NoWorkerError says that no shard worker was there for Waited.
type NoWorkerError struct {
	Run, Prefix string
	Waited      string
	Refused     []string // workers that were refused, with the reason
	Other       string   // term of another coordinator heard on the run, if any
}

func (e *NoWorkerError) Error() string {
	s := fmt.Sprintf("cluster: no shard worker of run %s (subjects %s.%s.…) for %s; start shards with the same prefix and run", e.Run, e.Prefix, e.Run, e.Waited)
	if len(e.Refused) > 0 {
		s += "; refused: " + strings.Join(e.Refused, "; ")
	}
	if e.Other != "" {
		s += "; another coordinator (term " + e.Other + ") serves this run: stop one of the two"
	}
	return s
}
