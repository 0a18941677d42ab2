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
	// With s = ⌊‖x‖⌋ and f = ⌊c·2³²/(s+1)⌋, g = ⌊|x_j|·f/2³²⌋ is at most |x_j|·c/‖x‖ and less
	// than that by at most |x_j|·(c/s − c/(s+1) + 2⁻³²) ≤ c/s + 1/2 ≤ 3/2, as c ≤ s and |x_j| ≤ ‖x‖
	// < 2³¹. So the floor is g, g+1 or g+2; (g+1)²‖x‖² ≤ x_j²c², in 128 bits, says which.
	f := c << 32 / (floorSqrt(norm2) + 1)
	for j, v := range x {
		m := magnitude(v)
		g, p := m*f>>32, m*c
		hi, lo := bits.Mul64(p, p)
		for {
			if above, below := bits.Mul64((g+1)*(g+1), norm2); above > hi || above == hi && below > lo {
				break
			}
			g++
		}
		x[j] = withSign(g, v)
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
