package reader

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"sync"
	"unicode/utf8"
)

// blockSize is how much text a worker parses at a time. Only tests change it.
var blockSize = 1 << 20

// Callbacks take what ForEachParallel reads. Each is called with the number of a
// worker, 0 to workers-1: calls of one worker follow one another, calls of
// different workers overlap. A callback that is nil is not called.
type Callbacks struct {
	Vertex func(worker int, id []byte) error
	Edge   func(worker int, e Edge) error
	// Numbers, if set, takes rows of two fields instead of Edge, where both
	// fields are canonical decimal numbers below 2^64: sources and targets in
	// turn, many at once, without their lines. The slice is valid until it
	// returns.
	Numbers func(worker int, pairs []uint64) error
}

// ForEachParallel is ForEach with several workers that parse blocks of text at
// the same time, while one goroutine reads and unpacks. The order of edges is
// not that of the file; every edge still comes once and with its line, and the
// error is the one that ForEach would give. Formats that are not tables are
// read by worker 0 alone.
func (r *Reader) ForEachParallel(ctx context.Context, workers int, to Callbacks) error {
	var vertex func([]byte) error
	var edge func(Edge) error
	if to.Vertex != nil {
		vertex = func(id []byte) error { return to.Vertex(0, id) }
	}
	if to.Edge != nil {
		edge = func(e Edge) error { return to.Edge(0, e) }
	} else {
		to.Edge = func(int, Edge) error { return nil }
	}
	r.stats = r.freshStats()
	run := newRun(ctx, r, vertex, edge)
	if workers > 1 && isTable(r.format) {
		run.workers = workers
		run.to = to
	}
	for i := range r.inputs {
		if err := run.input(i); err != nil {
			return err
		}
	}
	return run.finish()
}

// block is a run of whole records.
type block struct {
	index  int64
	data   []byte
	offset int64 // of its first byte in the text
	line   int64 // lines before it
}

// crew parses the blocks of one input.
type crew struct {
	u      *run
	d      *dialect
	src    *source
	blocks chan block
	free   chan []byte

	mu       sync.Mutex
	failed   int64 // index of the first block with an error
	err      error
	stop     bool // no more blocks are needed
	counts   []tableCounts
	notUTF8  bool
	nonASCII bool
}

// tableParallel reads one input as a table with several workers.
func (u *run) tableParallel(src *source, d *dialect) error {
	if d == nil {
		return nil
	}
	if d.header && quotedComment(src.sample()) { // quotes are paired from the header on
		return u.table(src, d)
	}
	u.columns(d, src.text.file)
	c := &crew{u: u, d: d, src: src, failed: math.MaxInt64, blocks: make(chan block, u.workers), free: make(chan []byte, 2*u.workers+2)}
	cut := &blockCutter{src: src, quotes: d.delim != 0, comments: !d.header}
	if err := c.first(cut); err != nil {
		return err
	}
	var wait sync.WaitGroup
	for w := range u.workers {
		t := c.reader(w)
		wait.Go(func() { c.work(t) })
	}
	readErr := c.feed(cut)
	close(c.blocks)
	wait.Wait()
	for i := range c.counts {
		u.merge(&c.counts[i])
	}
	src.notUTF8, src.nonASCII = src.notUTF8 || c.notUTF8, src.nonASCII || c.nonASCII
	if c.err != nil {
		return c.err
	}
	return readErr
}

// reader makes the reader of rows of one worker.
func (c *crew) reader(worker int) *tableReader {
	t := &tableReader{d: c.d, file: c.src.text.file, strings: c.u.strings, late: true, doubt: c.u.doubt, skip: c.skip,
		emit: func(e Edge) error { return c.u.to.Edge(worker, e) }}
	if c.u.to.Numbers != nil && c.d.plainPairs() {
		t.numbers = func(pairs []uint64) error { return c.u.to.Numbers(worker, pairs) }
	}
	return t
}

// skip decides over a bad line; workers take turns.
func (c *crew) skip(e *LineError, line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.u.skip(e, line)
}

// first reads blocks until the header and an edge have come: what comments
// say about the file stands before.
func (c *crew) first(cut *blockCutter) error {
	t := c.reader(0)
	t.late, t.header = false, c.d.header
	for t.header || t.rows == 0 {
		b, err := cut.next(nil)
		if err == nil {
			err = t.read(c.text(b))
		}
		if err != nil {
			c.u.merge(&t.tableCounts)
			if isEOF(err) {
				return nil
			}
			return err
		}
	}
	c.u.merge(&t.tableCounts)
	return nil
}

// feed cuts the input into blocks for the workers.
func (c *crew) feed(cut *blockCutter) error {
	for {
		if err := c.u.ctx.Err(); err != nil {
			return err
		}
		c.mu.Lock()
		stop := c.stop
		c.mu.Unlock()
		if stop {
			return nil
		}
		var buf []byte
		select {
		case buf = <-c.free:
		default:
		}
		b, err := cut.next(buf)
		if err != nil {
			if isEOF(err) {
				return nil
			}
			return err
		}
		c.blocks <- b
	}
}

// work parses blocks until there are no more. After an error only the blocks
// before it are still parsed, so that the first error of the file is the one
// that is returned.
func (c *crew) work(t *tableReader) {
	for b := range c.blocks {
		c.mu.Lock()
		skip := b.index > c.failed
		c.mu.Unlock()
		if !skip {
			if err := t.read(c.text(b)); err != nil {
				c.fail(b.index, err)
			}
		}
		select {
		case c.free <- b.data:
		default:
		}
	}
	c.mu.Lock()
	c.counts = append(c.counts, t.tableCounts)
	c.mu.Unlock()
}

func (c *crew) fail(index int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = true
	if index < c.failed {
		c.failed, c.err = index, err
	}
}

// text looks at the bytes of a block as text.fill does.
func (c *crew) text(b block) *text {
	nul := int64(-1)
	if i := bytes.IndexByte(b.data, 0); i >= 0 {
		nul = b.offset + int64(i)
	}
	if !isASCII(b.data) {
		bad := !utf8.Valid(b.data)
		c.mu.Lock()
		c.nonASCII, c.notUTF8 = true, c.notUTF8 || bad
		c.mu.Unlock()
	}
	return blockText(c.src.text.file, b.data, b.offset, b.line, nul)
}

// blockCutter cuts a source into blocks that end with a record.
type blockCutter struct {
	src      *source
	quotes   bool // a line end inside quotes ends no record
	comments bool // lines with # and % are comments
	rest     []byte
	index    int64
	offset   int64
	line     int64
	err      error
}

// next reads a block into buf, or into a new buffer. At the end it returns
// io.EOF.
func (k *blockCutter) next(buf []byte) (block, error) {
	if k.index == 0 && k.offset == 0 && k.rest == nil {
		k.rest = bytes.Clone(k.src.sample())
		k.offset = k.src.offset()
		if k.src.eof {
			k.err = cmp.Or(k.src.err, io.EOF)
		}
		k.src.start = k.src.end
	}
	if cap(buf) < blockSize {
		buf = make([]byte, 0, blockSize)
	}
	buf = append(buf[:0], k.rest...)
	k.rest = k.rest[:0]
	for {
		if k.err == nil && len(buf) < cap(buf) {
			buf = k.fill(buf)
		}
		if k.err != nil {
			return k.final(buf)
		}
		if end := k.cut(buf); end > 0 {
			k.rest = append(k.rest, buf[end:]...)
			return k.block(buf[:end]), nil
		}
		if len(buf) >= maxLine {
			return block{}, &LineError{File: k.src.text.file, Line: k.line + 1, Byte: k.offset, Text: clip(buf), Reason: "line longer than " + sizeText(maxLine),
				Remedy: "This does not look like a graph file with lines; say what it is with --format."}
		}
		buf = append(make([]byte, 0, min(2*cap(buf), maxLine)), buf...)
	}
}

// fill reads until the buffer is full or the input ends.
func (k *blockCutter) fill(buf []byte) []byte {
	for empty := 0; k.err == nil && len(buf) < cap(buf); {
		n, err := k.src.rd.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if empty++; n > 0 {
			empty = 0
		} else if empty > 100 {
			err = io.ErrNoProgress
		}
		if err != nil {
			k.err = err
			if !isEOF(err) {
				k.err = asFileError(k.src.text.file, -1, err)
			}
		}
	}
	return buf
}

// final hands out what stands before the end. When the input ended badly, a
// record that it may have cut is left out, and the error comes next.
func (k *blockCutter) final(buf []byte) (block, error) {
	if !isEOF(k.err) {
		buf = buf[:k.cut(buf)]
	}
	if len(buf) == 0 {
		return block{}, k.err
	}
	return k.block(buf), nil
}

func (k *blockCutter) block(data []byte) block {
	b := block{index: k.index, data: data, offset: k.offset, line: k.line}
	k.index++
	k.offset += int64(len(data))
	k.line += countLines(data)
	return b
}

// cut is the length of the whole records at the beginning of b.
func (k *blockCutter) cut(b []byte) int {
	if k.quotes && bytes.IndexByte(b, '"') >= 0 {
		return cutQuoted(b, k.comments)
	}
	return lastLine(b)
}

// lastLine is the index behind the last line end in b. A CR at the very end
// does not count: it may be half of CRLF.
func lastLine(b []byte) int {
	i := bytes.LastIndexByte(b, '\n') + 1
	if i < len(b) {
		i += bytes.LastIndexByte(b[i:len(b)-1], '\r') + 1
	}
	return i
}

// lineLength is the length of the first line with its end, 0 when b does not
// hold all of it.
func lineLength(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	head := b
	if i >= 0 {
		head = b[:i]
	}
	if j := bytes.IndexByte(head, '\r'); j >= 0 && j+1 < len(b) && j+1 != i {
		return j + 1
	}
	return i + 1
}

// cutQuoted is lastLine for records that may hold line ends inside quotes: a
// record ends with the line where its quotes are closed.
func cutQuoted(b []byte, comments bool) int {
	last, open := 0, false
	for at := 0; ; {
		n := lineLength(b[at:])
		if n == 0 {
			return last
		}
		line := b[at : at+n]
		if !(comments && !open && isComment(line)) && bytes.Count(line, []byte{'"'})%2 == 1 {
			open = !open
		}
		at += n
		if !open {
			last = at
		}
	}
}

func isComment(line []byte) bool {
	b := trim(line)
	return len(b) > 0 && (b[0] == '#' || b[0] == '%')
}

// quotedComment says that a comment in front of the first row has a quote.
func quotedComment(sample []byte) bool {
	t := blockText("", sample, 0, 0, -1)
	for {
		line, err := t.next()
		switch {
		case err != nil || len(trim(line)) > 0 && !isComment(line):
			return false
		case bytes.IndexByte(line, '"') >= 0:
			return true
		}
	}
}

// countLines counts line ends: LF, CRLF, CR.
func countLines(b []byte) int64 {
	n := int64(bytes.Count(b, []byte{'\n'}))
	for {
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			return n
		}
		if i+1 == len(b) || b[i+1] != '\n' {
			n++
		}
		b = b[i+1:]
	}
}
