package privacy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/privcom/privcom/storage"
)

// Status is where a reservation stands.
type Status string

const (
	Reserved  Status = "reserved"  // spent; the run is under way or has died
	Committed Status = "committed" // spent; released
	Voided    Status = "void"      // not spent: no noise was drawn, by a person's word
)

// Reservation is a reserve entry with what became of it.
type Reservation struct {
	Reserve Entry
	Commit  *Entry
	Void    *Entry
	Status  Status
}

// State is the ledger as read and verified at one moment.
type State struct {
	Entries      []Entry
	Reservations []Reservation
	Limits       map[Unit]Limit
	head         string   // SHA-256 of the last entry
	hashes       []string // of every entry
	now          time.Time
}

// State reads the whole chain and verifies it: consecutive sequence numbers, hashes,
// known kinds, commits and voids of reservations that exist.
func (l *Ledger) State(ctx context.Context) (State, error) {
	s := State{Limits: map[Unit]Limit{}, now: l.now()}
	for {
		key := entryKey(len(s.Entries) + 1)
		data, err := l.bucket.ReadAll(ctx, key)
		if errors.Is(err, storage.ErrNotExist) {
			break
		}
		if err != nil {
			return State{}, fmt.Errorf("reading the ledger of %s: %w", l.Dataset, err)
		}
		if err := s.take(data); err != nil {
			return State{}, fmt.Errorf("ledger of %s, entry %s: %w; nothing was spent; restore the entry from a backup", l.Dataset, key, err)
		}
	}
	return s, l.noneBeyond(ctx, len(s.Entries))
}

// Head is the SHA-256 of the last entry, "" of an empty ledger. It fixes the whole chain up to
// there: whoever has kept it can tell whether entries were cut off the end since, which the
// chain alone cannot. It stays inside the boundary: the entries name the graph's hash, so the
// head of a published ledger would let somebody test guesses of the graph.
func (s State) Head() string { return s.head }

// Holds gives the number of the entry whose hash is head, which may be cut short to at least
// 12 digits; 0 where the chain has none.
func (s State) Holds(head string) int {
	if len(head) < 12 {
		return 0
	}
	for i, h := range s.hashes {
		if strings.HasPrefix(h, strings.ToLower(head)) {
			return i + 1
		}
	}
	return 0
}

// noneBeyond makes a gap an error: an entry after the end of the chain means that one
// in between is gone, and with it a spend.
func (l *Ledger) noneBeyond(ctx context.Context, last int) error {
	keys, err := l.bucket.List(ctx, "")
	if err != nil {
		return fmt.Errorf("listing the ledger of %s: %w", l.Dataset, err)
	}
	for _, k := range keys {
		var n int
		// An entry that arrived since the chain was read is the next one, not a gap.
		if _, err := fmt.Sscanf(k, "%08d.json", &n); err == nil && n > last+1 {
			if ok, err := l.bucket.Exists(ctx, entryKey(last+1)); err != nil || ok {
				return err
			}
			return fmt.Errorf("ledger of %s: entry %s is missing but %s exists; nothing was spent; restore it from a backup", l.Dataset, entryKey(last+1), k)
		}
	}
	return nil
}

func (s *State) take(data []byte) error {
	var e Entry
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return fmt.Errorf("is not a ledger entry: %w", err)
	}
	switch {
	case e.Version != 1:
		return fmt.Errorf("has version %d, this tool knows 1", e.Version)
	case e.Sequence != len(s.Entries)+1:
		return fmt.Errorf("says it is entry %d", e.Sequence)
	case e.Previous != s.head:
		return errors.New("does not carry the hash of the entry before it: one of the two was changed")
	}
	if err := s.apply(e); err != nil {
		return err
	}
	s.Entries = append(s.Entries, e)
	s.head = hashHex(data)
	s.hashes = append(s.hashes, s.head)
	return nil
}

func (s *State) apply(e Entry) error {
	switch e.Kind {
	case KindLimit:
		if e.Limit == nil {
			return errors.New("has no limit")
		}
		s.Limits[e.Unit] = *e.Limit
		return e.Limit.Validate()
	case KindReserve:
		if e.Cost == nil || e.Target == nil || e.ID == "" {
			return errors.New("has no cost, guarantee or id")
		}
		if _, ok := s.Find(e.ID); ok {
			return fmt.Errorf("repeats reservation %s", e.ID)
		}
		if e.Cost.Pure.Sign() < 0 || e.Cost.Rho.Sign() < 0 {
			return errors.New("has a negative cost")
		}
		s.Reservations = append(s.Reservations, Reservation{Reserve: e, Status: Reserved})
		return nil
	case KindCommit, KindVoid:
		r, ok := s.Find(e.ID)
		if !ok || r.Status != Reserved {
			return fmt.Errorf("is a %s of %s, which is no open reservation", e.Kind, e.ID)
		}
		if e.Kind == KindCommit {
			r.Status, r.Commit = Committed, &e
		} else {
			r.Status, r.Void = Voided, &e
		}
		return nil
	}
	return fmt.Errorf("has unknown kind %q", e.Kind)
}

// Find gives the reservation of an id.
func (s *State) Find(id string) (*Reservation, bool) {
	for i := range s.Reservations {
		if s.Reservations[i].Reserve.ID == id {
			return &s.Reservations[i], true
		}
	}
	return nil, false
}

// Spent adds up what counts against the unit now: every reservation that is not void,
// within the current period where the limit renews.
func (s State) Spent(u Unit) Cost {
	var since time.Time
	if m, ok := s.Limits[u]; ok {
		since, _ = periodStart(m.Renew, s.now) // validated when it was taken
	}
	total := Cost{}
	for _, r := range s.Reservations {
		if r.Reserve.Unit == u && r.Status != Voided && !r.Reserve.Time.Before(since) {
			total = total.Plus(*r.Reserve.Cost)
		}
	}
	return total
}

// RefusedError says that a release would pass the data set's limit, or that the data
// set's budget is kept in another unit. Nothing was spent.
type RefusedError struct{ Message string }

func (e *RefusedError) Error() string { return e.Message }

// admit decides whether a request fits.
func (s State) admit(l *Ledger, r Request) error {
	limit, ok := s.Limits[r.Unit]
	if !ok {
		for u, m := range s.Limits {
			return &RefusedError{fmt.Sprintf("data set %s has a budget for unit %s (%s) and none for unit %s: budgets of different units do not add up; set one with `privcom budget init --unit %s`",
				l.Dataset, u, m, r.Unit, r.Unit)}
		}
		return nil
	}
	if r.Unit.PerVertex() && r.DegreeBound < limit.DegreeBound {
		return &RefusedError{fmt.Sprintf("the budget of data set %s is for people with up to %d contacts, and this release would protect only those with up to %d so well: give a degree bound of at least %d; nothing was spent and no noise was drawn",
			l.Dataset, limit.DegreeBound, r.DegreeBound, limit.DegreeBound)}
	}
	spent := s.Spent(r.Unit)
	if limit.allows(spent.Plus(r.Cost)) {
		return nil
	}
	return &RefusedError{fmt.Sprintf("the budget of data set %s would be passed: spent %s, requested %s, together %s, limit %s (unit %s); nothing was spent and no noise was drawn",
		l.Dataset, limit.describe(spent), limit.describe(r.Cost), limit.describe(spent.Plus(r.Cost)), limit, r.Unit)}
}

// Passed says why a limit would be passed by what is spent already, under which every
// release would be refused; nil where it would not.
func (m Limit) Passed(s State, u Unit) error {
	if spent := s.Spent(u); !spent.IsZero() && !m.allows(spent) {
		return fmt.Errorf("the limit %s is below what is spent, %s: every release would be refused", m, m.describe(spent))
	}
	for _, r := range s.Reservations {
		if r.Reserve.Unit == u && r.Status != Voided && u.PerVertex() && r.Reserve.DegreeBound < m.DegreeBound {
			return fmt.Errorf("reservation %s was made for people with up to %d contacts: the limit cannot hold for up to %d", r.Reserve.ID, r.Reserve.DegreeBound, m.DegreeBound)
		}
	}
	return nil
}

// Remaining says what a limit leaves after a cost, in its own measure, and how many more
// releases like last fit (nil without one; 10000 stands for many).
func (m Limit) Remaining(spent Cost, last *Entry) (string, *int) {
	var left string
	if m.Rho != nil {
		left = "rho " + decimalMax0(m.Rho.Sub(spent.Rho)).String()
	} else {
		// ε does not subtract under composition: say what one more release may cost, in ρ.
		rho := Decimal{}
		if eps := m.Epsilon.Sub(spent.Pure); eps.Sign() > 0 {
			rho = decimalMax0(RhoOf(eps, *m.Delta).Sub(spent.Rho))
		}
		left = fmt.Sprintf("rho %s (a single release of epsilon %s at delta %s)", rho, EpsilonOf(rho, *m.Delta), *m.Delta)
	}
	if last == nil {
		return left, nil
	}
	nights, total := 0, spent.Plus(*last.Cost)
	for ; nights < 10_000 && m.allows(total); nights++ {
		total = total.Plus(*last.Cost)
	}
	return left, &nights
}

func decimalMax0(x Decimal) Decimal {
	if x.Sign() < 0 {
		return Decimal{}
	}
	return x
}
