package privacy

import (
	"math/big"
	"math/bits"
)

// The column sampler draws from the discrete Gaussian by exact rejection.
//
// The half line x ≥ 0 is cut into 1023 columns of w = 2^b integers, 64w ≤ σ < 128w
// roughly, and a tail from X = 1023·w ≥ 7.9σ on. With h(x) = exp(−x²/2σ²):
//
//  1. A slot is drawn with probability W_j / 2⁶⁴ from an alias table (Walker 1977)
//     on integers: W_j ≥ F·h(j·w) for a column, W_tail ≥ F·Σ_{x≥X} h(x)/w for the
//     tail, and what is left of 2⁶⁴ rejects.
//  2. In a column, x is uniform and accepted with probability F·h(x)/W_j ≤ 1.
//     F·h((j+1)w)/W_j, rounded down, accepts at once in all but about 1 % of draws;
//     the rest compare with bounds of the exponential in 64-bit fixed point, and
//     where 64 bits cannot decide (one draw in 2⁵⁰), with as many bits as it takes.
//  3. In the tail, x = X + g with g geometric of ratio exp(−X/σ²), accepted with
//     probability exp(−g²/2σ²).
//  4. A fair sign; −0 is rejected.
//
// The weight of x after rejection is F·h(x)/w·2⁻⁶⁴ in a column and in the tail
// alike (gauss.md, Lemma 7), so the output is the discrete Gaussian with no
// statistical distance at all.
const (
	minColumnBits = 7 // ⌊σ⌋ of fewer bits, σ < 64, is left to CKS
	slots         = 1024
	tailSlot      = slots - 1
	slotBits      = 10
)

type columnSampler struct {
	sigma2  *big.Int
	twoS2   *big.Int // 2σ²
	twoS2u  uint64   // the same where it fits, else 0
	b       uint     // log2 of the column width
	alias   [slots + 1]uint16
	keep    [slots + 1]uint64
	certain [slots]uint64 // U below this accepts at once
	top     [slots]uint64 // ⌊2⁶⁴·F·h(jw)/W_j⌋, at most 2⁶⁴−1
	weight  [slots]*big.Int
	factor  *big.Int // F
	tailX   *big.Int
}

const reject = slots // the alias slot that means "draw again"

// precision of the interval arithmetic that builds the table, in bits.
const tableBits = 256

func newColumnSampler(sigma2 *big.Int) *columnSampler {
	c := &columnSampler{sigma2: new(big.Int).Set(sigma2), twoS2: new(big.Int).Lsh(sigma2, 1)}
	if c.twoS2.BitLen() <= 63 {
		c.twoS2u = c.twoS2.Uint64()
	}
	sigma := new(big.Int).Sqrt(sigma2)
	c.b = uint(sigma.BitLen() - 1 - 6) // 64·2^b ≤ ⌊σ⌋ < 128·2^b
	w := new(big.Int).Lsh(big.NewInt(1), c.b)
	c.tailX = new(big.Int).Mul(w, big.NewInt(tailSlot))

	lo, hi := c.heights(w)
	// Tail: Σ_{g≥0} h(X+g) ≤ h(X)·Σ exp(−X·g/σ²) ≤ h(X)·(1 + σ²/X); the proposal in
	// tail() has exactly the weight of the middle expression, so W_tail must be at
	// least F/w times it. 1/(1−e^{−y}) ≤ 1 + 1/y.
	tailHi := new(big.Int).Quo(new(big.Int).Mul(hi[tailSlot], new(big.Int).Add(c.tailX, sigma2)), c.tailX)
	tailHi.Add(tailHi, big.NewInt(1))
	tailHi.Rsh(tailHi, c.b).Add(tailHi, big.NewInt(1))

	total := new(big.Int).Set(tailHi)
	for j := range tailSlot {
		total.Add(total, hi[j])
	}
	// F is the largest integer that leaves room in 2⁶⁴ for rounding each weight up.
	c.factor = new(big.Int).Lsh(big.NewInt(1), 64)
	c.factor.Sub(c.factor, big.NewInt(2*slots))
	c.factor.Lsh(c.factor, tableBits).Quo(c.factor, total)

	weights := make([]*big.Int, slots+1)
	left := new(big.Int).Lsh(big.NewInt(1), 64)
	for j := range slots {
		h := tailHi
		if j != tailSlot {
			h = hi[j]
		}
		p := new(big.Int).Mul(c.factor, h)
		weights[j] = ceilRsh(p, tableBits)
		left.Sub(left, weights[j])
	}
	weights[reject] = left
	copy(c.weight[:], weights)
	for j := range tailSlot {
		// Lower bounds, rounded down: certain accept at the far edge, and the ratio at
		// the near edge, both over W_j.
		c.certain[j] = ratio64(c.factor, lo[j+1], weights[j])
		c.top[j] = ratio64(c.factor, lo[j], weights[j])
	}
	c.buildAlias(weights)
	return c
}

// heights bounds 2^tableBits·exp(−(jw)²/2σ²) for j = 0..1023 from below and above:
// exp(−a·j²) by the recurrence e_{j+1} = e_j·r_j, r_{j+1} = r_j·q, with
// a = w²/2σ², r_0 = e^{−a}, q = e^{−2a}, in interval arithmetic.
func (c *columnSampler) heights(w *big.Int) (lo, hi []*big.Int) {
	one := new(big.Int).Lsh(big.NewInt(1), tableBits)
	w2 := new(big.Int).Mul(w, w)
	rLo, rHi := expBounds(w2, c.twoS2, tableBits)
	qLo, qHi := expBounds(w2, c.sigma2, tableBits)
	lo, hi = make([]*big.Int, slots), make([]*big.Int, slots)
	eLo, eHi := new(big.Int).Set(one), new(big.Int).Set(one)
	for j := range slots {
		lo[j], hi[j] = new(big.Int).Set(eLo), new(big.Int).Set(eHi)
		eLo.Rsh(eLo.Mul(eLo, rLo), tableBits)
		eHi = ceilRsh(eHi.Mul(eHi, rHi), tableBits)
		rLo.Rsh(rLo.Mul(rLo, qLo), tableBits)
		rHi = ceilRsh(rHi.Mul(rHi, qHi), tableBits)
	}
	return lo, hi
}

// ratio64 is ⌊2⁶⁴·F·h/(2^tableBits·W)⌋, at most 2⁶⁴−1.
func ratio64(f, h, w *big.Int) uint64 {
	r := new(big.Int).Mul(f, h)
	r.Lsh(r, 64).Rsh(r, tableBits).Quo(r, w)
	if r.BitLen() > 64 {
		return 1<<64 - 1
	}
	return r.Uint64()
}

func ceilRsh(x *big.Int, n uint) *big.Int {
	y := new(big.Int).Rsh(x, n)
	if x.Sign() > 0 && uint(x.TrailingZeroBits()) < n {
		y.Add(y, big.NewInt(1))
	}
	return y
}

// buildAlias builds Walker's table for 1025 weights that add up to 2⁶⁴: the slots
// share 2¹⁰ cells of 2⁵⁴; the reject weight is spread over what the cells have left.
func (c *columnSampler) buildAlias(weights []*big.Int) {
	const cell = uint64(1) << (64 - slotBits)
	// Work on the 1024 slots; the excess of large slots fills small ones, and reject
	// fills what nothing else does. Weights are below 2⁶⁴, so uint64 is exact; reject
	// enters as a donor that owns no cell.
	rest := make([]uint64, slots+1)
	for j, w := range weights {
		rest[j] = w.Uint64()
	}
	var small, large []int
	for j := range slots {
		if rest[j] < cell {
			small = append(small, j)
		} else {
			large = append(large, j)
		}
	}
	donor := func() int {
		for len(large) > 0 {
			j := large[len(large)-1]
			if rest[j] > cell {
				return j
			}
			c.keep[j], c.alias[j] = cell, uint16(j) // exactly full
			large = large[:len(large)-1]
		}
		return reject
	}
	for len(small) > 0 {
		j := small[len(small)-1]
		small = small[:len(small)-1]
		need := cell - rest[j]
		c.keep[j] = rest[j]
		d := donor()
		c.alias[j] = uint16(d)
		rest[d] -= need
		if d != reject && rest[d] < cell {
			large = large[:len(large)-1]
			small = append(small, d)
		}
	}
	donor()
}

func (c *columnSampler) draw(s *stream) int64 {
	for {
		w := s.word()
		j := int(w >> (64 - slotBits))
		if w&(1<<(64-slotBits)-1) >= c.keep[j] {
			j = int(c.alias[j])
		}
		if j >= tailSlot {
			if j == reject {
				continue
			}
			x, ok := c.tail(s)
			if !ok {
				continue
			}
			if s.word()&1 == 1 {
				return -x
			}
			return x
		}
		v := s.word()
		off := v >> 1 & (1<<c.b - 1)
		x := uint64(j)<<c.b | off
		if u := s.word(); u >= c.certain[j] && !c.accept(s, j, x, off, u) {
			continue
		}
		if v&1 == 1 {
			if x == 0 {
				continue
			}
			return -int64(x)
		}
		return int64(x)
	}
}

// accept decides U < F·h(x)/W_j for U = (u + further bits)·2⁻⁶⁴.
func (c *columnSampler) accept(s *stream, j int, x, off, u uint64) bool {
	if c.twoS2u != 0 {
		// h(x)/h(jw) = e^{−Δ} with Δ = off·(x + jw)/2σ² < w·2048w/2(64w)² = 1/4.off·(x + jw)/2σ² ≤ 2⁻⁶·16·(1+2⁻¹⁰)… below 1/3.
		hi, lo := bits.Mul64(off, x+uint64(j)<<c.b)
		if hi == 0 && lo < c.twoS2u {
			d, _ := bits.Div64(lo, 0, c.twoS2u) // ⌊2⁶⁴Δ⌋
			e := expFixed(d)
			p, _ := bits.Mul64(e, c.top[j])
			// p is within 2⁶ of 2⁶⁴·F·h(x)/W_j (gauss.md, Lemma 8).
			const slack = 1 << 7
			if u < p-min(p, slack) {
				return true
			}
			if p < 1<<64-1-slack && u > p+slack {
				return false
			}
		}
	}
	return c.acceptExactly(s, j, x, u)
}

// expFixed is 2⁶⁴·e^{−d·2⁻⁶⁴} within 2⁵, for d < 2⁶³: Taylor's series to the 20th
// term by Horner's rule, each step one multiplication rounded down. The constant
// term 2⁶⁴ is held as 2⁶⁴−1.
func expFixed(d uint64) uint64 {
	acc := ^uint64(0)
	for i := uint64(20); i >= 1; i-- {
		t, _ := bits.Mul64(acc, d)
		acc = ^uint64(0) - t/i
	}
	return acc
}

// acceptExactly decides U < F·h(x)/W_j with rational bounds of h.
func (c *columnSampler) acceptExactly(s *stream, j int, x, u uint64) bool {
	square := new(big.Int).SetUint64(x)
	square.Mul(square, square)
	return decide(s, new(big.Int).SetUint64(u), func(p uint) (lo, hi *big.Int) {
		lo, hi = expBounds(square, c.twoS2, p)
		lo.Quo(lo.Mul(lo, c.factor), c.weight[j])
		hi.Quo(hi.Mul(hi, c.factor), c.weight[j])
		return lo, hi.Add(hi, big.NewInt(1))
	})
}

// decide reports whether a uniform U ∈ [0,1), whose first 64 bits are u, is below θ,
// where bounds(p) brackets 2^p·θ. It draws further bits of U only while the brackets
// do not settle it, and is exact.
func decide(s *stream, u *big.Int, bounds func(p uint) (lo, hi *big.Int)) bool {
	for p := uint(64); ; p += 64 {
		lo, hi := bounds(p)
		if u.Cmp(lo) < 0 { // (u+1)/2^p ≤ θ
			return true
		}
		if u.Cmp(hi) >= 0 {
			return false
		}
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(s.word()))
	}
}

// tail draws x ≥ X, or rejects the slot: with probability F·h(X)/(w·(1−e^{−y})·W_tail),
// y = X/σ², which is at most 1, it goes on to the geometric proposal of gauss.md, Lemma 7.
func (c *columnSampler) tail(s *stream) (int64, bool) {
	square := new(big.Int).Mul(c.tailX, c.tailX)
	den := new(big.Int).Lsh(c.weight[tailSlot], c.b)
	bounds := func(p uint) (lo, hi *big.Int) {
		one := new(big.Int).Lsh(big.NewInt(1), p)
		hLo, hHi := expBounds(square, c.twoS2, p)
		yLo, yHi := expBounds(c.tailX, c.sigma2, p)
		hLo.Mul(hLo, c.factor).Lsh(hLo, p)
		hHi.Mul(hHi, c.factor).Lsh(hHi, p)
		hLo.Quo(hLo, new(big.Int).Mul(den, new(big.Int).Sub(one, yLo)))
		hHi.Quo(hHi, new(big.Int).Mul(den, new(big.Int).Sub(one, yHi)))
		return hLo, hHi.Add(hHi, big.NewInt(1))
	}
	if !decide(s, new(big.Int).SetUint64(s.word()), bounds) {
		return 0, false
	}
	g := geometric(s, c.tailX, c.sigma2)
	if !bernoulliExp(s, new(big.Int).Mul(g, g), c.twoS2) {
		return 0, false
	}
	return g.Add(g, c.tailX).Int64(), true
}

// geometric draws g ≥ 0 with P(g) ∝ exp(−g·num/den), num ≤ den (CKS 2020,
// Algorithm 2: a uniform remainder and a count of whole blocks, then a division).
func geometric(s *stream, num, den *big.Int) *big.Int {
	one := big.NewInt(1)
	for {
		u := s.belowBig(den)
		if !bernoulliExp(s, u, den) {
			continue
		}
		v := new(big.Int)
		for bernoulliExp(s, one, one) {
			v.Add(v, one)
		}
		// u + den·v has P ∝ exp(−(u+den·v)/den); dividing by num groups num values.
		v.Mul(v, den).Add(v, u)
		return v.Quo(v, num)
	}
}
