package evaluate

import (
	"github.com/privcom/privcom/evaluate/metrics"
	"github.com/privcom/privcom/evaluate/statistics"
)

// Notice stands in every form of an evaluation.
const Notice = "inside the boundary: do not publish"

// Why explains the trivial rows in one sentence.
const Why = "The rows below the release show what the scores are worth: the ceiling is all that a perfect copy could get, " +
	"and the trivial rows know nothing of the communities, yet Avg-F1 and NMI reward some of them; AMI and ARI give them 0."

// Evaluation is a finished comparison. The scores of the release against the
// original's communities stand at the top level, under the keys of the golden
// figures; Rows repeats them beside their yardsticks.
type Evaluation struct {
	Notice   string `json:"notice"`
	Method   Method `json:"method"`
	Seed     uint64 `json:"seed"`
	Repeat   int    `json:"repeat"`
	Vertices int    `json:"vertices"`

	metrics.Scores
	// ModularityDetected is the modularity of the release's partition on the original.
	ModularityDetected  float64 `json:"modularity_detected"`
	ModularityOriginal  float64 `json:"modularity_original"`  // of the original's partition on the original
	ModularitySynthetic float64 `json:"modularity_synthetic"` // of the release's partition on the release

	CommunitiesOriginal  int `json:"communities_original"`
	CommunitiesSynthetic int `json:"communities_synthetic"`

	// Rows are scored against the original's communities: the release first.
	Rows []Row `json:"rows"`
	// Labels holds the same against ground-truth labels; nil without labels.
	Labels *Labelled `json:"labels,omitempty"`

	Edges      Change       `json:"edges"`
	Degrees    DegreeErrors `json:"degrees"`
	Quantities []Quantity   `json:"quantities"`
	Original   Figures      `json:"original"`
	Synthetic  Figures      `json:"synthetic"`

	// Distances compares how many pairs of vertices lie at each distance, and
	// Centrality the eigenvector centralities; nil where paths were left out.
	Distances  *statistics.Divergence `json:"distance_distribution,omitempty"`
	Centrality *VectorErrors          `json:"eigenvector_centrality,omitempty"`

	Matching  Matching  `json:"matching"`
	Structure Structure `json:"structure"`
}

// Kinds of rows.
const (
	KindRelease = "release" // what is being judged
	KindCeiling = "ceiling" // what a perfect copy would get
	KindTrivial = "trivial" // knows nothing of the communities
)

// Row is one partition scored against a reference. With several runs the scores,
// the count and the modularity are medians, each for itself.
type Row struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Note string `json:"note"`
	metrics.Scores
	Modularity  float64 `json:"modularity_detected"` // of the partition on the original graph
	Communities int     `json:"communities"`

	Low  *metrics.Scores `json:"lowest,omitempty"`  // over the runs; nil for one run
	High *metrics.Scores `json:"highest,omitempty"` // over the runs; nil for one run
}

// Labelled holds rows scored against ground-truth labels.
type Labelled struct {
	Classes  int   `json:"classes"`
	Labelled int   `json:"labelled"` // vertices with a label; the others are left out of the scores
	Rows     []Row `json:"rows"`
}

// Change compares two numbers.
type Change struct {
	Original   float64 `json:"original"`
	Synthetic  float64 `json:"synthetic"`
	Difference float64 `json:"difference"` // synthetic − original
	Relative   float64 `json:"relative"`   // |difference| / |original|; 0 where both are 0, −1 where only the original is
}

func change(original, synthetic float64) Change {
	c := Change{Original: original, Synthetic: synthetic, Difference: synthetic - original}
	switch {
	case original != 0:
		c.Relative = abs(c.Difference) / abs(original)
	case synthetic != 0:
		c.Relative = -1
	}
	return c
}

func abs(x float64) float64 { return max(x, -x) }

// DegreeErrors compares degrees vertex by vertex and as distributions.
type DegreeErrors struct {
	Mean          Change                `json:"mean"`
	Max           Change                `json:"max"`
	MeanAbsolute  float64               `json:"mean_absolute_error"` // mean over vertices of |d − d'|
	MaxAbsolute   int                   `json:"max_absolute_error"`  // largest |d − d'|
	Correlation   float64               `json:"correlation"`         // of d and d' over vertices
	Distribution  statistics.Divergence `json:"distribution"`        // of the degree distributions
	HistogramFrom [][2]int64            `json:"histogram_original"`  // [degree, vertices], zeros left out
	HistogramTo   [][2]int64            `json:"histogram_synthetic"` // [degree, vertices], zeros left out
}

// VectorErrors compares one figure per vertex.
type VectorErrors struct {
	MeanAbsolute float64 `json:"mean_absolute_error"`
	Correlation  float64 `json:"correlation"`
}

// Quantity is one line of the table of graph figures.
type Quantity struct {
	Name string `json:"name"`
	Change
	// Sampled tells that at least one side is an estimate, with these standard
	// errors (0 where exact); Bound that it is a lower bound.
	Sampled        bool    `json:"sampled"`
	Bound          bool    `json:"lower_bound"`
	OriginalError  float64 `json:"original_standard_error"`
	SyntheticError float64 `json:"synthetic_standard_error"`
}

// Figures are the statistics of one graph.
type Figures struct {
	Edges         int64                 `json:"edges"`
	Degrees       statistics.Degrees    `json:"degrees"`
	Clustering    statistics.Clustering `json:"clustering"`
	Assortativity float64               `json:"assortativity"`
	Paths         *statistics.Paths     `json:"paths,omitempty"`

	centrality []float64
}

// Matching is the overlap of the largest communities of both graphs, for a heat
// map. The release's communities stand in the order that puts large overlaps on the
// diagonal. What is not shown is counted in the last row or column.
type Matching struct {
	Original  []int64   `json:"original"`  // sizes of the rows' communities; the last is all others
	Synthetic []int64   `json:"synthetic"` // sizes of the columns' communities; the last is all others
	Count     [][]int64 `json:"count"`     // vertices in both
}

// Structure is how the largest communities of each graph are tied to each other, in
// the order of the heat map: the original's by size, the release's by best match.
type Structure struct {
	Original  Mixing `json:"original"`
	Synthetic Mixing `json:"synthetic"`
}

// Mixing counts the edges within and between the largest communities of a graph.
type Mixing struct {
	Size  []int64   `json:"size"`  // vertices of each community shown
	Edges [][]int64 `json:"edges"` // symmetric; the diagonal counts edges inside
}
