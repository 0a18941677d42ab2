package partition

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/privcom/privcom/storage"
)

// eachGroup decodes the row groups of a shard's file one by one and hands out
// its two columns, of equal length; the slices are valid until visit returns.
// Row groups must be as the manifest says. Malformed bytes give a
// *storage.CorruptError; no order of rows is checked here.
func eachGroup(ctx context.Context, f *storage.File, s *Shard, visit func(row, col []int32) error) error {
	file, err := storage.OpenParquet(f)
	if err != nil {
		return err
	}
	corrupt := func(format string, args ...any) error {
		return &storage.CorruptError{Key: s.Key, Detail: fmt.Sprintf(format, args...)}
	}
	var groups []parquet.RowGroup
	if err := storage.Guard(s.Key, func() error {
		groups = file.RowGroups()
		return arcSchema(file)
	}); err != nil {
		return err
	}
	if file.NumRows() != s.Arcs || len(groups) != len(s.Groups) {
		return corrupt("%d arcs in %d row groups, want %d in %d", file.NumRows(), len(groups), s.Arcs, len(s.Groups))
	}
	var row, col []int32
	for i, g := range groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		want := s.Groups[i].Arcs
		if g.NumRows() != want {
			return corrupt("row group %d has %d arcs, want %d", i, g.NumRows(), want)
		}
		if err := storage.Guard(s.Key, func() (err error) {
			if row, err = readColumn(g.ColumnChunks()[0], want, row[:0]); err != nil {
				return err
			}
			col, err = readColumn(g.ColumnChunks()[1], want, col[:0])
			return err
		}); err != nil {
			return err
		}
		if err := visit(row, col); err != nil {
			return err
		}
	}
	return nil
}

func arcSchema(file *parquet.File) error {
	if columns := file.Schema().Columns(); len(columns) != 2 || len(columns[0]) != 1 || len(columns[1]) != 1 ||
		columns[0][0] != "row" || columns[1][0] != "col" {
		return fmt.Errorf("its columns are %v, want row and col", columns)
	}
	for _, name := range []string{"row", "col"} {
		leaf, _ := file.Schema().Lookup(name)
		if leaf.Node.Type().Kind() != parquet.Int32 || !leaf.Node.Required() {
			return fmt.Errorf("its column %s is not a required int32", name)
		}
	}
	return nil
}

// readColumn appends the want values of an int32 column chunk to dst.
func readColumn(chunk parquet.ColumnChunk, want int64, dst []int32) ([]int32, error) {
	pages := chunk.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		dst, err = readPage(page, want, dst)
		parquet.Release(page)
		if err != nil {
			return nil, err
		}
	}
	if int64(len(dst)) != want {
		return nil, fmt.Errorf("a column has %d values, want %d", len(dst), want)
	}
	return dst, nil
}

func readPage(page parquet.Page, want int64, dst []int32) ([]int32, error) {
	values, ok := page.Values().(parquet.Int32Reader)
	if !ok {
		return nil, errors.New("a page holds no int32 values")
	}
	n := page.NumValues()
	if n < 0 || int64(len(dst))+n > want {
		return nil, fmt.Errorf("a column has more than %d values", want)
	}
	from := len(dst)
	if need := from + int(n); cap(dst) < need {
		dst = append(make([]int32, 0, max(int64(need), min(want, 1<<20))), dst...)
	}
	dst = dst[:from+int(n)]
	for from < len(dst) {
		k, err := values.ReadInt32s(dst[from:])
		from += k
		if err != nil && (!errors.Is(err, io.EOF) || from < len(dst)) {
			return nil, fmt.Errorf("a page ends after %d of %d values: %w", from, len(dst), err)
		}
		if k == 0 && err == nil {
			return nil, io.ErrNoProgress
		}
	}
	return dst, nil
}
