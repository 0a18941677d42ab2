package privacy

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"pgregory.net/rapid"
)

type accountantGolden struct {
	DeltaFromRho []struct{ Rho, Epsilon, Delta Decimal } `json:"delta_from_rho"`
	RhoFrom      []struct{ Epsilon, Delta, Rho Decimal } `json:"rho_from_eps_delta"`
	Mu           []struct {
		Epsilon, Delta, Mu Decimal
		Multiplier         Decimal `json:"gaussian_multiplier"`
	} `json:"gdp_mu_from_eps_delta"`
}

func loadGolden[T any](t *testing.T, path string) T {
	t.Helper()
	var v T
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// excess is got/want − 1, in decimal arithmetic: the values reach 1e-10860.
func excess(t *testing.T, got, want Decimal) float64 {
	t.Helper()
	c := apd.BaseContext.WithPrecision(40)
	var q apd.Decimal
	if _, err := c.Quo(&q, &got.d, &want.d); err != nil {
		t.Fatal(err)
	}
	f, err := q.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f - 1
}

func TestAccountantEqualsTheIndependentImplementation(t *testing.T) {
	g := loadGolden[accountantGolden](t, "testdata/accountant.json")
	if len(g.DeltaFromRho) < 36 || len(g.RhoFrom) < 15 || len(g.Mu) < 15 {
		t.Fatalf("golden file is short: %d, %d, %d points", len(g.DeltaFromRho), len(g.RhoFrom), len(g.Mu))
	}
	// The golden figures have 12 significant digits, rounded to nearest: half a
	// unit of the last is 5e-12 relative at worst. Outward: never below that.
	for _, p := range g.DeltaFromRho {
		if e := excess(t, DeltaOf(p.Rho, p.Epsilon), p.Delta); e < -6e-12 || e > 1e-9 {
			t.Errorf("δ(ρ=%s, ε=%s) = %s, want %s (relative excess %.2e)", p.Rho, p.Epsilon, DeltaOf(p.Rho, p.Epsilon), p.Delta, e)
		}
	}
	for _, p := range g.RhoFrom {
		if e := excess(t, RhoOf(p.Epsilon, p.Delta), p.Rho); e > 6e-12 || e < -1e-9 {
			t.Errorf("ρ(ε=%s, δ=%s) = %s, want %s (relative excess %.2e)", p.Epsilon, p.Delta, RhoOf(p.Epsilon, p.Delta), p.Rho, e)
		}
		if e := excess(t, EpsilonOf(p.Rho, p.Delta), p.Epsilon); math.Abs(e) > 1e-9 {
			t.Errorf("ε(ρ=%s, δ=%s) = %s, want %s", p.Rho, p.Delta, EpsilonOf(p.Rho, p.Delta), p.Epsilon)
		}
	}
	for _, p := range g.Mu {
		mu := GaussianMu(p.Epsilon.Float(), p.Delta.Float())
		if e := mu/p.Mu.Float() - 1; math.Abs(e) > 1e-8 {
			t.Errorf("μ(ε=%s, δ=%s) = %g, want %s", p.Epsilon, p.Delta, mu, p.Mu)
		}
	}
}

func TestConversionsAreOutwardAndMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := decimalOf(math.Exp(rapid.Float64Range(-20, 6).Draw(t, "ln eps")), false)
		delta := decimalOf(math.Exp(rapid.Float64Range(-60, -1).Draw(t, "ln delta")), false)
		rho := RhoOf(eps, delta)
		if rho.Sign() < 0 {
			t.Fatalf("ρ = %s is negative", rho)
		}
		if got := EpsilonOf(rho, delta); got.Cmp(eps) > 0 {
			t.Fatalf("ρ(ε, δ) = %s costs ε = %s, more than the %s asked for", rho, got, eps)
		}
		if rho.Sign() > 0 {
			if d := DeltaOf(rho, eps); d.Cmp(delta) > 0 {
				t.Fatalf("ρ = %s at ε = %s has δ = %s > %s", rho, eps, d, delta)
			}
			twice := rho.Add(rho)
			if EpsilonOf(twice, delta).Cmp(EpsilonOf(rho, delta)) < 0 {
				t.Fatalf("ε is not monotone in ρ at %s", rho)
			}
		}
	})
}

func TestDecimalArithmeticIsExact(t *testing.T) {
	sum := Decimal{}
	for range 10 {
		sum = sum.Add(MustDecimal("0.1"))
	}
	if sum.String() != "1" || sum.Cmp(MustDecimal("1")) != 0 {
		t.Errorf("ten times 0.1 is %s", sum)
	}
	third := ratUp(big.NewRat(1, 3))
	if third.Rat().Cmp(big.NewRat(1, 3)) <= 0 || third.String() != "0.333333333334" {
		t.Errorf("1/3 rounded up is %s", third)
	}
	for _, bad := range []string{"NaN", "Inf", "-Infinity", "", "1e99999999", "0x10", "1,5"} {
		if d, err := ParseDecimal(bad); err == nil {
			t.Errorf("ParseDecimal(%q) = %s, want an error", bad, d)
		}
	}
	for _, s := range []string{"0.00001", "1e-30", "123456789.125", "2", "0"} {
		b, _ := MustDecimal(s).MarshalText()
		var back Decimal
		if err := back.UnmarshalText(b); err != nil || back.Cmp(MustDecimal(s)) != 0 {
			t.Errorf("%s → %s → %s (%v)", s, b, back, err)
		}
	}
}

func TestTargetIsValidated(t *testing.T) {
	for _, bad := range []Target{
		{MustDecimal("0"), MustDecimal("1e-5")}, {MustDecimal("-1"), MustDecimal("1e-5")},
		{MustDecimal("1e-16"), MustDecimal("1e-5")}, {MustDecimal("1"), MustDecimal("0")},
		{MustDecimal("1"), MustDecimal("1")}, {MustDecimal("1"), MustDecimal("-1")},
	} {
		if bad.Validate() == nil {
			t.Errorf("target %+v passed", bad)
		}
	}
	if err := (Target{MustDecimal("1"), MustDecimal("1e-5")}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestGaussianReferenceIsFiniteEverywhere(t *testing.T) {
	for _, c := range []struct{ mu, eps float64 }{{1, 1}, {40, 1000}, {400, 1e5}, {1e-3, 5}, {1, 100}} {
		if d := GaussianDelta(c.mu, c.eps); !(d >= 0 && d <= 1) {
			t.Errorf("δ(μ=%g, ε=%g) = %g", c.mu, c.eps, d)
		}
	}
	if a, b := lnPhi(-29.999), lnPhi(-30.001); math.Abs(a-b) > 0.1 {
		t.Errorf("ln Φ jumps at -30: %g, %g", a, b)
	}
}

// A Gaussian of sensitivity S is ρ = S²/2σ²; somebody with m vertices moves it by m·S.
func TestGroupCostIsThatOfTheWholeGroup(t *testing.T) {
	c := Cost{Pure: MustDecimal("0.5"), Rho: MustDecimal("0.01")}
	g := c.Group(3)
	if g.Pure.String() != "1.5" || g.Rho.String() != "0.09" {
		t.Errorf("three accounts cost %v", g)
	}
	if one := c.Group(1); one.Pure.Cmp(c.Pure) != 0 || one.Rho.Cmp(c.Rho) != 0 {
		t.Errorf("one account costs %v", one)
	}
}
