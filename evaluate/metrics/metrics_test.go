package metrics

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The formula of the literature, term by term with log-factorials.
func expectedByLogGamma(detected, truth []int64) float64 {
	var n int64
	for _, a := range detected {
		n += a
	}
	lf := func(x int64) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	sum := 0.0
	for _, a := range detected {
		for _, b := range truth {
			for x := max(1, a+b-n); x <= min(a, b); x++ {
				p := math.Exp(lf(a) + lf(b) + lf(n-a) + lf(n-b) - lf(n) - lf(x) - lf(a-x) - lf(b-x) - lf(n-a-b+x))
				sum += p * float64(x) / float64(n) * math.Log(float64(n)*float64(x)/(float64(a)*float64(b)))
			}
		}
	}
	return sum
}

func TestExpectedInformationEqualsLogGammaSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 1 + rng.IntN(400)
		a, b := make([]int32, n), make([]int32, n)
		for v := range a {
			a[v], b[v] = int32(rng.IntN(1+n/3)), int32(rng.ExpFloat64()*3)
		}
		c, err := NewContingency(a, b)
		if err != nil {
			t.Fatal(err)
		}
		got, want := ExpectedInformation(c.Detected, c.Truth), expectedByLogGamma(c.Detected, c.Truth)
		if math.Abs(got-want) > 1e-11*(1+want) {
			t.Errorf("n = %d: %v, log-gamma sum %v", n, got, want)
		}
	}
}

// The mean of the mutual information over all 7! orders of the vertices.
func TestExpectedInformationIsTheMeanOverPermutations(t *testing.T) {
	truth := []int32{0, 0, 0, 1, 1, 2, 2}
	p := []int32{0, 0, 0, 0, 1, 1, 2}
	sum, orders := 0.0, 0
	var permute func(k int)
	permute = func(k int) {
		if k == len(p) {
			c, err := NewContingency(p, truth)
			if err != nil {
				t.Fatal(err)
			}
			sum += c.information()
			orders++
			return
		}
		for i := k; i < len(p); i++ {
			p[k], p[i] = p[i], p[k]
			permute(k + 1)
			p[k], p[i] = p[i], p[k]
		}
	}
	permute(0)
	got := ExpectedInformation([]int64{4, 2, 1}, []int64{3, 2, 2})
	if math.Abs(got-sum/float64(orders)) > 1e-12 {
		t.Errorf("expected information %v, mean over %d orders %v", got, orders, sum/float64(orders))
	}
}

func TestExpectedInformationAtAMillionVertices(t *testing.T) {
	// Singletons against anything: every overlap is 0 or 1, so E[I] = H exactly.
	const n = 1 << 20
	singles, halves := make([]int64, n), []int64{n / 2, n / 2}
	for i := range singles {
		singles[i] = 1
	}
	if got := ExpectedInformation(singles, halves); math.Abs(got-math.Ln2) > 1e-12 {
		t.Errorf("singletons against halves: %v, want ln 2", got)
	}
	// Two halves against two halves: E[I] → 1/(2(n−1)) for large n (χ² with one
	// degree of freedom over 2n), with a relative error of order 1/n.
	if got, want := ExpectedInformation(halves, halves), 1/(2*float64(n-1)); math.Abs(got/want-1) > 1e-4 {
		t.Errorf("halves against halves: %v, want about %v", got, want)
	}
}

func partitions(t *rapid.T) (a, b []int32) {
	n := rapid.IntRange(1, 60).Draw(t, "n")
	k := rapid.Int32Range(0, 9)
	return rapid.SliceOfN(k, n, n).Draw(t, "a"), rapid.SliceOfN(k, n, n).Draw(t, "b")
}

func scores(t interface{ Fatal(...any) }, a, b []int32) Scores {
	s, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func close12(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

func TestPairScoresEqualPairEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := partitions(t)
		var tp, fp, fn, tn float64
		for u := range a {
			for v := range u {
				switch {
				case a[u] == a[v] && b[u] == b[v]:
					tp++
				case a[u] == a[v]:
					fp++
				case b[u] == b[v]:
					fn++
				default:
					tn++
				}
			}
		}
		ari, f1 := 1.0, 1.0
		if fp+fn > 0 {
			ari = 2 * (tp*tn - fn*fp) / ((tp+fn)*(fn+tn) + (tp+fp)*(fp+tn))
			f1 = 2 * tp / (2*tp + fp + fn)
		}
		if s := scores(t, a, b); !close12(s.ARI, ari) || !close12(s.PairwiseF1, f1) {
			t.Fatalf("ARI %v, pairs %v; F1 %v, pairs %v", s.ARI, ari, s.PairwiseF1, f1)
		}
	})
}

func TestAverageF1EqualsSetMatching(t *testing.T) {
	f1 := func(a, b []int32, i, j int32) float64 {
		var both, x, y float64
		for v := range a {
			if a[v] == i {
				x++
			}
			if b[v] == j {
				y++
			}
			if a[v] == i && b[v] == j {
				both++
			}
		}
		if both == 0 {
			return 0
		}
		precision, recall := both/x, both/y
		return 2 * precision * recall / (precision + recall)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := partitions(t)
		sum, communities := 0.0, 0.0
		for i := int32(0); i < 10; i++ {
			best := 0.0
			for j := int32(0); j < 10; j++ {
				best = max(best, f1(a, b, i, j))
			}
			if slices.Contains(a, i) {
				sum, communities = sum+best, communities+1
			}
		}
		if s := scores(t, a, b); !close12(s.AvgF1Detected, sum/communities) {
			t.Fatalf("Avg-F1 %v, sets give %v", s.AvgF1Detected, sum/communities)
		}
	})
}

func TestScoresIgnoreNumberingAndMirror(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := partitions(t)
		shift := rapid.SampledFrom([]int32{1, 1000, math.MaxInt32 - 10}).Draw(t, "shift")
		renamed := make([]int32, len(a))
		for v := range a {
			renamed[v] = shift + 9 - a[v]
		}
		s, r, m := scores(t, a, b), scores(t, renamed, b), scores(t, b, a)
		for _, f := range [][2]float64{
			{s.AMI, r.AMI}, {s.ARI, r.ARI}, {s.NMI, r.NMI}, {s.PairwiseF1, r.PairwiseF1},
			{s.AvgF1Detected, r.AvgF1Detected}, {s.AvgF1Weighted, r.AvgF1Weighted},
			{s.AMI, m.AMI}, {s.ARI, m.ARI}, {s.NMI, m.NMI}, {s.PairwiseF1, m.PairwiseF1},
			{s.AvgF1Detected, m.AvgF1Truth}, {s.AvgF1Truth, m.AvgF1Detected}, {s.AvgF1Mean, m.AvgF1Mean},
		} {
			if !close12(f[0], f[1]) {
				t.Fatalf("scores %+v, renumbered %+v, mirrored %+v", s, r, m)
			}
		}
		self := scores(t, a, renamed)
		if self.AMI != 1 || self.ARI != 1 || self.NMI != 1 || self.PairwiseF1 != 1 || !close12(self.AvgF1Mean, 1) {
			t.Fatalf("a partition against itself scores %+v", self)
		}
	})
}

func TestTrivialPartitionsGetNothingFromAdjustedScores(t *testing.T) {
	truth := make([]int32, 300)
	one, single := make([]int32, 300), make([]int32, 300)
	for v := range truth {
		truth[v], single[v] = int32(v%3), int32(v)
	}
	for name, p := range map[string][]int32{"one community": one, "singletons": single} {
		if s := scores(t, p, truth); !close12(s.AMI, 0) || !close12(s.ARI, 0) {
			t.Errorf("%s: AMI %v, ARI %v, want 0", name, s.AMI, s.ARI)
		}
	}
	// The others reward them; the exact values follow from the definitions.
	if s := scores(t, one, truth); !close12(s.AvgF1Detected, 0.5) {
		t.Errorf("one community: Avg-F1 %v, want 2·100/(300+100)", s.AvgF1Detected)
	}
	if s := scores(t, single, truth); !close12(s.NMI, 2*math.Log(3)/(math.Log(3)+math.Log(300))) {
		t.Errorf("singletons: NMI %v", s.NMI)
	}
	if s := scores(t, single, one); s.AMI != 0 || s.ARI != 0 || s.NMI != 0 || s.PairwiseF1 != 0 {
		t.Errorf("singletons against one community: %+v", s)
	}
}

func TestVerticesWithoutACommunityAreLeftOut(t *testing.T) {
	c, err := NewContingency([]int32{0, 0, -1, 1, 1}, []int32{5, -1, 5, 7, 7})
	if err != nil {
		t.Fatal(err)
	}
	if c.N != 3 || !slices.Equal(c.TruthName, []int32{5, 7}) || c.Scores().AMI != 1 {
		t.Errorf("table %+v", c)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Compare([]int32{0}, []int32{0, 1}); err == nil {
		t.Error("partitions of different length were compared")
	}
	for _, p := range [][]int32{{}, {-1, 3}} {
		other := make([]int32, len(p))
		if len(p) > 1 {
			other[1] = -1
		}
		if _, err := Compare(p, other); !errors.Is(err, ErrNoOverlap) {
			t.Errorf("%v against %v: %v", p, other, err)
		}
	}
}

func TestScoresSurviveJSON(t *testing.T) {
	s := scores(t, []int32{0, 0, 1, 1}, []int32{0, 1, 1, 1})
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Scores
	if err := json.Unmarshal(raw, &back); err != nil || back != s {
		t.Errorf("%v: %s became %+v", err, raw, back)
	}
}

func BenchmarkCompareMillionVertices(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]int32, 1<<20), make([]int32, 1<<20)
	for v := range x {
		x[v] = int32(rng.ExpFloat64() * 300)
		y[v] = x[v]
		if rng.IntN(2) == 0 {
			y[v] = int32(rng.ExpFloat64() * 300)
		}
	}
	for b.Loop() {
		if _, err := Compare(x, y); err != nil {
			b.Fatal(err)
		}
	}
}
