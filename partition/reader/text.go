package reader

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"
)

const (
	bufferSize = 256 << 10 // of files as stored
	maxLine    = 16 << 20  // longest line of an edge list or CSV record
	maxRow     = 64 << 20  // longest line of formats that hold a whole neighbourhood in one
)

// textWindow is the first size of the window of text, and the size of the
// sample that detection sees. Only tests change it.
var textWindow = 256 << 10

// text is a window over the decoded bytes of one input. It counts lines and
// bytes, watches for NUL bytes and for bytes that are not UTF-8, and never
// holds more than one line (or token) of at most limit bytes.
type text struct {
	ctx   context.Context
	file  string
	rd    io.Reader
	buf   []byte
	start int // buf[start:end] is unread
	end   int
	eof   bool
	err   error // what rd said, kept until the bytes before it are used

	base  int64 // offset of buf[0]
	line  int64 // lines handed out so far
	limit int   // most bytes of one line

	lf    int   // index of the first '\n' at or after start; end when there is none; stale when < start
	hasCR bool  // some '\r' may stand in buf[start:end]
	nul   int64 // offset of the first NUL byte, -1 without
	eol   string
	prev  byte  // in front of buf
	crAt  int64 // offset behind the last '\r' that readByte met

	notUTF8  bool
	nonASCII bool
	carry    []byte // a rune whose rest is not read yet
}

func newText(ctx context.Context, file string, rd io.Reader) *text {
	return &text{ctx: ctx, file: file, rd: rd, limit: maxLine, lf: -1, nul: -1}
}

// blockText is a text over bytes that were already read and watched.
func blockText(file string, block []byte, base, line int64, nul int64) *text {
	return &text{file: file, buf: block, end: len(block), eof: true, base: base, line: line,
		limit: maxRow, lf: -1, nul: nul, hasCR: bytes.IndexByte(block, '\r') >= 0}
}

// offset is the position of the next unread byte in the decoded text.
func (t *text) offset() int64 { return t.base + int64(t.start) }

// fill reads more bytes behind the unread ones. It grows the buffer only when
// a line fills it, up to limit.
func (t *text) fill() error {
	if t.eof {
		return t.err
	}
	if t.ctx != nil {
		if err := t.ctx.Err(); err != nil {
			return err
		}
	}
	if err := t.makeRoom(); err != nil {
		return err
	}
	from := t.end
	for try := 0; ; try++ {
		n, err := t.rd.Read(t.buf[t.end:])
		t.end += n
		if err != nil {
			t.eof = true
			if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.err = asFileError(t.file, -1, err)
			}
		}
		if n > 0 || err != nil {
			break
		}
		if try == 100 {
			return io.ErrNoProgress
		}
	}
	t.watch(from)
	if t.end == from && t.err != nil {
		return t.err
	}
	return nil
}

// makeRoom moves the unread bytes to the front, or grows the buffer when they
// fill it.
func (t *text) makeRoom() error {
	if t.buf == nil {
		t.buf = make([]byte, textWindow)
	}
	if t.start > 0 {
		t.prev = t.buf[t.start-1]
		copy(t.buf, t.buf[t.start:t.end])
		t.base += int64(t.start)
		t.end -= t.start
		t.start = 0
		t.lf = -1
	}
	if t.end < len(t.buf) {
		return nil
	}
	if len(t.buf) >= t.limit {
		return t.fault(t.buf[:min(shortText, len(t.buf))], "line longer than "+sizeText(t.limit),
			"This does not look like a graph file with lines; say what it is with --format.")
	}
	grown := make([]byte, min(2*len(t.buf), t.limit))
	copy(grown, t.buf[:t.end])
	t.buf = grown
	return nil
}

// watch looks once at each new byte.
func (t *text) watch(from int) {
	fresh := t.buf[from:t.end]
	if t.nul < 0 {
		if i := bytes.IndexByte(fresh, 0); i >= 0 {
			t.nul = t.base + int64(from+i)
		}
	}
	t.hasCR = bytes.IndexByte(t.buf[t.start:t.end], '\r') >= 0
	t.lf = -1
	t.watchEncoding(fresh)
}

// watchEncoding checks UTF-8 across reads: a rune may be cut between two.
func (t *text) watchEncoding(fresh []byte) {
	if t.notUTF8 {
		return
	}
	for len(t.carry) > 0 && len(fresh) > 0 {
		t.carry = append(t.carry, fresh[0])
		fresh = fresh[1:]
		if utf8.FullRune(t.carry) {
			t.notUTF8 = !utf8.Valid(t.carry)
			t.carry = t.carry[:0]
		}
	}
	if len(fresh) > 0 && !isASCII(fresh) {
		t.nonASCII = true
		tail := unfinishedRune(fresh)
		t.carry = append(t.carry[:0], fresh[len(fresh)-tail:]...)
		t.notUTF8 = t.notUTF8 || !utf8.Valid(fresh[:len(fresh)-tail])
	}
	if t.eof && len(t.carry) > 0 {
		t.notUTF8 = true
	}
}

// unfinishedRune counts the bytes at the end of b that begin a rune without
// finishing it.
func unfinishedRune(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

func isASCII(b []byte) bool {
	for len(b) >= 8 {
		if (b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7])&0x80 != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// next returns the next line without its end, which is LF, CRLF or a lone CR.
// The slice is valid until the next call. At the end it returns io.EOF.
func (t *text) next() ([]byte, error) {
	for {
		b := t.buf[t.start:t.end]
		if t.lf < t.start {
			t.lf = t.end
			if i := bytes.IndexByte(b, '\n'); i >= 0 {
				t.lf = t.start + i
			}
		}
		stop := t.lf
		if t.hasCR {
			if j := bytes.IndexByte(t.buf[t.start:stop], '\r'); j >= 0 && (t.start+j+1 < t.end || t.eof) {
				at := t.start + j
				if at+1 == t.lf && t.lf < t.end {
					return t.take(at, t.lf+1, "\r\n")
				}
				return t.take(at, at+1, "\r")
			}
		}
		if stop < t.end {
			return t.take(stop, stop+1, "\n")
		}
		if t.eof {
			return t.last()
		}
		if err := t.fill(); err != nil {
			return nil, err
		}
	}
}

// last hands out what stands after the last line end, if the input ended well.
func (t *text) last() ([]byte, error) {
	if t.err != nil {
		return nil, t.err
	}
	if t.start == t.end {
		return nil, io.EOF
	}
	return t.take(t.end, t.end, "")
}

func (t *text) take(stop, after int, eol string) ([]byte, error) {
	line := t.buf[t.start:stop]
	t.line++
	if t.nul >= 0 && t.nul < t.base+int64(after) {
		return nil, t.binary()
	}
	t.start = after
	t.eol = eol
	return line, nil
}

// binary is the error for a NUL byte in the line that is being taken.
func (t *text) binary() error {
	return &LineError{File: t.file, Line: max(t.line, 1), Byte: t.nul,
		Reason: "byte 0 in the text: this is a binary file, or UTF-16 without a byte order mark",
		Remedy: "Give a text graph file (edge list, CSV, GML, MatrixMarket, METIS, Pajek, GraphML, GEXF) or Parquet, plain or packed with gzip, zstd, bzip2, xz or zip."}
}

// fault is an error at the line after the last one handed out.
func (t *text) fault(b []byte, reason, remedy string) *LineError {
	return &LineError{File: t.file, Line: t.line + 1, Byte: t.offset(), Text: clip(b), Reason: reason, Remedy: remedy}
}

// encoding names what the bytes turned out to be.
func (t *text) encoding() string {
	switch {
	case t.notUTF8:
		return "8-bit, not UTF-8, kept byte for byte"
	case t.nonASCII:
		return "UTF-8"
	}
	return "ASCII"
}

func sizeText(n int) string {
	if n >= 1<<20 {
		return itoa(int64(n>>20)) + " MiB"
	}
	return itoa(int64(n)) + " bytes"
}

// peekByte looks at the next byte; io.EOF at the end.
func (t *text) peekByte() (byte, error) {
	if t.start < t.end {
		return t.buf[t.start], nil
	}
	return t.peekMore()
}

func (t *text) peekMore() (byte, error) {
	for t.start == t.end {
		if t.eof {
			if t.err != nil {
				return 0, t.err
			}
			return 0, io.EOF
		}
		if err := t.fill(); err != nil {
			return 0, err
		}
	}
	return t.buf[t.start], nil
}

// readByte takes the next byte and counts line ends, for formats that are
// read by tokens. There t.line+1 is the line of the next byte.
func (t *text) readByte() (byte, error) {
	c, err := t.peekByte()
	if err != nil {
		return 0, err
	}
	t.start++
	if c <= '\r' {
		switch c {
		case '\n':
			if t.crAt != t.offset()-1 || t.crAt == 0 {
				t.line++
			}
		case '\r':
			t.line++
			t.crAt = t.offset()
		case 0:
			t.line++
			return 0, t.binary()
		}
	}
	return c, nil
}

// lines is the number of lines behind a reader by tokens that came to the end.
func (t *text) lines() int64 {
	last := t.prev
	if t.start > 0 {
		last = t.buf[t.start-1]
	}
	if t.offset() > 0 && last != '\n' && last != '\r' {
		return t.line + 1
	}
	return t.line
}

// stopSet marks the given bytes and every control byte, so that a span between
// stops holds no line end and no byte 0.
func stopSet(bytes string) *[256]bool {
	var set [256]bool
	for c := range ' ' {
		set[c] = true
	}
	for i := range len(bytes) {
		set[bytes[i]] = true
	}
	return &set
}

// span takes the bytes of the window up to the first stop. It reads no more
// bytes: where it ends at the end of the window, the next peekByte goes on.
func (t *text) span(stop *[256]bool) []byte {
	i := t.start
	for i < t.end && !stop[t.buf[i]] {
		i++
	}
	b := t.buf[t.start:i]
	t.start = i
	return b
}
