package evaluate

import (
	"context"
	"fmt"
	"sync"

	"github.com/privcom/privcom/evaluate/community"
)

// Compare evaluates a synthetic graph against the original on the same vertices.
func Compare(ctx context.Context, original, synthetic *community.Graph, o Options) (*Evaluation, error) {
	o = o.withDefaults()
	if err := o.validate(original, synthetic); err != nil {
		return nil, err
	}
	c := &comparison{o: o, original: original, synthetic: synthetic}
	if err := c.findAll(ctx); err != nil {
		return nil, fmt.Errorf("evaluate: communities: %w", err)
	}
	e := &Evaluation{Notice: Notice, Method: o.Method, Seed: o.Seed, Repeat: o.Repeat, Vertices: original.Vertices()}
	if err := c.scoreRows(e); err != nil {
		return nil, fmt.Errorf("evaluate: scores: %w", err)
	}
	if err := c.measure(ctx, e); err != nil {
		return nil, fmt.Errorf("evaluate: statistics: %w", err)
	}
	first := c.runs[0]
	matching, order := match(first.reference, first.release)
	e.Matching = matching
	e.Structure.Original = mix(original, first.reference)
	e.Structure.Synthetic = mix(synthetic, first.release).arranged(order)
	return e, nil
}

// comparison is the state of one call of Compare.
type comparison struct {
	o                   Options
	original, synthetic *community.Graph
	runs                []run

	mu   sync.Mutex
	done int64
}

// pieces of work that the progress counts: four partitions per run, and the figures
// of two graphs.
func (c *comparison) pieces() int64 { return int64(4*c.o.Repeat + 2) }

func (c *comparison) step(phase string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.o.Progress != nil {
		c.o.Progress(phase, c.done, c.pieces())
	}
}

// scoreRows fills every table of scores and the top-level figures.
func (c *comparison) scoreRows(e *Evaluation) error {
	var err error
	reference := func(r run) []int32 { return r.reference.Community }
	if e.Rows, err = c.rows(c.candidates(false), reference); err != nil {
		return err
	}
	if c.o.Labels != nil {
		if e.Labels, err = c.labelled(); err != nil {
			return err
		}
	}
	e.Scores, e.ModularityDetected = e.Rows[0].Scores, e.Rows[0].Modularity
	e.CommunitiesSynthetic = e.Rows[0].Communities
	e.CommunitiesOriginal = int(c.median(func(r run) float64 { return float64(r.reference.Count) }))
	e.ModularityOriginal = c.median(func(r run) float64 { return r.reference.Modularity })
	e.ModularitySynthetic = c.median(func(r run) float64 { return r.release.Modularity })
	return nil
}

func (c *comparison) labelled() (*Labelled, error) {
	l := &Labelled{}
	seen := make(map[int32]bool)
	for _, class := range c.o.Labels {
		if class >= 0 {
			l.Labelled++
			seen[class] = true
		}
	}
	l.Classes = len(seen)
	var err error
	l.Rows, err = c.rows(c.candidates(true), func(run) []int32 { return c.o.Labels })
	return l, err
}
