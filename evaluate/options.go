package evaluate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/statistics"
)

// Method names a community finder.
type Method string

// The methods that Compare knows.
const (
	Louvain          Method = "louvain"
	Leiden           Method = "leiden"
	LabelPropagation Method = "label-propagation"
)

type finder func(context.Context, *community.Graph, community.Options) (*community.Result, error)

var finders = map[Method]finder{
	Louvain: community.Louvain, Leiden: community.Leiden, LabelPropagation: community.LabelPropagation,
}

// Options steer a comparison. The zero value is ready for use.
type Options struct {
	// Method finds the communities of every graph. Default Louvain.
	Method Method
	// Seed fixes every random choice. Any value; default 0.
	Seed uint64
	// Repeat is how often the communities are found, with different seeds, ≥ 1.
	// Default 1. The reference, the ceiling and the random graph change too.
	Repeat int

	// Labels are ground-truth classes, one per vertex, negative where unknown; nil
	// for none.
	Labels []int32
	// ReleaseLabels are the communities that the release itself states, one per
	// vertex, negative where it states none; nil for none.
	ReleaseLabels []int32

	// Statistics bounds the exact work on triangles and paths. Its seed is ignored.
	Statistics statistics.Options
	// SkipPaths leaves out distances and centrality, which take longest on large
	// graphs.
	SkipPaths bool

	// Progress, where not nil, is told after each piece of work how many of total
	// are done. It is called from several goroutines, one at a time.
	Progress func(phase string, done, total int64)
}

func (o Options) withDefaults() Options {
	if o.Method == "" {
		o.Method = Louvain
	}
	if o.Repeat == 0 {
		o.Repeat = 1
	}
	o.Statistics.Seed = o.Seed
	return o
}

// validate names everything that is wrong with the input at once.
func (o Options) validate(original, synthetic *community.Graph) error {
	var faults []error
	if a, b := original.Vertices(), synthetic.Vertices(); a != b {
		faults = append(faults, fmt.Errorf("the original has %d vertices and the synthetic graph %d: both must be on the same vertex list", a, b))
	}
	if err := original.Check(); err != nil {
		faults = append(faults, fmt.Errorf("original: %w", err))
	}
	if err := synthetic.Check(); err != nil {
		faults = append(faults, fmt.Errorf("synthetic graph: %w", err))
	}
	if original.Vertices() == 0 {
		faults = append(faults, errors.New("there are no vertices to compare"))
	}
	if finders[o.Method] == nil {
		faults = append(faults, fmt.Errorf("method %q is not one of %s, %s, %s", o.Method, Louvain, Leiden, LabelPropagation))
	}
	if o.Repeat < 1 {
		faults = append(faults, fmt.Errorf("repeat is %d and must be at least 1", o.Repeat))
	}
	for _, l := range []struct {
		name  string
		given []int32
	}{{"labels", o.Labels}, {"release labels", o.ReleaseLabels}} {
		if l.given != nil && len(l.given) != original.Vertices() {
			faults = append(faults, fmt.Errorf("there are %d %s for %d vertices", len(l.given), l.name, original.Vertices()))
		}
	}
	if o.Labels != nil && len(o.Labels) == original.Vertices() && !slices.ContainsFunc(o.Labels, func(c int32) bool { return c >= 0 }) {
		faults = append(faults, errors.New("no vertex has a label: do the label file's ids name this graph's vertices?"))
	}
	if len(faults) > 0 {
		return fmt.Errorf("evaluate: %w", errors.Join(faults...))
	}
	return nil
}
