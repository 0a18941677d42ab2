package partition

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/storage"
)

// Graph is an open graph folder. It is safe for use by several goroutines.
type Graph struct {
	bucket   *storage.Bucket
	manifest *Manifest
}

// OpenGraph reads the manifest. A folder without one gives
// storage.ErrNotExist, a manifest that does not hold together a
// *storage.CorruptError.
func OpenGraph(ctx context.Context, b *storage.Bucket) (*Graph, error) {
	data, err := b.ReadAll(ctx, ManifestKey)
	if errors.Is(err, storage.ErrNotExist) {
		return nil, fmt.Errorf("partition: %s holds no graph, or one that was not finished: %w", b.URL(), err)
	}
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(data)
	if err != nil {
		return nil, &storage.CorruptError{Key: ManifestKey, Detail: err.Error()}
	}
	return &Graph{bucket: b, manifest: m}, nil
}

// Manifest is the graph's manifest. It must not be changed.
func (g *Graph) Manifest() *Manifest { return g.manifest }

// LoadShard reads shard i: its bytes must have the manifest's hash, its arcs
// must be sorted, without repeats and loops, within the graph.
func (g *Graph) LoadShard(ctx context.Context, i int) (*blockmatmul.CSR, error) {
	if i < 0 || i >= len(g.manifest.Shards) {
		return nil, fmt.Errorf("partition: shard %d of %d", i, len(g.manifest.Shards))
	}
	s := &g.manifest.Shards[i]
	f, err := g.openPinned(ctx, s.Key, s.SHA256, s.Bytes)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decodeShard(ctx, f, s, g.manifest.Vertices)
}

// openPinned opens a file of the manifest and checks its size and hash.
func (g *Graph) openPinned(ctx context.Context, key, hash string, size int64) (*storage.File, error) {
	f, err := g.bucket.OpenFile(ctx, key)
	if errors.Is(err, storage.ErrNotExist) {
		return nil, &storage.CorruptError{Key: key, Detail: "the manifest names it, but it is not there"}
	}
	if err != nil {
		return nil, err
	}
	got, n := "", f.Size()
	if n == size {
		got, n, err = f.Hash(ctx)
	}
	if err == nil && (n != size || got != hash) {
		err = &storage.CorruptError{Key: key, Detail: fmt.Sprintf("it has %d bytes and SHA-256 %s, the manifest says %d and %s", n, got, size, hash)}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// decodeShard builds the rows of a shard and checks them.
func decodeShard(ctx context.Context, f *storage.File, s *Shard, vertices int64) (*blockmatmul.CSR, error) {
	b := csrBuilder{shard: s, vertices: vertices, last: -1, row: -1}
	// Room for all arcs at once, unless so few bytes could hardly hold so many.
	room := min(s.Arcs, max(1<<20, 64*s.Bytes))
	b.csr = &blockmatmul.CSR{First: int(s.FirstRow), Ptr: make([]int64, 1, s.Rows+1), Col: make([]int32, 0, room)}
	group := 0
	err := eachGroup(ctx, f, s, func(row, col []int32) error {
		g := s.Groups[group]
		if group++; group > 1 && g.FirstRow < b.end && (b.row != g.FirstRow || int64(row[0]) != g.FirstRow) {
			return b.corrupt("row groups overlap at row %d, which is not divided", g.FirstRow)
		}
		b.end = g.FirstRow + g.Rows
		return b.add(row, col, g)
	})
	if err != nil {
		return nil, err
	}
	b.closeRows(s.Rows)
	return b.csr, nil
}

// csrBuilder appends sorted arcs to rows.
type csrBuilder struct {
	csr      *blockmatmul.CSR
	shard    *Shard
	vertices int64
	row      int64 // of the last arc, -1 before the first
	last     int64 // column of the last arc
	end      int64 // row after the last row group
}

// closeRows ends rows until n have ended.
func (b *csrBuilder) closeRows(n int64) {
	for int64(len(b.csr.Ptr)) <= n {
		b.csr.Ptr = append(b.csr.Ptr, int64(len(b.csr.Col)))
	}
}

func (b *csrBuilder) add(rows, cols []int32, g Group) error {
	for i, r := range rows {
		row, col := int64(r), int64(cols[i])
		switch {
		case row < g.FirstRow || row >= g.FirstRow+g.Rows:
			return b.corrupt("an arc of row %d in the row group of rows %d+%d", row, g.FirstRow, g.Rows)
		case col < 0 || col >= b.vertices || col == row:
			return b.corrupt("row %d has an entry in column %d of %d", row, col, b.vertices)
		case row == b.row && col <= b.last:
			return b.corrupt("columns %d and %d of row %d are not in order", b.last, col, row)
		case row < b.row:
			return b.corrupt("row %d comes after row %d", row, b.row)
		case row > b.row:
			b.closeRows(row - b.shard.FirstRow)
			b.row = row
		}
		b.last = col
		b.csr.Col = append(b.csr.Col, int32(col))
	}
	return nil
}

func (b *csrBuilder) corrupt(format string, args ...any) error {
	return &storage.CorruptError{Key: b.shard.Key, Detail: fmt.Sprintf(format, args...)}
}

// LoadWhole reads all shards into one matrix, for evaluation.
func (g *Graph) LoadWhole(ctx context.Context) (*blockmatmul.CSR, error) {
	m := g.manifest
	if m.Arcs > math.MaxInt/4 {
		return nil, fmt.Errorf("partition: %d arcs do not fit in memory", m.Arcs)
	}
	whole := &blockmatmul.CSR{Ptr: make([]int64, 1, m.Vertices+1), Col: make([]int32, 0, m.Arcs)}
	for i := range m.Shards {
		part, err := g.LoadShard(ctx, i)
		if err != nil {
			return nil, err
		}
		base := int64(len(whole.Col))
		for _, p := range part.Ptr[1:] {
			whole.Ptr = append(whole.Ptr, base+p)
		}
		whole.Col = append(whole.Col, part.Col...)
	}
	return whole, nil
}

// LoadWhole is Graph.LoadWhole as a function.
func LoadWhole(ctx context.Context, g *Graph) (*blockmatmul.CSR, error) { return g.LoadWhole(ctx) }

// Verify reads every file and checks all that the format promises: hashes and
// counts, order, symmetry, the degree bound, sorted ids, the content hash. It
// holds one shard in memory at a time.
func (g *Graph) Verify(ctx context.Context) error {
	ids, err := g.verifyIDs(ctx)
	if err != nil {
		return err
	}
	m := g.manifest
	v := verifier{degrees: sha256.New(), cols: sha256.New()}
	for i := range m.Shards {
		part, err := g.LoadShard(ctx, i)
		if err != nil {
			return err
		}
		v.add(part)
	}
	detail := ""
	content := contentHash(ids, v.degrees, v.cols)
	switch {
	case v.balance != 0:
		detail = "the matrix is not symmetric"
	case m.DegreeBound > 0 && v.largest > m.DegreeBound:
		detail = fmt.Sprintf("a vertex has more than the declared %d neighbours", m.DegreeBound)
	case content != m.Content:
		detail = fmt.Sprintf("the graph's content hash is %s, the manifest says %s", content, m.Content)
	default:
		return nil
	}
	return &storage.CorruptError{Key: ManifestKey, Detail: detail}
}
