package reader

import (
	"strings"
)

const (
	gmlEnd    = iota
	gmlWord   // key or number
	gmlString // without its quotes
	gmlOpen
	gmlClose
)

// gmlLexer cuts GML into tokens.
type gmlLexer struct {
	tx       *text
	tok      []byte // of the last word or string, if it was kept
	line     int64  // where the last token begins
	comments int64
}

// is compares the last word with a key, without regard to case.
func (l *gmlLexer) is(key string) bool {
	return len(l.tok) == len(key) && strings.EqualFold(string(l.tok), key)
}

// next reads a token. With keep false its bytes are not stored.
func (l *gmlLexer) next(keep bool) (int, error) {
	c, err := l.blank()
	l.tok = l.tok[:0]
	l.line = l.tx.line + 1
	if err != nil {
		if isEOF(err) {
			return gmlEnd, nil
		}
		return gmlEnd, err
	}
	switch c {
	case '[':
		_, err = l.tx.readByte()
		return gmlOpen, err
	case ']':
		_, err = l.tx.readByte()
		return gmlClose, err
	case '"':
		return gmlString, l.quoted(keep)
	}
	return gmlWord, l.word(keep)
}

// blank skips white space and comment lines and looks at the next byte.
func (l *gmlLexer) blank() (byte, error) {
	for {
		c, err := l.tx.peekByte()
		if err != nil {
			return 0, err
		}
		switch {
		case c == '#':
			l.comments++
			if err := l.comment(); err != nil {
				return 0, err
			}
		case c > ' ':
			return c, nil
		default:
			if _, err := l.tx.readByte(); err != nil {
				return 0, err
			}
		}
	}
}

func (l *gmlLexer) comment() error {
	for {
		c, err := l.tx.readByte()
		if err != nil || c == '\n' || c == '\r' {
			return err
		}
	}
}

var wordStops = stopSet(" []\"")

func (l *gmlLexer) word(keep bool) error {
	for {
		c, err := l.tx.peekByte()
		if isEOF(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if wordStops[c] {
			if c == 0 {
				_, err = l.tx.readByte() // which refuses it
			}
			return err
		}
		if err := l.push(l.tx.span(wordStops), keep); err != nil {
			return err
		}
	}
}

// push keeps bytes of a token, within the bound on its length.
func (l *gmlLexer) push(b []byte, keep bool) error {
	if !keep {
		return nil
	}
	if len(l.tok)+len(b) > maxLine {
		return l.fault("a word longer than " + sizeText(maxLine))
	}
	l.tok = append(l.tok, b...)
	return nil
}

var stringStops = stopSet("\"\\")

// quoted reads a string. A backslash before a quote is part of the string
// unless the line, the list or the input ends behind the quote: some writers
// escape quotes (igraph), others put a backslash at the end of a path.
func (l *gmlLexer) quoted(keep bool) error {
	if _, err := l.tx.readByte(); err != nil {
		return err
	}
	escaped := false
	for {
		if b := l.tx.span(stringStops); len(b) > 0 {
			escaped = false
			if err := l.push(b, keep); err != nil {
				return err
			}
		}
		c, err := l.tx.readByte()
		if isEOF(err) {
			e := l.fault("a string that is never closed")
			e.Remedy = "Close the quote; the file may be cut off."
			return e
		}
		if err != nil {
			return err
		}
		if c == '"' && !(escaped && !l.endsHere()) {
			return nil
		}
		escaped = c == '\\' && !escaped
		if err := l.push([]byte{c}, keep); err != nil {
			return err
		}
	}
}

// endsHere says that a line, list or input ends at the next byte.
func (l *gmlLexer) endsHere() bool {
	c, err := l.tx.peekByte()
	return err != nil || c == '\n' || c == '\r' || c == ']'
}

func (l *gmlLexer) fault(reason string) *LineError {
	return &LineError{File: l.tx.file, Line: l.line, Byte: l.tx.offset(), Text: clip(l.tok), Reason: reason}
}
