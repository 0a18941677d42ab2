//go:build unix

package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/storage"
	"github.com/privcom/privcom/synthesis"
)

// A release is killed with SIGKILL at every storage call that changes something and at
// every call of its engine. (To die before a call that reads is to die before the next
// one that does not.) The test starts itself again as the process that dies.

const (
	dieIn   = "PRIVCOM_TEST_DIE_IN"   // folder of one attempt: ledger, work, out
	dieAt   = "PRIVCOM_TEST_DIE_AT"   // number of the call, from 1
	dieUnit = "PRIVCOM_TEST_DIE_UNIT" // unit of privacy
	dieOf   = "PRIVCOM_TEST_DIE_OF"   // the graph
)

// death ends the process at the n-th call that it is told of.
type death struct {
	calls, at atomic.Int64
}

func (d *death) call() {
	if d.calls.Add(1) == d.at.Load() {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// faults kills before each operation. On a folder the state before a write and in the
// middle of it differ by a temporary file, so one is left.
func (d *death) faults(dir string) storage.Faults {
	return storage.Faults{Before: func(op storage.Op, key string) error {
		if op == storage.OpPut || op == storage.OpCreate {
			name := filepath.Join(dir, filepath.Dir(key), fmt.Sprintf(".privcom-tmp-%016x", d.calls.Load()))
			if d.calls.Load()+1 == d.at.Load() && os.MkdirAll(filepath.Dir(name), 0o755) == nil {
				os.WriteFile(name, []byte("half"), 0o644)
			}
		}
		if changes(op) {
			d.call()
		}
		return nil
	}}
}

// changes reports whether an operation leaves a trace.
func changes(op storage.Op) bool {
	switch op {
	case storage.OpRead, storage.OpReadAt, storage.OpOpen, storage.OpExists, storage.OpList:
		return false
	}
	return true
}

// mortal is an engine that dies at its calls.
type mortal struct {
	engine
	d *death
}

func (m *mortal) Multiply(ctx context.Context, v *blockmatmul.Operand, c int64) (*blockmatmul.Product, error) {
	m.d.call()
	return m.engine.Multiply(ctx, v, c)
}

// newAttempt is one release in folders under dir, with d's hand on every call; a nil d makes
// a healthy one.
func newAttempt(t testing.TB, dir, graph, unit string, d *death) Options {
	t.Helper()
	ctx := context.Background()
	lease := time.Hour // one that is never renewed, so that every run makes the same calls
	if d == nil {
		d, lease = &death{}, 10*time.Millisecond
	}
	open := func(dir string) *storage.Bucket { return openBucket(t, dir).WithFaults(d.faults(dir)) }
	g, err := partition.OpenGraph(ctx, openBucket(t, graph))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := g.LoadWhole(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := Defaults()
	p.Epsilon, p.Rank, p.Steps = "2", 1, 3
	if err := p.Unit.UnmarshalText([]byte(unit)); err != nil {
		t.Fatal(err)
	}
	ledger, err := privacy.OpenLedger(open(filepath.Join(dir, "ledger")), "people")
	if err != nil {
		t.Fatal(err)
	}
	handlers := synthesis.Handlers()
	for kind, handle := range handlers {
		handlers[kind] = func(ctx context.Context, item []byte) ([]byte, error) {
			d.call()
			out, err := handle(ctx, item)
			d.call()
			return out, err
		}
	}
	return Options{ID: "run-" + filepath.Base(dir), Params: p, Graph: g, Ledger: ledger, Tool: "privcom test",
		Engine: &mortal{engine{blockmatmul.Local{N: int(g.Manifest().Vertices), Blocks: []*blockmatmul.CSR{whole}},
			synthesis.LocalRunner{Handlers: handlers, Workers: 1}}, d},
		Out: open(filepath.Join(dir, "out")), Work: open(filepath.Join(dir, "work")), Resume: true, Lease: lease}
}

//lint:long the child, the walk and what must hold after each death are one piece

// TestReleaseThatDies is the process that is killed; by itself it does nothing.
func TestReleaseThatDies(t *testing.T) {
	dir := os.Getenv(dieIn)
	if dir == "" {
		t.Skip("runs as a child of TestKilledAtEveryCall")
	}
	at, err := strconv.ParseInt(os.Getenv(dieAt), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	d := &death{}
	d.at.Store(at)
	if _, err := Run(context.Background(), newAttempt(t, dir, os.Getenv(dieOf), os.Getenv(dieUnit), d)); err != nil {
		t.Fatal(err)
	}
}

// runAndDie starts the child; false when it was not killed, and so finished.
func runAndDie(t *testing.T, dir, graph, unit string, at int) (killed bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReleaseThatDies$")
	c.Env = append(os.Environ(), dieIn+"="+dir, dieOf+"="+graph, dieUnit+"="+unit, dieAt+"="+strconv.Itoa(at))
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return true
	}
	t.Fatalf("the child failed: %v\n%s", err, out)
	return false
}

func TestKilledAtEveryCall(t *testing.T) {
	graph := quickDir(t)
	ingestTo(t, graph, planted(t, 60, 8, 1))
	units := []string{"node", "edge"}
	if testing.Short() {
		units = units[:1]
	}
	for _, unit := range units {
		t.Run(unit, func(t *testing.T) {
			root := quickDir(t)
			count := map[string]int{}
			last := 0
			for killed := true; killed && !t.Failed(); {
				last++
				dir := filepath.Join(root, strconv.Itoa(last))
				killed = runAndDie(t, dir, graph, unit, last)
				t.Run(fmt.Sprint("call ", last), func(t *testing.T) {
					w := examine(t, newAttempt(t, dir, graph, unit, nil))
					count[w.stage()]++
					if !killed && !(w.sealed && w.committed) {
						t.Errorf("a run that ended well left %+v", w)
					}
				})
			}
			t.Logf("%d calls: %v", last, count)
			for _, stage := range []string{"nothing", "parts", "reserved", "noise", "sealed", "committed"} {
				if count[stage] == 0 {
					t.Errorf("no run died at the stage %q", stage)
				}
			}
		})
	}
}

// Two releases into one folder: wherever one stands still, another starts and ends. At
// most one gets the folder, and the other is told before it spends.
func TestTwoReleasesIntoOneFolderAreNotMixed(t *testing.T) {
	graph := quickDir(t)
	ingestTo(t, graph, planted(t, 40, 6, 1))
	wins := map[string]int{}
	for at := 1; ; at++ {
		dir := quickDir(t)
		slow, quick := newAttempt(t, dir, graph, "edge", nil), newAttempt(t, dir, graph, "edge", nil)
		slow.ID, slow.Work, quick.ID, quick.Work = "slow", memory(t, "work"), "quick", memory(t, "work")
		calls := 0
		var quickErr error
		slow.Out = slow.Out.WithFaults(storage.Faults{Before: func(storage.Op, string) error {
			if calls++; calls == at {
				_, quickErr = Run(t.Context(), quick)
			}
			return nil
		}})
		_, slowErr := Run(t.Context(), slow)
		if calls < at {
			break
		}
		d, checks, err := Verify(t.Context(), quick.Out)
		if err != nil {
			t.Fatalf("call %d: slow %v, quick %v: %v", at, slowErr, quickErr, err)
		}
		for _, c := range checks {
			if !c.OK {
				t.Errorf("call %d: slow %v, quick %v: %s: %s", at, slowErr, quickErr, c.Name, c.Note)
			}
		}
		loser := map[string]error{"slow": quickErr, "quick": slowErr}[d.ID]
		refused(t, loser, quick.Out.URL())
		if winner := map[string]error{"slow": slowErr, "quick": quickErr}[d.ID]; winner != nil {
			t.Errorf("call %d: the folder is of %s, which failed: %v", at, d.ID, winner)
		}
		if s := ledgerState(t, slow); len(s.Reservations) != 1 || s.Reservations[0].Status != privacy.Committed {
			t.Errorf("call %d: the ledger holds %+v", at, s.Reservations)
		}
		wins[d.ID]++
	}
	if wins["slow"] < 8 || wins["quick"] < 1 {
		t.Errorf("the folder went to %v", wins)
	}
}

// A person takes a running release for dead and voids its reservation. Nothing that was
// drawn on it is published, at whatever moment that happens.
func TestVoidedUnderWayPublishesNothing(t *testing.T) {
	graph := quickDir(t)
	ingestTo(t, graph, planted(t, 40, 6, 1))
	lived := 0
	for at, more := 1, true; more; at++ {
		o := newAttempt(t, quickDir(t), graph, "edge", nil)
		out, ledger := o.Out, o.Ledger
		calls, voided := 0, false
		hook := storage.Faults{Before: func(op storage.Op, key string) error {
			if !changes(op) || strings.Contains(key, "beat-") { // the lease's beat has a goroutine of its own
				return nil
			}
			s, err := ledger.State(t.Context())
			if err != nil {
				return err
			}
			if len(s.Reservations) == 0 || s.Reservations[0].Status == privacy.Committed {
				return nil // nothing to void yet, or not any more
			}
			if calls++; calls == at {
				voided = true
				return ledger.Void(t.Context(), s.Reservations[0].Reserve.ID, "it was taken for dead")
			}
			return nil
		}}
		o.Out, o.Work = out.WithFaults(hook), o.Work.WithFaults(hook)
		o.Ledger = mustLedger(t, filepath.Dir(out.URL()), hook)
		_, err := Run(t.Context(), o)
		if more = voided; !more {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if err == nil || !errors.Is(err, privacy.ErrVoided) || !strings.Contains(err.Error(), "nothing was published") || strings.Contains(err.Error(), "keeps epsilon") {
			t.Errorf("call %d: %v", at, err)
		}
		if left := list(t, out, ""); len(left) > 0 {
			t.Errorf("call %d: %v is left of a void release", at, left)
		}
		if s := ledgerState(t, o); s.Reservations[0].Status != privacy.Voided {
			t.Errorf("call %d: the ledger says %s", at, s.Reservations[0].Status)
		}
		lived++
	}
	if lived < 12 {
		t.Errorf("only %d moments were tried", lived)
	}
}

// mustLedger is the ledger of the attempt in dir, disturbed.
func mustLedger(t *testing.T, dir string, f storage.Faults) *privacy.Ledger {
	t.Helper()
	l, err := privacy.OpenLedger(openBucket(t, filepath.Join(dir, "ledger")).WithFaults(f), "people")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// quickDir is a folder in memory where the system has such: a kill, unlike a power cut,
// does not ask what has reached the disk.
func quickDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "privcom-crash-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func ingestTo(t testing.TB, dir, edges string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "graph.txt")
	if err := os.WriteFile(file, []byte(edges), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := partition.Ingest(context.Background(), partition.Options{Inputs: []string{file}, Shards: 2, Memory: 1 << 26, TempDir: t.TempDir()},
		openBucket(t, dir)); err != nil {
		t.Fatal(err)
	}
}
