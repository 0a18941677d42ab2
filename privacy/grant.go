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
type Grant struct {
	ledger  *Ledger
	entry   Entry
	mu      sync.Mutex
	spent   Cost
	closed  bool
	charges []Charge
}

// Charge is the public record of one mechanism that ran.
type Charge struct {
	Kind   string   `json:"kind"`   // "matrix", "count", "square"
	Sigma2 *big.Int `json:"sigma2"` // variance parameter of the discrete Gaussian, in squared units
	Rho    Decimal  `json:"rho"`
	square func(d int64) *big.Int
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
// made for: ρ(d) = Σ S_t(d)²/2σ_t², rounded up.
func (g *Grant) CostAt(d int64) Cost {
	g.mu.Lock()
	defer g.mu.Unlock()
	sum := new(big.Rat)
	for _, c := range g.charges {
		sum.Add(sum, new(big.Rat).SetFrac(c.square(d), new(big.Int).Lsh(c.Sigma2, 1)))
	}
	return Cost{Rho: ratUp(sum)}
}

// charge books ρ for a mechanism before its noise is drawn and returns σ² = ⌈S²/2ρ⌉,
// so that S²/2σ² ≤ ρ holds exactly.
func (g *Grant) charge(kind string, rho Decimal, square func(d int64) *big.Int) (*big.Int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, fmt.Errorf("privacy: grant %s is closed; a release draws its noise once", g.entry.ID)
	}
	if rho.Sign() <= 0 {
		return nil, fmt.Errorf("privacy: a mechanism must be given a positive rho, not %s", rho)
	}
	after := g.spent.Plus(Cost{Rho: rho})
	if !after.Within(*g.entry.Cost) {
		return nil, fmt.Errorf("privacy: the %s query would pass reservation %s: rho %s used, %s asked, %s reserved",
			kind, g.entry.ID, g.spent.Rho, rho, g.entry.Cost.Rho)
	}
	s2 := square(g.entry.DegreeBound)
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
	g.spent = after
	g.charges = append(g.charges, Charge{Kind: kind, Sigma2: sigma2, Rho: rho, square: square})
	return sigma2, nil
}

// Matrix adds noise for ρ to the private answer of q, in place: afterwards data is
// public. The noise fits every vertex of degree ≤ the reservation's degree bound.
func (g *Grant) Matrix(q Query, rho Decimal, data []int64) (*big.Int, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if q.Unit != g.entry.Unit {
		return nil, fmt.Errorf("privacy: a query of unit %s cannot use a reservation of unit %s", q.Unit, g.entry.Unit)
	}
	if len(data) != q.N*q.K {
		return nil, fmt.Errorf("privacy: answer has %d entries, want %d×%d", len(data), q.N, q.K)
	}
	sigma2, err := g.charge("matrix", rho, q.Squared)
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

// Count releases a number of edges with noise for ρ.
func (g *Grant) Count(n int, rho Decimal, count int64) (int64, *big.Int, error) {
	unit := g.entry.Unit
	sigma2, err := g.charge("count", rho, func(d int64) *big.Int { return CountSquared(unit, n, d) })
	if err != nil {
		return 0, nil, err
	}
	sp, err := newSampler(sigma2)
	if err != nil {
		return 0, nil, err
	}
	out := []int64{count}
	addNoise(out, sp)
	return out[0], sigma2, nil
}

// Square releases an integer of sensitivity √s2 of any size with noise for ρ: the paper
// profile's ‖H̃v‖² (Algorithm 1, line 6).
func (g *Grant) Square(rho Decimal, s2 *big.Int, value *big.Int) (*big.Int, *big.Int, error) {
	sigma2, err := g.charge("square", rho, func(int64) *big.Int { return s2 })
	if err != nil {
		return nil, nil, err
	}
	s := newStream()
	defer s.close()
	y := newCKS(new(big.Rat).SetInt(sigma2)).drawBig(s)
	return y.Add(y, value), sigma2, nil
}

// Commit records the release and closes the grant. A reservation that is never
// committed stays spent.
func (g *Grant) Commit(ctx context.Context, release string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("privacy: grant %s is closed already", g.entry.ID)
	}
	_, err := g.ledger.update(ctx, func(s State) (Entry, error) {
		r, ok := s.find(g.entry.ID)
		if !ok || r.Status != Reserved {
			return Entry{}, errors.New("privacy: the reservation is not open any more")
		}
		return Entry{Kind: KindCommit, Unit: g.entry.Unit, ID: g.entry.ID, Release: release}, nil
	})
	if err == nil {
		g.closed = true
	}
	return err
}
