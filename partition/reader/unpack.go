package reader

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds what a packed file may ask a decoder to keep in memory.
const maxWindow = 128 << 20

// counted counts the bytes that were read from the file as stored.
type counted struct {
	rd io.Reader
	n  int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.rd.Read(p)
	c.n += int64(n)
	return n, err
}

// packed is a buffered reader that knows how far the decoder has come.
type packed struct {
	*bufio.Reader
	count *counted
}

func (p *packed) offset() int64 { return p.count.n - int64(p.Buffered()) }

// unpack finds the compression by its first bytes and returns the reader of
// what is inside, the name of the compression ("" for none) and a function
// that frees the decoder.
func unpack(file string, p *packed, at io.ReaderAt, size int64) (io.Reader, string, func(), error) {
	none := func() {}
	head, err := p.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", none, &FileError{File: file, Byte: p.offset(), Reason: "cannot be read", Err: err}
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return &gzipReader{file: file, src: p}, "gzip", none, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), isSkippable(head):
		return openZstd(file, p)
	case bytes.HasPrefix(head, []byte("BZh")) && len(head) > 3 && head[3] >= '1' && head[3] <= '9':
		return &watched{file: file, kind: "bzip2", src: p, rd: bzip2.NewReader(p)}, "bzip2", none, nil
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return openXZ(file, p)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return openZip(file, at, size)
	}
	if kind := otherPack(head); kind != "" {
		return nil, "", none, &FileError{File: file, Byte: 0, Reason: "packed with " + kind + ", which is not read",
			Remedy: "Unpack it, or pack it with gzip, zstd, bzip2, xz or zip."}
	}
	return p, "", none, nil
}

// otherPack names packers whose files are recognised to be refused plainly.
func otherPack(head []byte) string {
	for magic, name := range map[string]string{
		"7z\xbc\xaf\x27\x1c": "7-Zip", "Rar!\x1a\x07": "RAR", "\x04\x22\x4d\x18": "LZ4",
		"\x1f\x9d": "compress (.Z)", "LZIP": "lzip", "\xff\x06\x00\x00sNaP": "Snappy frames",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return name
		}
	}
	return ""
}

// gzipReader reads every member of a gzip file in turn. Zero bytes after a
// member are padding (tape, block devices) if nothing else follows them;
// anything else there is refused.
type gzipReader struct {
	file string
	src  *packed
	zr   *gzip.Reader
	done bool
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for !g.done {
		if g.zr == nil {
			if err := g.member(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := g.zr.Read(p)
		if isEOF(err) {
			err = g.after()
		} else if err != nil {
			err = unpackError(g.file, "gzip", g.src.offset(), err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

func (g *gzipReader) member() error {
	zr, err := gzip.NewReader(g.src)
	if err != nil {
		return unpackError(g.file, "gzip", g.src.offset(), err)
	}
	zr.Multistream(false)
	g.zr = zr
	return nil
}

// after looks at what follows a finished member.
func (g *gzipReader) after() error {
	end := g.src.offset()
	head, _ := g.src.Peek(2)
	if len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		if err := g.zr.Reset(g.src); err != nil {
			return unpackError(g.file, "gzip", g.src.offset(), err)
		}
		g.zr.Multistream(false)
		return nil
	}
	for {
		c, err := g.src.ReadByte()
		switch {
		case isEOF(err):
			g.done = true
			return io.EOF
		case err != nil:
			return unpackError(g.file, "gzip", g.src.offset(), err)
		case c != 0:
			return &FileError{File: g.file, Byte: end, Reason: "bytes that are not gzip follow the end of the gzip data",
				Remedy: "Cut the file there, or pack it again."}
		}
	}
}

// watched turns the errors of a decoder into FileErrors with the offset.
type watched struct {
	file, kind string
	src        *packed
	rd         io.Reader
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.rd.Read(p)
	if err != nil && (!errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		at := int64(-1)
		if w.src != nil {
			at = w.src.offset()
		}
		err = unpackError(w.file, w.kind, at, err)
	}
	return n, err
}

func unpackError(file, kind string, at int64, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &FileError{File: file, Byte: at, Reason: "the " + kind + " data stop in the middle: the file is truncated",
			Remedy: "Fetch or copy the file again.", Err: io.ErrUnexpectedEOF}
	}
	return &FileError{File: file, Byte: at, Reason: "the " + kind + " data are damaged",
		Remedy: "Fetch or copy the file again.", Err: err}
}

func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}

func openZstd(file string, p *packed) (io.Reader, string, func(), error) {
	zr, err := zstd.NewReader(p, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, "zstd", func() {}, unpackError(file, "zstd", p.offset(), err)
	}
	return &watched{file: file, kind: "zstd", src: p, rd: zr}, "zstd", zr.Close, nil
}

// openZip opens the one member of a zip file.
func openZip(file string, at io.ReaderAt, size int64) (io.Reader, string, func(), error) {
	none := func() {}
	if at == nil {
		return nil, "zip", none, &FileError{File: file, Byte: 0, Reason: "a zip file cannot be read from a stream",
			Remedy: "Give it by its path, or unpack it into the pipe (unzip -p)."}
	}
	zr, err := zip.NewReader(at, size)
	if err != nil {
		return nil, "zip", none, unpackError(file, "zip", size, err)
	}
	var members []*zip.File
	for _, f := range zr.File {
		if !strings.HasSuffix(f.Name, "/") && !strings.HasPrefix(f.Name, "__MACOSX/") {
			members = append(members, f)
		}
	}
	if len(members) != 1 {
		return nil, "zip", none, &FileError{File: file, Byte: -1, Reason: fmt.Sprintf("the zip file holds %d files, not one", len(members)),
			Remedy: "Unpack it and give the graph file."}
	}
	m := members[0]
	if m.Flags&1 != 0 {
		return nil, "zip", none, &FileError{File: file, Byte: -1, Reason: "the zip file is encrypted", Remedy: "Unpack it and give the graph file."}
	}
	rc, err := m.Open()
	if err != nil {
		return nil, "zip", none, unpackError(file, "zip", size, err)
	}
	return &watched{file: file, kind: "zip", rd: rc}, "zip", func() { rc.Close() }, nil
}
