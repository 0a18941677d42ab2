package synthesis

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/privcom/privcom/storage"
)

const edgesPerPart = 1 << 19

// Generate samples the graph of a law through the runner and writes its edges
// as Parquet parts. The parts are functions of the law, the seed and
// EdgesPerPart only: neither the number of workers nor a retry changes a byte.
//
// Errors: a *SaturatedError when the target cannot be reached; faults of the
// spec; whatever storage and the runner report.
func Generate(ctx context.Context, runner Runner, spec Spec) (*Result, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	scratch, err := storage.Open(ctx, spec.Scratch)
	if err != nil {
		return nil, fmt.Errorf("synthesis: open the scratch bucket: %w", err)
	}
	defer scratch.Close()
	g, err := spec.prepare()
	if err != nil {
		return nil, err
	}
	model, err := g.save(ctx, scratch)
	if err != nil {
		return nil, err
	}
	run := &run{runner: runner, spec: &spec, n: g.n(), model: model, scratch: scratch.URL()}
	result := &Result{}
	var expected []float64 // edges per chunk of rows
	tau := 0.0
	if g.tree != nil {
		mass := g.tree.mass()
		g = nil // from here on the workers hold the model
		if result.Tau, expected, err = run.solve(ctx, mass); err != nil {
			return nil, err
		}
		tau, result.Expected = result.Tau.Value, spec.Edges
	} else {
		expected, result.Expected = g.blocks.expectedOfChunks(), spec.Blocks.Expected()
		g = nil
	}
	result.Parts, err = run.sample(ctx, tau, spec.cuts(expected, run.n, result.Expected))
	if err != nil {
		return nil, err
	}
	for _, p := range result.Parts {
		result.Edges += p.Rows
	}
	return result, nil
}

// prepare orders the rows of the law.
func (s *Spec) prepare() (*graph, error) {
	if s.Blocks != nil {
		b, err := newBlockGraph(s.Blocks)
		return &graph{blocks: b}, err
	}
	y, sign, k, err := coordinates(s.Model)
	if err != nil {
		return nil, err
	}
	return &graph{tree: buildTree(y, sign, s.Model.N, k)}, nil
}

// cuts returns the borders of the parts, at borders of chunks, so that each part
// expects about EdgesPerPart edges.
func (s *Spec) cuts(expected []float64, n int, total float64) []int {
	each := float64(s.EdgesPerPart)
	if each == 0 {
		each = edgesPerPart
	}
	sum := 0.0
	for _, e := range expected {
		sum += e
	}
	cuts, filled := []int{0}, 0.0
	for c, e := range expected {
		if sum > 0 {
			e *= total / sum
		}
		if filled > 0 && filled+e/2 > each {
			cuts, filled = append(cuts, c*chunkRows), 0
		}
		filled += e
	}
	return append(cuts, n)
}

func (g *blockGraph) expectedOfChunks() []float64 {
	out := make([]float64, chunks(g.n))
	parallelFor(len(out), func(c int) {
		for p := c * chunkRows; p < min(g.n, (c+1)*chunkRows); p++ {
			out[c] += g.expectedOfRow(p)
		}
	})
	return out
}

// run is one Generate.
type run struct {
	runner  Runner
	spec    *Spec
	n       int
	model   Object
	scratch string
}

// solve finds τ and the expected number of edges per chunk.
func (r *run) solve(ctx context.Context, mass float64) (*Tau, []float64, error) {
	tau, last, err := solveTau(ctx, r.n, mass, r.spec.Edges, r.estimate)
	if err != nil {
		return nil, nil, err
	}
	return tau, last.chunks, nil
}

// estimate runs one pass over all chunks in at most 256 items, 16 Ki rows each
// where that is fewer.
func (r *run) estimate(ctx context.Context, how plan) (*pass, error) {
	if math.IsInf(how.Rate, 1) {
		how.Rate = 0
	}
	all := chunks(r.n)
	count := max(1, min(256, all/64, all))
	var items [][]byte
	for i := range count {
		item, err := json.Marshal(estimateItem{
			Scratch: r.scratch, Model: r.model, Seed: r.spec.Seed, Rate: how.Rate, Tau: how.Tau,
			From: i * all / count, To: (i + 1) * all / count,
		})
		if err != nil {
			return nil, fmt.Errorf("synthesis: %s item: %w", KindEstimate, err)
		}
		items = append(items, item)
	}
	results, err := r.runner.Run(ctx, KindEstimate, items)
	if err != nil {
		return nil, err
	}
	out := &pass{}
	for i, text := range results {
		var part estimateResult
		if err := json.Unmarshal(text, &part); err != nil {
			return nil, fmt.Errorf("synthesis: result %d of %s: %w", i, KindEstimate, err)
		}
		if err := out.add(part, (i+1)*all/count-i*all/count); err != nil {
			return nil, err
		}
	}
	if out.tally == nil || len(results) != count {
		return nil, fmt.Errorf("synthesis: %d results of %d items", len(results), count)
	}
	return out, nil
}

// sample draws the edges between the cuts and returns the parts in order.
func (r *run) sample(ctx context.Context, tau float64, cuts []int) ([]Object, error) {
	parts := len(cuts) - 1
	output, err := storage.Open(ctx, r.spec.Output)
	if err != nil {
		return nil, fmt.Errorf("synthesis: open the output: %w", err)
	}
	defer output.Close()
	var items [][]byte
	for i := range parts {
		item, err := json.Marshal(sampleItem{
			Scratch: r.scratch, Output: output.URL(), Model: r.model, Nodes: r.spec.Nodes, Seed: r.spec.Seed, Tau: tau,
			From: cuts[i], To: cuts[i+1], Part: i, Parts: parts,
		})
		if err != nil {
			return nil, fmt.Errorf("synthesis: %s item: %w", KindSample, err)
		}
		items = append(items, item)
	}
	results, err := r.runner.Run(ctx, KindSample, items)
	if err != nil {
		return nil, err
	}
	if len(results) != parts {
		return nil, fmt.Errorf("synthesis: %d results of %d items", len(results), parts)
	}
	out := make([]Object, parts)
	for i, text := range results {
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, fmt.Errorf("synthesis: result %d of %s: %w", i, KindSample, err)
		}
	}
	return out, nil
}
