package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// ParquetOptions says how a Parquet file is written. The zero value is good.
type ParquetOptions struct {
	// Compression of data pages: "zstd" (default), "snappy" or "none".
	Compression string
	// RowGroupRows ends a row group by itself when it has so many rows.
	// Default 1 Mi. The library's own default is unbounded, and so is then the
	// memory of writer and reader.
	RowGroupRows int64
	// SortedBy names the columns by which rows ascend; recorded, not checked.
	SortedBy []string
	// Metadata goes to the footer's key-value pairs.
	Metadata map[string]string
	// Name is that of the schema's root. Default "rows".
	Name string
}

// DefaultRowGroupRows bounds a row group.
const DefaultRowGroupRows = 1 << 20

// CreatedBy stands in the footer of every file. It has no library version, so
// that equal content gives equal bytes across builds where the library agrees.
const CreatedBy = "privcom version 1"

// Codec gives the compression codec of a name in ParquetOptions.
func Codec(name string) (compress.Codec, error) {
	switch name {
	case "zstd", "":
		return &parquet.Zstd, nil
	case "snappy":
		return &parquet.Snappy, nil
	case "none":
		return &parquet.Uncompressed, nil
	}
	return nil, fmt.Errorf("storage: compression %q is not zstd, snappy or none", name)
}

// WriterOptions gives the parquet-go options for o: version-1 data pages, which
// every reader knows, page and chunk statistics, no dictionary unless a struct tag asks for one.
func (o ParquetOptions) WriterOptions() ([]parquet.WriterOption, error) {
	codec, err := Codec(o.Compression)
	if err != nil {
		return nil, err
	}
	if o.RowGroupRows == 0 {
		o.RowGroupRows = DefaultRowGroupRows
	}
	if o.RowGroupRows < 0 {
		return nil, fmt.Errorf("storage: row groups of %d rows", o.RowGroupRows)
	}
	options := []parquet.WriterOption{
		createdBy{},
		parquet.Compression(codec),
		parquet.MaxRowsPerRowGroup(o.RowGroupRows),
		parquet.DataPageStatistics(true),
		parquet.DataPageVersion(1),
	}
	var keys []string
	for key := range o.Metadata {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		options = append(options, parquet.KeyValueMetadata(key, o.Metadata[key]))
	}
	if len(o.SortedBy) > 0 {
		var columns []parquet.SortingColumn
		for _, name := range o.SortedBy {
			columns = append(columns, parquet.Ascending(name))
		}
		options = append(options, parquet.SortingWriterConfig(parquet.SortingColumns(columns...)))
	}
	return options, nil
}

// Parquet writes rows of T (a struct with parquet tags) to a Parquet file.
type Parquet[T any] struct {
	w       *parquet.GenericWriter[T]
	limit   int64
	rows    int64
	pending int64 // rows in the open row group
}

// NewParquet begins a file on w. T's tags must not ask for a dictionary on a
// column of ids or values: those have as many values as rows.
func NewParquet[T any](w io.Writer, o ParquetOptions) (*Parquet[T], error) {
	options, err := o.WriterOptions()
	if err != nil {
		return nil, err
	}
	p := &Parquet[T]{limit: o.RowGroupRows}
	if p.limit == 0 {
		p.limit = DefaultRowGroupRows
	}
	name := o.Name
	if name == "" {
		name = "rows"
	}
	err = Guard("the Parquet writer", func() error {
		options = append(options, parquet.NewSchema(name, parquet.SchemaOf(new(T))))
		p.w = parquet.NewGenericWriter[T](w, options...)
		return nil
	})
	return p, err
}

// Write appends rows, and ends row groups at the limit.
func (p *Parquet[T]) Write(rows []T) error {
	for len(rows) > 0 {
		part := rows[:min(int64(len(rows)), p.limit-p.pending)]
		n, err := p.w.Write(part)
		if err == nil && n != len(part) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return fmt.Errorf("storage: write Parquet rows: %w", err)
		}
		p.rows += int64(n)
		p.pending += int64(n)
		rows = rows[n:]
		if p.pending == p.limit {
			if err := p.EndRowGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// EndRowGroup ends the open row group; without rows in it nothing happens, so
// that no file has an empty row group.
func (p *Parquet[T]) EndRowGroup() error {
	if p.pending == 0 {
		return nil
	}
	p.pending = 0
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("storage: write a Parquet row group: %w", err)
	}
	return nil
}

// Rows is the number of rows written so far.
func (p *Parquet[T]) Rows() int64 { return p.rows }

// Close writes the footer. A file without rows has a footer and no row group.
func (p *Parquet[T]) Close() error {
	if err := p.EndRowGroup(); err != nil {
		return err
	}
	if err := p.w.Close(); err != nil {
		return fmt.Errorf("storage: write a Parquet footer: %w", err)
	}
	return nil
}

// OpenParquet reads the footer of an open object. Malformed bytes give a
// *CorruptError.
func OpenParquet(f *File) (*parquet.File, error) {
	var file *parquet.File
	err := Guard(f.Key(), func() (err error) {
		file, err = parquet.OpenFile(f, f.Size(), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<18))
		return err
	})
	return file, err
}

// ReadParquet hands the rows of an object to fn in batches, in order, and gives
// their number. Every column of T must be in the file with the same type; other
// columns are skipped. The slice is fn's until it returns. Malformed bytes give
// a *CorruptError; an error of fn comes back as it is.
func ReadParquet[T any](ctx context.Context, b *Bucket, key string, fn func(rows []T) error) (int64, error) {
	f, err := b.OpenFile(ctx, key)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	file, err := OpenParquet(f)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, group := range file.RowGroups() {
		n, err := readGroup(ctx, key, file, group, fn)
		total += n
		if err != nil {
			return total, err
		}
	}
	if total != file.NumRows() {
		return total, &CorruptError{Key: key, Detail: fmt.Sprintf("the footer says %d rows, the row groups have %d", file.NumRows(), total)}
	}
	return total, nil
}

func readGroup[T any](ctx context.Context, key string, file *parquet.File, group parquet.RowGroup, fn func([]T) error) (total int64, err error) {
	var r *parquet.GenericReader[T]
	err = Guard(key, func() error {
		if err := sameColumns(parquet.SchemaOf(new(T)), file.Schema()); err != nil {
			return err
		}
		r = parquet.NewGenericRowGroupReader[T](group)
		return nil
	})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	rows := make([]T, max(1, min(4096, group.NumRows())))
	for {
		if err := ctx.Err(); err != nil {
			return total, wrap("read", key, "Parquet", err)
		}
		var n int
		done := false
		err := Guard(key, func() (err error) {
			n, err = r.Read(rows)
			done = errors.Is(err, io.EOF)
			if done {
				err = nil
			}
			return err
		})
		if err != nil {
			return total, err
		}
		if n > 0 {
			if err := fn(rows[:n]); err != nil {
				return total, err
			}
		}
		total += int64(n)
		if done {
			return total, nil
		}
	}
}

// sameColumns: the reader would fill a column that is missing with zeros.
func sameColumns(want, have *parquet.Schema) error {
	for _, path := range want.Columns() {
		w, _ := want.Lookup(path...)
		h, ok := have.Lookup(path...)
		if !ok {
			return fmt.Errorf("it has no column %v", path)
		}
		if w.Node.Type().Kind() != h.Node.Type().Kind() {
			return fmt.Errorf("column %v is %s, want %s", path, h.Node.Type(), w.Node.Type())
		}
	}
	return nil
}

// Guard runs fn, which interprets the bytes of key, and turns its errors and
// panics into a *CorruptError: the Parquet library panics on some malformed
// files. Errors of storage itself and of the context stay what they are.
func Guard(key string, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &CorruptError{Key: key, Detail: fmt.Sprint(p)}
		}
	}()
	err = fn()
	var op *opError
	var corrupt *CorruptError
	if err == nil || errors.As(err, &op) || errors.As(err, &corrupt) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &CorruptError{Key: key, Detail: err.Error()}
}

// createdBy sets the footer's CreatedBy and nothing else.
type createdBy struct{}

func (createdBy) ConfigureWriter(c *parquet.WriterConfig) { c.CreatedBy = CreatedBy }
