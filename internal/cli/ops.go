package cli

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/privcom/privcom/cluster"
	"github.com/privcom/privcom/internal/ops"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/release"
)

// opsFlags say what an operator's tools may see of a cluster process.
type opsFlags struct{ http, pprof, termination string }

func (f *opsFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.http, "http", "", "address for /healthz, /readyz and /metrics, as in 127.0.0.1:9090 or :9090; none: no HTTP server")
	fs.StringVar(&f.pprof, "pprof", "", "loopback address for Go's profiles, as in 127.0.0.1:6060")
	fs.StringVar(&f.termination, "termination-log", "", "file for one line of JSON about how the process ended (default "+ops.DefaultTerminationLog+" where that exists)")
}

// operation is a cluster process as its operator sees it. One exists for each coordinator
// or shard process from its very start, so that a mistyped flag has last words too.
type operation struct {
	role  ops.Role
	flags opsFlags

	mu          sync.Mutex
	run         string
	index       *int
	conn        *cluster.Conn
	coordinator *cluster.Coordinator
	shard       cluster.ShardState
	planned     int // shards of the graph
	phase       string
	done, total int64 // of the phase
	steps       int64 // private steps finished
	wanted      int64 // and planned
	moved       time.Time
	last        cluster.Progress
	entry       string // state of the coordinator's ledger entry

	servers []*ops.Server
	tracing *ops.Tracing
}

func newOperation(role ops.Role) *operation {
	o := &operation{role: role, phase: "starting", moved: time.Now()}
	if role == ops.RoleCoordinator {
		o.entry = ops.EntryNone // until the run is looked at
	}
	return o
}

// start serves what the flags ask for.
func (o *operation) start(ctx context.Context, run string, index *int) error {
	o.mu.Lock()
	o.run, o.index = run, index
	o.mu.Unlock()
	if o.flags.http != "" {
		s, err := ops.Start(o.flags.http, ops.Options{Role: o.role, Version: Tool(), State: o.snapshot})
		if err != nil {
			return usage(err)
		}
		o.servers = append(o.servers, s)
	}
	if o.flags.pprof != "" {
		s, err := ops.StartProfiler(o.flags.pprof)
		if err != nil {
			return usage(err)
		}
		o.servers = append(o.servers, s)
	}
	attrs := map[string]int{}
	if index != nil {
		attrs["shard"] = *index
	}
	var err error
	o.tracing, err = ops.StartTracing(ctx, o.role, Tool(), run, attrs)
	return usage(err)
}

// use makes the parts known as they come to life.
func (o *operation) use(f func(o *operation)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f(o)
}

// report passes phases on to the metrics, the status and the spans.
func (o *operation) report(next func(phase string, done, total int64)) func(phase string, done, total int64) {
	return func(phase string, done, total int64) {
		o.mu.Lock()
		if phase != o.phase || done != o.done {
			o.moved = time.Now()
		}
		if phase == release.PhaseOja {
			o.steps, o.wanted = done, total
		} else if o.phase == release.PhaseOja {
			o.steps = o.wanted
		}
		o.phase, o.done, o.total = phase, done, total
		c := o.coordinator
		o.mu.Unlock()
		if c != nil {
			c.Note(phase, done, total)
		}
		o.tracing.Phase(phase, done, total)
		next(phase, done, total)
	}
}

// snapshot is the state for metrics and probes.
func (o *operation) snapshot() ops.Snapshot {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := ops.Snapshot{Phase: o.phase, StepsDone: o.steps, StepsPlanned: o.wanted, ShardsPlanned: int64(o.planned),
		Joined: o.shard.Joined, Operation: int64(o.shard.Step), ShardsLoaded: int64(o.shard.Loaded), Alive: o.shard.Alive}
	if o.conn != nil {
		n := o.conn.Stats()
		s.Connected = o.conn.IsConnected()
		s.Reconnects, s.SlowConsumers, s.NATSErrors, s.Disconnects = n.Reconnects, n.SlowConsumers, n.AsyncErrors, n.Disconnects
	}
	if !s.Connected {
		s.Waiting = append(s.Waiting, "a connection to NATS")
	}
	if c := o.coordinator; c != nil {
		t, p := c.Stats(), c.Progress()
		if p != o.last {
			o.last, o.moved = p, time.Now()
		}
		s.Alive, s.Workers, s.Operations = c.Alive(), int64(p.Workers), int64(t.Steps)
		if p.Total > 0 {
			s.Covered = float64(p.Done) / float64(p.Total)
		}
		s.BytesSent, s.BytesReceived, s.Repaired, s.AskedAgain = t.BytesSent, t.BytesReceived, t.Repaired, t.AskedAgain
		s.Repeated, s.Rescued, s.Lost, s.Rejected, s.Departed = t.Repeated, t.Rescued, t.Lost, t.Rejected, t.Left
	}
	if o.role == ops.RoleCoordinator && s.Workers == 0 {
		s.Waiting = append(s.Waiting, "a shard worker")
	}
	s.Progressed = o.moved
	return s
}

// setEntry notes the state of the run's ledger entry, for the last words.
func (o *operation) setEntry(state string) { o.use(func(o *operation) { o.entry = state }) }

// lookUpEntry asks the ledger how the run's entry stands when the run ends, for whatever
// reason.
func (o *operation) lookUpEntry(l *privacy.Ledger, job *release.Job) {
	if job.Finished() != nil {
		o.setEntry(ops.EntryCommitted)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := l.State(ctx)
	if err != nil {
		o.setEntry(ops.EntryUnknown)
		return
	}
	r, ok := s.Find(job.Reservation())
	switch {
	case !ok:
		o.setEntry(ops.EntryNone)
	case r.Status == privacy.Committed:
		o.setEntry(ops.EntryCommitted)
	case r.Status == privacy.Voided:
		o.setEntry(ops.EntryVoid)
	default:
		o.setEntry(ops.EntryReserved)
	}
}

// end writes the last words and stops what start began. Its own faults go to standard error:
// the exit code stays what the run earned.
func (o *operation) end(a *app, code int) {
	for _, s := range o.servers {
		s.Close()
	}
	o.tracing.End(code)
	t := ops.Termination{Tool: Tool(), Role: o.role, Run: o.run, Shard: o.index, Code: code, Class: className(code), Retry: worthAnotherTry(code),
		Entry: o.entry, Ended: time.Now().UTC().Truncate(time.Second)}
	path := o.flags.termination
	if path == "" {
		path = os.Getenv(envName("termination-log")) // the flags may not have been read
	}
	if err := t.Write(path); err != nil {
		fmt.Fprintf(a.stderr, "%s: %v\n", o.role, err)
	}
}

// className is an exit code in a word, as docs/exit-codes.md lists them.
func className(code int) string {
	names := map[int]string{ExitOK: "done", ExitInternal: "internal", ExitUsage: "usage", ExitInput: "input", ExitBudget: "budget",
		ExitOccupied: "occupied", ExitStorage: "unreachable", ExitCorrupt: "corrupt", ExitSIGINT: "interrupted", ExitSIGTERM: "terminated"}
	if name, ok := names[code]; ok {
		return name
	}
	return "internal"
}

// worthAnotherTry says whether the same command may succeed later.
func worthAnotherTry(code int) bool {
	return code == ExitStorage || code == ExitSIGINT || code == ExitSIGTERM
}

// waitingPhase is the phase before there are workers.
const waitingPhase = "waiting for shards"
