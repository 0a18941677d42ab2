package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/storage"
)

// A nodes file lists the public vertices in order; its one column is typed as the
// input's ids are.
type (
	numberNode struct {
		ID uint64 `parquet:"id"`
	}
	nameNode struct {
		ID string `parquet:"id"`
	}
	factorRow struct {
		V []float64 `parquet:"v,list"` // row i of V
	}
)

const batchRows = 1 << 14

// writeTable writes n rows made by row to key, in batches.
func writeTable[T any](ctx context.Context, b *storage.Bucket, key string, n int, row func(i int) T) (File, error) {
	w, err := b.NewWriter(ctx, key)
	if err != nil {
		return File{}, err
	}
	defer w.Abort()
	t, err := storage.NewParquet[T](w, storage.ParquetOptions{})
	if err != nil {
		return File{}, err
	}
	batch := make([]T, 0, min(n, batchRows))
	for i := range n {
		batch = append(batch, row(i))
		if len(batch) == cap(batch) || i == n-1 {
			if err := t.Write(batch); err != nil {
				return File{}, err
			}
			batch = batch[:0]
		}
	}
	if err := t.Close(); err != nil {
		return File{}, err
	}
	if err := w.Commit(); err != nil {
		return File{}, err
	}
	return File{Key: key, Rows: t.Rows(), Bytes: w.Bytes(), SHA256: w.SHA256()}, nil
}

// writeNodes copies the public vertex list into the folder.
func (r *runner) writeNodes(ctx context.Context) (File, error) {
	ids, err := r.Graph.VertexIDs(ctx)
	if err != nil {
		return File{}, err
	}
	if ids.Type() == "uint64" {
		return writeTable(ctx, r.Out, NodesKey, ids.Len(), func(i int) numberNode { return numberNode{ids.Uint64(i)} })
	}
	return writeTable(ctx, r.Out, NodesKey, ids.Len(), func(i int) nameNode { return nameNode{ids.At(i)} })
}

// writeFactors writes V, a row per vertex in the order of the nodes file.
func writeFactors(ctx context.Context, out *storage.Bucket, e *privoja.Estimate) (File, error) {
	return writeTable(ctx, out, FactorsKey, e.N, func(i int) factorRow { return factorRow{e.V[i*e.K : (i+1)*e.K]} })
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
