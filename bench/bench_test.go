package bench

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/evaluate/community"
)

func random(t *testing.T, n int, m int64) *community.Graph {
	t.Helper()
	g, err := evaluate.RandomGraph(t.Context(), n, m, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// experiment counts how often each job is made.
func experiment(t *testing.T, jobs []Job) (Options, map[Job]int) {
	made := map[Job]int{}
	g := random(t, 50, 120)
	return Options{Jobs: jobs, Graphs: map[string]*community.Graph{"g": g}, Out: t.TempDir(),
		Make: func(_ context.Context, j Job, g *community.Graph) (*community.Graph, error) {
			if made[j]++; j.Method == "broken" {
				return nil, errors.New("too large")
			}
			return g, nil
		}, Measure: MeasureScores}, made
}

func TestAStoppedExperimentGoesOn(t *testing.T) {
	jobs := []Job{{Graph: "g", Method: "a", Seed: 1}, {Graph: "g", Method: "a", Seed: 2}, {Graph: "g", Method: "broken", Seed: 1}, {Graph: "g", Method: "b", Seed: 1}}
	o, made := experiment(t, jobs)
	ctx, stop := context.WithCancel(t.Context())
	o.Progress = func(_ Job, done, _ int64) {
		if done == 2 {
			stop()
		}
	}
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("a stopped run: %v", err)
	}
	// As a kill in the middle of a write would leave it.
	path := filepath.Join(o.Out, runsFile)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"experiment":"half`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	o.Progress = nil
	results, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(t.Context(), o)
	if err != nil || len(results) != 4 || len(again) != 4 {
		t.Fatal(len(results), len(again), err)
	}
	for i, j := range jobs {
		if results[i].Job != j || again[i].Values["ami"] != results[i].Values["ami"] {
			t.Errorf("job %d: %+v, then %+v", i, results[i], again[i])
		}
		if most := map[bool]int{true: 1, false: 2}[i < 2]; made[j] > most {
			t.Errorf("job %d was made %d times", i, made[j])
		}
	}
	if results[2].Failure != "too large" || results[0].Failure != "" {
		t.Errorf("failures: %+v", results)
	}
	if err := os.WriteFile(path, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "runs.jsonl:1") {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestAGraphThatIsNotGivenIsAnError(t *testing.T) {
	o, _ := experiment(t, []Job{{Graph: "h", Method: "a"}})
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), `"h"`) {
		t.Errorf("%v", err)
	}
}

// The grid holds what the paper's figure shows, once for each run.
func TestPaperGrid(t *testing.T) {
	jobs := PaperJobs(PaperOptions{Graphs: []string{"PB", "PH", "CG"}, Runs: 2})
	seen := map[Job]bool{}
	for _, j := range jobs {
		if seen[j] {
			t.Errorf("%+v twice", j)
		}
		seen[j] = true
	}
	for _, g := range []string{"PB", "PH", "CG"} {
		for i, e := range []float64{0.1, 0.5, 1, 1.5} {
			for _, j := range []Job{
				{Figure, g, PrivCom, "node", e, 1e-5, i + 1, 2, 0}, {Figure, g, PaperProfile, "node", e, 1e-5, i + 1, 2, 0},
				{Figure, g, "hrg", "edge", e, 0, i + 1, 2, 0}, {Figure, g, "dk2", "edge", 5 * float64(i+1), 0.01, i + 1, 2, 0},
			} {
				if !seen[j] {
					t.Errorf("%+v is missing", j)
				}
			}
		}
	}
	if len(jobs)%2 != 0 || jobs[len(jobs)/2-1].Seed != 1 || jobs[len(jobs)/2].Seed != 2 {
		t.Error("the runs do not come in turn")
	}
}

func TestMeansAndFiles(t *testing.T) {
	cell := Job{Experiment: Figure, Graph: "PB", Method: PrivCom, Unit: "edge", Epsilon: 1, Level: 3}
	with := func(seed uint64, ami float64, failure string) Result {
		r := Result{Job: cell, Seconds: 2, Failure: failure}
		if r.Seed = seed; failure == "" {
			r.Values = map[string]float64{"ami": ami, "avg_f1": 0.5}
		}
		return r
	}
	rows := Summarise([]Result{with(1, 0.2, ""), with(2, 0.4, ""), with(3, 0, "no room, <none>")})
	if len(rows) != 1 || rows[0].Runs != 3 || rows[0].Failures != 1 || math.Abs(rows[0].Mean["ami"]-0.3) > 1e-15 ||
		math.Abs(rows[0].StdDev["ami"]-math.Sqrt(0.02)) > 1e-15 || rows[0].Seconds != 2 {
		t.Fatalf("%+v", rows)
	}
	folder := t.TempDir()
	if err := Write(folder, rows, Scores, PaperFigure(rows, []string{"PB"})); err != nil {
		t.Fatal(err)
	}
	content := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if text := string(content("table.txt")); !strings.Contains(text, Notice) || !strings.Contains(text, "0.300") || !strings.Contains(text, "1 failed") || !strings.Contains(text, "AMI") {
		t.Errorf("table:\n%s", text)
	}
	lines, err := csv.NewReader(bytes.NewReader(content("results.csv"))).ReadAll()
	if err != nil || len(lines) != 2 || len(lines[0]) != len(lines[1]) || lines[1][10] != "0.30000000000000004" || lines[0][10] != "ami" || lines[0][12] != "ami_median" {
		t.Errorf("csv %v: %v", lines, err)
	}
	var back struct {
		Notice string
		Rows   []Row
	}
	if err := json.Unmarshal(content("results.json"), &back); err != nil || back.Notice != Notice || len(back.Rows) != 1 || back.Rows[0].Mean["avg_f1"] != 0.5 {
		t.Errorf("json %+v: %v", back, err)
	}
	for d := xml.NewDecoder(bytes.NewReader(content("figure.svg"))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the drawing is not XML: %v", err)
		}
	}
}

// On a graph and itself every error is 0, and all fifteen queries are there (and AMI).
func TestQueriesOfAPerfectCopy(t *testing.T) {
	g := random(t, 80, 300)
	values, err := MeasureQueries(t.Context(), Job{Seed: 1}, g, g)
	if err != nil {
		t.Fatal(err)
	}
	if len(Queries) != 16 {
		t.Errorf("%d queries, want fifteen and AMI", len(Queries))
	}
	for _, q := range Queries {
		x, known := values[q]
		switch {
		case !known:
			t.Errorf("%s is missing", q)
		case q == "nmi" || q == "ami" || q == "modularity": // the communities of two runs differ a little
		case math.Abs(x) > 1e-9:
			t.Errorf("%s of a perfect copy is %v", q, x)
		}
	}
}
