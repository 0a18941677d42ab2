package reader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetReader reads two columns of a Parquet file. Integers and strings are
// ids; floats are refused. Rows count from 1 as lines.
type parquetReader struct {
	u      *run
	name   string
	source *parquetColumn
	target *parquetColumn
	weight *parquetColumn // nil without
}

// parquetColumn reads the values of one column chunk after another.
type parquetColumn struct {
	name     string
	index    int
	kind     parquet.Kind
	logical  any // *format.IntType and so on, or nil
	unsigned bool
	pages    parquet.Pages
	page     parquet.Page
	vals     parquet.ValueReader
	buf      []parquet.Value // buf[pos:n] is unread
	pos      int
	n        int
	text     []byte
}

const parquetBatch = 1024

// parquet reads one file.
func (u *run) parquet(src *source) error {
	p := &parquetReader{u: u, name: src.text.file}
	f, err := openParquet(src.file, src.size)
	if err != nil {
		return p.damaged(err)
	}
	if err := p.columns(f.Schema()); err != nil {
		return err
	}
	row := int64(0)
	for _, group := range f.RowGroups() {
		if row, err = p.group(group, row); err != nil {
			return err
		}
	}
	if row != f.NumRows() {
		return p.damaged(fmt.Errorf("the footer declares %d rows and the row groups have %d", f.NumRows(), row))
	}
	u.stats.Lines += row
	return nil
}

// openParquet reads the footer. Its length, which stands before the last four
// bytes, is checked first: the library makes room for whatever it says.
func openParquet(at io.ReaderAt, size int64) (f *parquet.File, err error) {
	defer recovered(&err)
	var tail [8]byte
	if size < 12 {
		return nil, errors.New("shorter than any Parquet file")
	}
	if _, err := at.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != "PAR1" {
		return nil, errors.New("the last bytes are not PAR1")
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-12 {
		return nil, fmt.Errorf("the footer is said to have %d bytes in a file of %d", n, size)
	}
	return parquet.OpenFile(at, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(bufferSize))
}

// recovered makes an error of a panic: the library panics on some damaged
// files.
func recovered(err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("%v", fault)
	}
}

func (p *parquetReader) damaged(err error) error {
	return &FileError{File: p.name, Byte: -1, Reason: "the Parquet file cannot be read: it is damaged or cut off", Err: err,
		Remedy: "Fetch or write the file again."}
}

func (p *parquetReader) refuse(reason, remedy string) error {
	return &FileError{File: p.name, Byte: -1, Reason: reason, Remedy: remedy}
}

// columns chooses source, target and weight among the leaf columns.
func (p *parquetReader) columns(schema *parquet.Schema) error {
	d := &dialect{header: true, target: 1}
	paths := schema.Columns()
	for _, path := range paths {
		d.columns = append(d.columns, strings.Join(path, "."))
	}
	p.u.stats.Columns = d.columns
	if err := d.chooseColumns(p.name, row{}, p.u.r.opts); err != nil {
		le := err.(*LineError)
		return p.refuse(le.Reason, le.Remedy)
	}
	var err error
	if p.source, err = p.column(schema, paths[d.source]); err != nil {
		return err
	}
	if p.target, err = p.column(schema, paths[d.target]); err != nil {
		return err
	}
	for _, c := range []*parquetColumn{p.source, p.target} {
		if why := c.noID(); why != "" {
			return p.refuse(fmt.Sprintf("column %q holds %s", c.name, why), "Write the ids as integers or strings.")
		}
	}
	if d.weight < 0 {
		return nil
	}
	p.weight, err = p.column(schema, paths[d.weight])
	if err == nil && !p.weight.isNumber() {
		p.weight = nil
	}
	return err
}

func (p *parquetReader) column(schema *parquet.Schema, path []string) (*parquetColumn, error) {
	leaf, ok := schema.Lookup(path...)
	name := strings.Join(path, ".")
	if !ok || leaf.MaxRepetitionLevel > 0 {
		return nil, p.refuse(fmt.Sprintf("column %q holds lists", name), "Write one row per edge.")
	}
	c := &parquetColumn{name: name, index: leaf.ColumnIndex, kind: leaf.Node.Type().Kind(), buf: make([]parquet.Value, parquetBatch)}
	if l := leaf.Node.Type().LogicalType(); l != nil {
		c.logical = l.Value
	}
	if i, ok := c.logical.(*format.IntType); ok {
		c.unsigned = !i.IsSigned
	}
	return c, nil
}

func (c *parquetColumn) isNumber() bool {
	return c.kind == parquet.Int32 || c.kind == parquet.Int64 || c.kind == parquet.Float || c.kind == parquet.Double
}

// noID says what a column holds that cannot be ids, "" if it can.
func (c *parquetColumn) noID() string {
	switch c.kind {
	case parquet.Float, parquet.Double:
		return "floats"
	case parquet.Boolean:
		return "booleans"
	case parquet.Int32, parquet.Int64, parquet.ByteArray:
	default:
		return "values of type " + c.kind.String()
	}
	switch c.logical.(type) {
	case nil, *format.IntType, *format.StringType, *format.EnumType:
		return ""
	}
	return fmt.Sprintf("values of type %v", c.logical)
}

// group reads one row group; it returns the number of the last row.
func (p *parquetReader) group(group parquet.RowGroup, row int64) (int64, error) {
	chunks := group.ColumnChunks()
	for _, c := range p.all() {
		c.open(chunks[c.index])
		defer c.close()
	}
	e := Edge{File: p.name}
	for i := int64(0); i < group.NumRows(); i++ {
		row++
		e.Line = row
		if row%parquetBatch == 0 {
			if err := p.u.ctx.Err(); err != nil {
				return row, err
			}
		}
		fault, err := p.row(&e)
		if fault != "" {
			err = p.u.skip(&LineError{File: p.name, Line: row, Reason: fault, Remedy: idRemedy}, nil)
		} else if err == nil {
			err = p.u.addEdge(e)
		}
		if err != nil {
			return row, err
		}
	}
	return row, nil
}

func (p *parquetReader) all() []*parquetColumn {
	if p.weight == nil {
		return []*parquetColumn{p.source, p.target}
	}
	return []*parquetColumn{p.source, p.target, p.weight}
}

// row reads the next value of each column.
func (p *parquetReader) row(e *Edge) (fault string, err error) {
	e.Weight, e.HasWeight = 0, false
	if p.weight != nil {
		v, err := p.weight.next()
		if err != nil {
			return "", p.damaged(err)
		}
		e.Weight, e.HasWeight = weightOf(v)
	}
	source, err := p.source.next()
	if err != nil {
		return "", p.damaged(err)
	}
	target, err := p.target.next()
	if err != nil {
		return "", p.damaged(err)
	}
	if e.Source, fault = p.source.id(source, p.u.strings); fault != "" {
		return fault, nil
	}
	e.Target, fault = p.target.id(target, p.u.strings)
	return fault, nil
}

func weightOf(v parquet.Value) (float64, bool) {
	w := math.NaN()
	switch {
	case v.IsNull():
	case v.Kind() == parquet.Float:
		w = float64(v.Float())
	case v.Kind() == parquet.Double:
		w = v.Double()
	case v.Kind() == parquet.Int32:
		w = float64(v.Int32())
	case v.Kind() == parquet.Int64:
		w = float64(v.Int64())
	}
	if math.IsNaN(w) {
		return 0, false
	}
	return w, true
}

// id turns a value into a label.
func (c *parquetColumn) id(v parquet.Value, strings bool) ([]byte, string) {
	if v.IsNull() {
		return nil, "no value in column " + c.name
	}
	switch c.kind {
	case parquet.Int32:
		if c.unsigned {
			c.text = strconv.AppendUint(c.text[:0], uint64(v.Uint32()), 10)
		} else {
			c.text = appendInt(c.text[:0], int64(v.Int32()))
		}
	case parquet.Int64:
		if c.unsigned {
			c.text = strconv.AppendUint(c.text[:0], v.Uint64(), 10)
		} else {
			c.text = appendInt(c.text[:0], v.Int64())
		}
	default:
		return v.ByteArray(), idFault(v.ByteArray(), strings)
	}
	return c.text, idFault(c.text, strings)
}

func (c *parquetColumn) open(chunk parquet.ColumnChunk) {
	c.pages, c.page, c.vals, c.pos, c.n = chunk.Pages(), nil, nil, 0, 0
}

func (c *parquetColumn) close() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
}

// next is the next value; it is valid until the call after.
func (c *parquetColumn) next() (parquet.Value, error) {
	for c.pos == c.n {
		if err := c.fill(); err != nil {
			return parquet.Value{}, err
		}
	}
	c.pos++
	return c.buf[c.pos-1], nil
}

func (c *parquetColumn) fill() (err error) {
	defer recovered(&err)
	if c.vals == nil {
		page, err := c.pages.ReadPage()
		if err != nil {
			if isEOF(err) {
				err = fmt.Errorf("column %q ends before the row group does: %w", c.name, io.ErrUnexpectedEOF)
			}
			return err
		}
		if c.page != nil {
			parquet.Release(c.page)
		}
		c.page, c.vals = page, page.Values()
	}
	n, err := c.vals.ReadValues(c.buf)
	c.pos, c.n = 0, n
	if isEOF(err) {
		c.vals = nil
		return nil
	}
	return err
}
