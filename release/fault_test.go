package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/storage"
)

// call is one request to storage during a run.
type call struct {
	where string
	op    storage.Op
	key   string
}

func (c call) String() string { return fmt.Sprintf("%s %s %s", c.where, c.op, c.key) }

// disturb lets hooks see every request of a run to its folder, work folder and ledger.
func (r *rig) disturb(t testing.TB, before, after func(call) error) {
	t.Helper()
	wrap := func(where string, b *storage.Bucket) *storage.Bucket {
		hook := func(f func(call) error) func(storage.Op, string) error {
			if f == nil {
				return nil
			}
			return func(op storage.Op, key string) error { return f(call{where, op, key}) }
		}
		return b.WithFaults(storage.Faults{Before: hook(before), After: hook(after)})
	}
	r.Out, r.Work = wrap("out", r.Out), wrap("work", r.Work)
	r.Ledger = openLedger(t, wrap("ledger", r.ledgerBucket))
}

// Every request to storage fails once: before it is done, and after it is done with the
// answer lost. Whatever happens, a finished folder has its entry in the ledger, and
// whatever was asked of the graph is in the ledger as spent.
func TestEveryStorageCallFailsOnce(t *testing.T) {
	g := ingest(t, smallGraph(t), 1)
	for _, unit := range []privacy.Unit{privacy.Edge, privacy.Node} {
		fresh := func() *rig {
			r := newRig(t, g)
			r.Params.Unit, r.Params.Steps, r.Params.Rank = unit, 2, 1
			return r
		}
		var calls []call
		r := fresh()
		r.disturb(t, func(c call) error { calls = append(calls, c); return nil }, nil)
		mustRun(t, r)
		if len(calls) < 30 {
			t.Fatalf("only %d requests seen", len(calls))
		}
		for i := range calls {
			for _, lost := range []bool{false, true} {
				failOne(t, fresh(), i, lost)
			}
		}
	}
}

// failOne runs with request i failing.
func failOne(t *testing.T, r *rig, i int, lost bool) {
	t.Helper()
	clear, private := r.Out, &broken{engine: r.Engine.(*engine)}
	r.Engine = private
	seen, failed := 0, call{}
	hook := func(c call) error {
		if seen++; seen-1 == i {
			failed = c
			return errBroken
		}
		return nil
	}
	if lost {
		r.disturb(t, nil, hook)
	} else {
		r.disturb(t, hook, nil)
	}
	d, err := Run(context.Background(), r.Options)
	what := fmt.Sprintf("%s, request %d (%v), lost %v", r.Params.Unit, i, failed, lost)
	r.Out, r.Ledger = clear, openLedger(t, r.ledgerBucket)
	s := r.state(t)
	keys := r.keys(t)
	finished := slices.Contains(keys, SuccessKey)

	if (err == nil) != (d != nil) {
		t.Errorf("%s: document %v beside error %v", what, d != nil, err)
	}
	if err == nil && (!finished || len(s.Reservations) != 1 || s.Reservations[0].Status != privacy.Committed) {
		t.Errorf("%s: no error, but finished is %v and the ledger has %+v", what, finished, s.Reservations)
	}
	if finished {
		sound(t, r)
	}
	if asked := private.used.Load(); asked > 0 && len(s.Reservations) != 1 {
		t.Errorf("%s: %d questions to the graph and %d reservations", what, asked, len(s.Reservations))
	}
	if err == nil {
		return
	}
	if !errors.Is(err, errBroken) {
		t.Errorf("%s: the error hides its cause: %v", what, err)
	}
	for _, res := range s.Reservations {
		plan, planErr := r.Params.Plan(Describe(r.Graph))
		if planErr != nil {
			t.Fatal(planErr)
		}
		if res.Status == privacy.Voided || !plan.Cost.Within(*res.Reserve.Cost) {
			t.Errorf("%s: %s of %v for a plan of %v", what, res.Status, *res.Reserve.Cost, plan.Cost)
		}
		if private.used.Load() > 0 && !strings.Contains(err.Error(), res.Reserve.ID) {
			t.Errorf("%s: the error does not name entry %s: %v", what, res.Reserve.ID, err)
		}
	}
	cleaning := failed.op == storage.OpList || failed.op == storage.OpDelete
	if !finished && len(keys) > 0 && !cleaning {
		t.Errorf("%s: left behind %q", what, keys)
	}
}
