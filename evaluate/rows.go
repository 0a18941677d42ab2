package evaluate

import (
	"slices"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/metrics"
)

// candidate is a partition of every run that gets a row.
type candidate struct {
	name, kind, note string
	of               func(run) []int32
	fixed            bool // the same in every run
}

// candidates lists the rows in the order of the table. Against labels the ceiling is
// what the original graph itself reaches.
func (c *comparison) candidates(labels bool) []candidate {
	list := []candidate{{name: "release", kind: KindRelease, note: "communities of the synthetic graph",
		of: func(r run) []int32 { return r.release.Community }}}
	if c.o.ReleaseLabels != nil {
		list = append(list, candidate{name: "release's own labels", kind: KindRelease,
			note: "communities that the release states", fixed: true,
			of: func(run) []int32 { return c.o.ReleaseLabels }})
	}
	if labels {
		list = append(list, candidate{name: "original graph", kind: KindCeiling,
			note: "communities of the original: what a perfect copy gets",
			of:   func(r run) []int32 { return r.reference.Community }})
	} else {
		list = append(list, candidate{name: "ceiling", kind: KindCeiling,
			note: "a second run on the original: what a perfect copy gets",
			of:   func(r run) []int32 { return r.again.Community }})
	}
	n := c.original.Vertices()
	one, single := make([]int32, n), singletons(n)
	return append(list,
		candidate{name: "random graph", kind: KindTrivial, note: "as many edges as the release, placed at random",
			of: func(r run) []int32 { return r.random.Community }},
		candidate{name: "permuted labels", kind: KindTrivial, note: "the release's communities with the vertices shuffled",
			of: func(r run) []int32 { return r.shuffled }},
		candidate{name: "one community", kind: KindTrivial, note: "all vertices together", fixed: true,
			of: func(run) []int32 { return one }},
		candidate{name: "singletons", kind: KindTrivial, note: "every vertex alone", fixed: true,
			of: func(run) []int32 { return single }},
	)
}

// rows scores every candidate in every run.
func (c *comparison) rows(list []candidate, reference func(run) []int32) ([]Row, error) {
	rows := make([]Row, 0, len(list))
	for _, k := range list {
		row, err := c.row(k, reference)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (c *comparison) row(k candidate, reference func(run) []int32) (Row, error) {
	row := Row{Name: k.name, Kind: k.kind, Note: k.note}
	var scores []metrics.Scores
	var modularity, counts []float64
	for _, r := range c.runs {
		p := k.of(r)
		s, err := metrics.Compare(p, reference(r))
		if err != nil {
			return Row{}, err
		}
		scores = append(scores, s)
		if k.fixed && len(modularity) > 0 {
			continue
		}
		q, err := community.Modularity(c.original, p)
		if err != nil {
			return Row{}, err
		}
		modularity, counts = append(modularity, q), append(counts, float64(countOf(p)))
	}
	row.Modularity, row.Communities = median(modularity), int(median(counts))
	low, middle, high := spread(scores)
	row.Scores = middle
	if len(scores) > 1 {
		row.Low, row.High = &low, &high
	}
	return row, nil
}

func countOf(p []int32) int {
	s := slices.Clone(p)
	slices.Sort(s)
	s = slices.Compact(s)
	if len(s) > 0 && s[0] < 0 {
		s = slices.DeleteFunc(s, func(c int32) bool { return c < 0 })
	}
	return len(s)
}

// spread takes the lowest, median and highest of each score.
func spread(all []metrics.Scores) (low, middle, high metrics.Scores) {
	for i := range fields(&middle) {
		values := make([]float64, len(all))
		for r := range all {
			values[r] = *fields(&all[r])[i]
		}
		*fields(&low)[i], *fields(&high)[i] = slices.Min(values), slices.Max(values)
		*fields(&middle)[i] = median(values)
	}
	return low, middle, high
}

// fields lists a score sheet's entries.
func fields(s *metrics.Scores) []*float64 {
	return []*float64{&s.AMI, &s.ARI, &s.NMI, &s.AMIArithmetic, &s.NMIArithmetic, &s.PairwiseF1,
		&s.AvgF1Detected, &s.AvgF1Truth, &s.AvgF1Mean, &s.AvgF1Weighted}
}

// median is the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Clone(values)
	slices.Sort(s)
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m-1] + s[m]) / 2
}

func (c *comparison) median(of func(run) float64) float64 {
	values := make([]float64, len(c.runs))
	for i, r := range c.runs {
		values[i] = of(r)
	}
	return median(values)
}
