package privacy

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
)

// Grant is the right to draw noise up to a reserved cost. Only Ledger.Reserve makes
// one, after the reservation is durable. It is used once: after Commit every method
// is an error.
//
// A run that was interrupted gets a grant of the same reservation. Answers that it has
// recorded are booked with the methods named …Recorded and not drawn again, so that the
// grant's account is that of the whole run.
type Grant struct {
	ledger  *Ledger
	entry   Entry
	frozen  bool // the reservation is committed: nothing is drawn any more
	mu      sync.Mutex
	spent   Cost
	closed  bool
	charges []Charge
}

// Charge is the public record of one mechanism that ran.
type Charge struct {
	Kind   string   // "matrix", "count", "counts", "square", "labels"
	Cost   Cost     // booked, for the reservation's degree bound
	Sigma2 *big.Int // variance parameter of a discrete Gaussian, in squared units; else nil
	S2     *big.Int // its squared sensitivity at the degree bound
	// at is the cost for degree ≤ d, rounded up.
	at func(d int64) Cost
}

// ID is the ledger entry's id.
func (g *Grant) ID() string { return g.entry.ID }

// Entry is the reservation as written.
func (g *Grant) Entry() Entry { return g.entry }

// Charges lists what ran, in order.
func (g *Grant) Charges() []Charge {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Charge(nil), g.charges...)
}

// CostAt is the certified cost for a vertex of degree ≤ d, whatever bound the noise was
// made for: pure parts, and ρ(d) = Σ S_t(d)²/2σ_t² and the like, each rounded up.
func (g *Grant) CostAt(d int64) Cost {
	g.mu.Lock()
	defer g.mu.Unlock()
	sum := Cost{}
	for _, c := range g.charges {
		sum = sum.Plus(c.at(d))
	}
	return sum
}

// book enters a mechanism's cost before it draws; it refuses to pass the reservation.
func (g *Grant) book(c Charge) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("privacy: grant %s is closed; a release draws its noise once", g.entry.ID)
	}
	after := g.spent.Plus(c.Cost)
	if !after.Within(*g.entry.Cost) {
		return fmt.Errorf("privacy: the %s query would pass reservation %s: pure epsilon %s and rho %s used, %s and %s asked, %s and %s reserved",
			c.Kind, g.entry.ID, g.spent.Pure, g.spent.Rho, c.Cost.Pure, c.Cost.Rho, g.entry.Cost.Pure, g.entry.Cost.Rho)
	}
	g.spent = after
	g.charges = append(g.charges, c)
	return nil
}

// gaussian books ρ for a query of squared sensitivity square(d) and returns
// σ² = ⌈S²/2ρ⌉, so that S²/2σ² ≤ ρ holds exactly.
func (g *Grant) gaussian(kind string, rho Decimal, square func(d int64) *big.Int) (*big.Int, error) {
	if rho.Sign() <= 0 {
		return nil, fmt.Errorf("privacy: a mechanism must be given a positive rho, not %s", rho)
	}
	s2 := square(g.entry.DegreeBound)
	s2.Rsh(s2, sensitivityShift)
	if s2.Sign() <= 0 {
		// A query that cannot move still gets noise of one unit: nothing is released raw.
		s2 = big.NewInt(1)
	}
	ratio := new(big.Rat).SetInt(s2)
	ratio.Quo(ratio, new(big.Rat).Mul(big.NewRat(2, 1), rho.Rat()))
	sigma2, rest := new(big.Int).QuoRem(ratio.Num(), ratio.Denom(), new(big.Int))
	if rest.Sign() > 0 || sigma2.Sign() == 0 {
		sigma2.Add(sigma2, big.NewInt(1))
	}
	twice := new(big.Int).Lsh(sigma2, 1)
	return sigma2, g.book(Charge{Kind: kind, Cost: Cost{Rho: rho}, Sigma2: sigma2, S2: s2,
		at: func(d int64) Cost { return Cost{Rho: ratUp(new(big.Rat).SetFrac(square(d), twice))} }})
}

// mayDraw refuses noise on a reservation that is committed.
func (g *Grant) mayDraw(kind string) error {
	if g.frozen {
		return fmt.Errorf("privacy: reservation %s is committed and its %s answer is not recorded any more: a release draws its noise once", g.entry.ID, kind)
	}
	return nil
}

// integers adds noise for ρ to integers in place.
func (g *Grant) integers(kind string, rho Decimal, square func(d int64) *big.Int, data []int64) (*big.Int, error) {
	if err := g.mayDraw(kind); err != nil {
		return nil, err
	}
	sigma2, err := g.gaussian(kind, rho, square)
	if err != nil {
		return nil, err
	}
	sp, err := newSampler(sigma2)
	if err != nil {
		return nil, err
	}
	addNoise(data, sp)
	return sigma2, nil
}

// Matrix adds noise for ρ to the private answer of q, in place: afterwards data is
// public. The noise fits every vertex of degree ≤ the reservation's degree bound.
func (g *Grant) Matrix(q Query, rho Decimal, data []int64) (*big.Int, error) {
	if err := g.admits(q); err != nil {
		return nil, err
	}
	if len(data) != q.N*q.K {
		return nil, fmt.Errorf("privacy: answer has %d entries, want %d×%d", len(data), q.N, q.K)
	}
	return g.integers("matrix", rho, q.Squared, data)
}

// MatrixRecorded books what Matrix books, for an answer that is recorded.
func (g *Grant) MatrixRecorded(q Query, rho Decimal) (*big.Int, error) {
	if err := g.admits(q); err != nil {
		return nil, err
	}
	return g.gaussian("matrix", rho, q.Squared)
}

func (g *Grant) admits(q Query) error {
	if err := q.Validate(); err != nil {
		return err
	}
	if q.Unit != g.entry.Unit {
		return fmt.Errorf("privacy: a query of unit %s cannot use a reservation of unit %s", q.Unit, g.entry.Unit)
	}
	return nil
}

// Counts adds noise for ρ to numbers of edges by class, in place: data[c] counts the edges
// of class c, where every edge is in exactly one class and the classes are public. Lemma 6:
// the L2 sensitivity is that of one total.
func (g *Grant) Counts(n int, rho Decimal, data []int64) (*big.Int, error) {
	return g.integers("counts", rho, g.countSquared(n), data)
}

// CountsRecorded books what Counts books, for an answer that is recorded.
func (g *Grant) CountsRecorded(n int, rho Decimal) (*big.Int, error) {
	return g.gaussian("counts", rho, g.countSquared(n))
}

func (g *Grant) countSquared(n int) func(d int64) *big.Int {
	unit := g.entry.Unit
	return func(d int64) *big.Int { return CountSquared(unit, n, d) }
}

// Square releases an integer of sensitivity √s2 of any size with noise for ρ: the paper
// profile's ‖H̃v‖² (Algorithm 1, line 6).
func (g *Grant) Square(rho Decimal, s2 *big.Int, value *big.Int) (*big.Int, *big.Int, error) {
	if err := g.mayDraw("square"); err != nil {
		return nil, nil, err
	}
	sigma2, err := g.SquareRecorded(rho, s2)
	if err != nil {
		return nil, nil, err
	}
	s := newStream()
	defer s.close()
	y := newCKS(new(big.Rat).SetInt(sigma2)).drawBig(s)
	return y.Add(y, value), sigma2, nil
}

// SquareRecorded books what Square books, for an answer that is recorded.
func (g *Grant) SquareRecorded(rho Decimal, s2 *big.Int) (*big.Int, error) {
	return g.gaussian("square", rho, func(int64) *big.Int { return new(big.Int).Set(s2) })
}

// ErrVoided says that a reservation was given back while its run was under way. What was
// drawn on it counts nowhere and must not be published.
var ErrVoided = errors.New("the reservation was voided while its run was under way")

// Check reports whether the reservation still counts and is not committed to another
// release, by a state of its ledger.
func (g *Grant) Check(s State, release string) error {
	r, ok := s.Find(g.entry.ID)
	switch {
	case !ok:
		return fmt.Errorf("privacy: reservation %s is not in the ledger any more", g.entry.ID)
	case r.Status == Voided:
		return fmt.Errorf("privacy: %w (%s: %s)", ErrVoided, g.entry.ID, r.Void.Reason)
	case r.Status == Committed && r.Commit.Release != release:
		return fmt.Errorf("privacy: reservation %s is committed already, as release %s", g.entry.ID, r.Commit.Release)
	}
	return nil
}

// Commit records the release and closes the grant. A reservation that is never
// committed stays spent. After an error it may be tried again: a commit of the same
// release that was written after all counts as this one.
func (g *Grant) Commit(ctx context.Context, release string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("privacy: grant %s is closed already", g.entry.ID)
	}
	_, err := g.ledger.update(ctx, func(s State) (Entry, error) {
		if r, ok := s.Find(g.entry.ID); ok && r.Status == Committed && r.Commit.Release == release {
			return Entry{}, nil
		}
		if err := g.Check(s, release); err != nil {
			return Entry{}, err
		}
		return Entry{Kind: KindCommit, Unit: g.entry.Unit, ID: g.entry.ID, Release: release}, nil
	})
	if err == nil {
		g.closed = true
	}
	return err
}
