package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Element is the type of a matrix entry in a block.
type Element interface {
	int16 | int32 | int64 | float64
}

// Block is a run of consecutive matrix rows. Entry (FirstRow+i, j) is
// Data[i*Cols+j].
type Block[T Element] struct {
	FirstRow int
	Cols     int
	Data     []T
}

// Rows is the number of rows in the block.
func (b Block[T]) Rows() int { return len(b.Data) / max(b.Cols, 1) }

const (
	blockFormat  = "privcom.block/1"
	digits       = 19      // decimal width of a number in the schema metadata
	maxBlockCols = 1 << 20 // columns of a block
	endOfStream  = 8       // bytes of the Arrow end-of-stream mark
	bodyPadding  = 8       // Arrow's writer pads buffers to this
)

// EncodeBlock writes a block as an Arrow IPC stream: one record batch with the
// column "value", FixedSizeList<T>[Cols], without nulls, and the schema
// metadata format, first_row, rows, cols (numbers as 19 decimal digits). The
// bytes are a function of the block alone.
func EncodeBlock[T Element](b Block[T]) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(b.Data)*int(unsafe.Sizeof(*new(T))) + 2048)
	if err := writeBlock(&out, b); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func checkBlock[T Element](b Block[T]) error {
	switch {
	case b.Cols < 1 || b.Cols > maxBlockCols:
		return fmt.Errorf("storage: a block of %d columns; want 1 to %d", b.Cols, maxBlockCols)
	case b.FirstRow < 0:
		return fmt.Errorf("storage: a block that begins at row %d", b.FirstRow)
	case len(b.Data)%b.Cols != 0:
		return fmt.Errorf("storage: a block of %d entries in rows of %d", len(b.Data), b.Cols)
	}
	return nil
}

func writeBlock[T Element](w io.Writer, b Block[T]) error {
	if err := checkBlock(b); err != nil {
		return err
	}
	rows := len(b.Data) / b.Cols
	element := arrowType[T]()
	list := arrow.FixedSizeListOfField(int32(b.Cols), arrow.Field{Name: "item", Type: element})
	meta := arrow.NewMetadata(
		[]string{"format", "first_row", "rows", "cols"},
		[]string{blockFormat, number(b.FirstRow), number(rows), number(b.Cols)})
	schema := arrow.NewSchema([]arrow.Field{{Name: "value", Type: list}}, &meta)

	values := array.NewData(element, len(b.Data), []*memory.Buffer{nil, memory.NewBufferBytes(asBytes(b.Data))}, nil, 0, 0)
	defer values.Release()
	data := array.NewData(list, rows, []*memory.Buffer{nil}, []arrow.ArrayData{values}, 0, 0)
	defer data.Release()
	column := array.NewFixedSizeListData(data)
	defer column.Release()
	record := array.NewRecord(schema, []arrow.Array{column}, int64(rows))
	defer record.Release()

	stream := ipc.NewWriter(w, ipc.WithSchema(schema))
	if err := stream.Write(record); err != nil {
		return fmt.Errorf("storage: encode a block: %w", err)
	}
	if err := stream.Close(); err != nil {
		return fmt.Errorf("storage: encode a block: %w", err)
	}
	return nil
}

// DecodeBlock reads what EncodeBlock wrote. Exactly the bytes that EncodeBlock
// gives for some block of T are accepted; anything else is a *CorruptError.
//
// No Arrow metadata is interpreted, so hostile lengths, offsets or nested types
// have nothing to act on: the three numbers are read from their fixed place,
// the entries from the end, and the block that they make is encoded again and
// compared with buf as it streams by.
func DecodeBlock[T Element](buf []byte) (Block[T], error) {
	block, err := guessBlock[T](buf)
	if err != nil {
		return Block[T]{}, err
	}
	same := comparer{want: buf}
	if err := writeBlock(&same, block); err != nil && !errors.Is(err, errDiffers) {
		return Block[T]{}, corruptBlock("%v", err)
	}
	if same.differs || len(same.want) != 0 {
		return Block[T]{}, corruptBlock("its bytes are not those of %d rows of %d %s from row %d",
			block.Rows(), block.Cols, arrowType[T](), block.FirstRow)
	}
	return block, nil
}

// guessBlock reads the only block that buf can be the encoding of.
func guessBlock[T Element](buf []byte) (Block[T], error) {
	firstRow, rows, cols, err := blockNumbers(buf)
	if err != nil {
		return Block[T]{}, err
	}
	size := int(unsafe.Sizeof(*new(T)))
	if cols < 1 || cols > maxBlockCols || rows > len(buf)/(size*cols) {
		return Block[T]{}, corruptBlock("%d rows of %d columns do not fit in %d bytes", rows, cols, len(buf))
	}
	length := rows * cols * size
	at := len(buf) - endOfStream - (length+bodyPadding-1)/bodyPadding*bodyPadding
	if at < 0 {
		return Block[T]{}, corruptBlock("%d rows of %d columns do not fit in %d bytes", rows, cols, len(buf))
	}
	block := Block[T]{FirstRow: firstRow, Cols: cols, Data: make([]T, rows*cols)}
	copy(asBytes(block.Data), buf[at:at+length])
	return block, nil
}

func corruptBlock(format string, args ...any) error {
	return &CorruptError{Key: "block", Detail: fmt.Sprintf(format, args...)}
}

// blockNumbers reads the three numbers of the schema metadata.
func blockNumbers(buf []byte) (firstRow, rows, cols int, err error) {
	head := buf[:min(len(buf), 2048)]
	for _, want := range []struct {
		key string
		to  *int
	}{{"first_row", &firstRow}, {"rows", &rows}, {"cols", &cols}} {
		n, ok := numberBefore(head, want.key)
		if !ok {
			return 0, 0, 0, corruptBlock("no number %s in the first %d bytes", want.key, len(head))
		}
		*want.to = n
	}
	return firstRow, rows, cols, nil
}

// numberBefore finds the string key in the buffer (length word, bytes, zero)
// and reads the number whose 19 digits and closing zero stand just before it,
// where the Arrow writer puts the value of a metadata pair. If a writer ever
// puts it elsewhere, the decoder refuses and the tests fail.
func numberBefore(head []byte, key string) (int, bool) {
	mark := append([]byte{byte(len(key)), 0, 0, 0}, key+"\x00"...)
	at := bytes.Index(head, mark)
	if at < digits+1 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(head[at-digits-1:at-1]), 10, 63)
	return int(n), err == nil
}

func number(n int) string { return fmt.Sprintf("%0*d", digits, n) }

var errDiffers = errors.New("bytes differ")

// comparer is a writer that checks that what is written is want.
type comparer struct {
	want    []byte
	differs bool
}

func (c *comparer) Write(p []byte) (int, error) {
	if c.differs || !bytes.HasPrefix(c.want, p) {
		c.differs = true
		return 0, errDiffers
	}
	c.want = c.want[len(p):]
	return len(p), nil
}

func arrowType[T Element]() arrow.DataType {
	switch any(*new(T)).(type) {
	case int16:
		return arrow.PrimitiveTypes.Int16
	case int32:
		return arrow.PrimitiveTypes.Int32
	case int64:
		return arrow.PrimitiveTypes.Int64
	default:
		return arrow.PrimitiveTypes.Float64
	}
}

// asBytes is the memory of s.
func asBytes[T Element](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}
