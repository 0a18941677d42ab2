package privacy

import "math/big"

// expBounds returns integers lo ≤ 2^p·e^{−num/den} ≤ hi with hi − lo ≤ 4, for
// num ≥ 0, den > 0: the argument is halved until it is below 1/2, the series is
// summed with outward rounding, and the result squared back.
func expBounds(num, den *big.Int, p uint) (lo, hi *big.Int) {
	m := uint(0)
	if d := num.BitLen() - den.BitLen() + 2; d > 0 {
		m = uint(d)
	}
	// Each squaring doubles the relative error and adds a unit; 2m+16 guard bits
	// leave the final error below one unit of 2^-p.
	q := p + 2*m + 24
	one := new(big.Int).Lsh(big.NewInt(1), q)
	scaled := new(big.Int).Lsh(num, q)
	div := new(big.Int).Lsh(den, m)
	xLo := new(big.Int).Quo(scaled, div)
	xHi := new(big.Int).Add(xLo, big.NewInt(1))
	lo, hi = expSeries(xHi, one, q, false), expSeries(xLo, one, q, true)
	for range m {
		lo.Rsh(lo.Mul(lo, lo), q)
		hi = ceilRsh(hi.Mul(hi, hi), q)
	}
	return new(big.Int).Rsh(lo, q-p), ceilRsh(hi, q-p)
}

// expSeries bounds 2^q·e^{−x/2^q} for 0 ≤ x ≤ 2^(q−1)+1 from above or below. The terms
// alternate and decrease, so a sum that ends on an even term is above, on an odd
// term below; each term's rounding (one unit) is moved to the safe side.
func expSeries(x, one *big.Int, q uint, above bool) *big.Int {
	sum := new(big.Int).Set(one)
	term := new(big.Int).Set(one)
	slack := int64(0)
	for i := int64(1); ; i++ {
		term.Mul(term, x).Rsh(term, q).Quo(term, big.NewInt(i))
		slack += 2
		if i%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
		if term.Sign() == 0 {
			break
		}
	}
	if above {
		return sum.Add(sum, big.NewInt(slack))
	}
	return sum.Sub(sum, big.NewInt(slack)).Add(sum, zeroIfNegative(sum))
}

// zeroIfNegative is what must be added to x to make it at least 0.
func zeroIfNegative(x *big.Int) *big.Int {
	if x.Sign() < 0 {
		return new(big.Int).Neg(x)
	}
	return new(big.Int)
}
