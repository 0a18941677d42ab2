package blockmatmul

import (
	"math/big"
	"math/bits"
)

// ClipRow scales the row x down to Euclidean norm ≤ c where it is longer, and
// truncates each coordinate towards zero: x_j ← sgn(x_j)·⌊|x_j|·c/‖x‖⌋, exactly.
// A row of norm ≤ c is left alone. c = 0 means no clip.
//
// The map is 1-Lipschitz up to less than one unit per coordinate: projection
// onto a ball is 1-Lipschitz, and truncation moves two numbers apart by less
// than 1 more than they were (privacy/sensitivity.md, Lemma 1).
func ClipRow(x []int64, c int64) {
	if c == 0 {
		return
	}
	var most uint64
	for _, v := range x {
		most |= magnitude(v)
	}
	// With |x_j| < 2^31/√k the squared norm fits 62 bits and |x_j|·c must fit 64.
	if bits.Len64(most)*2+bits.Len(uint(len(x))) <= 62 && bits.Len64(most)+bits.Len64(uint64(c)) <= 64 {
		clipNarrow(x, uint64(c))
		return
	}
	clipWide(x, c)
}

func clipNarrow(x []int64, c uint64) {
	var norm2 uint64
	for _, v := range x {
		m := magnitude(v)
		norm2 += m * m
	}
	if chi, clo := bits.Mul64(c, c); chi != 0 || norm2 <= clo {
		return
	}
	for j, v := range x {
		p := magnitude(v) * c
		hi, lo := bits.Mul64(p, p)
		// |x_j|² ≤ ‖x‖², so the quotient is ≤ c² and hi < norm2.
		q, _ := bits.Div64(hi, lo, norm2)
		x[j] = withSign(floorSqrt(q), v)
	}
}

func clipWide(x []int64, c int64) {
	norm2, t, c2 := new(big.Int), new(big.Int), big.NewInt(c)
	for _, v := range x {
		t.SetInt64(v)
		norm2.Add(norm2, t.Mul(t, t))
	}
	c2.Mul(c2, c2)
	if norm2.Cmp(c2) <= 0 {
		return
	}
	for j, v := range x {
		t.SetInt64(v)
		t.Mul(t, t)
		t.Mul(t, c2)
		t.Quo(t, norm2)
		x[j] = withSign(t.Sqrt(t).Uint64(), v)
	}
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func withSign(m uint64, like int64) int64 {
	if like < 0 {
		return -int64(m)
	}
	return int64(m)
}

// floorSqrt is ⌊√q⌋, by Newton's iteration from above: the iterates decrease
// until they reach the floor.
func floorSqrt(q uint64) uint64 {
	if q < 2 {
		return q
	}
	s := uint64(1) << ((bits.Len64(q) + 1) / 2)
	for {
		next := (s + q/s) / 2
		if next >= s {
			return s
		}
		s = next
	}
}
