package privoja

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/privacy"
	"github.com/privcom/privcom/storage"
)

// planted is a graph of n vertices in two equal halves: expected degree `in` inside,
// `out` across. truth holds ±1 per vertex.
func planted(n int, in, out float64, seed uint64) (a *blockmatmul.CSR, truth []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]int32, n)
	truth = make([]float64, n)
	for i := range n {
		truth[i] = float64(1 - 2*(i%2))
		for j := range i {
			p := out / (float64(n) / 2)
			if i%2 == j%2 {
				p = in / (float64(n) / 2)
			}
			if rng.Float64() < p {
				rows[i] = append(rows[i], int32(j))
				rows[j] = append(rows[j], int32(i))
			}
		}
	}
	a = &blockmatmul.CSR{Ptr: []int64{0}}
	for _, r := range rows {
		slices.Sort(r)
		a.Col = append(a.Col, r...)
		a.Ptr = append(a.Ptr, int64(len(a.Col)))
	}
	return a, truth
}

func testPlan(t *testing.T, n, k, steps int, eps string) *privacy.Plan {
	t.Helper()
	plan, err := privacy.NewPlan(privacy.Params{Unit: privacy.Edge,
		Target:   privacy.Target{Epsilon: privacy.MustDecimal(eps), Delta: privacy.MustDecimal("1e-5")},
		Vertices: n, Rank: k, Steps: steps, DegreeBound: int64(n - 1), DegreeLimit: int64(n - 1), Katz: privacy.Katz{Order: 1},
		RowNorm: 0.5, Growth: 1.1, StepFactor: 1.5, ScaleBits: 20})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func grantFor(t *testing.T, plan *privacy.Plan) *privacy.Grant {
	t.Helper()
	b, err := storage.Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := privacy.OpenLedger(b, "test")
	if err != nil {
		t.Fatal(err)
	}
	g, err := l.Reserve(context.Background(), privacy.Request{Unit: plan.Params.Unit, DegreeBound: plan.Params.DegreeBound,
		Cost: plan.Cost, Target: plan.Params.Target})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func run(t *testing.T, m *Machine) {
	t.Helper()
	for !m.Done() {
		if err := m.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// right is the share of vertices whose sign in column 0 is the planted one.
func right(v []float64, k int, truth []float64) float64 {
	hits := 0.0
	for i, s := range truth {
		if v[i*k]*s > 0 {
			hits++
		}
	}
	return math.Max(hits, float64(len(truth))-hits) / float64(len(truth))
}

func TestOjaFindsThePlantedDirection(t *testing.T) {
	const n = 400
	a, truth := planted(n, 40, 8, 3)
	plan := testPlan(t, n, 2, 24, "8")
	tr := &Memory{}
	m, err := New(Config{Plan: plan, Centre: true, Seed: 5}, &blockmatmul.Local{N: n, Blocks: []*blockmatmul.CSR{a}}, grantFor(t, plan), tr)
	if err != nil {
		t.Fatal(err)
	}
	run(t, m)
	e, err := Fit(context.Background(), tr, m.Vectors(), n, 2, true, FitRounds)
	if err != nil {
		t.Fatal(err)
	}
	// λ₂ = in − out = 32 against N ≈ 0.9: the direction is found with room; a run that
	// places under 90 % would be 10 standard deviations off.
	if r := right(e.V, 2, truth); r < 0.9 {
		t.Errorf("fit places %.3f of the vertices", r)
	}
	if math.Abs(e.Lambda[0]-32) > 4 || e.Noise[0] <= 0 || e.Noise[0] > 2 {
		t.Errorf("λ = %v ± %v, want about 32", e.Lambda, e.Noise)
	}
	for j := range 2 {
		mean := 0.0
		for i := range n {
			mean += e.V[i*2+j]
		}
		if math.Abs(mean) > 1e-9 {
			t.Errorf("column %d of a centred run has sum %g", j, mean)
		}
	}
}

func TestARecordedStepIsNeverDrawnAgain(t *testing.T) {
	const n = 200
	a, _ := planted(n, 20, 4, 1)
	plan := testPlan(t, n, 2, 6, "4")
	mul := &blockmatmul.Local{N: n, Blocks: []*blockmatmul.CSR{a}}
	tr := &Memory{}
	first, err := New(Config{Plan: plan, Centre: true, Seed: 1}, mul, grantFor(t, plan), tr)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 { // dies after four steps
		if err := first.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	grant := grantFor(t, plan)
	counted := &counting{Multiplier: mul}
	second, err := New(Config{Plan: plan, Centre: true, Seed: 1}, counted, grant, tr)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := second.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if counted.calls != 0 {
		t.Errorf("%d products for recorded steps", counted.calls)
	}
	if len(grant.Charges()) != 4 {
		t.Errorf("%d mechanisms are booked for 4 recorded steps", len(grant.Charges()))
	}
	if !slices.Equal(first.Vectors(), second.Vectors()) {
		t.Error("the same transcript gave other vectors")
	}
	run(t, second)
	if counted.calls != 2 || len(grant.Charges()) != 6 || tr.Len() != 6 {
		t.Errorf("%d products, %d mechanisms booked, %d steps recorded; want 2, 6 and 6", counted.calls, len(grant.Charges()), tr.Len())
	}
	if err := second.Step(context.Background()); err == nil {
		t.Error("a step ran past the end")
	}
}

// counting counts products.
type counting struct {
	blockmatmul.Multiplier
	calls int
}

func (c *counting) Multiply(ctx context.Context, v *blockmatmul.Operand, clip int64) (*blockmatmul.Product, error) {
	c.calls++
	return c.Multiplier.Multiply(ctx, v, clip)
}

// faster is a transcript into which another coordinator writes first.
type faster struct{ *Memory }

func (f faster) Append(ctx context.Context, r *Record) (*Record, error) {
	other := *r
	other.Y = slices.Clone(r.Y)
	for i := range other.Y {
		other.Y[i] += int64(i%7) - 3
	}
	if _, err := f.Memory.Append(ctx, &other); err != nil {
		return nil, err
	}
	return f.Memory.Append(ctx, r)
}

func TestTheAnswerThatStandsIsUsedAndNotOnesOwn(t *testing.T) {
	const n = 60
	a, _ := planted(n, 20, 4, 1)
	plan := testPlan(t, n, 2, 3, "4")
	mul := &blockmatmul.Local{N: n, Blocks: []*blockmatmul.CSR{a}}
	tr := &Memory{}
	loser, err := New(Config{Plan: plan, Centre: true, Seed: 1}, mul, grantFor(t, plan), faster{tr})
	if err != nil {
		t.Fatal(err)
	}
	run(t, loser)
	replay, err := New(Config{Plan: plan, Centre: true, Seed: 1}, nil, grantFor(t, plan), tr)
	if err != nil {
		t.Fatal(err)
	}
	run(t, replay)
	if !slices.Equal(loser.Vectors(), replay.Vectors()) {
		t.Error("a machine went on with an answer that is not the recorded one")
	}
}

func TestARecordOfAnotherQuestionIsRefused(t *testing.T) {
	const n = 60
	a, _ := planted(n, 20, 4, 1)
	plan := testPlan(t, n, 2, 3, "4")
	mul := &blockmatmul.Local{N: n, Blocks: []*blockmatmul.CSR{a}}
	tr := &Memory{}
	m, err := New(Config{Plan: plan, Centre: true, Seed: 1}, mul, grantFor(t, plan), tr)
	if err != nil {
		t.Fatal(err)
	}
	run(t, m)
	var replay *ReplayError
	other, err := New(Config{Plan: plan, Centre: true, Seed: 2}, mul, grantFor(t, plan), tr)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Step(context.Background()); !errors.As(err, &replay) {
		t.Errorf("a record of another V: %v", err)
	}
	tr.records[0].Sigma2 = privacy.MustDecimal("17")
	same, err := New(Config{Plan: plan, Centre: true, Seed: 1}, mul, grantFor(t, plan), tr)
	if err != nil {
		t.Fatal(err)
	}
	if err := same.Step(context.Background()); !errors.As(err, &replay) {
		t.Errorf("a record of another variance: %v", err)
	}
}

func TestNewRefusesABadInitialMatrix(t *testing.T) {
	plan := testPlan(t, 10, 2, 3, "1")
	ones := make([]float64, 20)
	for i := range ones {
		ones[i] = 1
	}
	for name, v := range map[string][]float64{
		"wrong size":        make([]float64, 19),
		"dependent columns": ones,
		"not finite":        append(make([]float64, 19), math.NaN()),
	} {
		if _, err := New(Config{Plan: plan, Initial: v}, nil, nil, &Memory{}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestATranscriptOfAnotherShapeIsRefused(t *testing.T) {
	plan := testPlan(t, 10, 2, 3, "1")
	tr := &Memory{}
	if _, err := tr.Append(context.Background(), &Record{Step: 0, Rows: 9, Cols: 2}); err != nil {
		t.Fatal(err)
	}
	m, err := New(Config{Plan: plan, Seed: 1}, nil, nil, tr)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Step(context.Background()); err == nil {
		t.Error("a record of 9 rows was used for 10 vertices")
	}
	if _, err := tr.Append(context.Background(), &Record{Step: 5}); err == nil {
		t.Error("a gap in the transcript was taken")
	}
}

// The paper's calibration is what docs/paper.md says: the noise of one step is larger
// than the signal by orders of magnitude, and the certified cost stays within ε.
func TestPaperProfileRunsAsThePaperSays(t *testing.T) {
	const n, k = 200, 2
	a, _ := planted(n, 20, 4, 1)
	p := privacy.Params{Unit: privacy.Node, Target: privacy.Target{Epsilon: privacy.MustDecimal("1"), Delta: privacy.MustDecimal("1e-5")},
		Vertices: n, Rank: k, Steps: 1, DegreeBound: n - 1, DegreeLimit: n - 1, RowNorm: 1, Growth: 1, StepFactor: 1, ScaleBits: 20}
	var err error
	p.Katz.Order = 3
	if p.Katz.Num, p.Katz.Bits, err = privacy.DecayFactor(privacy.PaperBeta(n, k)); err != nil {
		t.Fatal(err)
	}
	plan, err := privacy.PaperPlan(p)
	if err != nil {
		t.Fatal(err)
	}
	grant := grantFor(t, plan)
	tr := &Memory{}
	m, err := New(Config{Plan: plan, Paper: true, Seed: 1}, &blockmatmul.Local{N: n, Blocks: []*blockmatmul.CSR{a}}, grant, tr)
	if err != nil {
		t.Fatal(err)
	}
	run(t, m)
	lambda, err := m.PaperEigenvalues(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(lambda) != k || len(grant.Charges()) != 1+k {
		t.Errorf("%d eigenvalues, %d mechanisms; want %d and %d", len(lambda), len(grant.Charges()), k, 1+k)
	}
	if cost := grant.CostAt(n - 1); !cost.Within(plan.Cost) || cost.Epsilon(p.Target.Delta).Float() > 1 {
		t.Errorf("cost %v exceeds the plan's %v", cost, plan.Cost)
	}
	// Signal of one step: ‖A·V‖ ≤ λ₁ ≈ 24; noise per column σ√n/β.
	r, _ := tr.Read(context.Background(), 0)
	var energy float64
	for _, y := range r.Y {
		e := math.Ldexp(float64(y), -int(r.Bits))
		energy += e * e
	}
	if got := math.Sqrt(energy / k); got < 1e5*24 || math.Abs(got/plan.NoiseNorm-1) > 0.5 {
		t.Errorf("a column of Y has norm %g; the plan's noise is %g, the signal at most 24", got, plan.NoiseNorm)
	}
}
