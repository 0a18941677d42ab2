package privacy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// law is the exact output distribution of one vertex's label, as readout.md states it.
func (r ReadOut) law(scores []int64) []float64 {
	best, margin := leader(scores)
	odds := math.Exp(math.Ldexp(float64(r.Num), -int(r.Bits)) * float64(min(margin, r.Clip)))
	p := make([]float64, len(scores))
	for b := range p {
		p[b] = 1 / (odds + float64(len(p)-1))
	}
	p[best] *= odds
	return p
}

// loss is the exact privacy loss between two vectors of scores: the largest |ln P/P'|,
// and the range of ln P/P' over the labels.
func (r ReadOut) loss(x, y []int64) (largest, span float64) {
	p, q := r.law(x), r.law(y)
	lo, hi := math.Inf(1), math.Inf(-1)
	for b := range p {
		l := math.Log(p[b] / q[b])
		lo, hi = min(lo, l), max(hi, l)
	}
	return max(hi, -lo), hi - lo
}

// TestLemmas9To11BoundEveryGraphOnFiveVertices computes the exact loss of every label for
// every neighbour pair of every unit: the own row's loss is within the pure part, every
// other row's range within a·R, and not more rows move than ρ counts.
func TestLemmas9To11BoundEveryGraphOnFiveVertices(t *testing.T) {
	for _, unit := range Units() {
		for _, q := range []int{2, 3, 4} {
			bestOwn, bestRange := 0.0, 0.0
			for n := 2; n <= 5; n++ {
				for trial := range 7 - n - n/5 { // 5, 4, 3, 1 for n = 2, 3, 4, 5
					z, span := labelMatrix(n, q, trial)
					r := ReadOut{Unit: unit, N: n, Labels: q, Num: 3, Bits: 4, Clip: 13, Range: span}
					if err := r.Validate(); err != nil {
						t.Fatal(err)
					}
					o, g := r.worst(t, n, z)
					bestOwn, bestRange = max(bestOwn, o), max(bestRange, g)
				}
			}
			t.Logf("%-11s q=%d: own row %.4f of its bound, range of a neighbour's row %.4f", unit, q, bestOwn, bestRange)
			if bestOwn > 1+1e-9 || bestRange > 1+1e-9 {
				t.Errorf("%s q=%d: bound broken", unit, q)
			}
			if unit != Edge && bestOwn < 0.9 {
				t.Errorf("%s q=%d: the own row's bound is reached only to %.3f", unit, q, bestOwn)
			}
			if bestRange < 0.9 {
				t.Errorf("%s q=%d: the range's bound is reached only to %.3f", unit, q, bestRange)
			}
		}
	}
}

func labelMatrix(n, q, trial int) (z []int32, span int64) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(q*10+trial)))
	z = make([]int32, n*q)
	for i := range n {
		row := z[i*q : (i+1)*q]
		for b := range row {
			row[b] = int32(rng.IntN(9)) - 4
		}
		if trial == 0 { // one corner each, as large as they come
			clear(row)
			row[i%q] = 14 // one neighbour is enough to pass the clip
		}
		lo, hi := row[0], row[0]
		for _, x := range row {
			lo, hi = min(lo, x), max(hi, x)
		}
		span = max(span, int64(hi-lo))
	}
	return z, max(span, 1)
}

func (r ReadOut) worst(t *testing.T, n int, z []int32) (own, span float64) {
	t.Helper()
	q := Query{N: n, K: r.Labels, Katz: Katz{Order: 1}}
	scores := make([][]int64, 1<<(n*(n-1)/2))
	for m := range scores {
		scores[m] = answer(csrOf(graphOf(n, uint(m))), z, q)
	}
	ar := math.Ldexp(float64(r.Num), -int(r.Bits)) * float64(r.Range)
	for m := range scores {
		neighbours(r.Unit, n, uint(m), func(other uint, d int64) {
			moved := 0
			ownLoss := 0.0
			// The changed vertex is the one whose own row may be anything; of all rows it is
			// the one of largest loss that we may charge to the pure part.
			losses := make([][2]float64, n)
			for i := range n {
				l, g := r.loss(scores[m][i*r.Labels:(i+1)*r.Labels], scores[other][i*r.Labels:(i+1)*r.Labels])
				losses[i] = [2]float64{l, g}
			}
			centre := changedVertex(r.Unit, n, uint(m), other)
			for i, l := range losses {
				if i == centre {
					ownLoss = l[0]
					continue
				}
				if l[1] > 0 {
					moved++
				}
				if ar > 0 {
					span = max(span, l[1]/ar)
				}
			}
			rows, _ := r.neighbourRho(d).Float64()
			if limit := int(math.Round(rows * 8 / (ar * ar))); moved > limit {
				t.Fatalf("%s: %d rows move, ρ counts %d", r.Unit, moved, limit)
			}
			if e := r.ownCost().Float(); e > 0 {
				own = max(own, ownLoss/e)
			}
		})
	}
	return own, span
}

// changedVertex is the vertex whose edges differ (any of the two ends where only one edge
// does), or −1 for Edge.
func changedVertex(u Unit, n int, a, b uint) int {
	if u == Edge {
		return -1
	}
	diff := graphOf(n, a^b)
	best, most := 0, -1
	for i, row := range diff {
		c := 0
		for _, on := range row {
			if on {
				c++
			}
		}
		if c > most {
			best, most = i, c
		}
	}
	return best
}

// Sample size 200,000 per case, false-alarm rate 1e-6 per case.
func TestLabelsAreDrawnByTheLaw(t *testing.T) {
	const n = 200_000
	for _, scores := range [][]int64{{0, 0}, {5, -3}, {-100, 100}, {1, 2, 3}, {7, 7, 0, 1}} {
		r := ReadOut{Unit: Edge, N: n, Labels: len(scores), Num: 5, Bits: 5, Clip: 6, Range: 10}
		p := r.law(scores)
		got := make([]float64, len(p))
		s := newStream()
		for range n {
			got[r.draw(s, scores)]++
		}
		chi := 0.0
		for b := range p {
			d := got[b] - p[b]*n
			chi += d * d / (p[b] * n)
		}
		// χ² with 1 to 3 degrees of freedom: 1 − 1e-6 quantiles 23.9, 27.6, 30.7.
		if limit := []float64{0, 23.9, 27.6, 30.7}[len(p)-1]; chi > limit {
			t.Errorf("scores %v: χ² = %.1f, limit %.1f", scores, chi, limit)
		}
	}
}

func TestReadOutFitsItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.SampledFrom(Units()).Draw(t, "unit")
		q := rapid.IntRange(2, 12).Draw(t, "q")
		n := rapid.IntRange(3, 1_000_000).Draw(t, "n")
		d := int64(rapid.IntRange(1, n-1).Draw(t, "d"))
		pure := decimalOf(rapid.Float64Range(0.01, 12).Draw(t, "pure"), false)
		rho := decimalOf(math.Exp(rapid.Float64Range(-9, 2).Draw(t, "ln rho")), false)
		r, err := NewReadOut(u, n, q, 1<<14, d, pure, rho)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Cost(d)
		if c.Rho.Cmp(rho) > 0 || (u != Edge && c.Pure.Cmp(pure) > 0) {
			t.Fatalf("cost %v passes pure %s and ρ %s", c, pure, rho)
		}
		if flat := r.Clip <= 2*leastClip; !flat && c.Rho.Float() < rho.Float()*(1-1e-6) || (u != Edge && r.Clip > 1<<12 && c.Pure.Float() < pure.Float()*(1-1e-3)) {
			t.Fatalf("cost %v wastes pure %s and ρ %s", c, pure, rho)
		}
	})
}

// Two labels at ε_own: p = 1 − e^{−ε}/2 (readout.md, Lemma 9).
func TestTwoLabelsKeepWhatTheoryAllows(t *testing.T) {
	for _, eps := range []string{"0.5", "1", "2", "3"} {
		r, err := NewReadOut(Node, 8000, 2, 1<<14, 2344, MustDecimal(eps), MustDecimal("0.05"))
		if err != nil {
			t.Fatal(err)
		}
		want := 1 - math.Exp(-MustDecimal(eps).Float())/2
		if math.Abs(r.Keep()-want) > 1e-3 {
			t.Errorf("ε_own = %s keeps %.4f, want %.4f", eps, r.Keep(), want)
		}
	}
}

func TestGrantChargesTheReadOutInBothParts(t *testing.T) {
	ctx, l := context.Background(), testLedger(t)
	req := Request{Unit: Node, DegreeBound: 10, Cost: Cost{Pure: MustDecimal("1"), Rho: MustDecimal("0.1")},
		Target: Target{MustDecimal("3"), MustDecimal("1e-5")}}
	g, err := l.Reserve(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReadOut(Node, 50, 3, 100, 10, MustDecimal("1"), MustDecimal("0.1"))
	if err != nil {
		t.Fatal(err)
	}
	labels, err := g.Labels(r, make([]int64, 150))
	if err != nil || len(labels) != 50 {
		t.Fatalf("%d labels, %v", len(labels), err)
	}
	for _, b := range labels {
		if b < 0 || b > 2 {
			t.Fatalf("label %d of 3", b)
		}
	}
	if c := g.CostAt(10); !c.Within(req.Cost) || c.Pure.Float() < 0.99 || c.Rho.Float() < 0.099 {
		t.Errorf("cost %v", c)
	}
	if c := g.CostAt(20); c.Rho.Float() < 0.19 || c.Pure.Cmp(g.CostAt(10).Pure) != 0 {
		t.Errorf("cost at twice the degree %v: ρ doubles, the own row does not", c)
	}
	if _, err := g.Labels(r, make([]int64, 150)); err == nil {
		t.Error("a second read-out passed the reservation")
	}
	for name, bad := range map[string]ReadOut{
		"unit":  {Unit: Edge, N: 50, Labels: 3, Num: 1, Bits: 9, Clip: 2, Range: 1},
		"slope": {Unit: Node, N: 50, Labels: 3, Clip: 2, Range: 1},
		"steep": {Unit: Node, N: 50, Labels: 3, Num: 1 << 40, Bits: 1, Clip: 1 << 20, Range: 1},
	} {
		if _, err := g.Labels(bad, make([]int64, 150)); err == nil {
			t.Errorf("a read-out with a bad %s was taken", name)
		}
	}
}

func TestReadOutsOfExtremeBudgetsExist(t *testing.T) {
	for _, u := range Units() {
		for _, pure := range []string{"1e-10", "0.001", "350", "800", "1e8"} {
			for _, span := range []int64{1, 1 << 14} {
				r, err := NewReadOut(u, 500, 2, span, 499, MustDecimal(pure), MustDecimal("0.1"))
				if err != nil {
					t.Errorf("%s, pure ε %s, range %d: %v", u, pure, span, err)
					continue
				}
				if c := r.Cost(499); u != Edge && c.Pure.Cmp(MustDecimal(pure)) > 0 || c.Rho.Cmp(MustDecimal("0.1")) > 0 {
					t.Errorf("%s, pure ε %s: costs %v", u, pure, c)
				}
			}
		}
	}
}
