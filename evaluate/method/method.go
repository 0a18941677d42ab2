package method

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/privcom/privcom/evaluate/community"
)

// Warning stands with every result.
const Warning = "for comparison only: seeded float noise and no ledger; do not publish"

// Options steer a run.
type Options struct {
	Epsilon  float64
	Delta    float64 // ignored by methods without one
	Seed     uint64
	Steps    int64 // of hrg's Markov chain, of the first cuts' iterations; 0: their default
	Edges    int64 // public number of edges for the first cuts; 0: n
	Rank     int   // k of matrix-noise and vector-noise; 0: 4
	Progress func(done, total int64)
}

// Method is one way to a graph.
type Method struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Source  string `json:"source"`
	Unit    string `json:"unit"`    // edge or node
	Delta   bool   `json:"delta"`   // whether the guarantee has a δ
	Matched bool   `json:"matched"` // whether output vertices stand for input vertices
	Proviso string `json:"proviso"` // what the guarantee rests on, beside the usual
	// Make is the method itself; Run checks the options first.
	Make func(context.Context, *community.Graph, Options, *rand.Rand) (*community.Graph, error) `json:"-"`
}

// Find looks a method up.
func Find(list []Method, name string) (Method, error) {
	var names []string
	for _, m := range list {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Method{}, fmt.Errorf("method: %q is not one of %s", name, strings.Join(names, ", "))
}

// Guarantee says what a run promises.
func (m Method) Guarantee(o Options) string {
	budget := fmt.Sprintf("%g", o.Epsilon)
	if m.Delta {
		budget = fmt.Sprintf("(%g, %g)", o.Epsilon, o.Delta)
	}
	who := "one edge"
	if m.Unit == "node" {
		who = "all edges of one vertex"
	}
	return fmt.Sprintf("%s-differential privacy for %s, vertex names public: %s", budget, who, m.Proviso)
}

// Run makes a graph. Vertices of methods that are not Matched come in random order.
func (m Method) Run(ctx context.Context, g *community.Graph, o Options) (*community.Graph, error) {
	if !(o.Epsilon > 0) || math.IsInf(o.Epsilon, 0) {
		return nil, fmt.Errorf("method: epsilon is %v and must be a number above 0", o.Epsilon)
	}
	if m.Delta && !(o.Delta > 0 && o.Delta < 1) {
		return nil, fmt.Errorf("method: %s has a delta, which is %v and must lie between 0 and 1", m.Name, o.Delta)
	}
	return m.Make(ctx, g, o, rand.New(rand.NewPCG(o.Seed, 'B')))
}
