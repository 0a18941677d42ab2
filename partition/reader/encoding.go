package reader

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decode strips a byte order mark and converts UTF-16 to UTF-8. Bytes without
// a mark pass as they are. The name is "" when there was no mark.
func decode(file string, rd io.Reader) (io.Reader, string, error) {
	br := bufio.NewReaderSize(rd, 64<<10)
	head, err := br.Peek(4)
	if err != nil && (!errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		return nil, "", err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, err := br.Discard(3)
		return br, "UTF-8 with byte order mark", err
	case bytes.Equal(head, []byte{0xff, 0xfe, 0, 0}), bytes.Equal(head, []byte{0, 0, 0xfe, 0xff}):
		return nil, "", &FileError{File: file, Byte: 0, Reason: "the text is UTF-32", Remedy: "Save it as UTF-8."}
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		_, err := br.Discard(2)
		return &utf16Reader{file: file, src: br, pos: 2}, "UTF-16LE", err
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		_, err := br.Discard(2)
		return &utf16Reader{file: file, src: br, pos: 2, big: true}, "UTF-16BE", err
	}
	return br, "", nil
}

// utf16Reader converts to UTF-8. A lone surrogate is an error: replacing it
// could make two different ids equal.
type utf16Reader struct {
	file string
	src  *bufio.Reader
	big  bool
	pos  int64  // offset in the unpacked text, in UTF-16 bytes
	out  []byte // converted, not handed out
	err  error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.convert()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) convert() {
	u.out = u.out[:0]
	if cap(u.out) < 4096 {
		u.out = make([]byte, 0, 16<<10)
	}
	for len(u.out) < 4000 && u.err == nil {
		r, err := u.unit()
		if err != nil {
			u.err = err
			return
		}
		if utf16.IsSurrogate(r) {
			low, err := u.unit()
			if err != nil && !errors.Is(err, io.EOF) {
				u.err = err
				return
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				u.err = u.broken("half a surrogate pair")
				return
			}
		}
		u.out = utf8.AppendRune(u.out, r)
	}
}

// unit reads one 16-bit unit; io.EOF only between units.
func (u *utf16Reader) unit() (rune, error) {
	a, err := u.src.ReadByte()
	if err != nil {
		return 0, err
	}
	b, err := u.src.ReadByte()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return 0, u.broken("an odd number of bytes")
		}
		return 0, err
	}
	u.pos += 2
	if u.big {
		return rune(a)<<8 | rune(b), nil
	}
	return rune(b)<<8 | rune(a), nil
}

func (u *utf16Reader) broken(what string) error {
	return &FileError{File: u.file, Byte: u.pos, Reason: "the UTF-16 text is damaged: " + what, Remedy: "Save it as UTF-8."}
}
