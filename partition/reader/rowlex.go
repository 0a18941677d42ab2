package reader

import (
	"errors"
	"io"
)

const (
	rowWord = iota
	rowEnd  // end of the line
	rowEOF
)

// rowLexer cuts lines into words without holding a line: one line of METIS or
// of an adjacency list can name millions of neighbours.
type rowLexer struct {
	tx       *text
	tok      []byte
	line     int64 // of the last word or line end
	comments int64
	inRow    bool // something stands in the line so far
}

// next reads a word or a line end. Comment lines are skipped whole where
// comment is their first byte that is not blank.
func (l *rowLexer) next(comment string) (int, error) {
	l.tok = l.tok[:0]
	for {
		c, err := l.tx.peekByte()
		if isEOF(err) {
			if l.inRow {
				l.inRow = false
				l.line = l.tx.line + 1
				return rowEnd, nil
			}
			return rowEOF, nil
		}
		if err != nil {
			return rowEOF, err
		}
		l.line = l.tx.line + 1
		switch {
		case c == '\n' || c == '\r':
			l.inRow = false
			return rowEnd, l.lineEnd()
		case space[c]:
			l.tx.start++
		case !l.inRow && containsByte(comment, c):
			if err := l.skipLine(); err != nil {
				return rowEOF, err
			}
			l.comments++
		default:
			l.inRow = true
			return rowWord, l.word()
		}
	}
}

func containsByte(s string, c byte) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == c {
			return true
		}
	}
	return false
}

// isEOF: the input ended, and ended well.
func isEOF(err error) bool {
	return err != nil && errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// lineEnd takes LF, CR or CRLF.
func (l *rowLexer) lineEnd() error {
	c, err := l.tx.readByte()
	if err != nil || c == '\n' {
		return err
	}
	if c, err = l.tx.peekByte(); err == nil && c == '\n' {
		_, err = l.tx.readByte()
	}
	if isEOF(err) {
		return nil
	}
	return err
}

// skipLine skips a line with its end.
func (l *rowLexer) skipLine() error {
	for {
		c, err := l.tx.peekByte()
		if isEOF(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if c == '\n' || c == '\r' {
			return l.lineEnd()
		}
		if _, err := l.tx.readByte(); err != nil {
			return err
		}
	}
}

func (l *rowLexer) word() error {
	for {
		c, err := l.tx.peekByte()
		if isEOF(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if c == '\n' || c == '\r' || space[c] {
			return nil
		}
		if len(l.tok) == maxLine {
			return l.fault("a word longer than " + sizeText(maxLine))
		}
		if _, err := l.tx.readByte(); err != nil { // byte 0 is refused there
			return err
		}
		l.tok = append(l.tok, c)
	}
}

func (l *rowLexer) fault(reason string) *LineError {
	return &LineError{File: l.tx.file, Line: l.line, Byte: l.tx.offset(), Text: clip(l.tok), Reason: reason}
}
