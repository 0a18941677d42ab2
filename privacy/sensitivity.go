package privacy

import (
	"fmt"
	"math/big"
)

// Norms counts the rows of a public matrix by a bound of their norm: Counts[i] rows
// have norm ≤ min(i·Width, Radius). It is a histogram, so the sum over the d largest
// rows costs the same whatever n is.
type Norms struct {
	Radius int64 // r: no row is longer
	Width  int64
	Counts []int64
}

// top bounds Σ (ν+t)^p over the d rows of largest norm ν, for p = 1 or 2.
func (h Norms) top(d, t int64, p int) *big.Int {
	sum, term := new(big.Int), new(big.Int)
	for i := len(h.Counts) - 1; i >= 0 && d > 0; i-- {
		take := min(d, h.Counts[i])
		if take == 0 {
			continue
		}
		d -= take
		term.SetInt64(min(int64(i)*h.Width, h.Radius) + t)
		if p == 2 {
			term.Mul(term, term)
		}
		sum.Add(sum, term.Mul(term, big.NewInt(take)))
	}
	return sum
}

// Uniform is the histogram of n rows that may all have norm r: what is known of V
// before it exists.
func Uniform(n int, r int64) Norms {
	return Norms{Radius: r, Width: r, Counts: []int64{0, int64(n)}}
}

// Katz describes the fixed-point series of order L ≥ 1: W₁ = clip_c(A·V),
// W_{l+1} = clip_c(A·(V + ⌊β·W_l⌉₀)), β = Num·2^−Bits, ⌊·⌉₀ truncating towards zero.
// Without a clip the paper's H̃V is β·W_L (section III-C); the query is W_L, so that
// order 1 needs no β.
type Katz struct {
	Order int   `json:"order"` // L = 2h+1
	Num   int64 `json:"beta_numerator"`
	Bits  uint  `json:"beta_bits"`
}

// Query describes by public numbers one integer matrix Q (n×k) that is computed
// from the graph and then released with noise.
type Query struct {
	Unit  Unit
	N, K  int
	Norms Norms // of the rows of V, in units
	Clip  int64 // c, in units, of the rows of every round; 0: no clip
	Katz  Katz  // Order 1: Q = clip_c(A·V)
	// DegreeLimit bounds every degree of the graph: n−1 unless ingest checked a smaller
	// declared bound. Orders above 1 need it.
	DegreeLimit int64
	// Fixed, where not nil, is a squared sensitivity that a proof gives directly: the
	// paper profile's S = 1 in units of β·W (docs/paper.md).
	Fixed *big.Int
}

// Validate reports a query whose bound is not proven here.
func (q Query) Validate() error {
	switch {
	case q.N < 1 || q.K < 1:
		return fmt.Errorf("privacy: query of %d×%d", q.N, q.K)
	case q.Katz.Order < 1 || q.Katz.Order%2 == 0:
		return fmt.Errorf("privacy: Katz order %d, want an odd number ≥ 1", q.Katz.Order)
	case q.Clip < 0:
		return fmt.Errorf("privacy: row clip %d is negative", q.Clip)
	case q.Katz.Order > 1 && (q.DegreeLimit < 1 || q.Katz.Num < 0 || q.Katz.Bits > 126):
		return fmt.Errorf("privacy: Katz order %d needs a bound of every degree and 0 ≤ β", q.Katz.Order)
	}
	return nil
}

// truncation is ⌈√k⌉ where a clip truncates, else 0: how much more than its inputs a
// row can move (sensitivity.md, Lemma 1).
func (q Query) truncation() int64 {
	if q.Clip == 0 {
		return 0
	}
	return ceilRoot(big.NewInt(int64(q.K))).Int64()
}

// Squared bounds S(d)², in squared units: how far Q can move, in the Euclidean norm
// over all entries, between neighbouring graphs whose changed vertex has degree ≤ d
// (for Edge, d does not matter). Lemmas 2–5 of sensitivity.md.
func (q Query) Squared(d int64) *big.Int {
	d = max(0, min(d, int64(q.N)-1))
	if q.Fixed != nil {
		return new(big.Int).Set(q.Fixed)
	}
	if q.Katz.Order > 1 {
		return q.katzSquared(d)
	}
	return q.round(big.NewInt(q.Norms.Radius), q.Norms.top, d)
}

// round bounds ‖clip_c(AU) − clip_c(A'U)‖² (Lemmas 2–4) for a U whose rows have norm ≤ r
// and where top(m, t, p) bounds Σ (ν+t)^p over the m rows of largest norm ν.
func (q Query) round(r *big.Int, top func(m, t int64, p int) *big.Int, d int64) *big.Int {
	t := q.truncation()
	switch q.Unit {
	case Edge:
		return top(2, t, 2)
	case Node:
		return q.vertexSquared(d, r, q.own(top(d, 0, 1), 1))
	case NodeRewire:
		changed := min(2*d, int64(q.N)-1)
		sum := top(changed, 0, 1)
		return q.vertexSquared(changed, r, q.own(sum.Add(sum, big.NewInt(t)), 2))
	}
	panic("privacy: unknown unit")
}

// vertexSquared is own² + m·(r+t)²: the changed vertex's own row, and m rows that all
// move by that vertex's row of U.
func (q Query) vertexSquared(m int64, r, own *big.Int) *big.Int {
	each := new(big.Int).Add(r, big.NewInt(q.truncation()))
	each.Mul(each, each).Mul(each, big.NewInt(m))
	return each.Add(each, own.Mul(own, own))
}

// own is min(times·c, sum): how far the changed vertex's own row can move.
func (q Query) own(sum *big.Int, times int64) *big.Int {
	if c := big.NewInt(times * q.Clip); q.Clip != 0 && c.Cmp(sum) < 0 {
		return c
	}
	return sum
}

// katzSquared is Lemma 5: with u_l a bound of the rows of U_l = V + ⌊βW_l⌉₀,
//
//	Δ₁ = base(V),  Δ_{l+1} = base(u_l) + D·(β·Δ_l + √(nk)) [+ √(nk) with a clip],
//	u₀ = r, u_l = r + β·min(D·u_{l−1}, c),
//
// every step rounded up to an integer. D bounds every degree, so ‖A‖₂ ≤ D.
func (q Query) katzSquared(d int64) *big.Int {
	limit := big.NewInt(q.DegreeLimit)
	d = min(d, q.DegreeLimit)
	rounding := ceilRoot(new(big.Int).Mul(big.NewInt(int64(q.N)), big.NewInt(int64(q.K))))
	r := big.NewInt(q.Norms.Radius)
	u := new(big.Int).Set(r)
	delta := ceilRoot(q.round(r, q.Norms.top, d))
	for l := 1; l < q.Katz.Order; l++ {
		u = new(big.Int).Add(r, q.timesBeta(q.own(new(big.Int).Mul(u, limit), 1)))
		alike := func(m, t int64, p int) *big.Int { // all rows of U_l may have norm u
			each := new(big.Int).Add(u, big.NewInt(t))
			return each.Exp(each, big.NewInt(int64(p)), nil).Mul(each, big.NewInt(m))
		}
		next := q.timesBeta(delta)
		next.Add(next, rounding).Mul(next, limit)
		if q.Clip != 0 {
			next.Add(next, rounding)
		}
		delta = next.Add(next, ceilRoot(q.round(u, alike, d)))
	}
	return delta.Mul(delta, delta)
}

// timesBeta is ⌈β·x⌉.
func (q Query) timesBeta(x *big.Int) *big.Int {
	return ceilRsh(new(big.Int).Mul(x, big.NewInt(q.Katz.Num)), q.Katz.Bits)
}

// ceilRoot is ⌈√x⌉.
func ceilRoot(x *big.Int) *big.Int {
	r := new(big.Int).Sqrt(x)
	if new(big.Int).Mul(r, r).Cmp(x) < 0 {
		r.Add(r, big.NewInt(1))
	}
	return r
}

// CountSquared bounds the squared L2 sensitivity of numbers of edges by public class
// (Lemma 6): 1 for Edge, d² for Node; for NodeRewire, where up to d edges leave some
// classes and up to d enter others, 2d².
func CountSquared(u Unit, n int, d int64) *big.Int {
	d = max(0, min(d, int64(n)-1))
	s := big.NewInt(d)
	switch u {
	case Edge:
		return big.NewInt(1)
	case NodeRewire:
		return s.Mul(s, s).Lsh(s, 1)
	}
	return s.Mul(s, s)
}
