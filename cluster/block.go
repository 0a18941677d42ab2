package cluster

import (
	"fmt"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/storage"
)

// encodeRows writes rows of V (int16 or int32) or Q (int32 or int64) as Arrow IPC.
func encodeRows[T storage.Element](from, cols int, data []T) ([]byte, error) {
	return storage.EncodeBlock(storage.Block[T]{FirstRow: from, Cols: cols, Data: data})
}

// decodeMatrix reads the rows [h.From, h.To) of V off the wire: []int16 or []int32.
func decodeMatrix(h head, payload []byte) (any, error) {
	if h.Matrix.Narrow {
		return decodeAs[int16](h, payload)
	}
	return decodeAs[int32](h, payload)
}

// decodeRows reads the rows [h.From, h.To) of Q off the wire: []int32, or []int64
// where the header says that the step is wide. The shape must be the one of the
// header.
func decodeRows(h head, payload []byte) (any, error) {
	if h.Matrix.Wide {
		return decodeAs[int64](h, payload)
	}
	return decodeAs[int32](h, payload)
}

func decodeAs[T storage.Element](h head, payload []byte) ([]T, error) {
	if h.From >= h.To || h.To > h.Matrix.Rows {
		return nil, fmt.Errorf("cluster: rows [%d, %d) of %d", h.From, h.To, h.Matrix.Rows)
	}
	b, err := storage.DecodeBlock[T](payload)
	if err != nil {
		return nil, err
	}
	if b.FirstRow != h.From || b.Cols != h.Matrix.Cols || len(b.Data)/b.Cols != h.To-h.From {
		return nil, fmt.Errorf("cluster: payload holds %d×%d entries from row %d, its header says rows [%d, %d) of %d columns",
			len(b.Data)/b.Cols, b.Cols, b.FirstRow, h.From, h.To, h.Matrix.Cols)
	}
	return b.Data, nil
}

// wideProduct says whether rows of Q travel as int64. Public bounds alone decide:
// no entry exceeds (n−1)·r, nor c where rows are clipped. Whether the
// entries at hand would fit is private and never asked.
func wideProduct(v *blockmatmul.Operand, c int64) bool {
	const most = 1<<31 - 1
	if c > 0 && c <= most {
		return false
	}
	return int64(max(v.Rows()-1, 1)) > most/max(v.Radius(), 1)
}

// plan cuts a step: how many rows of V a message carries, and how many rows of Q.
func planStep(v *blockmatmul.Operand, c int64, limit, inFlight, workers int) (m matrix, blockRows int, err error) {
	m = matrix{Rows: v.Rows(), Cols: v.Cols(), Clip: c, Narrow: v.Narrow(), Wide: wideProduct(v, c)}
	room := limit - headroom
	rowBytes := 4 * m.Cols
	if m.ChunkRows = room / (m.entryBytes() * m.Cols); m.ChunkRows < 1 {
		return m, 0, fmt.Errorf("cluster: a row of %d columns does not fit in a message of %d bytes; use fewer columns", m.Cols, limit)
	}
	m.ChunkRows = min(m.ChunkRows, m.Rows)
	if m.Wide {
		rowBytes = 8 * m.Cols
	}
	block := min(max(inFlight/(2*max(workers, 1)), leastBlock), room)
	if blockRows = block / rowBytes; blockRows < 1 && rowBytes <= room {
		blockRows = 1
	}
	if blockRows < 1 {
		return m, 0, fmt.Errorf("cluster: a row of %d 64-bit columns does not fit in a message of %d bytes; use fewer columns or a row clip", m.Cols, limit)
	}
	return m, blockRows, nil
}
