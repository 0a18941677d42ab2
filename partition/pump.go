package partition

import (
	"bytes"
	"context"
	"strconv"

	"github.com/privcom/privcom/partition/reader"
)

// source is a stream of a graph's rows: *reader.Reader.
type source interface {
	ForEach(ctx context.Context, onVertex func(id []byte) error, onEdge func(reader.Edge) error) error
	ForEachParallel(ctx context.Context, workers int, to reader.Callbacks) error
	Stats() reader.Stats
}

// batchPairs is how many pairs travel together from the goroutine that parses
// to the one that takes ids.
const batchPairs = 4096

// batch is pairs of ids: numbers, or texts once some id was not a number.
type batch struct {
	numbers []uint64 // two per pair
	text    []byte   // ids, one after the other
	ends    []int    // of each id in text, two per pair
	lines   []int64  // one per pair, with a vertices file only
	file    string   // that the lines are of
}

func (b *batch) pairs() int { return (len(b.numbers) + len(b.ends)) / 2 }

func (b *batch) reset() {
	b.numbers, b.text, b.ends, b.lines = b.numbers[:0], b.text[:0], b.ends[:0], b.lines[:0]
}

// pump takes rows: pairs of small numbers go to a lane of the sorter, and
// others into batches. A row that is dropped but names vertices sends each of
// them as a pair with itself. Every goroutine that parses has a pump.
type pump struct {
	ctx      context.Context
	o        *Options
	intake   *intake
	dense    *bitmap // nil: everything goes into batches
	lane     *lane
	out      chan<- *batch
	free     <-chan *batch
	progress func(rows int64)

	open  *batch
	texts bool
	lines bool // keep the lines

	rows, loops, light int64
	_                  [64]byte // pumps of different goroutines share no cache line
}

// progressRows is after how many rows a pump reports them.
const progressRows = 1 << 16

// vertex sends an id that the input lists.
func (p *pump) vertex(id []byte) error {
	return p.send(id, id, 0)
}

// edge sends or drops one row, and counts it.
func (p *pump) edge(e reader.Edge) error {
	p.rows++
	if p.rows%progressRows == 0 {
		p.progress(progressRows)
	}
	if p.lines && e.File != p.open.file {
		if err := p.flush(); err != nil {
			return err
		}
		p.open.file = e.File
	}
	if bytes.Equal(e.Source, e.Target) {
		p.loops++
		return p.send(e.Source, e.Source, e.Line)
	}
	if p.o.MinWeight != nil {
		if !e.HasWeight {
			return &reader.LineError{File: e.File, Line: e.Line, Byte: -1, Reason: "the row has no weight, but a least weight was asked for", Remedy: "drop that option, or name an input whose rows all have weights"}
		}
		// The negation drops NaN too.
		if !(e.Weight >= *p.o.MinWeight) {
			p.light++
			if err := p.send(e.Source, e.Source, e.Line); err != nil {
				return err
			}
			return p.send(e.Target, e.Target, e.Line)
		}
	}
	return p.send(e.Source, e.Target, e.Line)
}

// numbers sends rows of two numbers, and counts them.
func (p *pump) numbers(pairs []uint64) error {
	if n := int64(len(pairs) / 2); p.rows/progressRows != (p.rows+n)/progressRows {
		p.progress(progressRows)
	}
	p.rows += int64(len(pairs) / 2)
	for ; len(pairs) > 1; pairs = pairs[2:] {
		a, b := pairs[0], pairs[1]
		if a == b {
			p.loops++
		}
		if err := p.pair(a, b); err != nil {
			return err
		}
	}
	return p.ctx.Err()
}

// small takes two numbers if they are below the limit of the bitmap and that
// is in use.
func (p *pump) small(a, b uint64) (taken bool, err error) {
	if p.dense == nil || a >= p.intake.limit || b >= p.intake.limit || p.intake.left.Load() {
		return false, nil
	}
	p.dense.add(uint32(a))
	if a == b {
		return true, nil
	}
	p.dense.add(uint32(b))
	return true, p.lane.add(uint32(a), uint32(b))
}

// pair takes two numbers.
func (p *pump) pair(a, b uint64) error {
	if taken, err := p.small(a, b); taken {
		return err
	}
	if p.texts {
		var buf [40]byte
		first := strconv.AppendUint(buf[:0], a, 10)
		return p.text(first, strconv.AppendUint(buf[len(first):len(first)], b, 10), 0)
	}
	p.open.numbers = append(p.open.numbers, a, b)
	return p.sent(0)
}

func (p *pump) send(a, b []byte, line int64) error {
	if !p.texts || p.dense != nil && !p.intake.left.Load() {
		x, okX := parseNumber(a)
		y, okY := parseNumber(b)
		if okX && okY {
			if taken, err := p.small(x, y); taken {
				return err
			}
			if !p.texts {
				p.open.numbers = append(p.open.numbers, x, y)
				return p.sent(line)
			}
		} else if !p.texts {
			if err := p.flush(); err != nil {
				return err
			}
			p.texts = true
		}
	}
	return p.text(a, b, line)
}

func (p *pump) text(a, b []byte, line int64) error {
	p.open.text = append(p.open.text, a...)
	p.open.ends = append(p.open.ends, len(p.open.text))
	p.open.text = append(p.open.text, b...)
	p.open.ends = append(p.open.ends, len(p.open.text))
	return p.sent(line)
}

func (p *pump) sent(line int64) error {
	if p.lines {
		p.open.lines = append(p.open.lines, line)
	}
	if p.open.pairs() < batchPairs && len(p.open.text) < 1<<20 {
		return nil
	}
	return p.flush()
}

// flush hands the open batch over.
func (p *pump) flush() error {
	if p.open.pairs() > 0 {
		file := p.open.file
		select {
		case p.out <- p.open:
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
		select {
		case p.open = <-p.free:
			p.open.reset()
		default:
			p.open = &batch{}
		}
		p.open.file = file
	}
	return nil
}

// take feeds batches to the intake until they end.
func (t *intake) take(in <-chan *batch, free chan<- *batch) error {
	for {
		var b *batch
		var ok bool
		select {
		case b, ok = <-in:
		case <-t.ctx.Done():
			return t.ctx.Err()
		}
		if !ok {
			return nil
		}
		if err := t.takeBatch(b); err != nil {
			return err
		}
		select {
		case free <- b:
		default:
		}
	}
}

func (t *intake) takeBatch(b *batch) error {
	if n := len(t.names); b.lines != nil && (n == 0 || t.names[n-1] != b.file) {
		t.names = append(t.names, b.file)
	}
	at := func(i int) place {
		if b.lines == nil {
			return place{}
		}
		return place{file: uint32(len(t.names) - 1), line: b.lines[i]}
	}
	for i := 0; i < len(b.numbers); i += 2 {
		if err := t.numbers(b.numbers[i], b.numbers[i+1], at(i/2)); err != nil {
			return err
		}
	}
	start := 0
	for i := 0; i < len(b.ends); i += 2 {
		if i%warmKeys == 0 && t.strs != nil {
			t.warmed += t.strs.warm(b.text, start, b.ends[i:min(len(b.ends), i+warmKeys)])
		}
		mid, end := b.ends[i], b.ends[i+1]
		if err := t.texts(b.text[start:mid], b.text[mid:end], at(i/2)); err != nil {
			return err
		}
		start = end
	}
	return nil
}
