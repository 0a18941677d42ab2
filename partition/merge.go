package partition

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sort"
)

// endKey is above every arc key, whose top bit is zero.
const endKey = math.MaxUint64

// blockReader reads consecutive keys of runs.
type blockReader struct {
	ctx   context.Context
	spill *spill
	bytes []byte
	keys  []uint64
}

// read gives keys [from, to) of a run, valid until the next call.
func (r *blockReader) read(run *sortedRun, from, to int64) ([]uint64, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if run.keys != nil {
		return run.keys[from:to], nil
	}
	n := int(to - from)
	if cap(r.bytes) < 8*n {
		r.bytes, r.keys = make([]byte, 8*n), make([]uint64, n)
	}
	b, keys := r.bytes[:8*n], r.keys[:n]
	if _, err := io.ReadFull(io.NewSectionReader(r.spill, 8*(run.first+from), int64(8*n)), b); err != nil {
		return nil, err
	}
	for i := range keys {
		keys[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return keys, nil
}

// cutKeys divides the keys of all runs into consecutive ranges of about size
// keys and gives where they end; the last end is endKey. A range never divides
// the two ways of one pair. No run has more than 2·stride keys in a range
// beyond its share.
func (s *sorter) cutKeys(size int) []uint64 {
	var marks []uint64
	for _, run := range s.runs {
		marks = append(marks, run.marks...)
	}
	slices.Sort(marks)
	step := max(1, size/s.stride)
	var ends []uint64
	for i := step; i < len(marks); i += step {
		if end := marks[i] &^ 1; len(ends) == 0 && end > 0 || len(ends) > 0 && end > ends[len(ends)-1] {
			ends = append(ends, end)
		}
	}
	return append(ends, endKey)
}

// merger merges one range of keys after another.
type merger struct {
	s      *sorter
	blocks blockReader
	keys   []uint64
	spare  []uint64
}

func (s *sorter) newMerger(ctx context.Context) *merger {
	return &merger{s: s, blocks: blockReader{ctx: ctx, spill: s.spill}}
}

// merge gives the keys in [from, end) of all runs in order, valid until the
// next call. It gathers the parts of the runs and sorts them: they lie in the
// cache, where that is faster than a merge.
func (m *merger) merge(from, end uint64) ([]uint64, error) {
	m.keys = m.keys[:0]
	parts := 0
	for i := range m.s.runs {
		part, err := m.part(&m.s.runs[i], from, end)
		if err != nil {
			return nil, err
		}
		if len(part) == 0 {
			continue
		}
		if len(m.s.runs) == 1 {
			return part, nil
		}
		parts++
		m.keys = append(m.keys, part...)
	}
	if parts > 1 {
		if cap(m.spare) < len(m.keys) {
			m.spare = make([]uint64, cap(m.keys))
		}
		m.keys, m.spare = sortKeys(m.keys, m.spare[:len(m.keys)])
	}
	return m.keys, nil
}

// part gives the keys of a run in [from, end). Its marks tell what must be read.
func (m *merger) part(run *sortedRun, from, end uint64) ([]uint64, error) {
	first := max(0, sort.Search(len(run.marks), func(i int) bool { return run.marks[i] > from })-1)
	last := sort.Search(len(run.marks), func(i int) bool { return run.marks[i] >= end })
	if last == 0 {
		return nil, nil
	}
	stride := int64(m.s.stride)
	keys, err := m.blocks.read(run, int64(first)*stride, min(run.count, int64(last)*stride))
	if err != nil {
		return nil, err
	}
	low, _ := slices.BinarySearch(keys, from)
	high, _ := slices.BinarySearch(keys, end)
	return keys[low:high], nil
}
