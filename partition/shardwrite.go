package partition

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"

	"github.com/privcom/privcom/storage"
)

// arcRow is one Parquet row of a shard: an entry of the matrix.
type arcRow struct {
	Row int32 `parquet:"row,delta"`
	Col int32 `parquet:"col,delta"`
}

// draft is a file on its way into the graph folder. Its name holds its hash, so
// it is encoded into a spill first and copied under its key when that is known.
type draft struct {
	*spill
	sum  hashWriter
	name string // before the hash
}

type hashWriter = interface {
	io.Writer
	Sum([]byte) []byte
}

func newDraft(space *workspace, memory int64, name string) *draft {
	return &draft{spill: space.newSpill(memory), sum: sha256.New(), name: name}
}

func (d *draft) Write(p []byte) (int, error) {
	d.sum.Write(p)
	return d.spill.Write(p)
}

// publish copies the draft to its key in out, opens it again and checks bytes
// and hash as the folder gives them back.
func (d *draft) publish(ctx context.Context, out *storage.Bucket, wrote *written) (key, hash string, size int64, err error) {
	if err := d.spill.done(); err != nil {
		return "", "", 0, err
	}
	hash, size = hex.EncodeToString(d.sum.Sum(nil)), d.spill.size
	key = fmt.Sprintf("%s-%s.parquet", d.name, hash[:16])
	if err := wrote.claim(ctx, out, key); err != nil {
		return "", "", 0, err
	}
	w, err := out.NewWriter(ctx, key)
	if err != nil {
		return "", "", 0, err
	}
	defer w.Abort()
	if _, err := io.CopyBuffer(onlyWriter{w}, io.NewSectionReader(d.spill, 0, size), make([]byte, min(size, pageBytes)+1)); err != nil {
		return "", "", 0, err
	}
	if err := w.Commit(); err != nil {
		return "", "", 0, err
	}
	got, n, err := out.Hash(ctx, key)
	if err != nil {
		return "", "", 0, err
	}
	if got != hash || n != size {
		return "", "", 0, &storage.CorruptError{Key: key, Detail: fmt.Sprintf("%d bytes with hash %s were written, %d with hash %s came back", size, hash, n, got)}
	}
	return key, hash, size, d.spill.close()
}

// onlyWriter hides everything but Write.
type onlyWriter struct{ io.Writer }

// footer is the key-value metadata of every file of a graph.
func footer(kind string) map[string]string {
	return map[string]string{"privcom.format": fmt.Sprintf("graph-%s/%d", kind, FormatVersion)}
}

// shardWriter writes the arcs of one span.
type shardWriter struct {
	b      *built
	at     span
	limit  int64
	file   *storage.Parquet[arcRow]
	groups []Group
	rows   []arcRow
}

// writeShard encodes shard i of n, copies it to out and reads it back.
func (b *built) writeShard(ctx context.Context, o *Options, out *storage.Bucket, i, n int, at span, tick func(arcs int64)) (*Shard, error) {
	d := newDraft(b.space, o.Memory/32, fmt.Sprintf("rows-%05d-of-%05d", i, n))
	file, err := storage.NewParquet[arcRow](d, storage.ParquetOptions{
		RowGroupRows: math.MaxInt64, SortedBy: []string{"row", "col"}, Metadata: footer("rows"), Name: "arcs",
	})
	if err != nil {
		return nil, err
	}
	w := &shardWriter{b: b, at: at, limit: o.RowGroupArcs, file: file, rows: make([]arcRow, 0, min(8192, at.arcs))}
	if err := w.write(ctx, tick); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	s := &Shard{FirstRow: at.firstRow, Rows: at.rows, Arcs: at.arcs, Groups: w.groups}
	if s.Key, s.SHA256, s.Bytes, err = d.publish(ctx, out, &b.wrote); err != nil {
		return nil, err
	}
	if err := b.readBack(ctx, out, s, at, tick); err != nil {
		return nil, err
	}
	return s, nil
}

// write streams degrees and columns into row groups that end at row
// boundaries: a row that would make a group too large begins the next one, and
// only a row that is too large by itself is divided.
func (w *shardWriter) write(ctx context.Context, tick func(arcs int64)) error {
	degrees := w.b.rows.degrees.readWords(w.at.firstRow, w.at.rows)
	cols := &colReader{words: w.b.rows.cols.readWords(w.at.firstArc, w.at.arcs)}
	open := Group{FirstRow: w.at.firstRow}
	for row := w.at.firstRow; ; {
		block, err := degrees.next(ctx, math.MaxInt32)
		if err != nil {
			return err
		}
		if len(block) == 0 {
			break
		}
		for ; len(block) > 0; block = block[4:] {
			degree := int64(binary.LittleEndian.Uint32(block))
			if open.Arcs > 0 && open.Arcs+degree > w.limit {
				if err := w.endGroup(&open, row); err != nil {
					return err
				}
			}
			if err := w.row(ctx, cols, &open, row, degree, tick); err != nil {
				return err
			}
			row++
			open.Rows++
		}
	}
	if open.Arcs > 0 {
		return w.endGroup(&open, w.at.firstRow+w.at.rows)
	}
	// Rows without arcs at the end belong to the last group.
	if n := len(w.groups); n > 0 {
		w.groups[n-1].Rows = w.at.firstRow + w.at.rows - w.groups[n-1].FirstRow
	}
	return nil
}

// row appends one row, and ends groups within it only where it must.
func (w *shardWriter) row(ctx context.Context, cols *colReader, open *Group, row, degree int64, tick func(arcs int64)) error {
	for left := degree; left > 0; {
		part, err := cols.next(ctx, min(left, w.limit-open.Arcs))
		if err != nil {
			return err
		}
		for ; len(part) > 0; part = part[4:] {
			w.rows = append(w.rows, arcRow{Row: int32(row), Col: int32(binary.LittleEndian.Uint32(part))})
			left--
			open.Arcs++
		}
		if len(w.rows) >= 8000 {
			tick(int64(len(w.rows)))
			if err := w.flush(); err != nil {
				return err
			}
		}
		if left > 0 && open.Arcs == w.limit {
			open.Rows++
			if err := w.endGroup(open, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// endGroup ends the open group; the next one begins at row.
func (w *shardWriter) endGroup(open *Group, row int64) error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.file.EndRowGroup(); err != nil {
		return err
	}
	w.groups = append(w.groups, *open)
	*open = Group{FirstRow: row}
	return nil
}

func (w *shardWriter) flush() error {
	err := w.file.Write(w.rows)
	w.rows = w.rows[:0]
	return err
}

// colReader gives out the blocks of words in pieces.
type colReader struct {
	words *words
	rest  []byte
}

// next gives up to max columns as bytes, at least one.
func (c *colReader) next(ctx context.Context, max int64) ([]byte, error) {
	if len(c.rest) == 0 {
		var err error
		if c.rest, err = c.words.next(ctx, math.MaxInt32); err != nil {
			return nil, err
		}
		if len(c.rest) == 0 {
			return nil, &LossError{Detail: "the columns end before the degrees"}
		}
	}
	n := min(int64(len(c.rest)), 4*max)
	part := c.rest[:n]
	c.rest = c.rest[n:]
	return part, nil
}

// readBack decodes a shard as the folder gives it back and compares it with
// what was meant, arc by arc.
func (b *built) readBack(ctx context.Context, out *storage.Bucket, s *Shard, at span, tick func(arcs int64)) error {
	f, err := out.OpenFile(ctx, s.Key)
	if err != nil {
		return err
	}
	defer f.Close()
	degrees := &colReader{words: b.rows.degrees.readWords(at.firstRow, at.rows)}
	cols := &colReader{words: b.rows.cols.readWords(at.firstArc, at.arcs)}
	row, left := at.firstRow-1, int64(0) // row being compared, and its arcs to come
	return eachGroup(ctx, f, s, func(rowOf, colOf []int32) error {
		for len(colOf) > 0 {
			for left == 0 {
				d, err := degrees.next(ctx, 1)
				if err != nil {
					return err
				}
				row, left = row+1, int64(binary.LittleEndian.Uint32(d))
			}
			part, err := cols.next(ctx, min(left, int64(len(colOf))))
			if err != nil {
				return err
			}
			n := len(part) / 4
			for j := range n {
				if int64(rowOf[j]) != row || uint32(colOf[j]) != binary.LittleEndian.Uint32(part[4*j:]) {
					return &storage.CorruptError{Key: s.Key, Detail: fmt.Sprintf("row %d does not hold what was written", row)}
				}
			}
			left -= int64(n)
			rowOf, colOf = rowOf[n:], colOf[n:]
		}
		return nil
	})
}
