package privacy_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/storage"
)

// The audit attacks the real mechanism: the real Oja loop, kernel, clip, noise and
// read-out run many times on two neighbouring graphs that make the sensitivity bound tight;
// an adversary who knows both graphs and everything public decides between them by the
// likelihood ratio. Clopper–Pearson bounds of its error rates give a lower bound on ε.
// The bound must stay under the certified ε; built with privcom_halved_sensitivity, where
// the noise is half of what it should be, it must rise above it.

// auditRuns is the sample size per graph. Half of it chooses the attack's threshold, the
// other half measures it.
var auditRuns = 12_000

// auditDelta is where the (ε, δ) curve is tested: large, because an event of probability
// 1e-5 cannot be measured with a sample like this. The certified curve holds at every δ.
const auditDelta = "0.05"

// auditConfidence: each of two Clopper–Pearson bounds errs with probability 5e-7, so a
// sound mechanism fails this audit with probability below 1e-6 per case.
const auditConfidence = 5e-7

// world is a pair of neighbours and the release that is made of them.
type world struct {
	unit   privacy.Unit
	d      int64
	clip   float64
	a, b   [][2]int
	n      int
	labels bool
}

func worlds() map[string]world {
	star := [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}}
	return map[string]world{
		"node, star against nothing":              {unit: privacy.Node, d: 7, a: star, n: 8},
		"node, star, row clip":                    {unit: privacy.Node, d: 7, clip: 1, a: star, n: 8},
		"node, star, with read-out":               {unit: privacy.Node, d: 7, clip: 1, a: star, n: 8, labels: true},
		"node-rewire, a list for another":         {unit: privacy.NodeRewire, d: 3, a: star[:3], b: star[3:6], n: 8},
		"node-rewire, row clip, with read-out":    {unit: privacy.NodeRewire, d: 3, clip: 1, a: star[:3], b: star[3:6], n: 8, labels: true},
		"edge, one edge":                          {unit: privacy.Edge, d: 7, a: star[:1], n: 8},
		"edge, one edge among many, with readout": {unit: privacy.Edge, d: 7, a: star, b: star[:6], n: 8, labels: true},
	}
}

func (w world) graph(edges [][2]int) *blockmatmul.Local {
	adj := make([][]int32, w.n)
	for _, e := range edges {
		adj[e[0]] = append(adj[e[0]], int32(e[1]))
		adj[e[1]] = append(adj[e[1]], int32(e[0]))
	}
	c := &blockmatmul.CSR{Ptr: []int64{0}}
	for _, row := range adj {
		slices.Sort(row)
		c.Col = append(c.Col, row...)
		c.Ptr = append(c.Ptr, int64(len(c.Col)))
	}
	return &blockmatmul.Local{N: w.n, Blocks: []*blockmatmul.CSR{c}}
}

func (w world) plan(t *testing.T) *privacy.Plan {
	t.Helper()
	// ρ is about 1/2: the exact Gaussian curve and its double are then well apart at δ = 0.05.
	// Small integers (rows of about five units) keep the noise in reach of the plain sampler,
	// and make truncation count.
	plan, err := privacy.NewPlan(privacy.Params{Unit: w.unit, Vertices: w.n, Rank: 1, Steps: 2, DegreeBound: w.d, DegreeLimit: int64(w.n - 1),
		Target: privacy.Target{Epsilon: privacy.MustDecimal("4.65"), Delta: privacy.MustDecimal("1e-5")}, Katz: privacy.Katz{Order: 1},
		RowNorm: 1, ClipStart: w.clip, ClipEnd: w.clip, Growth: 1, StepFactor: 1.5, ScaleBits: 4})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// readOut is the label mechanism of a world with labels: one public corner per vertex.
func (w world) readOut(t *testing.T) (privacy.ReadOut, *blockmatmul.Operand) {
	t.Helper()
	z := make([]float64, 2*w.n)
	for i := range w.n {
		z[2*i+i%2] = 1
	}
	op, err := blockmatmul.Quantise(z, w.n, 2, 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	r, err := privacy.NewReadOut(w.unit, w.n, 2, 1<<10, w.d, privacy.MustDecimal("0.2"), privacy.MustDecimal("0.1"))
	if err != nil {
		t.Fatal(err)
	}
	return r, op
}

// lab runs releases of a world under one grant large enough for all of them.
type lab struct {
	world
	plan    *privacy.Plan
	grant   *privacy.Grant
	readOut privacy.ReadOut
	z       *blockmatmul.Operand
	certify privacy.Cost // of one release
}

func newLab(t *testing.T, w world) *lab {
	t.Helper()
	ctx := context.Background()
	b, err := storage.Open(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	ledger, err := privacy.OpenLedger(b, "audit")
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{world: w, plan: w.plan(t)}
	l.certify = l.plan.Cost
	if w.labels {
		l.readOut, l.z = w.readOut(t)
		l.certify = l.certify.Plus(l.readOut.Cost(w.d))
	}
	if l.grant, err = ledger.Reserve(ctx, privacy.Request{Unit: w.unit, DegreeBound: w.d, Target: l.plan.Params.Target,
		Cost: privacy.Cost{Pure: privacy.MustDecimal("1e9"), Rho: privacy.MustDecimal("1e9")}}); err != nil {
		t.Fatal(err)
	}
	return l
}

// evidence makes one release of the graph `truth` and returns ln P(release | a) − ln P(release | b).
func (l *lab) evidence(t *testing.T, truth, a, b *blockmatmul.Local) float64 {
	ctx := context.Background()
	tr := &privoja.Memory{}
	// All rows of V are of one length, signed so that the changed vertex's own row moves as
	// far as it can.
	ones := make([]float64, l.n)
	for i := range ones {
		ones[i] = 1
		if l.unit == privacy.NodeRewire && i >= 4 {
			ones[i] = -1
		}
	}
	m, err := privoja.New(privoja.Config{Plan: l.plan, Initial: ones}, truth, l.grant, tr)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := 0; !m.Done(); i++ {
		if err := m.Step(ctx); err != nil {
			t.Fatal(err)
		}
		r, _ := tr.Read(ctx, i)
		// The same public operand again: what was multiplied is in the transcript.
		v := make([]float64, l.n)
		for j, x := range r.V {
			v[j] = math.Ldexp(float64(x), -int(r.Bits))
		}
		op, err := blockmatmul.Quantise(v, l.n, 1, 2, r.Bits)
		if err != nil {
			t.Fatal(err)
		}
		qa, err1 := a.Multiply(ctx, op, r.Clip)
		qb, err2 := b.Multiply(ctx, op, r.Clip)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for j, y := range r.Y {
			da, db := float64(y-qa.Data[j]), float64(y-qb.Data[j])
			sum += (db*db - da*da) / (2 * r.Sigma2.Float())
		}
	}
	if l.labels {
		sum += l.labelEvidence(t, truth, a, b)
	}
	return sum
}

func (l *lab) labelEvidence(t *testing.T, truth, a, b *blockmatmul.Local) float64 {
	ctx := context.Background()
	q, err := truth.Multiply(ctx, l.z, 0)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := l.grant.Labels(l.readOut, q.Data)
	if err != nil {
		t.Fatal(err)
	}
	qa, _ := a.Multiply(ctx, l.z, 0)
	qb, _ := b.Multiply(ctx, l.z, 0)
	slope := math.Ldexp(float64(l.readOut.Num), -int(l.readOut.Bits))
	sum := 0.0
	for i, label := range labels {
		// P(+) = 1/(1+e^{−au}) for u the difference of the two scores, clipped to ±c.
		lp := func(s []int64) float64 {
			c := l.readOut.Clip
			u := float64(max(-c, min(c, s[2*i+int(label)]-s[2*i+1-int(label)])))
			return -math.Log1p(math.Exp(-slope * u))
		}
		sum += lp(qa.Data) - lp(qb.Data)
	}
	return sum
}

// lowerBound is a certified lower bound on ε at δ from evidence under a and under b: the
// threshold is chosen on the first halves and measured on the second halves.
func lowerBound(a, b []float64, delta float64) float64 {
	half := len(a) / 2
	best, threshold := math.Inf(-1), 0.0
	grid := append([]float64(nil), a[:half]...)
	slices.Sort(grid)
	for i := 0; i < half; i += max(1, half/200) {
		x := grid[i]
		// Five standard errors off both rates: about what Clopper–Pearson will take later.
		tp, fp := rate(a[:half], x), rate(b[:half], x)
		tp -= 5 * math.Sqrt(tp*(1-tp)/float64(half))
		fp += 5*math.Sqrt(fp*(1-fp)/float64(half)) + 14/float64(half)
		if e := math.Log((tp - delta) / fp); e > best {
			best, threshold = e, x
		}
	}
	hits := func(s []float64) int { return int(math.Round(rate(s, threshold) * float64(len(s)))) }
	tp := clopperPearsonLow(hits(a[half:]), len(a)-half, auditConfidence)
	fp := 1 - clopperPearsonLow(len(b)-half-hits(b[half:]), len(b)-half, auditConfidence)
	if tp <= delta {
		return 0
	}
	return math.Max(0, math.Log((tp-delta)/fp))
}

func negated(s []float64) []float64 {
	out := make([]float64, len(s))
	for i, x := range s {
		out[i] = -x
	}
	return out
}

func rate(s []float64, threshold float64) float64 {
	c := 0
	for _, x := range s {
		if x >= threshold {
			c++
		}
	}
	return float64(c) / float64(len(s))
}

// clopperPearsonLow is the p with P(Binomial(n, p) ≥ hits) = tail, by bisection on the
// exact tail sum.
func clopperPearsonLow(hits, n int, tail float64) float64 {
	if hits == 0 {
		return 0
	}
	lo, hi := 0.0, float64(hits)/float64(n)
	for range 60 {
		mid := (lo + hi) / 2
		if binomialTail(hits, n, mid) < tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// binomialTail is P(Binomial(n, p) ≥ hits).
func binomialTail(hits, n int, p float64) float64 {
	if p <= 0 {
		return 0
	}
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	sum := 0.0
	for k := hits; k <= n; k++ {
		term := math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		sum += term
		if term < sum*1e-17 && float64(k) > p*float64(n) {
			break
		}
	}
	return sum
}

func TestAuditOfTheWholeMechanism(t *testing.T) {
	if testing.Short() {
		t.Skip("the audit makes 170,000 releases; run without -short")
	}
	if privacy.HalvedSensitivity {
		// Here the attack must succeed: a larger sample keeps its lower bound, whose standard
		// deviation is then about 0.08, several of them above the certified figure.
		auditRuns = max(auditRuns, 40_000)
	}
	for name, w := range worlds() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, w)
			a, b := w.graph(w.a), w.graph(w.b)
			under := func(truth *blockmatmul.Local) []float64 {
				out := make([]float64, auditRuns)
				for i := range out {
					out[i] = l.evidence(t, truth, a, b)
				}
				return out
			}
			xa, xb := under(a), under(b)
			certified := l.certify.Epsilon(privacy.MustDecimal(auditDelta)).Float()
			// Both directions: a against b, and b against a.
			attack := math.Max(lowerBound(xa, xb, 0.05), lowerBound(negated(xb), negated(xa), 0.05))
			t.Logf("attack proves ε ≥ %.3f at δ = %s; certified %.3f; %d runs per graph", attack, auditDelta, certified, auditRuns)
			switch {
			case !privacy.HalvedSensitivity && attack > certified:
				t.Errorf("the mechanism leaks more than it certifies: ε ≥ %.3f > %.3f", attack, certified)
			case privacy.HalvedSensitivity && attack <= certified:
				t.Errorf("with half of the noise the attack proves only ε ≥ %.3f, certified %.3f: the audit is blind", attack, certified)
			case !privacy.HalvedSensitivity && attack < 0.3*certified:
				t.Errorf("the attack proves only ε ≥ %.3f of %.3f: too weak to notice anything", attack, certified)
			}
		})
	}
}

func TestClopperPearson(t *testing.T) {
	// 10 of 100 at 2.5 %: the textbook interval begins at 0.0490.
	if p := clopperPearsonLow(10, 100, 0.025); math.Abs(p-0.0490) > 5e-4 {
		t.Errorf("lower bound of 10 in 100 is %.4f", p)
	}
	if p := clopperPearsonLow(100, 100, 0.05); math.Abs(p-math.Pow(0.05, 0.01)) > 1e-6 {
		t.Errorf("lower bound of 100 in 100 is %.6f", p)
	}
}
