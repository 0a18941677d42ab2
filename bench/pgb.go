package bench

import (
	"context"

	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/evaluate/community"
)

// PGB names the grid of the Private Graph Benchmark.
const PGB = "pgb"

// PGBOptions choose the grid.
type PGBOptions struct {
	Graphs  []string
	Runs    int
	Quick   bool // two budgets
	Methods []string
}

// PGBJobs is every graph at ε of 0.1, 0.5, 1, 2, 5, 10 for one edge, δ = 10⁻⁵ where a method
// has one.
func PGBJobs(o PGBOptions, hasDelta func(method string) bool) []Job {
	budgets := []float64{0.1, 0.5, 1, 2, 5, 10}
	if o.Quick {
		budgets = []float64{1, 10}
	}
	var jobs []Job
	for run := range o.Runs {
		for _, g := range o.Graphs {
			for i, e := range budgets {
				for _, m := range o.Methods {
					j := Job{Experiment: PGB, Graph: g, Method: m, Unit: "edge", Epsilon: e, Level: i + 1, Seed: uint64(run + 1)}
					if hasDelta(m) {
						j.Delta = 1e-5
					}
					jobs = append(jobs, j)
				}
			}
		}
	}
	return jobs
}

// Queries are PGB's fifteen, in its order, under short names: relative errors but for
// the distributions (KL divergence), community detection (NMI, here beside AMI, which
// chance does not raise) and eigenvector centrality (mean absolute error).
var Queries = []string{"vertices", "edges", "triangles", "mean_degree", "degree_variance", "degree_kl", "diameter", "mean_distance",
	"distance_kl", "global_clustering", "mean_clustering", "modularity", "nmi", "ami", "assortativity", "centrality_mae"}

// MeasureQueries compares both graphs by the fifteen queries. A vertex without an edge does
// not count as one, as in PGB; the list of vertices is public here.
func MeasureQueries(ctx context.Context, j Job, original, made *community.Graph) (map[string]float64, error) {
	e, err := evaluate.Compare(ctx, original, made, evaluate.Options{Seed: j.Seed})
	if err != nil {
		return nil, err
	}
	values := map[string]float64{"degree_kl": e.Degrees.Distribution.KL, "distance_kl": e.Distances.KL, "nmi": e.NMI, "ami": e.AMI,
		"centrality_mae": e.Centrality.MeanAbsolute}
	named := map[string]string{"edges": "edges", "triangles": "triangles", "mean degree": "mean_degree", "degree variance": "degree_variance",
		"diameter": "diameter", "average distance": "mean_distance", "global clustering": "global_clustering",
		"average clustering": "mean_clustering", "modularity": "modularity", "assortativity": "assortativity"}
	for _, q := range e.Quantities {
		if name, wanted := named[q.Name]; wanted && q.Relative >= 0 { // −1: the original's is 0, there is no ratio
			values[name] = q.Relative
		}
	}
	n := float64(e.Vertices)
	from, to := n-float64(e.Original.Degrees.Isolated), n-float64(e.Synthetic.Degrees.Isolated)
	if from > 0 {
		values["vertices"] = max(from-to, to-from) / from
	}
	return values, nil
}
