package partition

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/privcom/privcom/storage"
)

// maxListLine bounds a line of the vertices file.
const maxListLine = 1 << 20

// readVertexList registers the ids of the vertices file, plain or gzip: one per
// line, white space around it dropped, blank lines and lines that begin with #
// or % skipped. It gives the number of ids, repeats included.
func (t *intake) readVertexList(name string) (int64, error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, storage.Wrap("read the vertices file", name, "the file system", err)
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, maxListLine)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return 0, fmt.Errorf("partition: %s: damaged gzip: %w; nothing was written", name, err)
		}
		in = bufio.NewReaderSize(unpacked, maxListLine)
	}
	l := vertexList{intake: t, name: name}
	err = l.read(in)
	return l.ids, err
}

type vertexList struct {
	intake  *intake
	name    string
	line    int64
	ids     int64
	first   int64 // line of the first id
	numbers int64 // ids that are numbers
	header  bool  // the first id is not a number
}

func (l *vertexList) read(in *bufio.Reader) error {
	for {
		raw, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			if errors.Is(err, bufio.ErrBufferFull) {
				return l.fault(fmt.Sprintf("a line of more than %d bytes", maxListLine))
			}
			return fmt.Errorf("partition: %s after line %d: %w; nothing was written", l.name, l.line, err)
		}
		if len(raw) > 0 {
			l.line++
			if l.line == 1 {
				raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
			}
			// A lone CR ends a line too.
			for i, part := range bytes.Split(bytes.TrimRight(raw, "\r\n"), []byte{'\r'}) {
				if i > 0 {
					l.line++
				}
				if err := l.take(bytes.TrimSpace(part)); err != nil {
					return err
				}
			}
		}
		if err != nil {
			break
		}
	}
	switch {
	case l.ids == 0:
		return emptyList(l.name)
	case l.header && l.ids > 1 && l.numbers == l.ids-1:
		l.line = l.first
		return l.fault("every id but this one is a number, so it looks like a header; begin the line with # or remove it")
	}
	return nil
}

func (l *vertexList) take(id []byte) error {
	if len(id) == 0 || id[0] == '#' || id[0] == '%' {
		return nil
	}
	if i := bytes.IndexAny(id, "\x00\t"); i >= 0 {
		return l.fault(fmt.Sprintf("byte %#02x within an id; %s", id[i], oneVertexPerLine))
	}
	if l.line&0xffff == 0 {
		if err := l.intake.ctx.Err(); err != nil {
			return err
		}
	}
	l.ids++
	if l.ids == 1 {
		l.first = l.line
	}
	x, ok := parseNumber(id)
	if ok {
		l.numbers++
		return l.intake.numbers(x, x, place{})
	}
	l.header = l.header || l.ids == 1
	return l.intake.texts(id, id, place{})
}

func (l *vertexList) fault(what string) error {
	return fmt.Errorf("partition: %s:%d: %s; nothing was written", l.name, l.line, what)
}

// oneVertexPerLine is said where the vertices file is not that.
const oneVertexPerLine = "the vertices file holds one id per line"

func emptyList(name string) error {
	return fmt.Errorf("partition: %s lists no vertex; %s; nothing was written", name, oneVertexPerLine)
}
