package export

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// Rows per row group, and rows handed to the library at once.
const (
	rowGroupRows = 1 << 20
	batchRows    = 1 << 12
)

// No dictionary: identifiers hardly repeat within a page, and delta encoding
// of sorted integers is smaller.
type integerRow struct {
	Src int64 `parquet:"src,delta,zstd"`
	Dst int64 `parquet:"dst,delta,zstd"`
}

type stringRow struct {
	Src string `parquet:"src,plain,zstd"`
	Dst string `parquet:"dst,plain,zstd"`
}

// newParquetRows writes columns src and dst, required, of INT64 or STRING.
func newParquetRows(out *file, stringIDs bool) encoder {
	if stringIDs {
		return &parquetRows[stringRow]{
			out: out, writer: newParquetWriter[stringRow](out),
			number: func(u, v int64) stringRow { return stringRow{strconv.FormatInt(u, 10), strconv.FormatInt(v, 10)} },
			name:   func(src, dst string) (stringRow, error) { return stringRow{src, dst}, nil },
		}
	}
	return &parquetRows[integerRow]{
		out: out, writer: newParquetWriter[integerRow](out),
		number: func(u, v int64) integerRow { return integerRow{u, v} },
		name:   parseRow,
	}
}

func newParquetWriter[T any](out *file) *parquet.GenericWriter[T] {
	return parquet.NewGenericWriter[T](out,
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.CreatedBy("privcom", "", ""),
		parquet.DataPageStatistics(true))
}

func parseRow(src, dst string) (integerRow, error) {
	u, err := parseID(src)
	if err != nil {
		return integerRow{}, err
	}
	v, err := parseID(dst)
	return integerRow{u, v}, err
}

// parseID takes the decimal form that gives the same text back.
func parseID(id string) (int64, error) {
	x, err := strconv.ParseInt(id, 10, 64)
	if err != nil || strconv.FormatInt(x, 10) != id {
		return 0, fmt.Errorf("identifier %q is not a 64-bit integer in decimal form; write the Parquet columns as strings", id)
	}
	return x, nil
}

type parquetRows[T any] struct {
	out    *file
	writer *parquet.GenericWriter[T]
	number func(u, v int64) T
	name   func(src, dst string) (T, error)
	batch  []T
	rows   int64
}

func (p *parquetRows[T]) numbers(u, v int64) error { return p.add(p.number(u, v)) }

func (p *parquetRows[T]) names(src, dst string) error {
	row, err := p.name(src, dst)
	if err != nil {
		return err
	}
	return p.add(row)
}

func (p *parquetRows[T]) add(row T) error {
	if p.batch = append(p.batch, row); len(p.batch) < batchRows {
		return nil
	}
	return p.flush()
}

func (p *parquetRows[T]) flush() error {
	n, err := p.writer.Write(p.batch)
	p.rows += int64(n)
	if err == nil && n != len(p.batch) {
		err = fmt.Errorf("the Parquet writer took %d rows of %d", n, len(p.batch))
	}
	p.batch = p.batch[:0]
	return err
}

func (p *parquetRows[T]) finish() error {
	if err := p.flush(); err != nil {
		return err
	}
	if err := p.writer.Close(); err != nil {
		return err
	}
	return p.out.commit(p.reread)
}

// reread opens the file again and counts: a writer that drops rows and reports
// success must not go unnoticed.
func (p *parquetRows[T]) reread(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	back, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return err
	}
	for _, g := range back.RowGroups() {
		for _, c := range g.ColumnChunks() {
			if c.NumValues() != g.NumRows() {
				return errors.New("a column has another number of values than its row group has rows")
			}
		}
	}
	if back.NumRows() != p.rows {
		return fmt.Errorf("the Parquet file has %d rows after %d were written", back.NumRows(), p.rows)
	}
	return nil
}

func (p *parquetRows[T]) abort() { p.out.abort() }
