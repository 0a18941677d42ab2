package privacy

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// chiSquareCritical is the (1−1e-6) quantile of χ² with df degrees of freedom, by
// Wilson and Hilferty's cube-root normal approximation (error < 1 % for df ≥ 5).
func chiSquareCritical(df int) float64 {
	const z = 4.7534 // Φ⁻¹(1 − 1e-6)
	k := float64(df)
	t := 1 - 2/(9*k) + z*math.Sqrt(2/(9*k))
	return k * t * t * t
}

func draws(sp sampler, n int) []int64 {
	out := make([]int64, n)
	addNoise(out, sp)
	return out
}

type pmfGolden []struct {
	Variance Decimal            `json:"variance_parameter"`
	PMF      map[string]Decimal `json:"pmf"`
}

// Sample size 200,000 per case; the false-alarm rate is 1e-6 per case.
func TestCKSHasTheExactProbabilities(t *testing.T) {
	const n = 200_000
	cases := loadGolden[pmfGolden](t, "testdata/discrete_gaussian.json")
	if len(cases) != 4 {
		t.Fatalf("%d golden cases, want 4", len(cases))
	}
	for _, c := range cases {
		t.Run("variance "+c.Variance.String(), func(t *testing.T) {
			count := map[int64]int{}
			for _, x := range draws(newCKS(c.Variance.Rat()), n) {
				count[x]++
			}
			chi, df, tail, covered := 0.0, 0, 0, 0.0
			for x := int64(-5); x <= 5; x++ {
				p := c.PMF[fmt.Sprint(max(x, -x))].Float()
				if p*n < 5 {
					continue
				}
				d := float64(count[x]) - p*n
				chi += d * d / (p * n)
				covered += p
				tail += count[x]
				df++
			}
			if rest := (1 - covered) * n; rest >= 5 {
				d := float64(n-tail) - rest
				chi += d * d / rest
			} else {
				df--
			}
			if chi > chiSquareCritical(max(df, 5)) {
				t.Errorf("χ² = %.1f with %d degrees of freedom", chi, df)
			}
		})
	}
}

// The law of the column sampler against the exact probabilities, in 64 bins of
// roughly equal mass for large σ, per integer for small σ. Sample size 1,000,000
// per case, false-alarm rate 1e-6 per case.
func TestColumnSamplerFollowsTheDiscreteGaussian(t *testing.T) {
	const n = 1_000_000
	for _, sigma := range []float64{64, 100.5, 127.9, 128, 1 << 14, 1<<20 + 12345, 1 << 30, 1 << 40, 1 << 56} {
		t.Run(fmt.Sprint(sigma), func(t *testing.T) {
			s2, _ := new(big.Float).SetFloat64(sigma * sigma).Int(nil)
			sp, err := newSampler(s2)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := sp.(*columnSampler); !ok {
				t.Fatalf("σ = %g does not use the column sampler", sigma)
			}
			real := math.Sqrt(float64(s2.Uint64()))
			if s2.BitLen() > 63 {
				real = sigma
			}
			width := math.Max(1, math.Floor(real/8)) // bins of whole integers
			bin := func(x int64) int { return int(math.Floor((float64(x) + width/2) / width)) }
			got := map[int]float64{}
			var sum, sum2 float64
			for _, x := range draws(sp, n) {
				got[bin(x)]++
				sum += float64(x) / real
				sum2 += float64(x) / real * float64(x) / real
			}
			chi, df := 0.0, -1
			phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
			for b := -32; b <= 32; b++ {
				// The integers of bin b are those in [b·width − width/2, …): for σ ≥ 64 the sum
				// of a discrete Gaussian over them is the continuous mass with the half-integer
				// correction to within e^{−2π²σ²}.
				lo := math.Ceil((float64(b) - 0.5) * width)
				hi := math.Ceil((float64(b) + 0.5) * width)
				p := phi((hi-0.5)/real) - phi((lo-0.5)/real)
				if p*n < 10 {
					continue
				}
				d := got[b] - p*n
				chi += d * d / (p * n)
				df++
			}
			// The half-integer rule is second order: p''·/24 relative error 1/(24σ²) is far
			// below what n samples can see.
			if chi > chiSquareCritical(df) {
				t.Errorf("χ² = %.1f with %d degrees of freedom (limit %.1f)", chi, df, chiSquareCritical(df))
			}
			if m := sum / n * math.Sqrt(n); math.Abs(m) > 5.2 { // 2e-7 two-sided
				t.Errorf("mean is %.2f standard errors from 0", m)
			}
			if v := (sum2/n - 1) * math.Sqrt(n/2); math.Abs(v) > 5.3 {
				t.Errorf("variance is %.2f standard errors from σ²", v)
			}
		})
	}
}

// Lemma 7 of gauss.md on the real table: the alias cells hand out exactly W_j of 2⁶⁴,
// and each W_j is at least F times the largest weight in its column.
func TestColumnTableIsExact(t *testing.T) {
	for _, s2 := range []string{"4096", "12345", "268435456", "1099511627777", "1237940039285380274899124224"} {
		sigma2, _ := new(big.Int).SetString(s2, 10)
		c := newColumnSampler(sigma2)
		sums := make([]*big.Int, slots+1)
		for j := range sums {
			sums[j] = new(big.Int)
		}
		const cell = uint64(1) << (64 - slotBits)
		for j := range slots {
			if c.keep[j] > cell {
				t.Fatalf("σ²=%s: cell %d keeps %d of %d", s2, j, c.keep[j], cell)
			}
			sums[j].Add(sums[j], new(big.Int).SetUint64(c.keep[j]))
			sums[c.alias[j]].Add(sums[c.alias[j]], new(big.Int).SetUint64(cell-c.keep[j]))
		}
		all := new(big.Int)
		for j := range slots {
			if sums[j].Cmp(c.weight[j]) != 0 {
				t.Fatalf("σ²=%s: slot %d is drawn with weight %s, want %s", s2, j, sums[j], c.weight[j])
			}
			all.Add(all, sums[j])
		}
		if all.Add(all, sums[reject]).Cmp(new(big.Int).Lsh(big.NewInt(1), 64)) != 0 {
			t.Fatalf("σ²=%s: weights add up to %s", s2, all)
		}
		if waste := new(big.Int).Rsh(sums[reject], 32); waste.Sign() != 0 {
			t.Errorf("σ²=%s: reject weight %s is more than 2⁻³²", s2, sums[reject])
		}
		for j := range tailSlot {
			x := new(big.Int).Lsh(big.NewInt(int64(j)), c.b)
			_, hi := expBounds(x.Mul(x, x), c.twoS2, 192)
			need := hi.Mul(hi, c.factor)
			if new(big.Int).Lsh(c.weight[j], 192).Cmp(need.Sub(need, new(big.Int).Lsh(c.factor, 3))) < 0 {
				t.Fatalf("σ²=%s: weight of column %d is below its height", s2, j)
			}
		}
	}
}

// Lemma 8 of gauss.md: the 64-bit accept threshold is within 2⁶ of the exact one.
func TestFixedPointAcceptIsWithinItsBound(t *testing.T) {
	s := newStream()
	worst := new(big.Int)
	for _, s2 := range []int64{5000, 1 << 28, 1<<40 + 7, 1 << 61} {
		c := newColumnSampler(big.NewInt(s2))
		for range 4000 {
			j := int(s.below(tailSlot))
			off := s.below(1 << c.b)
			x := uint64(j)<<c.b | off
			hi, lo := mul64(off, x+uint64(j)<<c.b)
			if hi != 0 || lo >= c.twoS2u/2 {
				t.Fatalf("Δ ≥ 1/2 at column %d", j)
			}
			d := new(big.Int).Lsh(new(big.Int).SetUint64(lo), 64)
			d.Quo(d, c.twoS2)
			p, _ := mul64(expFixed(d.Uint64()), c.top[j])
			square := new(big.Int).SetUint64(x)
			eLo, _ := expBounds(square.Mul(square, square), c.twoS2, 256)
			exact := eLo.Mul(eLo, c.factor)
			exact.Rsh(exact.Quo(exact, c.weight[j]), 192)
			diff := exact.Sub(exact, new(big.Int).SetUint64(p))
			if diff.CmpAbs(worst) > 0 {
				worst.Set(diff)
			}
		}
	}
	if worst.CmpAbs(big.NewInt(64)) > 0 {
		t.Errorf("threshold off by %s units of 2⁻⁶⁴, bound is 64", worst)
	}
	t.Logf("largest difference: %s units of 2⁻⁶⁴", worst)
}

func mul64(a, b uint64) (hi, lo uint64) {
	p := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	lo = new(big.Int).And(p, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return p.Rsh(p, 64).Uint64(), lo
}

// The lazily extended comparison decides the same however few bits it starts from:
// both accept paths agree on the same U.
func TestExactAcceptAgreesWithFixedPoint(t *testing.T) {
	s := newStream()
	c := newColumnSampler(big.NewInt(1<<40 + 99))
	accepted := 0
	for range 3000 {
		j := int(s.below(600))
		off := s.below(1 << c.b)
		x := uint64(j)<<c.b | off
		u := s.word()
		a, b := c.accept(s, j, x, off, u), c.acceptExactly(s, j, x, u)
		if a != b {
			t.Fatalf("column %d, offset %d, u %d: fixed point says %v, exact %v", j, off, u, a, b)
		}
		if a {
			accepted++
		}
	}
	if accepted < 2500 {
		t.Errorf("only %d of 3000 accepted", accepted)
	}
}

// The tail is drawn once in 2⁴⁷ draws, so it is tested on its own: x − X against the
// exact law on [X, ∞). Sample size 20,000, false-alarm rate 1e-6.
func TestTailFollowsTheDiscreteGaussian(t *testing.T) {
	c := newColumnSampler(big.NewInt(127 * 127)) // σ=127, w=1, X=1023: 8.05 σ
	s := newStream()
	const n = 20_000
	got := make([]float64, 40)
	for i := 0; i < n; {
		x, ok := c.tail(s)
		if !ok {
			continue
		}
		i++
		got[min(int(x)-1023, 39)]++
	}
	p := make([]float64, 40)
	total := 0.0
	for g := range 2000 {
		x := float64(1023 + g)
		h := math.Exp(-(x*x - 1023*1023) / (2 * 127 * 127))
		p[min(g, 39)] += h
		total += h
	}
	chi := 0.0
	for g := range p {
		e := p[g] / total * n
		chi += (got[g] - e) * (got[g] - e) / e
	}
	if chi > chiSquareCritical(39) {
		t.Errorf("χ² = %.1f with 39 degrees of freedom", chi)
	}
}

func TestExpBoundsBracketTheExponential(t *testing.T) {
	for _, c := range []struct{ num, den int64 }{{0, 1}, {1, 1}, {1, 3}, {7, 2}, {50, 1}, {1, 1 << 40}, {123456789, 1000}} {
		lo, hi := expBounds(big.NewInt(c.num), big.NewInt(c.den), 128)
		wide, _ := expBounds(big.NewInt(c.num), big.NewInt(c.den), 512)
		wide.Rsh(wide, 512-128)
		if lo.Cmp(hi) > 0 || new(big.Int).Sub(hi, lo).Cmp(big.NewInt(4)) > 0 {
			t.Errorf("e^-%d/%d: bounds %s, %s", c.num, c.den, lo, hi)
		}
		if wide.Cmp(lo) < 0 || wide.Cmp(hi) > 0 {
			t.Errorf("e^-%d/%d: %s outside [%s, %s]", c.num, c.den, wide, lo, hi)
		}
		f, _ := new(big.Float).SetInt(lo).Float64()
		want := math.Exp(-float64(c.num) / float64(c.den))
		if math.Abs(math.Ldexp(f, -128)-want) > 1e-14*want+0x1p-126 {
			t.Errorf("e^-%d/%d = %g, want %g", c.num, c.den, math.Ldexp(f, -128), want)
		}
	}
}

func TestSamplerRefusesWhatDoesNotFit(t *testing.T) {
	for _, bad := range []*big.Int{big.NewInt(0), big.NewInt(-4), new(big.Int).Lsh(big.NewInt(1), 114)} {
		if _, err := newSampler(bad); err == nil {
			t.Errorf("σ² = %s was taken", bad)
		}
	}
}

func BenchmarkNoise(b *testing.B) {
	for _, bits := range []uint{14, 20, 30, 40} {
		b.Run(fmt.Sprintf("columns/s=2^%d", bits), func(b *testing.B) {
			c := newColumnSampler(new(big.Int).Lsh(big.NewInt(1), 2*bits))
			s := newStream()
			b.ReportAllocs()
			for b.Loop() {
				sink += c.draw(s)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mdraws/s")
		})
	}
	b.Run("cks/s=2^20", func(b *testing.B) {
		c := newCKS(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 40)))
		s := newStream()
		for b.Loop() {
			sink += c.draw(s)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mdraws/s")
	})
	b.Run("table/s=2^20", func(b *testing.B) {
		for b.Loop() {
			newColumnSampler(new(big.Int).Lsh(big.NewInt(1), 40))
		}
	})
	b.Run("stream", func(b *testing.B) {
		s := newStream()
		b.SetBytes(8)
		for b.Loop() {
			sink += int64(s.word())
		}
	})
}

var sink int64
