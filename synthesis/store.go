package synthesis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/privcom/privcom/storage"
)

// blockOfRows is the number of rows of a stored block.
const blockOfRows = 1 << 16

// stored is the document that describes a model in a bucket. Its arrays are
// Arrow blocks in the order of positions, so that every worker has the same
// order whatever its processor does to a float.
type stored struct {
	Law   string    `json:"law"` // "score" or "blocks"
	N     int       `json:"n"`
	K     int       `json:"k,omitempty"`
	Sign  []float64 `json:"sign,omitempty"`
	Q     int       `json:"q,omitempty"`
	Start []int     `json:"start,omitempty"`
	Rate  []float64 `json:"rate,omitempty"`
	Order []Object  `json:"order"` // int32: position → vertex
	Rows  []Object  `json:"rows"`  // float64: coordinates (k) or weight (1)
}

const (
	lawScore  = "score"
	lawBlocks = "blocks"
)

// graph is a model ready for sampling: one of the two.
type graph struct {
	tree   *tree
	blocks *blockGraph
}

func (g *graph) n() int {
	if g.tree != nil {
		return g.tree.n
	}
	return g.blocks.n
}

func (g *graph) order() []int32 {
	if g.tree != nil {
		return g.tree.order
	}
	return g.blocks.order
}

// save writes the model and returns its document's name.
func (g *graph) save(ctx context.Context, b *storage.Bucket) (Object, error) {
	doc := stored{N: g.n()}
	values, cols := []float64(nil), 1
	if t := g.tree; t != nil {
		doc.Law, doc.K, doc.Sign = lawScore, t.k, t.sign
		values, cols = t.y, t.k
	} else {
		doc.Law, doc.Q, doc.Start, doc.Rate = lawBlocks, g.blocks.q, g.blocks.start, g.blocks.rate
		values = g.blocks.weight
	}
	var err error
	if doc.Order, err = saveBlocks(ctx, b, "order", g.order(), 1); err != nil {
		return Object{}, err
	}
	if doc.Rows, err = saveBlocks(ctx, b, "rows", values, cols); err != nil {
		return Object{}, err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return Object{}, fmt.Errorf("synthesis: encode the model: %w", err)
	}
	return put(ctx, b, "model", ".json", 0, text)
}

func saveBlocks[T storage.Element](ctx context.Context, b *storage.Bucket, name string, values []T, cols int) ([]Object, error) {
	var out []Object
	if cols == 0 {
		return out, nil
	}
	n := len(values) / cols
	for from := 0; from < n; from += blockOfRows {
		to := min(n, from+blockOfRows)
		buf, err := storage.EncodeBlock(storage.Block[T]{FirstRow: from, Cols: cols, Data: values[from*cols : to*cols]})
		if err != nil {
			return nil, fmt.Errorf("synthesis: encode the model's rows %d to %d: %w", from, to, err)
		}
		o, err := put(ctx, b, name, ".arrow", int64(to-from), buf)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// put writes an object under a name that holds its hash. An object that is
// there already has the same bytes.
func put(ctx context.Context, b *storage.Bucket, name, suffix string, rows int64, data []byte) (Object, error) {
	sum := sha256.Sum256(data)
	o := Object{Rows: rows, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	o.Key = name + "-" + o.SHA256[:16] + suffix
	if err := b.Create(ctx, o.Key, data); err != nil && !errors.Is(err, storage.ErrExists) {
		return o, fmt.Errorf("synthesis: write %s: %w", o.Key, err)
	}
	return o, nil
}

// get reads an object and checks its hash.
func get(ctx context.Context, b *storage.Bucket, o Object) ([]byte, error) {
	data, err := b.ReadAll(ctx, o.Key)
	if err != nil {
		return nil, fmt.Errorf("synthesis: read %s: %w", o.Key, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != o.SHA256 {
		return nil, &storage.CorruptError{Key: o.Key, Detail: "its bytes do not have the SHA-256 that the run recorded"}
	}
	return data, nil
}

func loadGraph(ctx context.Context, b *storage.Bucket, name Object) (*graph, error) {
	text, err := get(ctx, b, name)
	if err != nil {
		return nil, err
	}
	var doc stored
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, &storage.CorruptError{Key: name.Key, Detail: err.Error()}
	}
	order, err := loadBlocks[int32](ctx, b, doc.Order, doc.N, 1)
	if err != nil {
		return nil, err
	}
	for _, i := range order {
		if i < 0 || int(i) >= doc.N {
			return nil, &storage.CorruptError{Key: name.Key, Detail: fmt.Sprintf("vertex %d of %d", i, doc.N)}
		}
	}
	cols := doc.K
	if doc.Law == lawBlocks {
		cols = 1
	}
	rows, err := loadBlocks[float64](ctx, b, doc.Rows, doc.N, cols)
	if err != nil {
		return nil, err
	}
	return doc.graph(order, rows, name.Key)
}

func (doc *stored) graph(order []int32, rows []float64, key string) (*graph, error) {
	switch doc.Law {
	case lawScore:
		if len(doc.Sign) == doc.K {
			t := &tree{n: doc.N, k: doc.K, depth: depthFor(doc.N), sign: doc.Sign, order: order, y: rows}
			t.computeBounds()
			t.computeSums()
			return &graph{tree: t}, nil
		}
	case lawBlocks:
		if doc.Q > 0 && len(doc.Start) == doc.Q+1 && len(doc.Rate) == doc.Q*doc.Q && ascends(doc.Start, doc.N) {
			g := &blockGraph{n: doc.N, q: doc.Q, order: order, start: doc.Start, weight: rows, rate: doc.Rate}
			g.index()
			return &graph{blocks: g}, nil
		}
	}
	return nil, &storage.CorruptError{Key: key, Detail: fmt.Sprintf("not a model of law %q", doc.Law)}
}

func ascends(start []int, n int) bool {
	for i := 1; i < len(start); i++ {
		if start[i] < start[i-1] {
			return false
		}
	}
	return start[0] == 0 && start[len(start)-1] == n
}

func loadBlocks[T storage.Element](ctx context.Context, b *storage.Bucket, names []Object, n, cols int) ([]T, error) {
	out := make([]T, 0, n*cols)
	for _, name := range names {
		buf, err := get(ctx, b, name)
		if err != nil {
			return nil, err
		}
		block, err := storage.DecodeBlock[T](buf)
		if err != nil {
			return nil, fmt.Errorf("synthesis: read %s: %w", name.Key, err)
		}
		if block.Cols != cols || block.FirstRow*cols != len(out) {
			return nil, &storage.CorruptError{Key: name.Key, Detail: fmt.Sprintf("rows from %d with %d columns, want from %d with %d", block.FirstRow, block.Cols, len(out)/max(cols, 1), cols)}
		}
		out = append(out, block.Data...)
	}
	if len(out) != n*cols {
		return nil, fmt.Errorf("synthesis: the model's blocks hold %d numbers, want %d", len(out), n*cols)
	}
	return out, nil
}
