package synthesis

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
)

// localEstimate runs passes without items.
func localEstimate(t *tree, seed uint64) func(context.Context, plan) (*pass, error) {
	t.computeSums()
	return func(ctx context.Context, how plan) (*pass, error) {
		all, parts := chunks(t.n), 4*runtime.GOMAXPROCS(0)
		passes, errs := make([]*pass, parts), make([]error, parts)
		var wg sync.WaitGroup
		for i := range parts {
			wg.Go(func() { passes[i], errs[i] = estimate(ctx, t, how, seed, i*all/parts, (i+1)*all/parts) })
		}
		wg.Wait()
		out := &pass{}
		for i, p := range passes {
			if errs[i] != nil {
				return nil, errs[i]
			}
			if err := out.add(p.result(), len(p.chunks)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// exactEdges looks at every pair.
func exactEdges(t *tree, tau float64) float64 {
	w := newWalker(t)
	sum := 0.0
	for p := range t.n {
		w.segments(p, 0)
		for q := p + 1; q < t.n; q++ {
			sum += Probability(tau, w.score(q))
		}
	}
	return sum
}

func TestTauOfASmallGraphIsExact(t *testing.T) {
	for _, s := range []shape{plain, groups, heavy} {
		m := testModel(700, 5, 4, s)
		tr := testTree(m)
		for _, target := range []float64{0.5, 100, 3000, 60_000} {
			tau, _, err := solveTau(t.Context(), m.N, tr.mass(), target, localEstimate(tr, 1))
			if err != nil {
				t.Fatal(err)
			}
			if got := exactEdges(tr, tau.Value); tau.Error != 0 || math.Abs(got-target) > 1e-5*target {
				t.Errorf("%s: %g edges expected at τ, want %g (error stated: %g)", s, got, target, tau.Error)
			}
		}
	}
}

// TestTauBySampling: the stated standard error holds. 18 targets, each within 5
// standard errors (false alarm 1e-5 for all), and the mean square of the
// deviations is not above the stated one by more than chance (z < 4).
func TestTauBySampling(t *testing.T) {
	statistic, freedom := 0.0, 0
	for _, s := range []shape{plain, groups, heavy} {
		m := testModel(3000, 5, 6, s)
		tr := testTree(m)
		for _, target := range []float64{3000, 30_000, 300_000} {
			for seed := range uint64(2) {
				tau, _, err := solveTau(t.Context(), m.N, tr.mass(), target, localEstimate(tr, seed))
				if err != nil {
					t.Fatal(err)
				}
				z := (exactEdges(tr, tau.Value) - target) / tau.Error
				if math.Abs(z) > 5 || tau.Error > math.Sqrt(target) {
					t.Errorf("%s, %g edges: off by %.1f standard errors of %g", s, target, z, tau.Error)
				}
				statistic += z * z
				freedom++
			}
		}
	}
	if z := chiSquareZ(statistic, freedom); z > 4 {
		t.Errorf("deviations of τ are larger than stated: χ² = %.1f at %d", statistic, freedom)
	}
}

func TestTargetAboveThePositivePairsIsSaturated(t *testing.T) {
	for _, n := range []int{300, 3000} {
		m := testModel(n, 3, 7, plain)
		tr := testTree(m)
		positive := exactEdges(tr, math.Inf(1))
		_, _, err := solveTau(t.Context(), n, tr.mass(), positive+1000, localEstimate(tr, 1))
		var e *SaturatedError
		if !errors.As(err, &e) {
			t.Fatalf("n=%d: error %v", n, err)
		}
		if math.Abs(e.Limit-positive) > 5*e.Uncertainty {
			t.Errorf("n=%d: limit %g ± %g, want %g", n, e.Limit, e.Uncertainty, positive)
		}
	}
}

func TestModelWithoutPositiveScore(t *testing.T) {
	m := &Model{N: 50, K: 1, X: make([]float64, 50), M: []float64{-1}}
	for i := range m.X {
		m.X[i] = 1
	}
	tr := testTree(m)
	var e *SaturatedError
	if _, _, err := solveTau(t.Context(), m.N, tr.mass(), 10, localEstimate(tr, 1)); !errors.As(err, &e) || e.Limit != 0 {
		t.Errorf("error %v", err)
	}
	if tau, _, err := solveTau(t.Context(), m.N, tr.mass(), 0, localEstimate(tr, 1)); err != nil || tau.Value != 0 {
		t.Errorf("no edge asked for: %v, %v", tau, err)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, _, err := solveTau(t.Context(), m.N, tr.mass(), bad, localEstimate(tr, 1)); err == nil {
			t.Errorf("target %v accepted", bad)
		}
	}
}
