package synthesis

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/privcom/privcom/storage"
)

// estimateItem asks for a pass over chunks of rows.
type estimateItem struct {
	Scratch string  `json:"scratch"`
	Model   Object  `json:"model"`
	Seed    uint64  `json:"seed"`
	Rate    float64 `json:"rate"` // 0: look at every pair
	Tau     float64 `json:"tau"`
	From    int     `json:"from"`
	To      int     `json:"to"`
}

// estimateResult is a pass; empty bins are left out.
type estimateResult struct {
	Top        float64   `json:"top"`
	Candidates int64     `json:"candidates"`
	Chunks     []float64 `json:"chunks"`
	Control    float64   `json:"control"`
	Residual   float64   `json:"residual"`
	Tau        float64   `json:"tau"`
	Bins       []int     `json:"bins"`
	Values     []float64 `json:"values"` // weight, moment, square of each bin
}

// sampleItem asks for the edges of some positions.
type sampleItem struct {
	Scratch string  `json:"scratch"`
	Output  string  `json:"output"`
	Model   Object  `json:"model"`
	Nodes   Nodes   `json:"nodes"`
	Seed    uint64  `json:"seed"`
	Tau     float64 `json:"tau"`
	From    int     `json:"from"`
	To      int     `json:"to"`
	Part    int     `json:"part"`
	Parts   int     `json:"parts"`
}

// Handlers returns the handlers by kind. They share a store of the model and the
// ids that they have read last: workers of one process should share one map.
// Memory is n·k·8 B for the coordinates, up to three quarters of that for
// bounds and sums, 4 B of order and 8 B (or the string) of id for each vertex.
func Handlers() map[string]Handler {
	h := &handlers{graphs: newMemo[*graph](2), ids: newMemo[*ids](2)}
	return map[string]Handler{KindEstimate: h.estimate, KindSample: h.sample}
}

type handlers struct {
	graphs *memo[*graph]
	ids    *memo[*ids]
}

func (h *handlers) graph(ctx context.Context, scratch string, name Object) (*graph, error) {
	return h.graphs.get(scratch+"\x00"+name.SHA256, func() (*graph, error) {
		b, err := storage.Open(ctx, scratch)
		if err != nil {
			return nil, fmt.Errorf("synthesis: open the model: %w", err)
		}
		defer b.Close()
		return loadGraph(ctx, b, name)
	})
}

func (h *handlers) estimate(ctx context.Context, params []byte) ([]byte, error) {
	var item estimateItem
	if err := json.Unmarshal(params, &item); err != nil {
		return nil, fmt.Errorf("synthesis: %s item: %w", KindEstimate, err)
	}
	g, err := h.graph(ctx, item.Scratch, item.Model)
	if err != nil {
		return nil, err
	}
	if g.tree == nil || item.From < 0 || item.To < item.From || item.To > chunks(g.n()) {
		return nil, fmt.Errorf("synthesis: %s item asks for chunks %d to %d of a model of %d rows", KindEstimate, item.From, item.To, g.n())
	}
	how := plan{Rate: item.Rate, Tau: item.Tau}
	if how.Rate == 0 {
		how.Rate = math.Inf(1)
	}
	out, err := estimate(ctx, g.tree, how, item.Seed, item.From, item.To)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out.result())
}

func (o *pass) result() estimateResult {
	r := estimateResult{Top: o.tally.Top, Candidates: o.candidates, Chunks: o.chunks, Control: o.control, Residual: o.residual, Tau: o.tau}
	for b, w := range o.tally.Weight {
		if w > 0 {
			r.Bins = append(r.Bins, b)
			r.Values = append(r.Values, w, o.tally.Moment[b], o.tally.Square[b])
		}
	}
	return r
}

// add merges a result into the pass; results come in the order of their chunks.
func (o *pass) add(r estimateResult, chunks int) error {
	if o.tally == nil {
		o.tally = newTally(r.Top)
	}
	if r.Top != o.tally.Top || len(r.Chunks) != chunks || len(r.Values) != 3*len(r.Bins) {
		return fmt.Errorf("synthesis: a result of %s does not fit the others", KindEstimate)
	}
	for i, b := range r.Bins {
		if b < 0 || b >= tallyBins {
			return fmt.Errorf("synthesis: a result of %s names bin %d", KindEstimate, b)
		}
		o.tally.Weight[b] += r.Values[3*i]
		o.tally.Moment[b] += r.Values[3*i+1]
		o.tally.Square[b] += r.Values[3*i+2]
	}
	o.candidates += r.Candidates
	o.control += r.Control
	o.residual += r.Residual
	o.tau = r.Tau
	o.chunks = append(o.chunks, r.Chunks...)
	return nil
}

func (h *handlers) sample(ctx context.Context, params []byte) ([]byte, error) {
	var item sampleItem
	if err := json.Unmarshal(params, &item); err != nil {
		return nil, fmt.Errorf("synthesis: %s item: %w", KindSample, err)
	}
	g, err := h.graph(ctx, item.Scratch, item.Model)
	if err != nil {
		return nil, err
	}
	if item.From < 0 || item.To < item.From || item.To > g.n() {
		return nil, fmt.Errorf("synthesis: %s item asks for rows %d to %d of %d", KindSample, item.From, item.To, g.n())
	}
	x, err := h.ids.get(item.Nodes.key(), func() (*ids, error) { return loadIDs(ctx, item.Nodes) })
	if err != nil {
		return nil, err
	}
	if x.len() != g.n() {
		return nil, fmt.Errorf("synthesis: the node list has %d vertices, the model %d", x.len(), g.n())
	}
	var s sampler
	if g.tree != nil {
		s = newRowSampler(g.tree, item.Tau, item.Seed)
	} else {
		s = newBlockSampler(g.blocks, item.Seed)
	}
	edges, err := drawEdges(ctx, s, g.order(), item.From, item.To)
	if err != nil {
		return nil, err
	}
	data, err := encodeEdges(edges, x, item.Nodes.Type == idUint64)
	if err != nil {
		return nil, err
	}
	out, err := storage.Open(ctx, item.Output)
	if err != nil {
		return nil, fmt.Errorf("synthesis: open the output: %w", err)
	}
	defer out.Close()
	o, err := put(ctx, out, fmt.Sprintf("edges-%05d-of-%05d", item.Part, item.Parts), ".parquet", int64(len(edges)), data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

func (n Nodes) key() string {
	key := n.Bucket + "\x00" + n.Type
	for _, f := range n.Files {
		key += "\x00" + f.SHA256
	}
	return key
}

// A memo keeps the last few values; of callers that want the same one at the
// same time one makes it. Errors are not kept.
type memo[T any] struct {
	mu    sync.Mutex
	limit int
	keys  []string
	cells map[string]*cell[T]
}

type cell[T any] struct {
	mu    sync.Mutex
	ready bool
	value T
}

func newMemo[T any](limit int) *memo[T] { return &memo[T]{limit: limit, cells: map[string]*cell[T]{}} }

func (m *memo[T]) get(key string, fill func() (T, error)) (T, error) {
	m.mu.Lock()
	c := m.cells[key]
	if c == nil {
		c = &cell[T]{}
		m.cells[key] = c
		m.keys = append(m.keys, key)
		if len(m.keys) > m.limit {
			delete(m.cells, m.keys[0])
			m.keys = m.keys[1:]
		}
	}
	m.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready {
		return c.value, nil
	}
	value, err := fill()
	if err == nil {
		c.value, c.ready = value, true
	}
	return value, err
}
