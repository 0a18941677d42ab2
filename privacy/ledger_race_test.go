package privacy

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/privcom/privcom/storage"
)

// Schedules: two ledgers on one bucket, every order of their storage calls, and in each
// order every single fault.

// choices walks a tree of decisions depth first.
type choices struct {
	path, width []int
	at          int
}

// pick is the next decision among n.
func (c *choices) pick(n int) int {
	if c.at == len(c.path) {
		c.path, c.width = append(c.path, 0), append(c.width, n)
	}
	c.at++
	return c.path[c.at-1]
}

// next moves to the next leaf, false after the last.
func (c *choices) next() bool {
	c.at = 0
	for last := len(c.path) - 1; last >= 0; last-- {
		if c.path[last]++; c.path[last] < c.width[last] {
			c.path, c.width = c.path[:last+1], c.width[:last+1]
			return true
		}
	}
	return false
}

// stage lets one worker at a time run up to its next storage call.
type stage struct {
	place
	choices
	turn  []chan struct{}
	asks  []chan bool // true: at a call, false: at its end
	spare int         // faults that may still strike
}

// strikes are the answers that a storage call can get; a conflict is only ever the wrong
// answer to a create that was done.
var strikes = []error{nil, errInjected, storage.ErrExists}

func (s *stage) strike(op storage.Op, after bool) error {
	if s.spare == 0 {
		return nil
	}
	n := 2
	if after && op == storage.OpCreate {
		n = len(strikes)
	}
	err := strikes[s.pick(n)]
	if err != nil {
		s.spare--
	}
	return err
}

// ledger is worker w's, on the stage.
func (s *stage) ledger(w int) *Ledger {
	return s.place.ledger(storage.Faults{
		Before: func(op storage.Op, key string) error {
			// An entry that is there never changes: when it is read is all one.
			if there, err := s.bucket.Exists(s.t.Context(), key); op != storage.OpRead || err != nil || !there {
				s.wait(w)
			}
			return s.strike(op, false)
		},
		After: func(op storage.Op, _ string) error { return s.strike(op, true) },
	})
}

func (s *stage) wait(w int) {
	s.asks[w] <- true
	<-s.turn[w]
}

// play runs the workers to their end in the order that the choices give.
func (s *stage) play(workers ...func(*Ledger)) {
	s.turn, s.asks = nil, nil
	for range workers {
		s.turn, s.asks = append(s.turn, make(chan struct{})), append(s.asks, make(chan bool))
	}
	var ready []int
	for w, work := range workers {
		go func() {
			s.wait(w)
			work(s.ledger(w))
			s.asks[w] <- false
		}()
		<-s.asks[w]
		ready = append(ready, w)
	}
	for len(ready) > 0 {
		i := 0
		if len(ready) > 1 {
			i = s.pick(len(ready))
		}
		w := ready[i]
		s.turn[w] <- struct{}{}
		if !<-s.asks[w] {
			ready = slices.Delete(ready, i, i+1)
		}
	}
}

// everyOrder plays the workers in every order of their storage calls, and in each with
// every set of up to spare faults; begin prepares the place, check looks at the end.
func everyOrder(t *testing.T, spare int, begin func(s *stage) []func(*Ledger), check func(State)) {
	s := &stage{}
	orders := 0
	for more := true; more && !t.Failed(); more = s.next() {
		s.place, s.spare = newPlace(t, "mem://"), spare
		s.play(begin(s)...)
		check(s.state())
		orders++
	}
	if orders < 50 {
		t.Errorf("only %d orders were played", orders)
	}
	t.Logf("%d orders", orders)
}

// attempt is one worker's reservation and what came of it.
type attempt struct {
	grant *Grant
	err   error
}

func (a *attempt) reserve(t *testing.T) func(*Ledger) {
	return func(l *Ledger) { a.grant, a.err = l.Reserve(t.Context(), request("0.1")) }
}

func (a *attempt) check(t *testing.T, s State) {
	t.Helper()
	if a.err != nil {
		return
	}
	if r, ok := s.Find(a.grant.ID()); !ok || r.Status != Reserved {
		t.Error("a grant without its reservation")
	}
}

// raceFaults is how many faults a race has to bear at most.
var raceFaults = 1

func TestTwoReservationsNeverPassTheLimit(t *testing.T) {
	var a, b attempt
	everyOrder(t, raceFaults, func(s *stage) []func(*Ledger) {
		a, b = attempt{}, attempt{}
		s.limit()
		s.reserve()
		s.reserve() // one more fits
		return []func(*Ledger){a.reserve(t), b.reserve(t)}
	}, func(s State) {
		a.check(t, s)
		b.check(t, s)
		if a.err == nil && b.err == nil {
			t.Error("both were granted")
		}
		withinLimit(t, s)
		var refused *RefusedError
		if errors.As(a.err, &refused) && errors.As(b.err, &refused) {
			t.Error("both were refused although one fits")
		}
	})
}

func TestTwoReservationsThatFitAreBothKept(t *testing.T) {
	var a, b attempt
	everyOrder(t, raceFaults, func(s *stage) []func(*Ledger) {
		a, b = attempt{}, attempt{}
		return []func(*Ledger){a.reserve(t), b.reserve(t)}
	}, func(s State) {
		a.check(t, s)
		b.check(t, s)
		granted := 0
		for _, x := range []attempt{a, b} {
			if x.err == nil {
				granted++
			}
		}
		if n := len(s.Reservations); n < granted || n > 2 {
			t.Errorf("%d granted, %d written", granted, n)
		}
	})
}

func TestCommitAndVoidExcludeEachOther(t *testing.T) {
	var id string
	var commit, void error
	everyOrder(t, raceFaults, func(s *stage) []func(*Ledger) {
		g := s.reserve()
		id = g.ID()
		return []func(*Ledger){
			func(l *Ledger) { commit = through(g, l).Commit(t.Context(), "r1") },
			func(l *Ledger) { void = l.Void(t.Context(), id, "the run looks dead") },
		}
	}, func(s State) {
		r, ok := s.Find(id)
		switch {
		case !ok:
			t.Error("the reservation is gone")
		case commit == nil && r.Status != Committed, void == nil && r.Status != Voided:
			t.Errorf("commit %v, void %v, but it is %s", commit, void, r.Status)
		}
	})
}

func TestAVoidGivesRoomOnlyOnceItIsWritten(t *testing.T) {
	var a attempt
	var id string
	var void error
	everyOrder(t, raceFaults, func(s *stage) []func(*Ledger) {
		a = attempt{}
		s.limit()
		s.reserve()
		s.reserve()
		id = s.reserve().ID()
		return []func(*Ledger){a.reserve(t), func(l *Ledger) { void = l.Void(t.Context(), id, "the run never started") }}
	}, func(s State) {
		a.check(t, s)
		withinLimit(t, s)
		if r, _ := s.Find(id); void == nil && r.Status != Voided || a.err == nil && r.Status != Voided {
			t.Errorf("void %v, reservation %v, but the old one is %s", void, a.err, r.Status)
		}
	})
}

func TestALowerLimitBindsWhoeverComesAfterIt(t *testing.T) {
	var a attempt
	var init error
	everyOrder(t, raceFaults, func(s *stage) []func(*Ledger) {
		a = attempt{}
		s.limit()
		return []func(*Ledger){a.reserve(t), func(l *Ledger) { init = l.SetLimit(t.Context(), Edge, Limit{Rho: ptr(MustDecimal("0.05"))}) }}
	}, func(s State) {
		a.check(t, s)
		lowered := false
		for _, e := range s.Entries {
			lowered = lowered || e.Kind == KindLimit && e.Sequence > 1
			if lowered && e.Kind == KindReserve {
				t.Error("a reservation of 0.1 came after the limit of 0.05")
			}
		}
		if init == nil && !lowered {
			t.Error("init reported a limit that is not there")
		}
	})
}

// Many ledgers on a real folder, with faults by lot from a seed.
func TestManyLedgersUnderFaultsNeverPassTheLimit(t *testing.T) {
	for seed := range uint64(6) {
		p := newPlace(t, t.TempDir())
		p.limit()
		var mu sync.Mutex
		lot := rand.New(rand.NewPCG(seed, 0))
		strike := func(op storage.Op, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			if lot.IntN(8) == 0 {
				return errInjected
			}
			return nil
		}
		var granted []string
		var wg sync.WaitGroup
		for range 4 {
			l := p.ledger(storage.Faults{Before: strike, After: strike})
			wg.Go(func() {
				for range 4 {
					if g, err := l.Reserve(t.Context(), request("0.1")); err == nil {
						mu.Lock()
						granted = append(granted, g.ID())
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		s := p.state()
		withinLimit(t, s)
		for _, id := range granted {
			if r, ok := s.Find(id); !ok || r.Status != Reserved {
				t.Errorf("seed %d: grant %s has no reservation", seed, id)
			}
		}
	}
}
