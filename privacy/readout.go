package privacy

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"
)

// ReadOut describes the label mechanism by public numbers. Vertex i has integer scores
// X_ib = Σ_{j∈N(i)} Z_jb for labels b < q, from a public n×q matrix Z. Its margin m is
// the best score less the second best, u = min(m, c), and it publishes
//
//	the best label with probability e^{au}/(e^{au}+q−1), any other with 1/(e^{au}+q−1),
//
// a = Num·2^−Bits. For q = 2 this is the label + with probability 1/(1+e^{−ax}), x clipped
// to ±c (readout.md). One winner near c and the rest at 0 is q-ary
// randomised response, which wastes least of the own row's ε (readout.md).
type ReadOut struct {
	Unit   Unit  `json:"unit"`
	N      int   `json:"vertices"`
	Labels int   `json:"labels"`          // q
	Num    int64 `json:"slope_numerator"` // a = Num·2^−Bits per unit of score
	Bits   uint  `json:"slope_bits"`
	Clip   int64 `json:"clip"`  // c, in units of a score
	Range  int64 `json:"range"` // R ≥ max_b Z_jb − min_b Z_jb for every row j
}

// maxLogOdds bounds a·c: a label with ten thousand to the power of nothing left to hide
// is a programmer's slip, and exp must stay far from overflow.
const maxLogOdds = 500

// Validate reports a read-out whose bound is not proven here.
func (r ReadOut) Validate() error {
	switch {
	case r.N < 1 || r.Labels < 2 || r.Labels > 1<<15:
		return fmt.Errorf("privacy: read-out of %d labels for %d vertices", r.Labels, r.N)
	case r.Num < 1 || r.Bits > 126 || r.Clip < 1 || r.Range < 1:
		return errors.New("privacy: read-out needs a positive slope, clip and range")
	case r.logOdds() > maxLogOdds:
		return fmt.Errorf("privacy: read-out log-odds a·c = %g, must be at most %d", r.logOdds(), maxLogOdds)
	}
	return nil
}

// logOdds is a·c.
func (r ReadOut) logOdds() float64 {
	return math.Ldexp(float64(r.Num), -int(r.Bits)) * float64(r.Clip)
}

// Keep is the probability that a vertex with a margin of at least c publishes its best
// label.
func (r ReadOut) Keep() float64 {
	return 1 / (1 + float64(r.Labels-1)*math.Exp(-r.logOdds()))
}

// ownCost is the pure ε of the changed vertex's own label, rounded up (readout.md,
// Lemma 9): 0 for Edge, where both rows count as neighbours' rows.
func (r ReadOut) ownCost() Decimal {
	q, ac := float64(r.Labels), nextUp(r.logOdds()*(1+4*0x1p-52))
	switch r.Unit {
	case Edge:
		return Decimal{}
	case NodeRewire:
		return decimalOf(ac, true)
	}
	// max( ln q·e^{ac}/(e^{ac}+q−1), ln (e^{ac}+q−1)/q ), written so that nothing cancels.
	x := math.Expm1(ac)
	best := math.Log1p(x * (q - 1) / (x + q))
	other := math.Log1p(x / q)
	return decimalOf(math.Max(best, other)*(1+0x1p-40), true)
}

// neighbourRho is ρ of the rows that the changed vertex moves (Lemma 10): each is a
// bounded-range mechanism of range a·R, so (a·R)²/8-zCDP; d of them for Node, min(2d, n−1)
// for NodeRewire, 2 for Edge.
func (r ReadOut) neighbourRho(d int64) *big.Rat {
	rows := int64(2)
	switch r.Unit {
	case Node:
		rows = max(0, min(d, int64(r.N)-1))
	case NodeRewire:
		rows = max(0, min(2*d, int64(r.N)-1))
	}
	ar := new(big.Int).Mul(big.NewInt(r.Num), big.NewInt(r.Range))
	num := ar.Mul(ar, ar).Mul(ar, big.NewInt(rows))
	return new(big.Rat).SetFrac(num, new(big.Int).Lsh(big.NewInt(1), 2*r.Bits+3))
}

// Cost is the certified cost for vertices of degree ≤ d.
func (r ReadOut) Cost(d int64) Cost {
	return Cost{Pure: r.ownCost(), Rho: ratUp(r.neighbourRho(d))}
}

const (
	certain   = 40  // a·c at most
	leastClip = 256 // c at least, in units of a score
)

// slopeBits is the precision of a slope chosen from a budget.
const slopeBits = 40

// NewReadOut chooses the steepest read-out that a pure ε for the own row and a ρ for the
// neighbours' rows pay for, at degree bound d: the slope from ρ, then the clip from ε. All
// arguments are public. For Edge only ρ counts, and the clip is where a label is certain
// to one in 10⁶ (a·c = 14).
func NewReadOut(u Unit, n, labels int, span, d int64, pure, rho Decimal) (ReadOut, error) {
	r := ReadOut{Unit: u, N: n, Labels: labels, Num: 1, Range: span, Clip: 1}
	if rho.Sign() <= 0 || (u.PerVertex() && pure.Sign() <= 0) || span < 1 {
		return r, errors.New("privacy: a read-out needs a positive budget and range")
	}
	unitRho := r.neighbourRho(d) // at a = 1
	if unitRho.Sign() == 0 {
		return r, errors.New("privacy: a read-out at degree bound 0")
	}
	ratio, _ := new(big.Rat).Quo(rho.Rat(), unitRho).Float64()
	slope := math.Sqrt(ratio)
	_, exp := math.Frexp(slope)
	bits := slopeBits - exp
	if bits < 0 || bits > 120 {
		return r, fmt.Errorf("privacy: read-out slope %g is out of range", slope)
	}
	r.Bits = uint(bits)
	r.Num = int64(math.Ldexp(slope, bits))
	for r.Num > 1 && r.neighbourRho(d).Cmp(rho.Rat()) > 0 {
		r.Num--
	}
	ac := 14.0
	e, q := pure.Float(), float64(labels)
	switch u {
	case Node: // from the two bounds of ownCost, whichever binds
		ac = math.Log1p(q * math.Expm1(e))
		if most := math.Exp(e); most < q {
			ac = math.Min(ac, math.Log(most*(q-1)/(q-most)))
		}
	case NodeRewire:
		ac = e
	}
	// A label that is kept but for one time in e⁴⁰ hides nothing more for being kept surer; and
	// a clip of few units would round ε away, so a steep slope is flattened instead.
	ac = math.Min(ac, certain)
	if least := ac / leastClip; math.Ldexp(float64(r.Num), -bits) > least {
		_, exp := math.Frexp(least)
		if bits = slopeBits - exp; bits > 120 {
			return r, fmt.Errorf("privacy: a read-out of pure epsilon %s is too small to draw", pure)
		}
		r.Bits, r.Num = uint(bits), int64(math.Ldexp(least, bits))
	}
	clip := ac / math.Ldexp(float64(r.Num), -bits)
	if !(clip >= 1) || clip > 1<<60 {
		return r, fmt.Errorf("privacy: read-out clip %g is out of range", clip)
	}
	r.Clip = int64(clip)
	for r.Clip > 1 && r.ownCost().Cmp(pure) > 0 && u != Edge {
		r.Clip -= max(1, r.Clip>>30)
	}
	if err := r.Validate(); err != nil {
		return r, err
	}
	if c := r.Cost(d); c.Rho.Cmp(rho) > 0 || (u.PerVertex() && c.Pure.Cmp(pure) > 0) {
		return r, fmt.Errorf("privacy: no read-out fits pure epsilon %s and rho %s", pure, rho)
	}
	return r, nil
}

// draw publishes one vertex's label from its scores, exactly: a candidate is uniform; the
// best is accepted, another with probability e^{−au} (CKS 2020, Bernoulli(exp(−γ))).
func (r ReadOut) draw(s *stream, scores []int64) int32 {
	best, margin := leader(scores)
	u := new(big.Int).SetInt64(min(margin, r.Clip))
	num := u.Mul(u, big.NewInt(r.Num))
	num.Lsh(num, sensitivityShift/2)
	den := new(big.Int).Lsh(big.NewInt(1), r.Bits)
	for {
		b := int(s.below(uint64(len(scores))))
		if b == best || bernoulliExp(s, num, den) {
			return int32(b)
		}
	}
}

// leader is the index of the largest score and its margin over the next. Scores are
// sums of n rows within 2⁶¹, so the difference fits.
func leader(scores []int64) (best int, margin int64) {
	second := int64(math.MinInt64)
	for b, x := range scores[1:] {
		if x > scores[best] {
			second, best = scores[best], b+1
		} else if x > second {
			second = x
		}
	}
	return best, scores[best] - second
}

// Labels publishes a label for every vertex from private scores (n×q, row-major), which
// it overwrites with zeros.
func (g *Grant) Labels(r ReadOut, scores []int64) ([]int32, error) {
	if err := g.mayDraw("labels"); err != nil {
		return nil, err
	}
	if len(scores) != r.N*r.Labels {
		return nil, fmt.Errorf("privacy: scores have %d entries, want %d×%d", len(scores), r.N, r.Labels)
	}
	if err := g.LabelsRecorded(r); err != nil {
		return nil, err
	}
	out := make([]int32, r.N)
	const rows = 1 << 13
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (r.N+rows-1)/rows) {
		workers.Go(func() {
			for {
				from := int(next.Add(rows)) - rows
				if from >= r.N {
					return
				}
				s := newStream()
				for i := from; i < min(from+rows, r.N); i++ {
					out[i] = r.draw(s, scores[i*r.Labels:(i+1)*r.Labels])
				}
				s.close()
			}
		})
	}
	workers.Wait()
	clear(scores)
	return out, nil
}

// LabelsRecorded books what Labels books, for an answer that is recorded.
func (g *Grant) LabelsRecorded(r ReadOut) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.Unit != g.entry.Unit {
		return fmt.Errorf("privacy: a read-out of unit %s cannot use a reservation of unit %s", r.Unit, g.entry.Unit)
	}
	return g.book(Charge{Kind: "labels", Cost: r.Cost(g.entry.DegreeBound), at: r.Cost})
}
