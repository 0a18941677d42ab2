package synthesis

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestReconstructionsOfKarate(t *testing.T) {
	g, f := loadKarate(t)
	adjacency, err := InverseKatz(f, Katz{g.Beta, g.Order})
	if err != nil {
		t.Fatal(err)
	}
	laplacian, err := Laplacian(f, g.Alpha)
	if err != nil {
		t.Fatal(err)
	}
	literal, err := PaperLiteral(f, g.Alpha)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.N {
		for j := range f.N {
			want := 0.0
			for a, x := range g.Adjacency {
				want += g.Vectors[i][a] * x * g.Vectors[j][a]
			}
			if got := adjacency.Score(i, j); math.Abs(got-want) > 1e-8 {
				t.Fatalf("inverse-katz (%d,%d): %g, want %g", i, j, got, want)
			}
			if i == j {
				continue
			}
			// The golden numbers have 10 decimals.
			if got := laplacian.Score(i, j); math.Abs(got+g.Pinv[i][j]) > 1e-8 {
				t.Fatalf("laplacian (%d,%d): %g, want %g", i, j, got, -g.Pinv[i][j])
			}
			if got := literal.Score(i, j); math.Abs(got-2*g.Pinv[i][j]) > 2e-8 {
				t.Fatalf("paper-literal (%d,%d): %g, want %g", i, j, got, 2*g.Pinv[i][j])
			}
		}
	}
}

func TestKeptColumns(t *testing.T) {
	f := Factors{N: 2, K: 3, V: []float64{1, 2, 3, 4, 5, 6}, Lambda: []float64{7, 8, 9}, Keep: []int{2, 0}}
	m, err := InverseKatz(f, Katz{Beta: 0.5, Order: 1})
	if err != nil {
		t.Fatal(err)
	}
	if m.K != 2 || !slices.Equal(m.X, []float64{3, 1, 6, 4}) || !slices.Equal(m.M, []float64{18, 0, 0, 14}) {
		t.Errorf("%+v", m)
	}
	for _, keep := range [][]int{{3}, {-1}, {0, 0}} {
		f.Keep = keep
		if _, err := InverseKatz(f, Katz{Beta: 0.5, Order: 1}); err == nil {
			t.Errorf("kept columns %v accepted", keep)
		}
	}
	f.Keep = []int{}
	if m, err := Laplacian(f, 1); err != nil || m.K != 0 || m.Score(0, 1) != 0 {
		t.Errorf("no column kept: %+v, %v", m, err)
	}
}

func TestAddConstantAddsTheSameToEveryPair(t *testing.T) {
	m := testModel(17, 3, 5, plain)
	c := AddConstant(m, 4.25)
	for i := range m.N {
		for j := range m.N {
			if got, want := c.Score(i, j), m.Score(i, j)+4.25/17; math.Abs(got-want) > 1e-12 {
				t.Fatalf("(%d,%d): %g, want %g", i, j, got, want)
			}
		}
	}
}

func TestModelCheckNamesThePlace(t *testing.T) {
	for want, spoil := range map[string]func(m *Model){
		"coordinate (3, 1)":    func(m *Model) { m.X[7] = math.NaN() },
		"core entry (1, 0)":    func(m *Model) { m.M[2] = math.Inf(1) },
		"symmetric at (1, 0)":  func(m *Model) { m.M[2] += 1 },
		"19 coordinates":       func(m *Model) { m.X = m.X[1:] },
		"eigenvalue 1 is NaN":  nil,
		"β is 0":               nil,
		"α is -1":              nil,
		"entries and 2 eigenv": nil,
	} {
		m := testModel(10, 2, 1, plain)
		var err error
		f := Factors{N: 10, K: 2, V: m.X, Lambda: []float64{1, 2}}
		switch {
		case spoil != nil:
			spoil(m)
			err = m.Check()
		case strings.HasPrefix(want, "eigenvalue"):
			f.Lambda[1] = math.NaN()
			_, err = InverseKatz(f, Katz{1, 1})
		case strings.HasPrefix(want, "β"):
			_, err = InverseKatz(f, Katz{0, 1})
		case strings.HasPrefix(want, "α"):
			_, err = Laplacian(f, -1)
		default:
			f.V = f.V[1:]
			_, err = Laplacian(f, 1)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
