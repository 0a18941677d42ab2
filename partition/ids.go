package partition

import (
	"bytes"
	"context"
	"fmt"
	"hash"
	"strconv"

	"github.com/privcom/privcom/storage"
)

// IDs are the vertex ids of a graph in the order of its rows.
type IDs struct {
	numbers []uint64
	text    []byte
	ends    []int64 // of id i in text; nil for numbers
}

// Len is the number of vertices.
func (d *IDs) Len() int {
	if d.ends != nil {
		return len(d.ends)
	}
	return len(d.numbers)
}

// Type is "uint64" or "string".
func (d *IDs) Type() string {
	if d.ends != nil {
		return idTypeString
	}
	return idTypeNumber
}

// At is the id of row i as it stood in the input.
func (d *IDs) At(i int) string {
	if d.ends == nil {
		return decimal(d.numbers[i])
	}
	return string(d.bytes(i))
}

func (d *IDs) bytes(i int) []byte {
	from := int64(0)
	if i > 0 {
		from = d.ends[i-1]
	}
	return d.text[from:d.ends[i]]
}

// Uint64 is the id of row i as a number. It panics unless Type is "uint64".
func (d *IDs) Uint64(i int) uint64 {
	if d.ends != nil {
		panic("partition: Uint64 of ids of type string")
	}
	return d.numbers[i]
}

// Find is the row of an id.
func (d *IDs) Find(id string) (row int, ok bool) {
	number, isNumber := parseNumber([]byte(id))
	if d.ends == nil && !isNumber {
		return 0, false
	}
	compare := func(i int) int {
		if d.ends != nil {
			return bytes.Compare(d.bytes(i), []byte(id))
		}
		switch {
		case d.numbers[i] < number:
			return -1
		case d.numbers[i] > number:
			return 1
		}
		return 0
	}
	low, high := 0, d.Len()
	for low < high {
		mid := int(uint(low+high) / 2)
		switch c := compare(mid); {
		case c == 0:
			return mid, true
		case c < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return 0, false
}

// VertexIDs reads all ids. Their files must have the manifest's hashes and the
// ids must ascend.
func (g *Graph) VertexIDs(ctx context.Context) (*IDs, error) {
	d := &IDs{}
	if g.manifest.IDType == idTypeString {
		d.ends = make([]int64, 0, g.manifest.Vertices)
		err := g.eachTextID(ctx, func(id []byte) {
			d.text = append(d.text, id...)
			d.ends = append(d.ends, int64(len(d.text)))
		})
		return d, err
	}
	d.numbers = make([]uint64, 0, g.manifest.Vertices)
	err := g.eachNumberID(ctx, func(id uint64) { d.numbers = append(d.numbers, id) })
	return d, err
}

// verifyIDs reads all ids without keeping them and gives their hash.
func (g *Graph) verifyIDs(ctx context.Context) (hash.Hash, error) {
	sum := newIDHash()
	var err error
	if g.manifest.IDType == idTypeString {
		err = g.eachTextID(ctx, sum.add)
	} else {
		var digits [20]byte
		err = g.eachNumberID(ctx, func(id uint64) { sum.add(strconv.AppendUint(digits[:0], id, 10)) })
	}
	sum.flush()
	return sum, err
}

func (g *Graph) eachNumberID(ctx context.Context, visit func(uint64)) error {
	first, last := true, uint64(0)
	return eachVertexRow(ctx, g, func(key string, r *numberRow) error {
		if !first && r.ID <= last {
			return outOfOrder(key, decimal(last), decimal(r.ID))
		}
		first, last = false, r.ID
		visit(r.ID)
		return nil
	})
}

func (g *Graph) eachTextID(ctx context.Context, visit func([]byte)) error {
	first := true
	var last []byte
	take := func(key string, id []byte) error {
		if !first && bytes.Compare(id, last) <= 0 {
			return outOfOrder(key, string(last), string(id))
		}
		first, last = false, append(last[:0], id...)
		visit(id)
		return nil
	}
	if g.manifest.IDEncoding == "binary" {
		return eachVertexRow(ctx, g, func(key string, r *bytesRow) error { return take(key, r.ID) })
	}
	return eachVertexRow(ctx, g, func(key string, r *textRow) error { return take(key, []byte(r.ID)) })
}

func outOfOrder(key, a, b string) error {
	return &storage.CorruptError{Key: key, Detail: fmt.Sprintf("id %q follows id %q", b, a)}
}

// eachVertexRow reads the vertex files in order and checks hashes and counts.
func eachVertexRow[T vertexRow](ctx context.Context, g *Graph, visit func(key string, r *T) error) error {
	next := int32(0)
	for _, file := range g.manifest.VertexFiles {
		f, err := g.openPinned(ctx, file.Key, file.SHA256, file.Bytes)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		n, err := storage.ReadParquet(ctx, g.bucket, file.Key, func(rows []T) error {
			for i := range rows {
				if at := any(&rows[i]).(interface{ index() int32 }).index(); at != next {
					return &storage.CorruptError{Key: file.Key, Detail: fmt.Sprintf("row %d where row %d is next", at, next)}
				}
				next++
				if err := visit(file.Key, &rows[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if n != file.Rows {
			return &storage.CorruptError{Key: file.Key, Detail: fmt.Sprintf("%d ids, the manifest says %d", n, file.Rows)}
		}
	}
	return nil
}
