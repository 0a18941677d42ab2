package synthesis

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"
)

type karate struct {
	Beta      float64     `json:"beta"`
	Order     int         `json:"L"`
	Alpha     float64     `json:"alpha"`
	Values    []float64   `json:"eigenvalues_H"`
	Vectors   [][]float64 `json:"vectors"`
	Pinv      [][]float64 `json:"dense_pinv_of_centred_plus_alpha"`
	Adjacency []float64   `json:"adjacency_eigenvalues_by_inverse_katz"`
}

func loadKarate(t *testing.T) (karate, Factors) {
	t.Helper()
	buf, err := os.ReadFile("testdata/karate_reconstruction.json")
	if err != nil {
		t.Fatal(err)
	}
	var g karate
	if err := json.Unmarshal(buf, &g); err != nil {
		t.Fatal(err)
	}
	f := Factors{N: len(g.Vectors), K: len(g.Values), Lambda: g.Values}
	for _, row := range g.Vectors {
		f.V = append(f.V, row...)
	}
	return g, f
}

func TestInverseKatzOfKarateEigenvalues(t *testing.T) {
	g, _ := loadKarate(t)
	f := Katz{Beta: g.Beta, Order: g.Order}
	for i, y := range g.Values {
		if x := f.Inverse(y); math.Abs(x-g.Adjacency[i]) > 1e-9 {
			t.Errorf("F⁻¹(%v) = %v, want %v", y, x, g.Adjacency[i])
		}
	}
}

func TestKatzInverseUndoesKatz(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Katz{
			Beta:  math.Pow(10, rapid.Float64Range(-6, 1).Draw(t, "log β")),
			Order: 2*rapid.IntRange(0, 6).Draw(t, "h") + 1,
		}
		y := math.Copysign(math.Pow(10, rapid.Float64Range(-12, 200).Draw(t, "log |y|")), rapid.Float64Range(-1, 1).Draw(t, "sign"))
		x := f.Inverse(y)
		// F(x) and y agree to the rounding of x and of the sum of L terms.
		tolerance := 1e-14 * (math.Abs(y) + f.Derivative(x)*math.Abs(x)) * float64(f.Order)
		if off := math.Abs(f.At(x) - y); !(off <= tolerance) {
			t.Fatalf("β=%g L=%d: F(F⁻¹(%g)) is off by %g", f.Beta, f.Order, y, off)
		}
	})
}

func TestKatzIncreasesForOddOrder(t *testing.T) {
	for order := 1; order <= 15; order += 2 {
		f := Katz{Beta: 0.7, Order: order}
		for x := -4.0; x <= 4; x += 0.003 {
			slope := (f.At(x+1e-6) - f.At(x-1e-6)) / 2e-6
			d := f.Derivative(x)
			if d <= 0 || math.Abs(slope-d) > 1e-4*(1+math.Abs(d)) {
				t.Fatalf("L=%d: F′(%g) = %g, difference quotient %g", order, x, d, slope)
			}
		}
	}
}

func TestKatzRefusesEvenOrder(t *testing.T) {
	for _, f := range []Katz{{0.1, 2}, {0.1, 0}, {0, 1}, {math.NaN(), 1}, {math.Inf(1), 3}} {
		if f.Check() == nil {
			t.Errorf("%+v accepted", f)
		}
	}
}
