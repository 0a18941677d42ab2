package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/privcom/privcom/storage"
)

// holder takes a lease and renews it, in synthetic time.
func holder(t *testing.T, b *storage.Bucket, run string) (*lease, error) {
	t.Helper()
	l, err := acquire(t.Context(), b, run, 10*time.Second, func(string) {})
	if err == nil {
		go l.keep(t.Context(), func(error) {})
	}
	return l, err
}

func TestLeaseGoesToOneAndIsTakenFromTheDead(t *testing.T) {
	b := memory(t, "lease")
	synctest.Test(t, func(t *testing.T) {
		first, err := holder(t, b, "r")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		// The holder lives: refused as soon as it beats.
		start := time.Now()
		var held *LeaseError
		if _, err := holder(t, b, "r"); !errors.As(err, &held) || held.Lost || held.Holder != holderName() {
			t.Errorf("a second holder: %v", err)
		}
		if waited := time.Since(start); waited > 5*time.Second {
			t.Errorf("it took %v to see that the holder lives", waited)
		}
		// It is stopped: the next has it at once.
		first.release(t.Context())
		start = time.Now()
		second, err := holder(t, b, "r")
		if err != nil || second.note.Term != 2 || time.Since(start) > 0 {
			t.Fatalf("after a release: term %d, %v, %v", second.note.Term, time.Since(start), err)
		}
		// It dies without a word: the next has it after its silence.
		close(second.stop)
		<-second.done
		start = time.Now()
		third, err := holder(t, b, "r")
		if err != nil || third.note.Term != 3 {
			t.Fatalf("after a death: %v", err)
		}
		if waited := time.Since(start); waited < 10*time.Second || waited > 12*time.Second {
			t.Errorf("the run of a dead holder was taken after %v", waited)
		}
		// The dead one was only asleep: it finds the higher term and stops.
		if err := second.renew(t.Context()); !errors.As(err, &held) || !held.Lost {
			t.Errorf("a holder that was taken over goes on: %v", err)
		}
		if second.held(t.Context()) || !third.held(t.Context()) {
			t.Error("the lease is not with the last term")
		}
		third.release(t.Context())
	})
}

// A term whose holder died before its first beat, and beats that say nonsense.
func TestLeaseSurvivesWhatItFinds(t *testing.T) {
	b := memory(t, "lease")
	synctest.Test(t, func(t *testing.T) {
		note, err := json.Marshal(leaseNote{Term: 7, Holder: "gone"})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Put(t.Context(), termKey(7), note); err != nil {
			t.Fatal(err)
		}
		l, err := holder(t, b, "r")
		if err != nil || l.note.Term != 8 {
			t.Fatalf("after a term without a beat: %v", err)
		}
		close(l.stop)
		<-l.done
		var corrupt *storage.CorruptError
		for _, bad := range []string{"{nonsense", `{"term":3}`} {
			if err := b.Put(t.Context(), beatKey(8), []byte(bad)); err != nil {
				t.Fatal(err)
			}
			if _, err := holder(t, b, "r"); !errors.As(err, &corrupt) {
				t.Errorf("beat %q: %v", bad, err)
			}
		}
	})
}

// Of many that want the run of a dead holder at once, one gets it.
func TestLeaseHasOneHeir(t *testing.T) {
	b := memory(t, "lease")
	synctest.Test(t, func(t *testing.T) {
		dead, err := acquire(t.Context(), b, "r", time.Second, func(string) {})
		if err != nil || dead.note.Term != 1 {
			t.Fatal(err)
		}
		var mu sync.Mutex
		heirs := 0
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				l, err := acquire(t.Context(), b, "r", time.Second, func(string) {})
				mu.Lock()
				defer mu.Unlock()
				var held *LeaseError
				switch {
				case err == nil && l.note.Term == 2:
					heirs++
				case !errors.As(err, &held):
					t.Errorf("%+v, %v", l, err)
				}
			})
		}
		wg.Wait()
		if heirs != 1 {
			t.Errorf("%d heirs", heirs)
		}
	})
}

// Two coordinators at once who both believe to hold the run: wherever one stands still, the
// other runs to the end. Whatever comes out is one reservation and the bytes of one
// transcript.
func TestTwoCoordinatorsAtOnceGiveOneRelease(t *testing.T) {
	graph := quickDir(t)
	ingestTo(t, graph, planted(t, 40, 6, 1))
	for _, unit := range []string{"edge", "node"} {
		both := 0
		for at := 1; ; at += stride {
			dir := quickDir(t)
			slow, quick := newAttempt(t, dir, graph, unit, nil), newAttempt(t, dir, graph, unit, nil)
			slow.ID, quick.ID = "run", "run"
			slow.Lease = time.Hour // it never looks whether it still holds the run
			calls := 0
			var quickErr error
			hook := storage.Faults{Before: func(op storage.Op, key string) error {
				if strings.HasPrefix(key, "lease/") {
					return nil
				}
				if calls++; calls == at {
					_, quickErr = Run(t.Context(), quick)
				}
				return nil
			}}
			slow.Out, slow.Work = slow.Out.WithFaults(hook), slow.Work.WithFaults(hook)
			slow.Ledger = mustLedger(t, dir, hook)
			_, slowErr := Run(t.Context(), slow)
			if calls < at {
				break
			}
			var held *LeaseError
			for who, err := range map[string]error{"slow": slowErr, "quick": quickErr} {
				if err != nil && !errors.As(err, &held) && !errors.Is(err, ErrOccupied) {
					t.Errorf("%s, call %d: %s says %v", unit, at, who, err)
				}
			}
			if slowErr == nil && quickErr == nil {
				both++
			}
			what := fmt.Sprintf("%s, call %d: slow %v, quick %v", unit, at, slowErr, quickErr)
			again := newAttempt(t, dir, graph, unit, nil)
			again.ID = "run"
			if slowErr != nil && quickErr != nil {
				t.Error(what + ": nobody has finished")
			}
			takeUpAgain(t, again, ledgerState(t, again))
			if t.Failed() {
				t.Fatal(what)
			}
		}
		if both*stride < 20 {
			t.Errorf("%s: both went through to the end in %d cases only", unit, both)
		}
	}
}
