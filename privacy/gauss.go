package privacy

import (
	"fmt"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"
)

// A sampler draws from the discrete Gaussian N_Z(0, σ²): P(x) ∝ exp(−x²/2σ²) on
// the integers, exactly: every accept test compares a uniform integer with an
// integer, or a lazily extended uniform with a rational. σ² is the variance
// parameter, in squared units of the query.
type sampler interface {
	draw(*stream) int64
}

// newSampler picks the way to draw for σ² > 0: by columns where σ is large (fast),
// by Canonne, Kamath and Steinke's algorithm below. Both are exact, so the choice
// is only one of speed. Draws are below 64σ but for a probability under e⁻²⁰⁴⁸;
// σ² < 2¹¹⁴ keeps them in int64 with room.
func newSampler(sigma2 *big.Int) (sampler, error) {
	if sigma2.Sign() <= 0 {
		return nil, fmt.Errorf("privacy: σ² = %s is not positive", sigma2)
	}
	if sigma2.BitLen() > 114 {
		return nil, fmt.Errorf("privacy: σ² has %d bits; noise of more than 114 bits does not fit the integers of a query", sigma2.BitLen())
	}
	if new(big.Int).Sqrt(sigma2).BitLen() >= minColumnBits {
		return newColumnSampler(sigma2), nil
	}
	return newCKS(new(big.Rat).SetInt(sigma2)), nil
}

// cks is Algorithm 3 of Canonne, Kamath and Steinke (2020), "The Discrete Gaussian
// for Differential Privacy": a discrete Laplace proposal of scale t = ⌊σ⌋ + 1,
// accepted with probability exp(−(|y| − σ²/t)²/2σ²).
type cks struct {
	num, den *big.Int // σ² = num/den
	t        *big.Int
	divisor  *big.Int // 2·num·den·t²: the denominator of the accept exponent
}

func newCKS(sigma2 *big.Rat) *cks {
	c := &cks{num: new(big.Int).Set(sigma2.Num()), den: new(big.Int).Set(sigma2.Denom())}
	c.t = new(big.Int).Sqrt(new(big.Int).Quo(c.num, c.den)) // ⌊√⌊σ²⌋⌋ = ⌊σ⌋
	c.t.Add(c.t, big.NewInt(1))
	c.divisor = new(big.Int).Mul(c.num, c.den)
	c.divisor.Mul(c.divisor, c.t).Mul(c.divisor, c.t).Lsh(c.divisor, 1)
	return c
}

func (c *cks) draw(s *stream) int64 {
	y := c.drawBig(s)
	return y.Int64()
}

func (c *cks) drawBig(s *stream) *big.Int {
	for {
		y := discreteLaplace(s, c.t)
		// (|y| − σ²/t)²/2σ² = (|y|·t·den − num)² / (2·num·den·t²)
		e := new(big.Int).Abs(y)
		e.Mul(e, c.t).Mul(e, c.den).Sub(e, c.num)
		e.Mul(e, e)
		if bernoulliExp(s, e, c.divisor) {
			return y
		}
	}
}

// discreteLaplace draws from P(y) ∝ exp(−|y|/t) (CKS 2020, Algorithm 2).
func discreteLaplace(s *stream, t *big.Int) *big.Int {
	one := big.NewInt(1)
	for {
		u := s.belowBig(t)
		if !bernoulliExp(s, u, t) {
			continue
		}
		v := new(big.Int)
		for bernoulliExp(s, one, one) {
			v.Add(v, one)
		}
		y := v.Mul(v, t).Add(v, u)
		negative := s.word()&1 == 1
		if negative && y.Sign() == 0 {
			continue
		}
		if negative {
			y.Neg(y)
		}
		return y
	}
}

// bernoulliExp is true with probability exp(−num/den), num ≥ 0, den > 0
// (CKS 2020, Algorithm 1).
func bernoulliExp(s *stream, num, den *big.Int) bool {
	whole, rest := new(big.Int).QuoRem(num, den, new(big.Int))
	for ; whole.Sign() > 0; whole.Sub(whole, big.NewInt(1)) {
		if !bernoulliExpUnit(s, big.NewInt(1), big.NewInt(1)) {
			return false
		}
	}
	return bernoulliExpUnit(s, rest, den)
}

// bernoulliExpUnit is bernoulliExp for num ≤ den.
func bernoulliExpUnit(s *stream, num, den *big.Int) bool {
	bound := new(big.Int)
	for k := int64(1); ; k++ {
		bound.Mul(den, bound.SetInt64(k))
		if s.belowBig(bound).Cmp(num) >= 0 { // not Bernoulli(num/(den·k))
			return k%2 == 1
		}
	}
}

// block is how many draws share one stream.
const block = 1 << 16

// addNoise adds an independent draw to every entry of q in place. Blocks of entries
// run in parallel, each with a stream of its own that is used once and overwritten.
// Entries and draws are small enough by the callers' checks that the sum fits int64.
func addNoise(q []int64, sp sampler) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(q)+block-1)/block) {
		workers.Go(func() {
			for {
				from := int(next.Add(block)) - block
				if from >= len(q) {
					return
				}
				s := newStream()
				for i := from; i < min(from+block, len(q)); i++ {
					q[i] += sp.draw(s)
				}
				s.close()
			}
		})
	}
	workers.Wait()
}
