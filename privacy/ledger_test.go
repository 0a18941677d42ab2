package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/privcom/privcom/storage"
)

func testLedger(t *testing.T) *Ledger {
	t.Helper()
	b, err := storage.Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	l, err := OpenLedger(b, "people")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func request(rho string) Request {
	return Request{Unit: Edge, Cost: Cost{Rho: MustDecimal(rho)}, Target: Target{MustDecimal("1"), MustDecimal("1e-5")}}
}

func ptr[T any](x T) *T { return &x }

func TestLedgerReservesBeforeNoiseAndCommitsAfter(t *testing.T) {
	ctx, l := context.Background(), testLedger(t)
	g, err := l.Reserve(ctx, request("0.5"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.State(ctx)
	if err != nil || s.Spent(Edge).Rho.String() != "0.5" || s.Reservations[0].Status != Reserved {
		t.Fatalf("after reserve: %+v, %v", s, err)
	}
	if _, err := g.Counts(10, MustDecimal("0.5"), []int64{100}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Counts(10, MustDecimal("1e-9"), []int64{100}); err == nil {
		t.Error("noise was drawn past the reservation")
	}
	if err := g.Commit(ctx, "release-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Counts(10, MustDecimal("0.1"), []int64{1}); err == nil {
		t.Error("noise was drawn after the commit")
	}
	if err := g.Commit(ctx, "again"); err == nil {
		t.Error("a grant was committed twice")
	}
	s, err = l.State(ctx)
	if err != nil || s.Reservations[0].Status != Committed || s.Spent(Edge).Rho.String() != "0.5" {
		t.Fatalf("after commit: %+v, %v", s, err)
	}
	if err := l.Void(ctx, g.ID(), "it was never published"); err == nil {
		t.Error("a committed release was voided")
	}
}

func TestLedgerRefusesOverTheLimitAndSaysWhy(t *testing.T) {
	ctx, l := context.Background(), testLedger(t)
	if err := l.SetLimit(ctx, Edge, Limit{Epsilon: ptr(MustDecimal("1")), Delta: ptr(MustDecimal("1e-5"))}); err != nil {
		t.Fatal(err)
	}
	half := request("0.02")
	if _, err := l.Reserve(ctx, half); err != nil {
		t.Fatal(err)
	}
	_, err := l.Reserve(ctx, half)
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("second release: %v, want a refusal", err)
	}
	for _, want := range []string{"spent epsilon 0.7", "requested epsilon 0.7", "limit epsilon 1 at delta 1e-5", "nothing was spent", "people"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("refusal %q does not say %q", err, want)
		}
	}
	s, _ := l.State(ctx)
	if len(s.Entries) != 2 {
		t.Errorf("a refusal left %d entries", len(s.Entries))
	}
	node := half
	node.Unit = Node
	if _, err := l.Reserve(ctx, node); !errors.As(err, &refused) {
		t.Errorf("a node release on an edge budget: %v", err)
	}
}

func TestVoidGivesBackOnlyWithAReason(t *testing.T) {
	ctx, l := context.Background(), testLedger(t)
	g, err := l.Reserve(ctx, request("0.5"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Void(ctx, g.ID(), "oops"); err == nil {
		t.Error("a void without a real reason passed")
	}
	if err := l.Void(ctx, "none", "the run never started"); err == nil {
		t.Error("an unknown reservation was voided")
	}
	if err := l.Void(ctx, g.ID(), "the run never started"); err != nil {
		t.Fatal(err)
	}
	s, err := l.State(ctx)
	if err != nil || !s.Spent(Edge).IsZero() {
		t.Errorf("after void: %v %v", s.Spent(Edge), err)
	}
	if err := g.Commit(ctx, "late"); err == nil {
		t.Error("a voided reservation was committed")
	}
}

func TestTwoWritersNeverPassTheLimit(t *testing.T) {
	ctx, l := context.Background(), testLedger(t)
	if err := l.SetLimit(ctx, Edge, Limit{Rho: ptr(MustDecimal("0.5"))}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	for range 12 {
		wg.Go(func() {
			_, err := l.Reserve(ctx, request("0.1"))
			var refused *RefusedError
			if err != nil && !errors.As(err, &refused) {
				t.Error(err)
			}
			mu.Lock()
			if err == nil {
				granted++
			}
			mu.Unlock()
		})
	}
	wg.Wait()
	s, err := l.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if granted != 5 || s.Spent(Edge).Rho.String() != "0.5" {
		t.Errorf("%d of 12 granted, spent %s; want exactly 5 and 0.5", granted, s.Spent(Edge).Rho)
	}
}

func TestLedgerFindsTampering(t *testing.T) {
	ctx := context.Background()
	for name, harm := range map[string]func(*Ledger) error{
		"a changed entry": func(l *Ledger) error {
			b, err := l.bucket.ReadAll(ctx, entryKey(1))
			if err != nil {
				return err
			}
			return l.bucket.Put(ctx, entryKey(1), []byte(strings.Replace(string(b), "0.1", "0.01", 1)))
		},
		"a lost entry":     func(l *Ledger) error { return l.bucket.Delete(ctx, entryKey(2)) },
		"an empty entry":   func(l *Ledger) error { return l.bucket.Put(ctx, entryKey(2), nil) },
		"a foreign object": func(l *Ledger) error { return l.bucket.Put(ctx, entryKey(4), []byte(`{"kind":"gift"}`)) },
	} {
		l := testLedger(t)
		for range 3 {
			if _, err := l.Reserve(ctx, request("0.1")); err != nil {
				t.Fatal(err)
			}
		}
		if err := harm(l); err != nil {
			t.Fatal(err)
		}
		if _, err := l.State(ctx); err == nil {
			t.Errorf("%s was not found", name)
		}
		if _, err := l.Reserve(ctx, request("0.1")); err == nil {
			t.Errorf("%s: a reservation was made on a broken chain", name)
		}
	}
}

func TestBudgetRenewsByPeriod(t *testing.T) {
	ctx, l := context.Background(), testLedger(t)
	now := time.Date(2031, 1, 31, 23, 0, 0, 0, time.UTC)
	l.now = func() time.Time { return now }
	if err := l.SetLimit(ctx, Edge, Limit{Rho: ptr(MustDecimal("0.1")), Renew: "monthly"}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, request("0.1")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, request("0.1")); err == nil {
		t.Error("a second release in January passed")
	}
	now = now.Add(2 * time.Hour)
	if _, err := l.Reserve(ctx, request("0.1")); err != nil {
		t.Errorf("February: %v", err)
	}
}

func TestLimitsAndNamesAreValidated(t *testing.T) {
	bad := []Limit{{}, {Epsilon: ptr(MustDecimal("1"))}, {Rho: ptr(MustDecimal("-1"))},
		{Rho: ptr(MustDecimal("1")), Renew: "hourly"}, {Rho: ptr(MustDecimal("1")), Epsilon: ptr(MustDecimal("1")), Delta: ptr(MustDecimal("1e-5"))}}
	for _, m := range bad {
		if m.Validate() == nil {
			b, _ := json.Marshal(m)
			t.Errorf("limit %s passed", b)
		}
	}
	b, err := storage.Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "..", "a/b", "-x", strings.Repeat("x", 101), "a b"} {
		if _, err := OpenLedger(b, name); err == nil {
			t.Errorf("data set name %q was taken", name)
		}
	}
}

func TestReservationsAreValidated(t *testing.T) {
	ctx, l := context.Background(), testLedger(t)
	for i, r := range []Request{
		{Unit: Edge, Target: Target{MustDecimal("1"), MustDecimal("1e-5")}},
		{Unit: Edge, Cost: Cost{Rho: MustDecimal("-1")}, Target: Target{MustDecimal("1"), MustDecimal("1e-5")}},
		{Unit: Edge, Cost: Cost{Rho: MustDecimal("1")}},
	} {
		if _, err := l.Reserve(ctx, r); err == nil {
			t.Errorf("request %d passed", i)
		}
	}
}

func TestGrantRefusesTheWrongUnitAndShape(t *testing.T) {
	ctx, l := context.Background(), testLedger(t)
	g, err := l.Reserve(ctx, request("1"))
	if err != nil {
		t.Fatal(err)
	}
	q := Query{Unit: Node, N: 3, K: 1, Norms: Uniform(3, 10), DegreeLimit: 2, Katz: Katz{Order: 1}}
	if _, err := g.Matrix(q, MustDecimal("0.1"), make([]int64, 3)); err == nil {
		t.Error("a node query used an edge grant")
	}
	q.Unit = Edge
	if _, err := g.Matrix(q, MustDecimal("0.1"), make([]int64, 4)); err == nil {
		t.Error("an answer of the wrong size passed")
	}
	sigma2, err := g.Matrix(q, MustDecimal("0.1"), make([]int64, 3))
	if err != nil || sigma2.String() != "1000" { // S² = 200, 200/(2·0.1)
		t.Errorf("σ² = %s, %v; want 1000", sigma2, err)
	}
	if c := g.CostAt(1); c.Rho.String() != "0.1" {
		t.Errorf("cost %s, want 0.1", fmt.Sprint(c.Rho))
	}
}
