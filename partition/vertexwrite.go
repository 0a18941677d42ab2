package partition

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"strconv"

	"github.com/privcom/privcom/storage"
)

// The rows of a vertex file, by type of id. Ids of one file are all different,
// so a dictionary would only cost. The row number is there for those who join.
type (
	numberRow struct {
		Row int32  `parquet:"row,delta"`
		ID  uint64 `parquet:"id,delta"`
	}
	textRow struct {
		Row int32  `parquet:"row,delta"`
		ID  string `parquet:"id"`
	}
	bytesRow struct {
		Row int32  `parquet:"row,delta"`
		ID  []byte `parquet:"id"`
	}
)

func (r *numberRow) index() int32 { return r.Row }
func (r *textRow) index() int32   { return r.Row }
func (r *bytesRow) index() int32  { return r.Row }

// vertexRow is a row of a vertex file, made from a key of the dictionary.
type vertexRow interface{ numberRow | textRow | bytesRow }

// idHash takes part in the content hash: per id its length as 8 bytes
// little-endian, and its bytes as they are printed (numbers in decimal).
type idHash struct {
	hash.Hash
	buf []byte
}

func newIDHash() *idHash { return &idHash{Hash: sha256.New()} }

func (h *idHash) add(id []byte) {
	h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(len(id)))
	h.buf = append(h.buf, id...)
	if len(h.buf) >= pageBytes {
		h.flush()
	}
}

func (h *idHash) flush() {
	h.Write(h.buf)
	h.buf = h.buf[:0]
}

// writeVertices writes one file per span with the ids of its rows, in order,
// and gives the hash of all ids.
func (b *built) writeVertices(ctx context.Context, o *Options, out *storage.Bucket, spans []span) ([]File, hash.Hash, error) {
	switch {
	case !b.dict.text:
		return writeVertexFiles(ctx, b, o, out, spans, func(row int32, key []byte) numberRow { return numberRow{row, keyNumber(key)} })
	case b.dict.binary:
		return writeVertexFiles(ctx, b, o, out, spans, func(row int32, key []byte) bytesRow { return bytesRow{row, append([]byte{}, key...)} })
	default:
		return writeVertexFiles(ctx, b, o, out, spans, func(row int32, key []byte) textRow { return textRow{row, string(key)} })
	}
}

type vertexWriter[T vertexRow] struct {
	ctx   context.Context
	b     *built
	o     *Options
	out   *storage.Bucket
	spans []span
	files []File
	draft *draft
	file  *storage.Parquet[T]
	rows  []T
	left  int64 // ids still to come in the open file
}

func writeVertexFiles[T vertexRow](ctx context.Context, b *built, o *Options, out *storage.Bucket, spans []span, newRow func(row int32, key []byte) T) ([]File, hash.Hash, error) {
	w := &vertexWriter[T]{ctx: ctx, b: b, o: o, out: out, spans: spans}
	sum := newIDHash()
	var digits [20]byte
	row := int32(0)
	if err := w.next(); err != nil {
		return nil, nil, err
	}
	err := b.dict.each(func(key []byte) error {
		for w.left == 0 {
			if err := w.next(); err != nil {
				return err
			}
		}
		if b.dict.text {
			sum.add(key)
		} else {
			sum.add(strconv.AppendUint(digits[:0], keyNumber(key), 10))
		}
		w.rows = append(w.rows, newRow(row, key))
		w.left--
		row++
		if len(w.rows) == cap(w.rows) {
			return w.flush()
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for w.file != nil {
		if err := w.next(); err != nil {
			return nil, nil, err
		}
	}
	sum.flush()
	return w.files, sum, nil
}

// next ends the open file, if any, and opens the next one, if any.
func (w *vertexWriter[T]) next() error {
	if w.file != nil {
		if err := w.end(); err != nil {
			return err
		}
	}
	i, n := len(w.files), len(w.spans)
	if i == n {
		w.file = nil
		return nil
	}
	w.draft = newDraft(w.b.space, w.o.Memory/32, fmt.Sprintf("vertices-%05d-of-%05d", i, n))
	file, err := storage.NewParquet[T](w.draft, storage.ParquetOptions{SortedBy: []string{"row"}, Metadata: footer("vertices"), Name: "vertices", RowGroupRows: vertexGroupRows})
	w.file, w.left = file, w.spans[i].rows
	w.rows = make([]T, 0, min(1024, max(1, w.left)))
	return err
}

// vertexGroupRows bounds the row groups of vertex files.
const vertexGroupRows = 1 << 18

func (w *vertexWriter[T]) flush() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	err := w.file.Write(w.rows)
	w.rows = w.rows[:0]
	return err
}

func (w *vertexWriter[T]) end() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.file.Close(); err != nil {
		return err
	}
	if w.left != 0 {
		return &LossError{Detail: fmt.Sprintf("the dictionary ends %d ids early", w.left)}
	}
	f := File{Rows: w.file.Rows()}
	var err error
	if f.Key, f.SHA256, f.Bytes, err = w.draft.publish(w.ctx, w.out, &w.b.wrote); err != nil {
		return err
	}
	rows, err := storage.ReadParquet(w.ctx, w.out, f.Key, func([]T) error { return nil })
	if err != nil {
		return err
	}
	if rows != f.Rows {
		return &storage.CorruptError{Key: f.Key, Detail: fmt.Sprintf("%d ids were written, %d came back", f.Rows, rows)}
	}
	w.files = append(w.files, f)
	return nil
}
