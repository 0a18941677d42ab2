package synthesis

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/privcom/privcom/storage"
)

type numberEdge struct {
	Src uint64 `parquet:"src,delta"`
	Dst uint64 `parquet:"dst,delta"`
}

type nameEdge struct {
	Src string `parquet:"src"`
	Dst string `parquet:"dst"`
}

// sampler is what both laws offer: the positions behind p that p is joined to.
type sampler interface {
	row(p int, out []int32) []int32
}

// drawEdges samples the positions [from, to) and returns the edges as
// (smaller vertex)<<32 | (larger vertex), sorted.
func drawEdges(ctx context.Context, s sampler, order []int32, from, to int) ([]uint64, error) {
	var edges []uint64
	var row []int32
	for p := from; p < to; p++ {
		if p%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row = s.row(p, row[:0])
		for _, q := range row {
			i, j := order[p], order[q]
			edges = append(edges, uint64(min(i, j))<<32|uint64(max(i, j)))
		}
	}
	slices.Sort(edges)
	return edges, nil
}

// encodeEdges writes the edges as Parquet, in the order of the vertices.
func encodeEdges(edges []uint64, x *ids, integers bool) ([]byte, error) {
	var buf bytes.Buffer
	var err error
	if integers {
		err = writeEdges(&buf, edges, func(i, j uint64) numberEdge { return numberEdge{x.numbers[i], x.numbers[j]} })
	} else {
		err = writeEdges(&buf, edges, func(i, j uint64) nameEdge { return nameEdge{x.names[i], x.names[j]} })
	}
	return buf.Bytes(), err
}

func writeEdges[T any](buf *bytes.Buffer, edges []uint64, row func(i, j uint64) T) error {
	w, err := storage.NewParquet[T](buf, storage.ParquetOptions{SortedBy: []string{"src", "dst"}})
	if err != nil {
		return fmt.Errorf("synthesis: write edges: %w", err)
	}
	batch := make([]T, 0, 8192)
	for len(edges) > 0 {
		part := edges[:min(len(edges), cap(batch))]
		batch = batch[:0]
		for _, e := range part {
			batch = append(batch, row(e>>32, e&(1<<32-1)))
		}
		if err := w.Write(batch); err != nil {
			return fmt.Errorf("synthesis: write edges: %w", err)
		}
		edges = edges[len(part):]
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("synthesis: write edges: %w", err)
	}
	return nil
}
