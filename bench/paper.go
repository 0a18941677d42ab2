package bench

import (
	"context"
	"fmt"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/metrics"
)

// Names of what is run beside the baselines, which go by their own.
const (
	PrivCom      = "privcom"       // the default of this program
	PrivComOne   = "privcom-k1"    // with a single eigenvector
	PaperProfile = "paper-profile" // the paper's own constants and reconstruction
	Ceiling      = "ceiling"       // a second run on the original
	RandomGraph  = "random-graph"  // as many edges as the original
	OneCommunity = "one-community"
	Singletons   = "singletons"
)

// Experiments of the paper's comparison.
const (
	Yardsticks = "yardsticks"
	Figure     = "figure" // the paper's
	Equal      = "equal"  // all methods at equal unit and ε
)

// PaperOptions choose the grid.
type PaperOptions struct {
	Graphs []string
	Runs   int
	Quick  bool // one level of the figure, nothing else
}

// PaperJobs is the paper's figure: ε of 0.1, 0.5, 1, 1.5 for PrivCom and HRG, 5, 10, 15, 20
// for dK-2 at δ = 0.01; and every method at equal unit and ε, δ = 10⁻⁵. The runs come in
// turn, so that a part of them is a whole experiment of fewer runs.
func PaperJobs(o PaperOptions) []Job {
	const delta = 1e-5
	small, large := []float64{0.1, 0.5, 1, 1.5}, []float64{5, 10, 15, 20}
	levels, equal := []int{0, 1, 2, 3}, []float64{1, 5}
	if o.Quick {
		levels, equal = []int{3}, nil
	}
	var jobs []Job
	for run := range o.Runs {
		for _, g := range o.Graphs {
			add := func(experiment, unit string, epsilon, delta float64, level int, methods ...string) {
				for _, m := range methods {
					jobs = append(jobs, Job{Experiment: experiment, Graph: g, Method: m, Unit: unit, Epsilon: epsilon, Delta: delta, Level: level, Seed: uint64(run + 1)})
				}
			}
			add(Yardsticks, "", 0, 0, 0, Ceiling, RandomGraph, OneCommunity, Singletons)
			for _, i := range levels {
				add(Figure, "node", small[i], delta, i+1, PaperProfile, PrivCom)
				add(Figure, "edge", small[i], delta, i+1, PrivCom, PrivComOne)
				add(Figure, "edge", small[i], 0, i+1, "hrg")
				add(Figure, "edge", large[i], 0.01, i+1, "dk2")
			}
			for i, e := range equal {
				add(Equal, "edge", e, delta, i+1, PrivCom, PrivComOne, "dk2")
				add(Equal, "edge", e, 0, i+1, "dk1", "hrg", "tmf", "privgraph")
				add(Equal, "node", e, delta, i+1, PrivCom, PaperProfile, "entry-noise", "matrix-noise", "vector-noise")
			}
		}
	}
	return jobs
}

// partition is what a job's graph is judged by: its Louvain communities, or those that a
// yardstick names. It draws from another seed than the communities of the original.
func (j Job) partition(ctx context.Context, made *community.Graph) ([]int32, error) {
	switch j.Method {
	case OneCommunity:
		return make([]int32, made.Vertices()), nil
	case Singletons:
		own := make([]int32, made.Vertices())
		for v := range own {
			own[v] = int32(v)
		}
		return own, nil
	}
	found, err := community.Louvain(ctx, made, community.Options{Seed: 2*j.Seed + 1})
	if err != nil {
		return nil, err
	}
	return found.Community, nil
}

// Scores are the figures of the paper's comparison, in the order of tables.
var Scores = []string{"ami", "ari", "avg_f1", "avg_f1_reversed", "nmi", "modularity", "edges"}

// MeasureScores compares the Louvain communities of both graphs. avg_f1 is the paper's: the
// mean over the released graph's communities of the best F1. modularity is that of the released
// graph's communities on the original.
func MeasureScores(ctx context.Context, j Job, original, made *community.Graph) (map[string]float64, error) {
	truth, err := community.Louvain(ctx, original, community.Options{Seed: 2 * j.Seed})
	if err != nil {
		return nil, err
	}
	partition, err := j.partition(ctx, made)
	if err != nil {
		return nil, err
	}
	s, err := metrics.Compare(partition, truth.Community)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	q, err := community.Modularity(original, partition)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	return map[string]float64{"ami": s.AMI, "ari": s.ARI, "avg_f1": s.AvgF1Detected, "avg_f1_reversed": s.AvgF1Truth, "nmi": s.NMI,
		"modularity": q, "edges": float64(made.Edges())}, nil
}
