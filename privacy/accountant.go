package privacy

import (
	"fmt"
	"math"
)

// ln δ for a ρ-zCDP mechanism at ε: the minimum over α > 1 of
//
//	(α−1)(αρ − ε) − ln(α−1) + α·ln(1 − 1/α)
//
// (Canonne, Kamath, Steinke 2020, Proposition 12). Any α gives a valid bound, so
// an inexact minimiser costs tightness, never validity; only the evaluation's
// rounding must be covered, and the margin below does that: each of the three
// terms is a handful of correctly rounded operations without cancellation at the
// minimiser, so its error is below 16 ulp of its magnitude.
func lnDelta(rho, eps float64) float64 {
	if rho == 0 {
		return math.Inf(-1)
	}
	derivative := func(alpha float64) float64 {
		return (2*alpha-1)*rho - eps + math.Log1p(-1/alpha)
	}
	lo, hi := 1.0, 2.0 // derivative is increasing in α and −∞ at 1
	for derivative(hi) < 0 && hi < 1e300 {
		lo, hi = hi, hi*2
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if derivative(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	alpha := hi
	a := (alpha - 1) * (alpha*rho - eps)
	b := -math.Log(alpha - 1)
	c := alpha * math.Log1p(-1/alpha)
	margin := 16 * 0x1p-52 * (math.Abs((alpha-1)*alpha*rho) + math.Abs((alpha-1)*eps) + math.Abs(b) + math.Abs(c) + 1)
	return math.Min(0, a+b+c+margin)
}

// DeltaOf is the smallest certified δ of a ρ-zCDP mechanism at ε, rounded up.
func DeltaOf(rho, eps Decimal) Decimal {
	if rho.Sign() == 0 {
		return Decimal{}
	}
	return expUp(lnDelta(nextUp(rho.Float()), nextDown(eps.Float())))
}

// expUp is e^x rounded up to 12 digits, for exponents far below float64's range.
func expUp(x float64) Decimal {
	if x >= 0 {
		return MustDecimal("1")
	}
	// e^x = 10^q · m with m in [1, 10); the error of splitting is covered by the
	// factor (1 + 4·2⁻⁵²·(|x|+4)), far below the 1e-9 that anyone compares at.
	y := x / math.Ln10
	q := math.Floor(y)
	m := math.Pow(10, y-q) * (1 + 4*0x1p-52*(math.Abs(x)+4))
	d, err := ParseDecimal(fmt.Sprintf("%se%d", decimalOf(m, true).String(), int64(q)))
	if err != nil {
		panic(err)
	}
	return d
}

// EpsilonOf is the smallest certified ε of a ρ-zCDP mechanism at δ, rounded up
// and never below 0.
func EpsilonOf(rho, delta Decimal) Decimal {
	if rho.Sign() == 0 {
		return Decimal{}
	}
	r, target := nextUp(rho.Float()), lnDown(delta)
	if lnDelta(r, 0) <= target {
		return Decimal{}
	}
	lo, hi := 0.0, 1.0
	for lnDelta(r, hi) > target {
		lo, hi = hi, hi*2
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if lnDelta(r, mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return decimalOf(hi, true)
}

// RhoOf is the largest ρ whose certified curve passes through (ε, δ), rounded
// down: a mechanism of that ρ is (ε, δ)-DP.
func RhoOf(eps, delta Decimal) Decimal {
	e, target := nextDown(eps.Float()), lnDown(delta)
	lo, hi := 0.0, 1.0
	for lnDelta(hi, e) <= target {
		lo, hi = hi, hi*2
	}
	for range 2000 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if lnDelta(mid, e) <= target {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return Decimal{}
	}
	return decimalOf(nextDown(lo), false)
}

// lnDown is a lower bound of ln x.
func lnDown(x Decimal) float64 {
	f := x.Float()
	return math.Log(f) - 8*0x1p-52*(math.Abs(math.Log(f))+1)
}

func nextUp(x float64) float64   { return math.Nextafter(x, math.Inf(1)) }
func nextDown(x float64) float64 { return math.Nextafter(x, 0) }

// GaussianDelta is δ(ε) = Φ(−ε/μ+μ/2) − e^ε·Φ(−ε/μ−μ/2) of a continuous Gaussian mechanism
// with μ = S/σ (Balle and Wang 2018; Dong, Roth and Su 2019): a reference, not certified
// here.
func GaussianDelta(mu, eps float64) float64 {
	return math.Max(0, math.Exp(lnPhi(-eps/mu+mu/2))-math.Exp(eps+lnPhi(-eps/mu-mu/2)))
}

// lnPhi is ln Φ(x), by the asymptotic series where Φ underflows.
func lnPhi(x float64) float64 {
	if x > -30 {
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	}
	y := 1 / (x * x)
	return -x*x/2 - math.Log(-x*math.Sqrt(2*math.Pi)) + math.Log1p(-y+3*y*y-15*y*y*y)
}

// GaussianMu is the largest μ with GaussianDelta(μ, ε) ≤ δ: a reference.
func GaussianMu(eps, delta float64) float64 {
	lo, hi := 0.0, 1.0
	for GaussianDelta(hi, eps) < delta {
		lo, hi = hi, hi*2
	}
	for range 200 {
		mid := (lo + hi) / 2
		if GaussianDelta(mid, eps) < delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// ClassicSigma is the paper's noise multiplier √(2 ln(1.25/δ))/ε (section III-B,
// Gaussian mechanism), valid only for ε < 1.
func ClassicSigma(eps, delta float64) float64 {
	return math.Sqrt(2*math.Log(1.25/delta)) / eps
}
