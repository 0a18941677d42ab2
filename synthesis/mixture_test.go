package synthesis

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// corners makes n rows at q corners of distance `far` (in standard deviations of the noise)
// from the centre, in k dimensions, and their communities.
func corners(n, q, k int, far float64, seed uint64) (v []float64, truth []int32) {
	rng := rand.New(rand.NewPCG(seed, 2))
	mean := make([]float64, q*k)
	for b := range q {
		for j := range k {
			mean[b*k+j] = far * math.Cos(2*math.Pi*float64(b)/float64(q)+math.Pi/2*float64(j))
		}
	}
	v, truth = make([]float64, n*k), make([]int32, n)
	for i := range n {
		truth[i] = int32(rng.IntN(q))
		for j := range k {
			v[i*k+j] = mean[int(truth[i])*k+j] + rng.NormFloat64()
		}
	}
	return v, truth
}

func unit(k int) *mat.Dense {
	m := mat.NewDense(k, k, nil)
	for j := range k {
		m.Set(j, j, 1)
	}
	return m
}

// placedRight is the share of vertices in the right community under the best matching of
// two or three names.
func placedRight(placed, truth []int32, q int) float64 {
	best := 0
	for _, perm := range [][]int32{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		hits := 0
		for i, c := range placed {
			if perm[c] == truth[i] {
				hits++
			}
		}
		best = max(best, hits)
	}
	return float64(best) / float64(len(placed))
}

// Two corners 1 σ from the centre overlap: Φ(1) = 0.841 is the best that V alone allows.
// With labels kept with probability 0.8 the best of both is 0.90 (by integration). Sample
// size 20,000, one standard error 0.003; bounds are five below.
func TestMixturePlacesByAllEvidence(t *testing.T) {
	const n = 20_000
	v, truth := corners(n, 2, 1, 1, 1)
	m, err := NewMixture(v, n, 1, unit(1), 2, 7)
	if err != nil {
		t.Fatal(err)
	}
	placed, _, confusion := m.Place()
	if r := placedRight(placed, truth, 2); r < 0.826 {
		t.Errorf("V alone places %.3f, Φ(1) = 0.841", r)
	}
	if f := confusion.At(0, 0); math.Abs(f-0.841) > 0.03 {
		t.Errorf("confusion says %.3f of a community is placed right, truth 0.841", f)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	labels := make([]int32, n)
	for i, c := range placed {
		// Names of communities are the mixture's: label by the truth in its names.
		name := truth[i]
		if placedRight(placed, truth, 2)*n != float64(agree(placed, truth)) {
			name = 1 - name
		}
		if labels[i] = name; rng.Float64() > 0.8 {
			labels[i] = 1 - name
		}
		_ = c
	}
	if err := m.Read(labels, 0.8); err != nil {
		t.Fatal(err)
	}
	placed, _, _ = m.Place()
	if r := placedRight(placed, truth, 2); r < 0.885 {
		t.Errorf("V and labels place %.3f, theory 0.90", r)
	}
	if m.Keep < 0.77 || m.Keep > 0.8 {
		t.Errorf("labels are estimated to be kept with %.3f, truth 0.8, bound 0.8", m.Keep)
	}
}

func agree(a, b []int32) int {
	hits := 0
	for i := range a {
		if a[i] == b[i] {
			hits++
		}
	}
	return hits
}

func TestMixtureFindsThreeCorners(t *testing.T) {
	const n = 6000
	v, truth := corners(n, 3, 2, 2.5, 5)
	m, err := NewMixture(v, n, 2, unit(2), 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	placed, _, _ := m.Place()
	if r := placedRight(placed, truth, 3); r < 0.95 {
		t.Errorf("three corners at 2.5 σ: %.3f placed right", r)
	}
}

// The rows of Z have range at most 1, many reach it, and a constant neighbourhood leans
// nowhere.
func TestScoresAreCentredAndBounded(t *testing.T) {
	const n = 5000
	v, _ := corners(n, 3, 2, 0.3, 9)
	m, err := NewMixture(v, n, 2, unit(2), 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	z := m.Scores()
	full := 0
	for i := range n {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, x := range z[i*3 : i*3+3] {
			lo, hi = math.Min(lo, x), math.Max(hi, x)
		}
		if hi-lo > 1+1e-12 {
			t.Fatalf("row %d has range %g", i, hi-lo)
		}
		if hi-lo > 1-1e-9 {
			full++
		}
	}
	if full < n*4/10 {
		t.Errorf("only %d of %d rows count fully", full, n)
	}
}

// A planted mixing of 9,000 / 1,000 seen through 20 % flips comes back.
func TestUnmixInvertsTheFlips(t *testing.T) {
	placed := make([]int32, 1000)
	for i := range placed {
		placed[i] = int32(i % 2)
	}
	f := mat.NewDense(2, 2, []float64{0.8, 0.2, 0.2, 0.8})
	trueMass := mat.NewDense(2, 2, []float64{9000, 1000, 1000, 9000})
	var seen mat.Dense
	seen.Product(f.T(), trueMass, f)
	counts := []float64{seen.At(0, 0) / 2, seen.At(0, 1), seen.At(0, 1), seen.At(1, 1) / 2}
	got, err := Unmix(counts, f, placed, even(1000))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{4500, 1000, 1000, 4500} {
		if math.Abs(got[i]-want) > 1e-6 {
			t.Fatalf("unmixed counts %v, want 4500, 1000, 1000, 4500", got)
		}
	}
	// Noise may make counts negative and the placement worthless: counts stay usable.
	for _, c := range []struct {
		counts []float64
		f      *mat.Dense
	}{
		{[]float64{-5, 30, 30, 10}, f},
		{[]float64{-5, -30, -30, -10}, f},
		{[]float64{10, 10, 10, 10}, mat.NewDense(2, 2, []float64{0.5, 0.5, 0.5, 0.5})},
	} {
		got, err := Unmix(c.counts, c.f, placed, even(1000))
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if !(x >= 0) || math.IsInf(x, 0) || got[i] != got[(i%2)*2+i/2] {
				t.Errorf("counts %v became %v", c.counts, got)
			}
		}
	}
}

func TestMixtureRefuses(t *testing.T) {
	if _, err := NewMixture(make([]float64, 4), 4, 1, unit(1), 1, 1); err == nil {
		t.Error("one community was taken")
	}
	if _, err := NewMixture(make([]float64, 3), 4, 1, unit(1), 2, 1); err == nil {
		t.Error("a short matrix was taken")
	}
	m, err := NewMixture([]float64{1, 2, 3, 4}, 4, 1, unit(1), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Read(make([]int32, 3), 0.9); err == nil {
		t.Error("three labels for four vertices were taken")
	}
}

func TestActivityScalesTheAddedComponent(t *testing.T) {
	m := &Model{N: 3, K: 1, X: []float64{1, 2, 3}, M: []float64{0.5}}
	flat := AddConstant(m, 6)
	if s := flat.Score(0, 1) - m.Score(0, 1); math.Abs(s-2) > 1e-12 {
		t.Errorf("a constant component of 6 adds %g to a pair of 3 vertices, want 2", s)
	}
	hub := AddActivity(m, 6, []float64{1, 1, 4})
	// w is (0.5, 0.5, 2): pairs get 2·w_i·w_j.
	for _, c := range []struct {
		i, j int
		want float64
	}{{0, 1, 0.5}, {0, 2, 2}} {
		if s := hub.Score(c.i, c.j) - m.Score(c.i, c.j); math.Abs(s-c.want) > 1e-12 {
			t.Errorf("pair (%d, %d) gets %g, want %g", c.i, c.j, s, c.want)
		}
	}
}

func even(n int) []float64 {
	a := make([]float64, n)
	for i := range a {
		a[i] = 1
	}
	return a
}
