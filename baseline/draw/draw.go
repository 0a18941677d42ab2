package draw

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Laplace draws from the density exp(−|x|/scale)/(2·scale).
func Laplace(rng *rand.Rand, scale float64) float64 {
	x := scale * rng.ExpFloat64()
	if rng.Uint64()&1 == 0 {
		return -x
	}
	return x
}

// LaplaceAbove is the chance that Laplace noise of the given scale exceeds x.
func LaplaceAbove(x, scale float64) float64 {
	if x >= 0 {
		return math.Exp(-x/scale) / 2
	}
	return 1 - math.Exp(x/scale)/2
}

// Binomial draws how many of n independent events of chance p happen.
func Binomial(rng *rand.Rand, n int64, p float64) int64 {
	switch {
	case n < 0 || math.IsNaN(p):
		panic(fmt.Sprintf("draw: %d events of chance %v", n, p))
	case n == 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	}
	k := int64(distuv.Binomial{N: float64(n), P: p, Src: rng}.Rand())
	return min(max(k, 0), n)
}

// Distinct draws k different numbers below n, every such set as likely (Floyd's
// method), and all of them where k passes n. It takes time and memory proportional
// to k.
func Distinct(rng *rand.Rand, n, k int64) []int64 {
	k = min(k, n)
	out := make([]int64, 0, k)
	seen := make(map[int64]struct{}, k)
	for top := n - k; top < n; top++ {
		x := rng.Int64N(top + 1)
		if _, taken := seen[x]; taken {
			x = top
		}
		seen[x] = struct{}{}
		out = append(out, x)
	}
	return out
}

// Others draws k different numbers below n that taken does not claim, every such set
// as likely; free is how many there are. Where k passes free it takes them all.
func Others(rng *rand.Rand, n, k, free int64, taken func(int64) bool) []int64 {
	k = min(k, free)
	out := make([]int64, 0, k)
	if k > free/2 || free < n/4 {
		left := free
		for x := int64(0); x < n && k > 0; x++ { // Knuth's selection sampling
			if taken(x) {
				continue
			}
			if rng.Int64N(left) < k {
				out = append(out, x)
				k--
			}
			left--
		}
		return out
	}
	seen := make(map[int64]struct{}, k)
	for int64(len(out)) < k {
		x := rng.Int64N(n)
		if _, again := seen[x]; again || taken(x) {
			continue
		}
		seen[x] = struct{}{}
		out = append(out, x)
	}
	return out
}

// Pairs is the number of unordered pairs of different ones among n.
func Pairs(n int64) int64 { return n * (n - 1) / 2 }

// Pair is the x-th of Pairs(n) unordered pairs, with u < v: (0,1), (0,2), (1,2), …
func Pair(x int64) (u, v int32) {
	w := int64((1 + math.Sqrt(1+8*float64(x))) / 2)
	for Pairs(w) > x {
		w--
	}
	for Pairs(w+1) <= x {
		w++
	}
	return int32(x - Pairs(w)), int32(w)
}

// Index is the number of the pair u, v, the inverse of Pair.
func Index(u, v int32) int64 {
	if u > v {
		u, v = v, u
	}
	return Pairs(int64(v)) + int64(u)
}
