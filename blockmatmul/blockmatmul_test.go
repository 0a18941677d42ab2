package blockmatmul

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func randomGraph(rng *rand.Rand, n int, p float64) [][]bool {
	a := make([][]bool, n)
	for i := range a {
		a[i] = make([]bool, n)
	}
	for i := range n {
		for j := range i {
			if rng.Float64() < p {
				a[i][j], a[j][i] = true, true
			}
		}
	}
	return a
}

func split(a [][]bool, cuts ...int) *Local {
	l := &Local{N: len(a)}
	from := 0
	for _, to := range append(cuts, len(a)) {
		c := &CSR{First: from, Ptr: []int64{0}}
		for _, row := range a[from:to] {
			for j, on := range row {
				if on {
					c.Col = append(c.Col, int32(j))
				}
			}
			c.Ptr = append(c.Ptr, int64(len(c.Col)))
		}
		l.Blocks = append(l.Blocks, c)
		from = to
	}
	return l
}

func randomOperand(t testing.TB, rng *rand.Rand, n, k int, bits uint) *Operand {
	v := make([]float64, n*k)
	for i := range v {
		v[i] = rng.NormFloat64() / math.Sqrt(float64(n))
	}
	op, err := Quantise(v, n, k, 0.5*math.Sqrt(float64(k)/float64(n)), bits)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func TestQuantiseClipsEveryRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 20).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "k")
		bits := uint(rapid.IntRange(0, 30).Draw(t, "bits"))
		v := rapid.SliceOfN(rapid.Float64Range(-1e3, 1e3), n*k, n*k).Draw(t, "v")
		radius := rapid.Float64Range(1e-9, 1.9).Draw(t, "radius")
		op, err := Quantise(v, n, k, radius, bits)
		if err != nil {
			t.Fatal(err)
		}
		limit := math.Ldexp(radius, int(bits))
		width, counts := op.NormCounts()
		var rows int64
		for _, c := range counts {
			rows += c
		}
		if last := int64(len(counts) - 1); rows != int64(n) || last*width < op.Radius() || (last-1)*width >= op.Radius() || counts[last] == 0 {
			t.Fatalf("%d norm classes of width %d do not fit %d rows and radius %d", len(counts), width, n, op.Radius())
		}
		for i := range n {
			sum := 0.0
			for j := range k {
				x := float64(op.Data()[i*k+j])
				sum += x * x
				if want := math.Ldexp(v[i*k+j], int(bits)); math.Abs(x) > math.Abs(want)+1e-6 || x*want < 0 {
					t.Fatalf("entry %g was quantised to %g", want, x)
				}
			}
			if math.Sqrt(sum) > limit*(1+1e-12) || math.Sqrt(sum) > float64(op.Radius()) {
				t.Fatalf("row %d has norm %g, bounds %g and %d", i, math.Sqrt(sum), limit, op.Radius())
			}
		}
	})
}

func TestQuantiseRefuses(t *testing.T) {
	for name, f := range map[string]func() error{
		"NaN":          func() error { _, err := Quantise([]float64{math.NaN()}, 1, 1, 1, 10); return err },
		"Inf":          func() error { _, err := Quantise([]float64{math.Inf(-1)}, 1, 1, 1, 10); return err },
		"wrong shape":  func() error { _, err := Quantise([]float64{1, 2, 3}, 2, 2, 1, 10); return err },
		"zero radius":  func() error { _, err := Quantise([]float64{1}, 1, 1, 0, 10); return err },
		"NaN radius":   func() error { _, err := Quantise([]float64{1}, 1, 1, math.NaN(), 10); return err },
		"large radius": func() error { _, err := Quantise([]float64{1}, 1, 1, 4, 30); return err },
		"fine scale":   func() error { _, err := Quantise([]float64{1}, 1, 1, 0.1, 31); return err },
	} {
		if f() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// Lemma 1 of privacy/sensitivity.md, and the two paths of the clip against each other.
func TestLemma1ClipIsLipschitzUpToOneUnitPerCoordinate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		size := rapid.SampledFrom([]int64{5, 1000, 1 << 30, 1 << 45, 1 << 60}).Draw(t, "size")
		row := rapid.SliceOfN(rapid.Int64Range(-size, size), k, k)
		x, y := row.Draw(t, "x"), row.Draw(t, "y")
		c := rapid.Int64Range(1, min(size, 1<<50)).Draw(t, "c")
		before := distance(x, y)
		cx, cy := slices.Clone(x), slices.Clone(y)
		wide := slices.Clone(x)
		ClipRow(cx, c)
		ClipRow(cy, c)
		clipWide(wide, c)
		if !slices.Equal(cx, wide) {
			t.Fatalf("narrow clip %v, wide clip %v", cx, wide)
		}
		zero := make([]int64, k)
		if n := norm2(cx); n.Cmp(new(big.Int).Mul(big.NewInt(c), big.NewInt(c))) > 0 {
			t.Fatalf("clipped row %v is longer than %d", cx, c)
		}
		if distance(cx, cy) > (before+math.Sqrt(float64(k)))*(1+1e-12) {
			t.Fatalf("clip moved %v and %v from %g to %g apart", x, y, before, distance(cx, cy))
		}
		if distance(cx, zero) > distance(x, zero) {
			t.Fatalf("clip lengthened %v to %v", x, cx)
		}
	})
}

func norm2(x []int64) *big.Int {
	s := new(big.Int)
	for _, v := range x {
		b := big.NewInt(v)
		s.Add(s, b.Mul(b, b))
	}
	return s
}

func distance(x, y []int64) float64 {
	s := new(big.Int)
	for i := range x {
		d := new(big.Int).Sub(big.NewInt(x[i]), big.NewInt(y[i]))
		s.Add(s, d.Mul(d, d))
	}
	f, _ := new(big.Float).Sqrt(new(big.Float).SetPrec(100).SetInt(s)).Float64()
	return f
}

func TestFloorSqrt(t *testing.T) {
	for _, q := range []uint64{0, 1, 2, 3, 4, 8, 9, 1<<32 - 1, 1 << 32, 1<<62 - 1, math.MaxUint64} {
		if want := new(big.Int).Sqrt(new(big.Int).SetUint64(q)).Uint64(); floorSqrt(q) != want {
			t.Errorf("floorSqrt(%d) = %d, want %d", q, floorSqrt(q), want)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		q := rng.Uint64() >> rng.UintN(64)
		s := floorSqrt(q)
		if s*s > q || (s < math.MaxUint32 && (s+1)*(s+1) <= q) {
			t.Fatalf("floorSqrt(%d) = %d", q, s)
		}
	}
}

// The fixed-point series is within its rounding of the real one, and W_L·β of H̃V.
func TestKatzSeriesApproximatesTheRealOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, k = 40, 3
	a := randomGraph(rng, n, 0.2)
	l := split(a, 13)
	op := randomOperand(t, rng, n, k, 26)
	const num, bits = 51, 10 // β ≈ 0.05
	beta := num * math.Ldexp(1, -bits)
	v := op.Float(nil)
	for _, order := range []int{1, 3, 5} {
		got, err := Series{Order: order, Num: num, Bits: bits, DegreeLimit: n - 1}.Multiply(context.Background(), l, op, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, n*k)
		for range order {
			u := slices.Clone(v)
			for i := range u {
				u[i] += beta * want[i]
			}
			want = make([]float64, n*k)
			for i := range n {
				for j := range n {
					if a[i][j] {
						for x := range k {
							want[i*k+x] += u[j*k+x]
						}
					}
				}
			}
		}
		for i := range want {
			if d := math.Abs(math.Ldexp(float64(got.Data[i]), -26) - want[i]); d > float64(order)*n*0x1p-26 {
				t.Fatalf("order %d: entry %d off by %g", order, i, d)
			}
		}
	}
}

func TestKatzRefusesWhatCouldOverflow(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	a := randomGraph(rng, 30, 0.5)
	op := randomOperand(t, rng, 30, 2, 28)
	if _, err := (Series{Order: 5, Num: 1 << 10, Bits: 5, DegreeLimit: 29}).Multiply(context.Background(), split(a), op, 0); err == nil {
		t.Error("β·D = 928 was taken at a scale of 2^-28")
	}
	if _, err := (Series{Order: 2, DegreeLimit: 29}).Multiply(context.Background(), split(a), op, 0); err == nil {
		t.Error("an even order was taken")
	}
}

func TestLocalRefusesWrongShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	op := randomOperand(t, rng, 10, 2, 20)
	ctx := context.Background()
	if _, err := split(randomGraph(rng, 9, 0.5)).Multiply(ctx, op, 0); err == nil {
		t.Error("9 rows met an operand of 10")
	}
	missing := split(randomGraph(rng, 10, 0.5), 5)
	missing.Blocks = missing.Blocks[:1]
	if _, err := missing.Multiply(ctx, op, 0); err == nil {
		t.Error("half the rows were enough")
	}
	bad := split(randomGraph(rng, 10, 0.5))
	bad.Blocks[0].Col[0] = 10
	if _, err := bad.Multiply(ctx, op, 0); err == nil {
		t.Error("a column outside the graph was read")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := split(randomGraph(rng, 10, 0.5)).Multiply(cancelled, op, 0); err == nil {
		t.Error("a cancelled product returned")
	}
}
