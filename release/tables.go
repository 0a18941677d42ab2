package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"gonum.org/v1/gonum/mat"

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
	labelRow struct {
		Community int32 `parquet:"community"` // of vertex i
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

// writeLabels writes the community of every vertex, in the order of the nodes file.
func writeLabels(ctx context.Context, out *storage.Bucket, placed []int32) (File, error) {
	return writeTable(ctx, out, LabelsKey, len(placed), func(i int) labelRow { return labelRow{placed[i]} })
}

// columns picks the kept columns of V (n×|kept|), with what centring took from them, and of
// their rows' noise.
func columns(e *privoja.Estimate, kept []int) ([]float64, *mat.Dense) {
	k := len(kept)
	v, noise := make([]float64, e.N*k), mat.NewDense(k, k, nil)
	for a, from := range kept {
		for i := range e.N {
			v[i*k+a] = e.V[i*e.K+from]
			if e.Offset != nil {
				v[i*k+a] += e.Offset[from]
			}
		}
		for b, other := range kept {
			noise.Set(a, b, e.RowNoise.At(from, other))
		}
	}
	return v, noise
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
