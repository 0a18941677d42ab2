package blockmatmul

import (
	"context"
	"fmt"
	"math"
	"math/big"
)

// Series is the truncated Katz index in fixed point (paper, Theorem "Katz index
// approximation", order L = 2h+1): W₁ = clip_c(A·V), W_{l+1} = clip_c(A·(V + ⌊β·W_l⌉₀))
// with β = Num·2^−Bits and ⌊·⌉₀ truncating towards zero. Without a clip W_L is H̃V/β;
// each round is exact but for truncation, which privacy/sensitivity.md, Lemma 5 counts.
type Series struct {
	Order       int
	Num         int64
	Bits        uint
	DegreeLimit int64 // bounds every degree of the graph; public
}

// Multiply returns W_L, the rows of every round clipped to c (0: no clip). Order 1 is
// clip_c(A·V) and uses no β.
func (s Series) Multiply(ctx context.Context, m Multiplier, v *Operand, c int64) (*Product, error) {
	if s.Order < 1 || s.Order%2 == 0 || s.Num < 0 || s.Bits > 126 {
		return nil, fmt.Errorf("blockmatmul: Katz series of order %d and β = %d·2^-%d", s.Order, s.Num, s.Bits)
	}
	if s.Order == 1 {
		return m.Multiply(ctx, v, c)
	}
	u := v
	bound := big.NewInt(v.radius)
	for l := 1; ; l++ {
		// The radius bounds every entry, so that it decides whether U fits int32: by
		// public numbers, never by looking at U.
		if bound.Cmp(big.NewInt(math.MaxInt32)) > 0 {
			return nil, fmt.Errorf("blockmatmul: rows can reach %s units in Katz round %d; β·D is too large for this scale: lower beta, or order, or the scale", bound, l)
		}
		u.radius = bound.Int64()
		if err := u.CheckOverflow(0); err != nil {
			return nil, err
		}
		w, err := m.Multiply(ctx, u, c)
		if l == s.Order || err != nil {
			return w, err
		}
		u = s.next(v, w)
		bound.Mul(bound, big.NewInt(s.DegreeLimit))
		if clip := big.NewInt(c); c != 0 && clip.Cmp(bound) < 0 {
			bound = clip
		}
		bound.Mul(bound, big.NewInt(s.Num))
		bound.Rsh(bound, s.Bits).Add(bound, big.NewInt(v.radius+1))
	}
}

// next is U = V + ⌊β·W⌉₀.
func (s Series) next(v *Operand, w *Product) *Operand {
	u := &Operand{rows: v.rows, cols: v.cols, bits: v.bits, data: make([]int32, len(v.data))}
	num, wide := big.NewInt(s.Num), new(big.Int)
	narrow := s.Num < 1<<20
	for i, x := range w.Data {
		m := magnitude(x)
		var q uint64
		if narrow && m < 1<<43 {
			q = m * uint64(s.Num) >> s.Bits
		} else {
			wide.SetUint64(m)
			q = wide.Rsh(wide.Mul(wide, num), s.Bits).Uint64()
		}
		u.data[i] = v.data[i] + int32(withSign(q, x))
	}
	return u
}
