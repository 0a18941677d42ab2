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

// buildRows merges the sorted runs into rows: repeats and reverse pairs become
// one, arcs get their final indices. Ranges of keys are merged by several
// goroutines and collected in order by this one.
func buildRows(ctx context.Context, t *intake, d *dictionary, o *Options, progress func(done, total int64)) (*rows, error) {
	w := &rowWriter{
		rows: &rows{
			vertices: d.count,
			degrees:  t.space.newSpill(t.memory / 16), cols: t.space.newSpill(t.memory / 4),
			degreeHash: sha256.New(), colHash: sha256.New(),
			histogram: map[uint32]int64{}, bound: degreeLimit(o.DegreeBound),
			repeats: t.sorter.repeats,
		},
		row: -1,
	}
	total := int64(0)
	for _, run := range t.sorter.runs {
		total += run.count
	}
	workers := len(t.sorter.lanes)
	// A worker takes about 40 bytes per key of a range, and two finished
	// ranges wait per worker.
	size := int(min(max(t.memory/16/40/int64(workers), 1<<10), 1<<15))
	if err := w.mergeRanges(ctx, t.sorter, d, o.Mutual, size, total, progress); err != nil {
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

// rangeTask is a range of keys and where its rows go.
type rangeTask struct {
	from, end uint64
	done      chan *keyRange
}

func (w *rowWriter) mergeRanges(ctx context.Context, s *sorter, d *dictionary, mutual bool, size int, total int64, progress func(done, total int64)) error {
	group, ctx := errgroup.WithContext(ctx)
	workers := len(s.lanes)
	tasks, order := make(chan rangeTask), make(chan chan *keyRange, 2*workers)
	free := make(chan *keyRange, 3*workers)
	group.Go(func() error {
		defer close(order)
		defer close(tasks)
		from := uint64(0)
		for _, end := range s.cutKeys(size) {
			task := rangeTask{from: from, end: end, done: make(chan *keyRange, 1)}
			select {
			case order <- task.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case tasks <- task:
			case <-ctx.Done():
				return ctx.Err()
			}
			from = end
		}
		return nil
	})
	for range workers {
		group.Go(func() error {
			m := s.newMerger(ctx)
			for task := range tasks {
				keys, err := m.merge(task.from, task.end)
				if err != nil {
					return err
				}
				var r *keyRange
				select {
				case r = <-free:
				default:
					r = &keyRange{}
				}
				r.fill(keys, d, mutual)
				task.done <- r
			}
			return nil
		})
	}
	group.Go(func() error { return w.collect(ctx, order, free, total, progress) })
	return group.Wait()
}

// rowWriter collects rows in order.
type rowWriter struct {
	*rows
	row    int64  // the open one, -1 before the first
	degree uint32 // of the open row
	degBuf []byte
}

func (w *rowWriter) collect(ctx context.Context, order <-chan chan *keyRange, free chan<- *keyRange, total int64, progress func(done, total int64)) error {
	done, reverse := int64(0), int64(0)
	for next := range order {
		var r *keyRange
		select {
		case r = <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, row := range r.rows {
			if err := w.closeRows(int64(row.index)); err != nil {
				return err
			}
			w.degree += row.degree
		}
		w.arcs += int64(len(r.cols) / 4)
		w.colHash.Write(r.cols)
		if _, err := w.cols.Write(r.cols); err != nil {
			return err
		}
		w.pairs += r.pairs
		w.repeats += r.repeats
		w.reciprocal += r.reciprocal
		w.oneWay += r.oneWay
		reverse += r.reverse
		done += r.keys
		progress(done, total)
		select {
		case free <- r:
		default:
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if reverse != w.pairs {
		return &LossError{Detail: fmt.Sprintf("%d forward and %d reverse arcs", w.pairs, reverse)}
	}
	return nil
}

// closeRows writes the degree of the open row, and zeros up to the row next.
func (w *rowWriter) closeRows(next int64) error {
	for ; w.row < next; w.row++ {
		if w.row < 0 {
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
