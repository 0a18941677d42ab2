package metrics

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

type goldenCase struct {
	Graph    string  `json:"graph"`
	Case     string  `json:"case"`
	Detected []int32 `json:"detected"`
	Truth    []int32 `json:"truth"`
	Scores
}

// The golden figures come from an independent implementation and carry twelve
// decimals.
func TestScoresEqualGolden(t *testing.T) {
	raw, err := os.ReadFile("testdata/partition_metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no golden cases")
	}
	for _, c := range cases {
		got, err := Compare(c.Detected, c.Truth)
		if err != nil {
			t.Fatalf("%s %s: %v", c.Graph, c.Case, err)
		}
		for _, f := range []struct {
			key       string
			got, want float64
		}{
			{"avg_f1_detected", got.AvgF1Detected, c.AvgF1Detected},
			{"avg_f1_truth", got.AvgF1Truth, c.AvgF1Truth},
			{"avg_f1_detected_weighted_by_size", got.AvgF1Weighted, c.AvgF1Weighted},
			{"nmi_arithmetic", got.NMIArithmetic, c.NMIArithmetic},
			{"ami_arithmetic", got.AMIArithmetic, c.AMIArithmetic},
			{"ari", got.ARI, c.ARI},
		} {
			if math.Abs(f.got-f.want) > 1e-9 {
				t.Errorf("%s %s: %s = %.12f, want %.12f", c.Graph, c.Case, f.key, f.got, f.want)
			}
		}
	}
}
