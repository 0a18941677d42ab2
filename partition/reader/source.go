package reader

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// input is one file or stream of the graph.
type input struct {
	name   string
	from   string    // the folder or pattern that it was found in, "" if it was named
	stream io.Reader // standard input or a pipe: can be read once; nil for files
	opened *source   // a stream that detection has begun to read
}

// source is an input that is open, unpacked and decoded.
type source struct {
	*text
	file        *os.File
	size        int64
	compression string
	mark        string // encoding that a byte order mark declares, or ""
	free        []func()
	parquet     bool
	regular     bool // a file that can be opened again
}

func (s *source) close() {
	for i := len(s.free) - 1; i >= 0; i-- {
		s.free[i]()
	}
	s.free = nil
}

// open opens the input, finds its compression and encoding and fills the
// first window of text. A source must be closed.
func (in *input) open(ctx context.Context) (*source, error) {
	if in.opened != nil {
		s := in.opened
		in.opened = nil
		s.ctx = ctx
		return s, nil
	}
	s := &source{}
	if err := s.begin(ctx, in); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *source) begin(ctx context.Context, in *input) error {
	rd := in.stream
	var at io.ReaderAt
	if rd == nil {
		f, err := os.Open(in.name)
		if err != nil {
			return &FileError{File: in.name, Byte: -1, Reason: "cannot be opened", Err: cause(err)}
		}
		s.file = f
		s.free = append(s.free, func() { f.Close() })
		info, err := f.Stat()
		if err != nil {
			return &FileError{File: in.name, Byte: -1, Reason: "cannot be opened", Err: cause(err)}
		}
		rd = f
		if info.Mode().IsRegular() {
			at, s.size, s.regular = f, info.Size(), true
		}
	}
	count := &counted{rd: rd}
	p := &packed{Reader: bufio.NewReaderSize(count, bufferSize), count: count}
	if head, _ := p.Peek(4); bytes.Equal(head, []byte("PAR1")) && at != nil {
		s.parquet = true
		s.text = newText(ctx, in.name, p)
		return nil
	}
	return s.layers(ctx, in.name, p, at)
}

func (s *source) layers(ctx context.Context, name string, p *packed, at io.ReaderAt) error {
	unpacked, compression, free, err := unpack(name, p, at, s.size)
	s.free = append(s.free, free)
	s.compression = compression
	if err != nil {
		return err
	}
	decoded, mark, err := decode(name, unpacked)
	if err != nil {
		return asFileError(name, p.offset(), err)
	}
	s.mark = mark
	s.text = newText(ctx, name, decoded)
	for !s.eof && (s.buf == nil || s.end < len(s.buf)) {
		if err := s.fill(); err != nil {
			return asFileError(name, p.offset(), err)
		}
	}
	return nil
}

// sample is the first window of text.
func (s *source) sample() []byte { return s.buf[s.start:s.end] }

func asFileError(name string, at int64, err error) error {
	var fe *FileError
	if errors.As(err, &fe) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &FileError{File: name, Byte: at, Reason: "cannot be read", Err: cause(err)}
}

// cause drops the path from an operating system error: it stands in front.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
