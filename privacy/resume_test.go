package privacy

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/privcom/privcom/storage"
)

func resumeLedger(t *testing.T) *Ledger {
	t.Helper()
	b, err := storage.Open(context.Background(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	l, err := OpenLedger(b, "people")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func resumeRequest() Request {
	target := Target{Epsilon: MustDecimal("1"), Delta: MustDecimal("1e-5")}
	return Request{ID: NewReservationID(), Unit: Edge, DegreeBound: 9, Cost: Cost{Rho: MustDecimal("0.02")}, Target: target, Graph: "abc"}
}

// A run that asks again for its own reservation gets it, whatever has happened to the clock,
// and the ledger counts it once, also under a limit that has room for one.
func TestAReservationIsFoundAgain(t *testing.T) {
	ctx, l := context.Background(), resumeLedger(t)
	limit := MustDecimal("0.03")
	if err := l.SetLimit(ctx, Edge, Limit{Rho: &limit, Renew: "daily"}); err != nil {
		t.Fatal(err)
	}
	jump := 0
	l.now = func() time.Time { // every look is in another month
		jump++
		return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).AddDate(0, []int{0, 3, -5}[jump%3], 0)
	}
	r := resumeRequest()
	for range 9 {
		g, err := l.Reserve(ctx, r)
		if err != nil || g.ID() != r.ID {
			t.Fatalf("reserving again: %v", err)
		}
	}
	s, err := l.State(ctx)
	if err != nil || len(s.Reservations) != 1 || len(s.Entries) != 2 {
		t.Fatalf("the ledger holds %+v, %v", s.Entries, err)
	}
}

func TestAReservationIsNotTakenForAnother(t *testing.T) {
	ctx := context.Background()
	for name, change := range map[string]func(r *Request){
		"unit": func(r *Request) { r.Unit = Node }, "bound": func(r *Request) { r.DegreeBound++ }, "graph": func(r *Request) { r.Graph = "abd" },
		"smaller cost": func(r *Request) { r.Cost.Rho = MustDecimal("0.01") }, "larger cost": func(r *Request) { r.Cost.Rho = MustDecimal("0.1") },
		"epsilon": func(r *Request) { r.Target.Epsilon = MustDecimal("2") }, "delta": func(r *Request) { r.Target.Delta = MustDecimal("1e-6") },
	} {
		l, r := resumeLedger(t), resumeRequest()
		if _, err := l.Reserve(ctx, r); err != nil {
			t.Fatal(err)
		}
		other := r
		change(&other)
		if _, err := l.Reserve(ctx, other); err == nil || !strings.Contains(err.Error(), "was made for another release") {
			t.Errorf("%s: %v", name, err)
		}
	}
	l, r := resumeLedger(t), resumeRequest()
	if _, err := l.Reserve(ctx, r); err != nil {
		t.Fatal(err)
	}
	if err := l.Void(ctx, r.ID, "it was taken for dead"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(ctx, r); !errors.Is(err, ErrVoided) {
		t.Errorf("a void reservation was given out again: %v", err)
	}
}

// The grant of a committed reservation accounts for recorded answers and draws none.
func TestACommittedReservationDrawsNoNoise(t *testing.T) {
	ctx, l, r := context.Background(), resumeLedger(t), resumeRequest()
	first, err := l.Reserve(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	half := MustDecimal("0.01")
	drawn := []int64{5}
	sigma2, err := first.Counts(10, half, drawn)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Commit(ctx, "r1"); err != nil {
		t.Fatal(err)
	}
	g, err := l.Reserve(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	data := []int64{5, 6}
	if _, err := g.Counts(10, half, data); err == nil || data[0] != 5 {
		t.Errorf("noise was drawn on a committed reservation: %v, %v", data, err)
	}
	if _, _, err := g.Square(half, big.NewInt(1), big.NewInt(1)); err == nil {
		t.Error("a square was drawn on a committed reservation")
	}
	ro, err := NewReadOut(Edge, 2, 2, 4, 1, Decimal{}, half)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Labels(ro, []int64{1, 2, 3, 4}); err == nil {
		t.Error("labels were drawn on a committed reservation")
	}
	again, err := g.CountsRecorded(10, half)
	if err != nil || again.Cmp(sigma2) != 0 {
		t.Errorf("σ² %v for the recorded answer, drawn with %v, %v", again, sigma2, err)
	}
	a, b := first.Charges()[0], g.Charges()[0]
	if a.Kind != b.Kind || !a.Cost.Within(b.Cost) || !b.Cost.Within(a.Cost) || a.S2.Cmp(b.S2) != 0 || len(g.Charges()) != 1 {
		t.Errorf("booked %+v, at first %+v", b, a)
	}
	if err := g.Commit(ctx, "r1"); err != nil {
		t.Errorf("committing the same release: %v", err)
	}
	if other, err := l.Reserve(ctx, r); err != nil || other.Commit(ctx, "r2") == nil {
		t.Errorf("a reservation was committed to two releases: %v", err)
	}
}
