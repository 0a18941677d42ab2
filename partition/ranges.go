package partition

import "encoding/binary"

// keyRange is the rows of a range of keys. The first and the last may go on in
// the ranges beside it.
type keyRange struct {
	rows []rangeRow
	cols []byte // 4 bytes per arc
	keys int64

	pairs, reverse, repeats, reciprocal, oneWay int64
}

type rangeRow struct {
	index  uint32 // final
	degree uint32 // arcs in this range
}

// fill takes keys in order. An entry (row, col) of the matrix was listed as
// row→col, as col→row, or both.
func (r *keyRange) fill(keys []uint64, d *dictionary, mutual bool) {
	*r = keyRange{rows: r.rows[:0], cols: r.cols[:0], keys: int64(len(keys))}
	open := uint64(endKey)
	var degree uint32
	var index uint32
	for i := 0; i < len(keys); {
		key := keys[i]
		n, forward := 1, int(^key&1)
		for i+n < len(keys) && keys[i+n]^key <= 1 {
			forward += int(^keys[i+n] & 1)
			n++
		}
		i += n
		back := n - forward
		both := forward > 0 && back > 0
		r.pairs += int64(min(forward, 1))
		r.reverse += int64(min(back, 1))
		r.repeats += int64(forward - min(forward, 1))
		row, col := keyRow(key), keyCol(key)
		if upper := row < col; upper && both { // count each unordered pair once
			r.reciprocal++
		} else if upper && mutual {
			r.oneWay++
		}
		if mutual && !both {
			continue
		}
		if key>>32 != open {
			if degree > 0 {
				r.rows = append(r.rows, rangeRow{index, degree})
			}
			open, index, degree = key>>32, d.index(row), 0
		}
		degree++
		r.cols = binary.LittleEndian.AppendUint32(r.cols, d.index(col))
	}
	if degree > 0 {
		r.rows = append(r.rows, rangeRow{index, degree})
	}
}
