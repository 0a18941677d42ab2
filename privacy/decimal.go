package privacy

import (
	"fmt"
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"
)

// Decimal is an exact decimal number: what the ledger adds up and what a user
// reads. It is never a binary float. The zero value is 0.
type Decimal struct{ d apd.Decimal }

// digits is the number of significant digits that a computed bound keeps when
// it is rounded outward.
const digits = 12

// exact has room for every sum of decimals that a ledger can hold; a sum that
// would need rounding is an error.
var exact = apd.Context{
	Precision: 200, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent,
	Traps: apd.DefaultTraps | apd.Inexact | apd.Rounded,
}

func rounded(up bool) *apd.Context {
	c := apd.Context{
		Precision: digits, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent,
		Rounding: apd.RoundFloor, Traps: apd.DefaultTraps,
	}
	if up {
		c.Rounding = apd.RoundCeiling
	}
	return &c
}

// ParseDecimal reads a finite decimal such as 0.5, 1e-5 or 12.
func ParseDecimal(s string) (Decimal, error) {
	d, _, err := apd.NewFromString(s)
	if err != nil || d.Form != apd.Finite {
		return Decimal{}, fmt.Errorf("%q is not a finite decimal number", s)
	}
	if d.NumDigits() > 100 || d.Exponent > 1000 || d.Exponent < -20000 {
		return Decimal{}, fmt.Errorf("%q has too many digits or too large an exponent", s)
	}
	d.Reduce(d)
	return Decimal{*d}, nil
}

// MustDecimal is ParseDecimal for constants.
func MustDecimal(s string) Decimal {
	d, err := ParseDecimal(s)
	if err != nil {
		panic(err)
	}
	return d
}

// decimalOf rounds a finite float to 12 significant digits, up or down.
func decimalOf(x float64, up bool) Decimal {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		panic("privacy: decimal of a float that is not finite")
	}
	var exactly, out apd.Decimal
	// A float64 is a dyadic rational; its exact decimal expansion is finite.
	text := new(big.Float).SetFloat64(x).Text('e', 800)
	if _, _, err := exactly.SetString(text); err != nil {
		panic(err)
	}
	if _, err := rounded(up).Round(&out, &exactly); err != nil {
		panic(err)
	}
	out.Reduce(&out)
	return Decimal{out}
}

// ratUp is the smallest decimal of 12 significant digits that is ≥ r.
func ratUp(r *big.Rat) Decimal { return ratRound(r, true) }

func ratRound(r *big.Rat, up bool) Decimal {
	num, den := new(apd.BigInt).SetMathBigInt(r.Num()), new(apd.BigInt).SetMathBigInt(r.Denom())
	var out apd.Decimal
	if _, err := rounded(up).Quo(&out, apd.NewWithBigInt(num, 0), apd.NewWithBigInt(den, 0)); err != nil {
		panic(err)
	}
	out.Reduce(&out)
	return Decimal{out}
}

// Rat is the exact value as a rational.
func (x Decimal) Rat() *big.Rat {
	c := x.d.Coeff.MathBigInt()
	if x.d.Negative {
		c = new(big.Int).Neg(c)
	}
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(abs32(x.d.Exponent))), nil)
	if x.d.Exponent >= 0 {
		return new(big.Rat).SetInt(new(big.Int).Mul(c, p))
	}
	return new(big.Rat).SetFrac(c, p)
}

func abs32(x int32) int32 { return max(x, -x) }

// Add is x + y, exactly.
func (x Decimal) Add(y Decimal) Decimal {
	var out apd.Decimal
	if _, err := exact.Add(&out, &x.d, &y.d); err != nil {
		// More than 200 digits: fall back to a bound that is never too small.
		if _, err := rounded(true).Add(&out, &x.d, &y.d); err != nil {
			panic(err)
		}
	}
	out.Reduce(&out)
	return Decimal{out}
}

// Sub is x − y, exactly.
func (x Decimal) Sub(y Decimal) Decimal { return x.Add(y.Neg()) }

// Neg is −x.
func (x Decimal) Neg() Decimal {
	var out apd.Decimal
	out.Neg(&x.d)
	return Decimal{out}
}

// Mul is x·y rounded down (or up) to 12 significant digits.
func (x Decimal) Mul(y Decimal, up bool) Decimal {
	return ratRound(new(big.Rat).Mul(x.Rat(), y.Rat()), up)
}

// Cmp compares x and y: −1, 0 or +1.
func (x Decimal) Cmp(y Decimal) int { return x.d.Cmp(&y.d) }

// Sign is −1, 0 or +1.
func (x Decimal) Sign() int { return x.d.Sign() }

// Float is the nearest float64, for display and for choosing parameters; bounds
// that certify something use Decimal or Rat.
func (x Decimal) Float() float64 {
	f, err := x.d.Float64()
	if err != nil && !math.IsInf(f, 0) {
		panic(err)
	}
	return f
}

func (x Decimal) String() string {
	var out apd.Decimal
	out.Reduce(&x.d)
	if e := int64(out.Exponent) + out.NumDigits(); e > -3 && e <= 12 {
		return out.Text('f')
	}
	return out.Text('e')
}

// MarshalText writes the decimal exactly.
func (x Decimal) MarshalText() ([]byte, error) { return []byte(x.String()), nil }

// UnmarshalText reads a finite decimal.
func (x *Decimal) UnmarshalText(b []byte) error {
	v, err := ParseDecimal(string(b))
	if err == nil {
		*x = v
	}
	return err
}
