package bench

import (
	"math"
	"strings"
	"testing"

	"github.com/privcom/privcom/evaluate/community"
)

func TestUtilityGrid(t *testing.T) {
	jobs := UtilityJobs(UtilityOptions{Graphs: []UtilityGraph{{"a", []int64{0, 200, 50}}, {"p", []int64{514}}}, Epsilons: UtilityEpsilons, Runs: 2})
	seen := map[Job]bool{}
	for _, j := range jobs {
		if seen[j] {
			t.Errorf("%+v twice", j)
		}
		seen[j] = true
	}
	if want := 2 * (4 + 1 + 40 + 4 + 1 + 20); len(jobs) != want {
		t.Errorf("%d jobs, want %d", len(jobs), want)
	}
	for _, j := range []Job{{Utility, "a", PrivCom, "node", 20, 1e-5, 10, 2, 50}, {Utility, "a", PrivCom, "node", 0.1, 1e-5, 1, 1, 0},
		{Utility, "p", PrivCom, "node", 2, 1e-5, 5, 1, 514}, {NoNoise, "p", PrivCom, "edge", 1000, 1e-5, 0, 1, 0}} {
		if !seen[j] {
			t.Errorf("%+v is missing", j)
		}
	}
}

// The share placed right allows each found community to stand for one planted one only.
func TestPlaced(t *testing.T) {
	planted := []int32{0, 0, 0, 0, 1, 1, 1, 1}
	for _, c := range []struct {
		name  string
		found []int32
		want  float64
	}{
		{"equal", []int32{1, 1, 1, 1, 0, 0, 0, 0}, 1},
		{"one community", make([]int32, 8), 0.5},
		{"one wrong", []int32{5, 5, 5, 7, 7, 7, 7, 7}, 7.0 / 8},
		{"split", []int32{0, 0, 0, 1, 2, 2, 2, 2}, 7.0 / 8},
		{"singletons", []int32{0, 1, 2, 3, 4, 5, 6, 7}, 2.0 / 8},
	} {
		if got, err := Placed(c.found, planted); err != nil || math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	if _, err := Placed(planted, make([]int32, 8)); err == nil {
		t.Error("a single planted community is taken")
	}
}

// A graph compared with itself, and the page: medians with their range, and what failed.
func TestUtilityMeasureAndMarkdown(t *testing.T) {
	var from, to []int32
	for _, base := range []int32{0, 6} {
		for u := base; u < base+6; u++ {
			for v := u + 1; v < base+6; v++ {
				from, to = append(from, u), append(to, v)
			}
		}
	}
	g, err := community.FromEdges(12, append(from, 0), append(to, 6))
	if err != nil {
		t.Fatal(err)
	}
	u := &UtilityMeasure{Planted: map[string][]int32{"p": {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}}, Most: func(Job) float64 { return 0.9 }}
	for _, method := range []string{PrivCom, OneCommunity, Singletons} {
		values, err := u.Measure(t.Context(), Job{Graph: "p", Method: method, Unit: "node", Epsilon: 2, Seed: 1}, g, g)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{PrivCom: 1, OneCommunity: 0.5, Singletons: 1.0 / 6}[method]
		if math.Abs(values["placed"]-want) > 1e-15 {
			t.Errorf("%s: placed %v, want %v", method, values["placed"], want)
		}
		if method == PrivCom && (values["ami"] < 1-1e-12 || values["avg_f1_reversed_weighted"] < 1-1e-12 || values["most"] != 0.9) {
			t.Errorf("equal graphs: %v", values)
		}
	}
	job := Job{Experiment: Utility, Graph: "p", Method: PrivCom, Unit: "node", Epsilon: 2, DegreeBound: 50}
	var results []Result
	for i, ami := range []float64{0.5, 0.1, 0.2, 0.4} {
		r := Result{Job: job, Values: map[string]float64{"ami": ami, "placed": 0.8}}
		r.Seed = uint64(i)
		results = append(results, r)
	}
	results = append(results, Result{Job: job, Failure: "no | room"})
	var b strings.Builder
	if err := UtilityMarkdown(&b, Summarise(results)); err != nil {
		t.Fatal(err)
	}
	if want := `| node, D = 50 | 2 | 0.30 (0.10 to 0.50) | - | - | - | - | 0.80 | - | - | - | 5, 1 failed: no \| room |`; !strings.Contains(b.String(), want) {
		t.Errorf("%s\nwant the row %s", b.String(), want)
	}
}
