package privacy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/privcom/privcom/storage"
)

// The tests below disturb every storage call of every ledger operation: with an error
// before the call (not done), after it (done, answer lost), and with a lost answer that
// comes back as a conflict, which is what a network file system or a repeated conditional
// request makes of it.

var errInjected = errors.New("injected")

// fault is what happens to one storage call.
type fault struct {
	after bool
	err   error
}

var faults = []fault{{false, errInjected}, {true, errInjected}, {false, context.DeadlineExceeded}, {true, storage.ErrExists}, {true, storage.ErrNotExist}}

func (f fault) String() string {
	if f.after {
		return fmt.Sprintf("done, then %q", f.err)
	}
	return fmt.Sprintf("not done, %q", f.err)
}

// at disturbs the n-th call, from 1, and all later ones where the place stays away; hit
// tells whether there was an n-th call.
func (f fault) at(n int, stays bool) (_ storage.Faults, hit func() bool) {
	calls := 0
	strike := func(storage.Op, string) error {
		if calls == n || stays && calls > n {
			return f.err
		}
		return nil
	}
	count := func(op storage.Op, key string) error {
		calls++
		if f.after {
			return nil
		}
		return strike(op, key)
	}
	out := storage.Faults{Before: count}
	if f.after {
		out.After = strike
	}
	return out, func() bool { return calls >= n }
}

// place is a ledger's bucket, healthy, with means to open the ledger disturbed.
type place struct {
	t      *testing.T
	bucket *storage.Bucket
}

func newPlace(t *testing.T, where string) place {
	t.Helper()
	b, err := storage.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return place{t, b}
}

func (p place) ledger(f storage.Faults) *Ledger {
	p.t.Helper()
	l, err := OpenLedger(p.bucket.WithFaults(f), "people")
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

func (p place) healthy() *Ledger { return p.ledger(storage.Faults{}) }

// state reads the ledger anew; it must verify after anything.
func (p place) state() State {
	p.t.Helper()
	s, err := p.healthy().State(p.t.Context())
	if err != nil {
		p.t.Fatalf("the chain does not verify: %v", err)
	}
	return s
}

// limit is ρ = 0.3: three reservations of 0.1 fit.
func (p place) limit() {
	p.t.Helper()
	if err := p.healthy().SetLimit(p.t.Context(), Edge, Limit{Rho: ptr(MustDecimal("0.3"))}); err != nil {
		p.t.Fatal(err)
	}
}

func (p place) reserve() *Grant {
	p.t.Helper()
	g, err := p.healthy().Reserve(p.t.Context(), request("0.1"))
	if err != nil {
		p.t.Fatal(err)
	}
	return g
}

// through is a grant whose ledger is another, disturbed one.
func through(g *Grant, l *Ledger) *Grant { return &Grant{ledger: l, entry: g.entry} }

// withinLimit says that what counts as spent is not over the limit.
func withinLimit(t *testing.T, s State) {
	t.Helper()
	if m, ok := s.Limits[Edge]; ok && !m.allows(s.Spent(Edge)) {
		t.Errorf("spent %s of %s", m.describe(s.Spent(Edge)), m)
	}
}

// walk disturbs the i-th storage call of an operation for i = 1, 2, … until there is none.
func walk(t *testing.T, operation func(t *testing.T, p place, f storage.Faults)) {
	for _, f := range faults {
		for _, stays := range []bool{false, true} {
			for _, where := range []string{"mem://", t.TempDir()} {
				calls := 0
				for i, more := 1, true; more; i++ {
					if strings.HasPrefix(where, "/") {
						where = t.TempDir()
					}
					disturb, hit := f.at(i, stays)
					t.Run(fmt.Sprintf("call %d %s stays=%v", i, f, stays), func(t *testing.T) {
						operation(t, newPlace(t, where), disturb)
					})
					if more = hit(); more {
						calls++
					}
				}
				if calls < 3 {
					t.Errorf("only %d storage calls were disturbed", calls)
				}
			}
		}
	}
}

func TestEveryCallOfReserveFailsOnce(t *testing.T) {
	walk(t, func(t *testing.T, p place, f storage.Faults) {
		ctx := t.Context()
		p.limit()
		first := p.reserve()
		g, err := p.ledger(f).Reserve(ctx, request("0.1"))
		s := p.state()
		if r, ok := s.Find(first.ID()); !ok || r.Status != Reserved {
			t.Fatal("the earlier reservation is gone")
		}
		switch {
		case err == nil:
			if r, ok := s.Find(g.ID()); !ok || r.Status != Reserved {
				t.Fatal("a grant without its reservation")
			}
		case g != nil:
			t.Fatal("a grant beside an error")
		}
		if n := len(s.Reservations); n > 2 || err == nil && n != 2 {
			t.Errorf("%d reservations, error %v", n, err)
		}
		for _, r := range s.Reservations {
			if r.Status != Reserved {
				t.Errorf("reservation %s is %s", r.Reserve.ID, r.Status)
			}
		}
		var refused *RefusedError
		if errors.As(err, &refused) {
			t.Errorf("a failure of storage reads as a refusal: %v", err)
		}
		// The ledger works on, and still knows what was spent.
		for len(s.Reservations) < 3 {
			p.reserve()
			s = p.state()
		}
		if _, err := p.healthy().Reserve(ctx, request("0.1")); !errors.As(err, &refused) {
			t.Errorf("a fourth reservation: %v, want a refusal", err)
		}
		withinLimit(t, p.state())
	})
}

func TestEveryCallOfInitFailsOnce(t *testing.T) {
	walk(t, func(t *testing.T, p place, f storage.Faults) {
		p.reserve()
		err := p.ledger(f).SetLimit(t.Context(), Edge, Limit{Rho: ptr(MustDecimal("0.2"))})
		s := p.state()
		_, set := s.Limits[Edge]
		if err == nil && !set {
			t.Error("init reported a limit that is not there")
		}
		if n := len(s.Entries); n > 2 || len(s.Reservations) != 1 {
			t.Errorf("%d entries, %d reservations", n, len(s.Reservations))
		}
		if err := p.healthy().SetLimit(t.Context(), Edge, Limit{Rho: ptr(MustDecimal("0.2"))}); err != nil {
			t.Fatal(err)
		}
		p.reserve()
		if _, err := p.healthy().Reserve(t.Context(), request("0.1")); err == nil {
			t.Error("the limit does not hold")
		}
	})
}

func TestEveryCallOfCommitFailsOnce(t *testing.T) {
	walk(t, func(t *testing.T, p place, f storage.Faults) {
		g := p.reserve()
		disturbed := through(g, p.ledger(f))
		err := disturbed.Commit(t.Context(), "r1")
		s := p.state()
		r, ok := s.Find(g.ID())
		switch {
		case !ok || r.Status == Voided:
			t.Fatalf("after %v the reservation is lost", err)
		case err == nil && r.Status != Committed:
			t.Error("commit reported what is not there")
		case s.Spent(Edge).Rho.String() != "0.1":
			t.Errorf("spent %s", s.Spent(Edge).Rho)
		}
		if err == nil {
			return
		}
		// Trying again ends in a commit, whether or not the first try was written.
		if err := through(g, p.healthy()).Commit(t.Context(), "r1"); err != nil {
			t.Errorf("the second try: %v", err)
		}
		s = p.state()
		if r, _ := s.Find(g.ID()); r.Status != Committed || len(s.Entries) != 2 {
			t.Errorf("after the second try it is %s, in %d entries", r.Status, len(s.Entries))
		}
		if err := through(g, p.healthy()).Commit(t.Context(), "r2"); err == nil {
			t.Error("one reservation was committed to two releases")
		}
	})
}

func TestEveryCallOfVoidFailsOnce(t *testing.T) {
	walk(t, func(t *testing.T, p place, f storage.Faults) {
		p.limit()
		g := p.reserve()
		err := p.ledger(f).Void(t.Context(), g.ID(), "the machine died before the run")
		s := p.state()
		r, ok := s.Find(g.ID())
		if !ok || r.Status == Committed || err == nil && r.Status != Voided {
			t.Fatalf("after %v: %+v", err, r)
		}
		if n := len(s.Entries); n > 3 {
			t.Errorf("%d entries", n)
		}
		if err != nil && r.Status == Reserved && s.Spent(Edge).IsZero() {
			t.Error("an open reservation is not counted")
		}
		if r.Status == Voided {
			if err := through(g, p.healthy()).Commit(t.Context(), "r1"); err == nil {
				t.Error("a void reservation was committed")
			}
		}
	})
}

// An answer that is lost must not be told as "nothing was spent".
func TestAnUnknownOutcomeSaysSo(t *testing.T) {
	p := newPlace(t, t.TempDir())
	gone := storage.Faults{
		After: func(op storage.Op, _ string) error {
			if op == storage.OpCreate {
				return errInjected
			}
			return nil
		},
		Before: func(op storage.Op, key string) error {
			if op == storage.OpRead && len(p.state().Entries) > 0 {
				return errInjected // and the entry cannot be looked up
			}
			return nil
		},
	}
	_, err := p.ledger(gone).Reserve(t.Context(), request("0.1"))
	if err == nil || !errors.Is(err, errInjected) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"people", "00000001.json", "unknown", "budget show"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// The period in which an entry counts is the one in which its room was looked for, also
// where the clock steps back between the two.
func TestAClockThatStepsBackMovesNoSpendIntoAnotherPeriod(t *testing.T) {
	ctx, p := t.Context(), newPlace(t, t.TempDir())
	if err := p.healthy().SetLimit(ctx, Edge, Limit{Rho: ptr(MustDecimal("0.1")), Renew: "monthly"}); err != nil {
		t.Fatal(err)
	}
	l := p.healthy()
	january := time.Date(2031, 1, 31, 23, 59, 0, 0, time.UTC)
	looks := []time.Time{january, january.Add(2 * time.Minute)}
	l.now = func() time.Time {
		now := january
		if len(looks) > 0 {
			now, looks = looks[0], looks[1:]
		}
		return now
	}
	for range 2 { // one in January, one in February
		if _, err := l.Reserve(ctx, request("0.1")); err != nil {
			t.Fatal(err)
		}
	}
	spent := map[time.Month]int{}
	for _, r := range p.state().Reservations {
		spent[r.Reserve.Time.Month()]++
	}
	if spent[time.January] != 1 || spent[time.February] != 1 {
		t.Errorf("reservations by month: %v, want one in each", spent)
	}
}
