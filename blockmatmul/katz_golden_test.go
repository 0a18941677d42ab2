package blockmatmul

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

func karate(t *testing.T) *Local {
	t.Helper()
	f, err := os.Open("testdata/karate.edges")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := make([][]bool, 34)
	for i := range a {
		a[i] = make([]bool, 34)
	}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var i, j int
		if _, err := fmt.Sscan(sc.Text(), &i, &j); err != nil {
			t.Fatal(err)
		}
		a[i-1][j-1], a[j-1][i-1] = true, true
	}
	return split(a, 10, 20)
}

// The figures were computed by an independent implementation in floats.
func TestKatzOfKarateEqualsTheIndependentImplementation(t *testing.T) {
	var golden struct {
		V     [][]float64
		Cases map[string]struct{ HV [][]float64 }
	}
	data, err := os.ReadFile("testdata/karate_katz.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	var v []float64
	for _, row := range golden.V {
		v = append(v, row...)
	}
	const bits = 28
	op, err := Quantise(v, 34, 3, 1, bits)
	if err != nil {
		t.Fatal(err)
	}
	graph := karate(t)
	for name, c := range golden.Cases {
		var order int
		var beta float64
		if _, err := fmt.Sscanf(name, "L=%d,beta=%g", &order, &beta); err != nil {
			t.Fatal(err)
		}
		s := Series{Order: order, Num: int64(beta * (1 << 30)), Bits: 30, DegreeLimit: 17}
		w, err := s.Multiply(context.Background(), graph, op, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range c.HV {
			for j, want := range row {
				got := beta * math.Ldexp(float64(w.Data[i*3+j]), -bits)
				// 17 neighbours, quantum 2^-28, one truncation a round: far below 1e-6.
				if math.Abs(got-want) > 1e-6 {
					t.Fatalf("%s: entry (%d, %d) is %.9f, want %.9f", name, i, j, got, want)
				}
			}
		}
	}
	if len(golden.Cases) != 3 {
		t.Errorf("%d golden cases, want 3", len(golden.Cases))
	}
}
