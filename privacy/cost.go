package privacy

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Cost is what a mechanism or a release uses up: a pure ε part and a zCDP part.
// Both compose by addition.
type Cost struct {
	Pure Decimal `json:"pure_epsilon"` // ε of the pure-DP parts
	Rho  Decimal `json:"rho"`          // ρ of the zCDP parts
}

// Plus is the composition of two costs.
func (c Cost) Plus(d Cost) Cost { return Cost{c.Pure.Add(d.Pure), c.Rho.Add(d.Rho)} }

// Epsilon is the certified ε at δ: the pure part plus the conversion of ρ.
func (c Cost) Epsilon(delta Decimal) Decimal {
	return c.Pure.Add(EpsilonOf(c.Rho, delta))
}

// GaussianDelta is the reference curve of a continuous Gaussian of the same ρ, at what ε
// leaves after the pure part: not certified.
func (c Cost) GaussianDelta(eps Decimal) float64 {
	return GaussianDelta(math.Sqrt(2*c.Rho.Float()), eps.Sub(c.Pure).Float())
}

// Within reports whether c does not pass limit in either part.
func (c Cost) Within(limit Cost) bool {
	return c.Pure.Cmp(limit.Pure) <= 0 && c.Rho.Cmp(limit.Rho) <= 0
}

// IsZero reports whether nothing is spent.
func (c Cost) IsZero() bool { return c.Pure.Sign() == 0 && c.Rho.Sign() == 0 }

// Target is the guarantee a user asks for.
type Target struct {
	Epsilon Decimal `json:"epsilon"`
	Delta   Decimal `json:"delta"`
}

var smallestEpsilon = decimalOf(math.Ldexp(1, -50), false)

// Validate lists every fault of the target with the bound that it breaks.
func (t Target) Validate() error {
	var errs []error
	if t.Epsilon.Cmp(smallestEpsilon) < 0 {
		errs = append(errs, fmt.Errorf("epsilon is %s, must be at least 2^-50", t.Epsilon))
	}
	if t.Epsilon.Cmp(MustDecimal("1e9")) > 0 {
		errs = append(errs, fmt.Errorf("epsilon is %s, must be at most 1e9", t.Epsilon))
	}
	if t.Delta.Cmp(MustDecimal("1e-300")) < 0 || t.Delta.Cmp(MustDecimal("1")) >= 0 {
		errs = append(errs, fmt.Errorf("delta is %s, must be at least 1e-300 and below 1", t.Delta))
	}
	return errors.Join(errs...)
}

// Group is the cost for somebody who has m vertices (several accounts): changing all of
// them is a path of m neighbouring graphs, so the pure part grows with m and ρ with m²
// (Bun and Steinke 2016, Proposition 27: group privacy of zCDP).
func (c Cost) Group(m int64) Cost {
	k := MustDecimal(strconv.FormatInt(m, 10))
	return Cost{Pure: c.Pure.Mul(k, true), Rho: c.Rho.Mul(k.Mul(k, true), true)}
}
