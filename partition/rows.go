package partition

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"golang.org/x/sync/errgroup"
)

// rows is the symmetric simple graph as one sequence: the degree of every
// vertex, then the columns of every row, in order.
type rows struct {
	vertices int64
	arcs     int64
	degrees  *spill // 4 bytes per vertex
	cols     *spill // 4 bytes per arc

	degreeHash, colHash hash.Hash

	// Counts of the rows a→b, a ≠ b, of the input.
	pairs      int64 // different ordered pairs
	reciprocal int64 // unordered pairs listed both ways
	oneWay     int64 // unordered pairs dropped because they were listed one way
	repeats    int64 // rows that repeat an earlier one

	histogram map[uint32]int64 // vertices by degree
	above     int64            // vertices with more neighbours than the bound
	bound     uint32
}

// rowWriter collects rows in order.
type rowWriter struct {
	*rows
	dict    *dictionary
	row     uint32 // the sorter's number of the open row
	index   int64  // its final index, -1 before the first
	degree  uint32
	colBuf  []byte
	degBuf  []byte
	mutual  bool
	started bool
}

// buildRows merges the sorted runs into rows: repeats and reverse pairs become
// one, arcs get their final indices.
func buildRows(ctx context.Context, t *intake, d *dictionary, o *Options, progress func(done, total int64)) (*rows, error) {
	w := &rowWriter{
		rows: &rows{
			vertices: d.count,
			degrees:  t.space.newSpill(t.memory / 16), cols: t.space.newSpill(t.memory / 4),
			degreeHash: sha256.New(), colHash: sha256.New(),
			histogram: map[uint32]int64{}, bound: degreeLimit(o.DegreeBound),
			repeats: t.sorter.repeats,
		},
		dict: d, index: -1, mutual: o.Mutual,
	}
	total := int64(0)
	for _, run := range t.sorter.runs {
		total += run.count
	}
	m, err := newMerger(ctx, t.sorter, t.memory/8)
	if err != nil {
		return nil, err
	}
	if err := w.merge(ctx, m, total, progress); err != nil {
		return nil, err
	}
	if err := w.end(); err != nil {
		return nil, err
	}
	t.sorter.runs = nil
	if t.sorter.spill != nil {
		if err := t.sorter.spill.close(); err != nil {
			return nil, err
		}
	}
	return w.rows, nil
}

func degreeLimit(bound int64) uint32 {
	if bound <= 0 || bound > math.MaxUint32 {
		return math.MaxUint32
	}
	return uint32(bound)
}

// merge takes the merged keys, which another goroutine produces.
func (w *rowWriter) merge(ctx context.Context, m *merger, total int64, progress func(done, total int64)) error {
	group, ctx := errgroup.WithContext(ctx)
	full, free := make(chan []uint64, 4), make(chan []uint64, 6)
	group.Go(func() error { return m.produce(ctx, full, free) })
	group.Go(func() error { return w.take(ctx, full, free, total, progress) })
	return group.Wait()
}

// produce sends the merged keys in blocks, and closes full after the last.
func (m *merger) produce(ctx context.Context, full chan<- []uint64, free <-chan []uint64) error {
	for {
		var block []uint64
		select {
		case block = <-free:
		default:
			block = make([]uint64, mergeBlock)
		}
		n, err := m.fill(block[:mergeBlock])
		if err != nil {
			return err
		}
		if n == 0 {
			close(full)
			return nil
		}
		select {
		case full <- block[:n]:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mergeBlock is how many keys travel together from the merge to the rows.
const mergeBlock = 8192

func (w *rowWriter) take(ctx context.Context, full <-chan []uint64, free chan<- []uint64, total int64, progress func(done, total int64)) error {
	last, both := uint64(endKey), false
	done, reverse := int64(0), int64(0)
	for {
		var block []uint64
		var more bool
		select {
		case block, more = <-full:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !more {
			break
		}
		for _, key := range block {
			if key == last {
				w.repeats += int64(^key & 1)
				continue
			}
			w.pairs += int64(^key & 1)
			reverse += int64(key & 1)
			if key^last == 1 {
				last, both = key, true
				continue
			}
			if err := w.pair(last, both); err != nil {
				return err
			}
			last, both = key, false
		}
		done += int64(len(block))
		progress(done, total)
		select {
		case free <- block[:cap(block)]:
		default:
		}
	}
	if reverse != w.pairs {
		return &LossError{Detail: fmt.Sprintf("%d forward and %d reverse arcs", w.pairs, reverse)}
	}
	return w.pair(last, both)
}

// pair takes an entry (row, col) of the matrix that was listed as row→col, as
// col→row, or as both.
func (w *rowWriter) pair(key uint64, both bool) error {
	if key == endKey {
		return nil
	}
	row, col := keyRow(key), keyCol(key)
	upper := row < col // count each unordered pair once
	if both && upper {
		w.reciprocal++
	}
	if w.mutual && !both {
		if upper {
			w.oneWay++
		}
		return nil
	}
	if !w.started || row != w.row {
		if err := w.openRow(row); err != nil {
			return err
		}
	}
	w.degree++
	w.arcs++
	w.colBuf = binary.LittleEndian.AppendUint32(w.colBuf, w.dict.index(col))
	if len(w.colBuf) >= pageBytes {
		return w.flushCols()
	}
	return nil
}

func (w *rowWriter) openRow(row uint32) error {
	index := int64(w.dict.index(row))
	if err := w.closeRows(index); err != nil {
		return err
	}
	w.row, w.index, w.started = row, index, true
	return nil
}

// closeRows writes the degree of the open row, and zeros up to the row next.
func (w *rowWriter) closeRows(next int64) error {
	for ; w.index < next; w.index++ {
		if w.index < 0 {
			continue
		}
		w.histogram[w.degree]++
		if w.degree > w.bound {
			w.above++
		}
		w.degBuf = binary.LittleEndian.AppendUint32(w.degBuf, w.degree)
		w.degree = 0
		if len(w.degBuf) >= pageBytes {
			if err := w.flushDegrees(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *rowWriter) flushCols() error {
	w.colHash.Write(w.colBuf)
	_, err := w.cols.Write(w.colBuf)
	w.colBuf = w.colBuf[:0]
	return err
}

func (w *rowWriter) flushDegrees() error {
	w.degreeHash.Write(w.degBuf)
	_, err := w.degrees.Write(w.degBuf)
	w.degBuf = w.degBuf[:0]
	return err
}

func (w *rowWriter) end() error {
	if err := w.closeRows(w.vertices); err != nil {
		return err
	}
	if err := w.flushCols(); err != nil {
		return err
	}
	if err := w.flushDegrees(); err != nil {
		return err
	}
	if err := w.cols.done(); err != nil {
		return err
	}
	return w.degrees.done()
}

// span is the part of the rows that one shard holds.
type span struct {
	firstRow, rows int64
	firstArc, arcs int64
}

// cut divides the rows into n spans at row boundaries. Boundary i is the one
// nearest to i/n of all arcs (the earlier of two equally near ones), so spans
// depend on the graph and n alone.
func (r *rows) cut(ctx context.Context, n int) ([]span, error) {
	var spans []span
	var open span
	w := r.degrees.readWords(0, r.vertices)
	row, arc := int64(0), int64(0)
	target := func() int64 { return (int64(len(spans)) + 1) * r.arcs / int64(n) }
	finish := func() {
		open.rows, open.arcs = row-open.firstRow, arc-open.firstArc
		spans = append(spans, open)
		open = span{firstRow: row, firstArc: arc}
	}
	for {
		block, err := w.next(ctx, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		if len(block) == 0 {
			break
		}
		for ; len(block) > 0; block = block[4:] {
			degree := int64(binary.LittleEndian.Uint32(block))
			for len(spans) < n-1 && arc+degree > target() && target()-arc <= arc+degree-target() {
				finish()
			}
			arc += degree
			row++
			for len(spans) < n-1 && arc >= target() {
				finish()
			}
		}
	}
	for len(spans) < n-1 {
		finish()
	}
	finish()
	return spans, nil
}

// content is the hash of the graph, whatever its shards: ids, degrees and
// columns, in order.
func (r *rows) content(ids hash.Hash) string { return contentHash(ids, r.degreeHash, r.colHash) }

func contentHash(ids, degrees, cols hash.Hash) string {
	all := sha256.New()
	all.Write([]byte("privcom.graph/1\n"))
	for _, h := range []hash.Hash{ids, degrees, cols} {
		all.Write(h.Sum(nil))
	}
	return hex.EncodeToString(all.Sum(nil))
}
