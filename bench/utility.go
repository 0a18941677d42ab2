package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/metrics"
)

// Experiments of the utility grid.
const (
	Utility = "utility"
	NoNoise = "no-noise" // the same reconstruction at a budget whose noise does not matter
)

// NoNoiseEpsilon is the budget of one edge that stands for "no noise": there is no way to
// run without.
const NoNoiseEpsilon = 1000

// UtilityEpsilons are the budgets of the grid.
var UtilityEpsilons = []float64{0.1, 0.5, 1, 1.5, 2, 3, 5, 8, 12, 20}

// UtilityGraph is a graph of the grid with the degree bounds of its node-private rows;
// 0 stands for n−1.
type UtilityGraph struct {
	Name   string
	Bounds []int64
}

// UtilityOptions choose the grid.
type UtilityOptions struct {
	Graphs   []UtilityGraph
	Epsilons []float64
	Runs     int
}

// UtilityJobs is every graph at every ε for one edge, and for one person at each degree
// bound, δ = 10⁻⁵, beside what is trivial and the row without noise. The runs come in turn, so
// that a part of them is a whole grid of fewer runs.
func UtilityJobs(o UtilityOptions) []Job {
	var jobs []Job
	for run := range o.Runs {
		for _, g := range o.Graphs {
			add := func(experiment, method, unit string, epsilon float64, bound int64, level int) {
				j := Job{Experiment: experiment, Graph: g.Name, Method: method, Unit: unit, Epsilon: epsilon, Level: level,
					Seed: uint64(run + 1), DegreeBound: bound}
				if method == PrivCom {
					j.Delta = 1e-5
				}
				jobs = append(jobs, j)
			}
			for _, m := range []string{OneCommunity, Singletons, RandomGraph, Ceiling} {
				add(Yardsticks, m, "", 0, 0, 0)
			}
			add(NoNoise, PrivCom, "edge", NoNoiseEpsilon, 0, 0)
			for i, e := range o.Epsilons {
				add(Utility, PrivCom, "edge", e, 0, i+1)
			}
			for _, d := range g.Bounds {
				for i, e := range o.Epsilons {
					add(Utility, PrivCom, "node", e, d, i+1)
				}
			}
		}
	}
	return jobs
}

// UtilityScores are the figures of the utility grid, in the order of tables: the scores of
// the paper's comparison with Avg-F1 weighted by size, the share of vertices placed right where
// communities were planted, and the largest share that any mechanism reaches.
var UtilityScores = []string{"ami", "ari", "nmi", "avg_f1_weighted", "avg_f1_reversed_weighted", "placed", "most", "modularity", "edges"}

// UtilityMeasure compares Louvain communities of both graphs. Planted gives the planted
// communities by graph, one per vertex; Most the largest share of vertices that any mechanism
// of a job's unit and ε places right. The communities of an original are found once per seed.
type UtilityMeasure struct {
	Planted map[string][]int32
	Most    func(Job) float64

	truth map[string][]int32
}

// Measure is for Options.
func (u *UtilityMeasure) Measure(ctx context.Context, j Job, original, made *community.Graph) (map[string]float64, error) {
	key := fmt.Sprintf("%s\n%d", j.Graph, j.Seed)
	truth := u.truth[key]
	if truth == nil {
		found, err := community.Louvain(ctx, original, community.Options{Seed: 2 * j.Seed})
		if err != nil {
			return nil, err
		}
		truth = found.Community
		u.truth = map[string][]int32{key: truth} // jobs come graph by graph
	}
	partition, err := j.partition(ctx, made)
	if err != nil {
		return nil, err
	}
	s, err := metrics.Compare(partition, truth)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	back, err := metrics.Compare(truth, partition)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	q, err := community.Modularity(made, partition)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	values := map[string]float64{"ami": s.AMI, "ari": s.ARI, "nmi": s.NMI, "avg_f1_weighted": s.AvgF1Weighted,
		"avg_f1_reversed_weighted": back.AvgF1Weighted, "modularity": q, "edges": float64(made.Edges())}
	if planted := u.Planted[j.Graph]; planted != nil {
		if values["placed"], err = Placed(partition, planted); err != nil {
			return nil, err
		}
	}
	if j.Method == PrivCom && u.Most != nil {
		values["most"] = u.Most(j)
	}
	return values, nil
}

// Placed is the share of vertices in the right one of two planted communities: each of the
// two is given the found community, no one twice, that makes the share largest.
func Placed(found, planted []int32) (float64, error) {
	c, err := metrics.NewContingency(found, planted)
	if err != nil {
		return 0, fmt.Errorf("bench: %w", err)
	}
	if len(c.Truth) != 2 {
		return 0, fmt.Errorf("bench: %d planted communities, want 2", len(c.Truth))
	}
	shared := make([][2]int64, len(c.Detected))
	for i := range shared {
		for k := c.Ptr[i]; k < c.Ptr[i+1]; k++ {
			shared[i][c.Col[k]] = c.Count[k]
		}
	}
	most := max(shared[0][0], shared[0][1]) // a single community can be only one of the two
	for i, a := range shared {
		for _, b := range shared[:i] {
			most = max(most, a[0]+b[1], a[1]+b[0])
		}
	}
	return float64(most) / float64(c.N), nil
}

// UtilityMarkdown writes one table per graph, of medians over the runs, and for AMI the lowest
// and the highest.
func UtilityMarkdown(w io.Writer, rows []Row) error {
	var b strings.Builder
	var graphs []string
	for _, r := range rows {
		if !slices.Contains(graphs, r.Graph) {
			graphs = append(graphs, r.Graph)
		}
	}
	for _, g := range graphs {
		planted := slices.ContainsFunc(rows, func(r Row) bool { _, is := r.Median["placed"]; return r.Graph == g && is })
		fmt.Fprintf(&b, "\n### %s\n\n| unit | ε | AMI (lowest to highest) | ARI | NMI | Avg-F1 | reversed |", g)
		line := "\n|---|---|---|---|---|---|---|"
		if planted {
			b.WriteString(" placed right |")
			line += "---|"
		}
		b.WriteString(" ceiling | Q | edges | runs |" + line + "---|---|---|---|\n")
		for _, r := range rows {
			if r.Graph == g {
				markdownRow(&b, r, planted)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownRow(b *strings.Builder, r Row, planted bool) {
	unit := r.Method
	switch {
	case r.Method == Ceiling:
		unit = "original, again"
	case r.Experiment == NoNoise:
		unit = "edge (no noise)"
	case r.Unit == "node" && r.DegreeBound == 0:
		unit = "node, D = n−1"
	case r.Unit == "node":
		unit = fmt.Sprintf("node, D = %d", r.DegreeBound)
	case r.Unit != "":
		unit = r.Unit
	}
	ami := "-"
	if _, known := r.Median["ami"]; known {
		ami = short(r.Median, "ami")
		if r.Runs-r.Failures > 1 {
			ami += fmt.Sprintf(" (%s to %s)", short(r.Low, "ami"), short(r.High, "ami"))
		}
	}
	fmt.Fprintf(b, "| %s | %s | %s |", unit, epsilon(r.Job), ami)
	for _, name := range UtilityScores[1:] {
		if name == "edges" {
			if x, known := r.Median[name]; known {
				fmt.Fprintf(b, " %.0f |", x)
			} else {
				b.WriteString(" - |")
			}
		} else if name != "placed" || planted {
			fmt.Fprintf(b, " %s |", short(r.Median, name))
		}
	}
	fmt.Fprintf(b, " %d", r.Runs)
	if r.Failures > 0 {
		fmt.Fprintf(b, ", %d failed: %s", r.Failures, strings.NewReplacer("|", `\|`, "\n", " ").Replace(r.Failure))
	}
	b.WriteString(" |\n")
}

// short is a score with two digits.
func short(values map[string]float64, name string) string {
	x, known := values[name]
	if !known {
		return "-"
	}
	if x > -0.005 && x < 0 {
		x = 0
	}
	return fmt.Sprintf("%.2f", x)
}
