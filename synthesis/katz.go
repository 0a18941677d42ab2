package synthesis

import (
	"fmt"
	"math"
)

// Katz is the truncated Katz function F(x) = Σ_{l=1..Order} (Beta·x)^l, which
// maps an eigenvalue of the adjacency matrix A to one of H̃ = Σ_l β^l A^l (the
// paper, section "Katz Index", with Order = 2h+1).
type Katz struct {
	Beta  float64 // > 0
	Order int     // odd and ≥ 1
}

// Check says what is wrong with the parameters.
func (f Katz) Check() error {
	if !(f.Beta > 0) || math.IsInf(f.Beta, 0) {
		return fmt.Errorf("synthesis: β is %v; want a finite number > 0", f.Beta)
	}
	if f.Order < 1 || f.Order%2 == 0 {
		return fmt.Errorf("synthesis: Katz order is %d; want an odd number ≥ 1, for which F can be inverted", f.Order)
	}
	return nil
}

// At returns F(x).
func (f Katz) At(x float64) float64 {
	sum, _ := f.horner(f.Beta * x)
	return sum
}

// Derivative returns F′(x). It is positive everywhere for odd orders.
func (f Katz) Derivative(x float64) float64 {
	_, slope := f.horner(f.Beta * x)
	return f.Beta * slope
}

// horner returns z + z² + … + z^L and its derivative in z.
func (f Katz) horner(z float64) (sum, slope float64) {
	for range f.Order {
		slope = slope*z + sum + 1
		sum = (sum + 1) * z
	}
	return sum, slope
}

// Inverse returns the one x with F(x) = y, for any finite y.
//
// For odd L, F increases from −∞ to ∞: with z = βx and z = −t < 0,
// (1−z)²·F′/β = 1 + (L+1)t^L + L·t^(L+1) > 0, and for z ≥ 0 every term of F′ is
// positive. A bracket: F ≥ z and F ≥ z^L for z > 0; F ≤ −t^L/2 for t ≥ 1.
// Newton's step is replaced by bisection where it leaves the bracket.
func (f Katz) Inverse(y float64) float64 {
	if y == 0 || math.IsNaN(y) || math.IsInf(y, 0) {
		return y
	}
	const slack = 1 + 1e-12
	root := 1 / float64(f.Order)
	low, high := 0.0, slack*min(y, math.Pow(y, root))
	if y < 0 {
		low, high = -slack*max(1, math.Pow(2, root)*math.Pow(-y, root)), 0
	}
	z := low + (high-low)/2
	for range 200 {
		value, slope := f.horner(z)
		if value < y {
			low = z
		} else {
			high = z
		}
		next := z - (value-y)/slope
		if !(next >= low && next <= high) {
			next = low + (high-low)/2
		}
		if math.Abs(next-z) <= 0x1p-52*math.Abs(next) {
			return next / f.Beta
		}
		z = next
	}
	return z / f.Beta
}
