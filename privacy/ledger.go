package privacy

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/privcom/privcom/storage"
)

// Ledger is the record of what one named data set has spent. It is a chain of
// create-if-absent objects 00000001.json, 00000002.json, … under the data set's name;
// each entry carries the SHA-256 of the one before, so that a lost, changed or
// reordered entry is found. Nothing is ever overwritten.
//
// The name stands for the people, not for a file: last night's graph and tonight's
// share one ledger.
type Ledger struct {
	bucket  *storage.Bucket
	Dataset string
	now     func() time.Time
}

var datasetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// OpenLedger names the ledger of a data set in a bucket; nothing is read or written.
func OpenLedger(bucket *storage.Bucket, dataset string) (*Ledger, error) {
	if !datasetName.MatchString(dataset) {
		return nil, fmt.Errorf("data set name %q: want 1 to 100 letters, digits, '.', '_' or '-', starting with a letter or digit", dataset)
	}
	return &Ledger{bucket: bucket.Sub(dataset), Dataset: dataset, now: time.Now}, nil
}

// URL is where the ledger's entries are.
func (l *Ledger) URL() string { return l.bucket.URL() }

// Kind is what a ledger entry says.
type Kind string

const (
	KindLimit   Kind = "limit"   // the budget is set
	KindReserve Kind = "reserve" // spent, before any noise is drawn
	KindCommit  Kind = "commit"  // the reservation became a release
	KindVoid    Kind = "void"    // the reservation drew no noise; a person says why
)

// Entry is one object of the chain.
type Entry struct {
	Version     int       `json:"version"`
	Sequence    int       `json:"sequence"`
	Previous    string    `json:"previous_sha256,omitempty"`
	Time        time.Time `json:"time"`
	Kind        Kind      `json:"kind"`
	ID          string    `json:"id,omitempty"`
	Unit        Unit      `json:"unit"`
	DegreeBound int64     `json:"degree_bound,omitempty"`
	Cost        *Cost     `json:"cost,omitempty"`
	Target      *Target   `json:"guarantee,omitempty"`
	Graph       string    `json:"graph_sha256,omitempty"`
	Release     string    `json:"release,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	Limit       *Limit    `json:"limit,omitempty"`
}

// Limit is a data set's budget: either an ε at a δ, or a ρ; per period when Renew is
// set.
type Limit struct {
	Epsilon *Decimal `json:"epsilon,omitempty"`
	Delta   *Decimal `json:"delta,omitempty"`
	Rho     *Decimal `json:"rho,omitempty"`
	Renew   string   `json:"renew,omitempty"` // "", daily, weekly, monthly, yearly
	// DegreeBound: per vertex, no release may promise less to people with this many contacts,
	// so that the limit is one for all of them. 0: each release has a bound of its own, and
	// the sum holds up to the smallest.
	DegreeBound int64 `json:"degree_bound,omitempty"`
}

// Validate lists every fault of a limit.
func (m Limit) Validate() error {
	var errs []error
	switch {
	case m.Rho != nil && m.Epsilon != nil:
		errs = append(errs, errors.New("a limit is either an epsilon or a rho, not both"))
	case m.Rho == nil && m.Epsilon == nil:
		errs = append(errs, errors.New("a limit needs an epsilon or a rho"))
	case m.Rho != nil && m.Rho.Sign() <= 0:
		errs = append(errs, fmt.Errorf("rho limit is %s, must be positive", m.Rho))
	case m.Epsilon != nil && m.Delta == nil:
		errs = append(errs, errors.New("an epsilon limit needs a delta"))
	case m.Epsilon != nil:
		errs = append(errs, Target{*m.Epsilon, *m.Delta}.Validate())
	}
	if m.DegreeBound < 0 {
		errs = append(errs, fmt.Errorf("degree bound is %d, must be at least 1, or 0 for none", m.DegreeBound))
	}
	if _, err := periodStart(m.Renew, time.Now()); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (m Limit) String() string {
	s := ""
	if m.Rho != nil {
		s = "rho " + m.Rho.String()
	} else {
		s = fmt.Sprintf("epsilon %s at delta %s", m.Epsilon, m.Delta)
	}
	if m.DegreeBound > 0 {
		s += fmt.Sprintf(", for people with up to %d contacts", m.DegreeBound)
	}
	if m.Renew != "" {
		s += ", renewed " + m.Renew
	}
	return s
}

// allows reports whether a total cost stays within the limit.
func (m Limit) allows(c Cost) bool {
	if m.Rho != nil {
		return c.Pure.Sign() == 0 && c.Rho.Cmp(*m.Rho) <= 0
	}
	return c.Epsilon(*m.Delta).Cmp(*m.Epsilon) <= 0
}

// describe is a cost in the limit's own measure.
func (m Limit) describe(c Cost) string {
	if m.Rho != nil {
		if c.Pure.Sign() != 0 {
			return fmt.Sprintf("rho %s and pure epsilon %s", c.Rho, c.Pure)
		}
		return "rho " + c.Rho.String()
	}
	return fmt.Sprintf("epsilon %s", c.Epsilon(*m.Delta))
}

// periodStart is the first moment of the period that t lies in (UTC); the zero time
// where nothing renews.
func periodStart(renew string, t time.Time) (time.Time, error) {
	y, m, d := t.UTC().Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	switch renew {
	case "":
		return time.Time{}, nil
	case "daily":
		return day, nil
	case "weekly":
		return day.AddDate(0, 0, -int(day.Weekday()+6)%7), nil
	case "monthly":
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC), nil
	case "yearly":
		return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), nil
	}
	return time.Time{}, fmt.Errorf("renewal %q is not one of daily, weekly, monthly, yearly", renew)
}

// errTaken says that somebody else's entry stands where ours was to go.
var errTaken = errors.New("privacy: another writer was faster")

// append writes e as the next entry after head; errTaken when somebody else was first.
func (l *Ledger) append(ctx context.Context, head State, e Entry) (Entry, error) {
	e.Version, e.Sequence, e.Previous = 1, len(head.Entries)+1, head.head
	e.Time = head.now.UTC().Truncate(time.Millisecond) // the period for which decide looked
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return e, err
	}
	data = append(data, '\n')
	key := entryKey(e.Sequence)
	err = l.bucket.Create(ctx, key, data)
	if err == nil {
		return e, nil
	}
	// Whatever the error, the entry may stand: answers get lost, and a request that a client
	// or a file server repeats meets its own object as a conflict. Who holds the place decides.
	have, readErr := l.bucket.ReadAll(ctx, key)
	switch {
	case errors.Is(readErr, storage.ErrNotExist) && storage.Class(err) == storage.ClassUser:
		// No permission, a full disk: the write was refused, and nothing of it is in flight.
		return e, fmt.Errorf("the ledger of %s cannot be written; nothing was spent: %w", l.Dataset, err)
	case readErr != nil:
		return e, fmt.Errorf("whether entry %s of the ledger of %s was written is unknown; if it was, it counts: look with `privcom budget show`: %w",
			key, l.Dataset, errors.Join(err, readErr))
	case bytes.Equal(have, data):
		return e, nil
	}
	return e, errTaken
}

func entryKey(sequence int) string { return fmt.Sprintf("%08d.json", sequence) }

// update reads the state and appends what decide returns (nothing, where that has no
// kind), again from the start while another writer is faster.
func (l *Ledger) update(ctx context.Context, decide func(State) (Entry, error)) (Entry, error) {
	for {
		state, err := l.State(ctx)
		if err != nil {
			return Entry{}, err
		}
		e, err := decide(state)
		if err != nil || e.Kind == "" {
			return e, err
		}
		e, err = l.append(ctx, state, e)
		if !errors.Is(err, errTaken) {
			return e, err
		}
		if err := ctx.Err(); err != nil {
			return Entry{}, err
		}
	}
}

// Datasets lists the data sets that have a ledger in a bucket, by name.
func Datasets(ctx context.Context, bucket *storage.Bucket) ([]string, error) {
	keys, err := bucket.List(ctx, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range keys {
		name, file, ok := strings.Cut(k, "/")
		if ok && strings.HasSuffix(file, ".json") && datasetName.MatchString(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// SetLimit records the data set's budget for a unit. It replaces an earlier limit;
// what is spent stays spent.
func (l *Ledger) SetLimit(ctx context.Context, u Unit, m Limit) error {
	if err := m.Validate(); err != nil {
		return err
	}
	_, err := l.update(ctx, func(State) (Entry, error) {
		return Entry{Kind: KindLimit, Unit: u, Limit: &m}, nil
	})
	return err
}

// Void gives back a reservation under which no noise was drawn, for a written reason.
// A committed release is never given back.
func (l *Ledger) Void(ctx context.Context, id, reason string) error {
	if len(strings.TrimSpace(reason)) < 10 {
		return errors.New("voiding a reservation needs a written reason of at least 10 characters")
	}
	_, err := l.update(ctx, func(s State) (Entry, error) {
		r, ok := s.Find(id)
		switch {
		case !ok:
			return Entry{}, fmt.Errorf("ledger of %s has no reservation %s", l.Dataset, id)
		case r.Status == Committed:
			return Entry{}, fmt.Errorf("reservation %s is committed as release %s: it was published and stays spent", id, r.Commit.Release)
		case r.Status == Voided:
			return Entry{}, fmt.Errorf("reservation %s is void already", id)
		}
		return Entry{Kind: KindVoid, Unit: r.Reserve.Unit, ID: id, Reason: reason}, nil
	})
	return err
}

// Request is what a release asks of the ledger.
type Request struct {
	// ID names the reservation, so that a run that was interrupted finds its own again:
	// what NewReservationID gives. "" draws one.
	ID          string
	Unit        Unit
	DegreeBound int64
	Cost        Cost
	Target      Target
	Graph       string // hash of the input's manifest, recorded beside
}

// Reserve spends the cost durably and returns the grant that alone can draw noise.
// A refusal is a *RefusedError and has spent nothing.
//
// A request whose ID the ledger has already is the same run once more: it gets the grant
// of that reservation and nothing is spent again, if everything it asks is what was
// reserved. Of a committed reservation the grant is one to account by, which draws no
// more noise.
func (l *Ledger) Reserve(ctx context.Context, r Request) (*Grant, error) {
	if err := r.Target.Validate(); err != nil {
		return nil, err
	}
	if r.Cost.Pure.Sign() < 0 || r.Cost.Rho.Sign() < 0 || r.Cost.IsZero() {
		return nil, fmt.Errorf("a reservation must cost something, not pure epsilon %s and rho %s", r.Cost.Pure, r.Cost.Rho)
	}
	id := r.ID
	if id == "" {
		id = NewReservationID()
	}
	var old *Reservation
	e, err := l.update(ctx, func(s State) (Entry, error) {
		if have, ok := s.Find(id); ok {
			old = have
			return Entry{}, r.sameAs(l, have)
		}
		if err := s.admit(l, r); err != nil {
			return Entry{}, err
		}
		return Entry{Kind: KindReserve, Unit: r.Unit, ID: id, DegreeBound: r.DegreeBound, Cost: &r.Cost,
			Target: &r.Target, Graph: r.Graph}, nil
	})
	if err != nil {
		return nil, err
	}
	if old != nil {
		return &Grant{ledger: l, entry: old.Reserve, frozen: old.Status == Committed}, nil
	}
	return &Grant{ledger: l, entry: e}, nil
}

// sameAs refuses a reservation that was made for something else, or given back.
func (r Request) sameAs(l *Ledger, have *Reservation) error {
	e := have.Reserve
	if have.Status == Voided {
		return fmt.Errorf("privacy: %w (%s: %s)", ErrVoided, e.ID, have.Void.Reason)
	}
	if e.Unit != r.Unit || e.DegreeBound != r.DegreeBound || e.Graph != r.Graph ||
		!e.Cost.Within(r.Cost) || !r.Cost.Within(*e.Cost) ||
		e.Target.Epsilon.Cmp(r.Target.Epsilon) != 0 || e.Target.Delta.Cmp(r.Target.Delta) != 0 {
		return fmt.Errorf("privacy: reservation %s of data set %s was made for another release (unit %s, epsilon %s, graph %.12s…): a run is taken up with the settings that it was started with",
			e.ID, l.Dataset, e.Unit, e.Target.Epsilon, e.Graph)
	}
	return nil
}

// NewReservationID draws a name that no reservation has.
func NewReservationID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func hashHex(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
