package reader

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

const (
	xmlStart = iota
	xmlEnd
	xmlText
	xmlEOF
)

// maxNesting bounds the names of the open elements, in bytes.
const maxNesting = 1 << 20

// xmlLexer cuts XML into tags and text, as much of XML 1.0 as data files use:
// elements, attributes, the five entities and character numbers, CDATA;
// comments, processing instructions and the document type are skipped and no
// entity is ever defined, so nothing can expand. Tags must match. Bytes are
// kept as they stand in any encoding whose ASCII is ASCII.
type xmlLexer struct {
	tx       *text
	name     []byte // of the last tag, without prefix
	attrs    []xmlAttr
	text     []byte // of the last text, if it was kept
	line     int64  // where the last token begins
	comments int64

	arena  []byte // attribute names and values
	full   []byte // name of the last tag, with prefix
	closes bool   // the last tag was <name/>
	stack  []byte // names of the open elements
	depths []int  // where each begins in stack
}

// xmlAttr is a range of the arena: name without prefix, and value.
type xmlAttr struct{ name, eq, end int }

// attr is the value of an attribute; valid until the next token.
func (l *xmlLexer) attr(name string) ([]byte, bool) {
	for _, a := range l.attrs {
		if string(l.arena[a.name:a.eq]) == name {
			return l.arena[a.eq:a.end], true
		}
	}
	return nil, false
}

func (l *xmlLexer) is(name string) bool { return string(l.name) == name }

// next reads a token. Text is stored only with keep.
func (l *xmlLexer) next(keep bool) (int, error) {
	if l.closes {
		l.closes = false
		l.pop()
		return xmlEnd, nil
	}
	l.line = l.tx.line + 1
	c, err := l.tx.peekByte()
	if isEOF(err) {
		if len(l.depths) > 0 {
			return xmlEOF, l.fault("the XML stops inside <" + clip(l.stack[l.depths[len(l.depths)-1]:]) + ">: the file may be cut off")
		}
		return xmlEOF, nil
	}
	if err != nil {
		return xmlEOF, err
	}
	if c != '<' {
		return xmlText, l.characters(keep)
	}
	if _, err := l.tx.readByte(); err != nil {
		return xmlEOF, err
	}
	c, err = l.peek()
	if err != nil {
		return xmlEOF, err
	}
	switch c {
	case '?':
		return l.skipTo("?>", keep)
	case '!':
		return l.declaration(keep)
	case '/':
		return xmlEnd, l.endTag()
	}
	return xmlStart, l.startTag()
}

// peek is peekByte where the end of the input is a fault.
func (l *xmlLexer) peek() (byte, error) {
	c, err := l.tx.peekByte()
	if err != nil && isEOF(err) {
		err = l.fault("the XML stops inside a tag: the file may be cut off")
	}
	return c, err
}

func (l *xmlLexer) read() (byte, error) {
	c, err := l.tx.readByte()
	if err != nil && isEOF(err) {
		err = l.fault("the XML stops inside a tag: the file may be cut off")
	}
	return c, err
}

// skipTo skips up to and with the mark and reads the next token.
func (l *xmlLexer) skipTo(mark string, keep bool) (int, error) {
	if err := l.until(mark, nil); err != nil {
		return xmlEOF, err
	}
	return l.next(keep)
}

// until reads up to and with the mark, into buf if it is not nil.
func (l *xmlLexer) until(mark string, buf *[]byte) error {
	var last [3]byte // the bytes read most recently
	n := len(mark)
	for {
		c, err := l.read()
		if err != nil {
			return err
		}
		last[0], last[1], last[2] = last[1], last[2], c
		if buf != nil {
			if *buf = append(*buf, c); len(*buf) > maxLine {
				return l.fault("text longer than " + sizeText(maxLine))
			}
		}
		if string(last[3-n:]) == mark {
			if buf != nil {
				*buf = (*buf)[:len(*buf)-n]
			}
			return nil
		}
	}
}

// declaration: <!-- -->, <![CDATA[ ]]>, <!DOCTYPE >.
func (l *xmlLexer) declaration(keep bool) (int, error) {
	var head [9]byte
	n := 0
	for n < 3 || n < 8 && head[1] == '[' {
		c, err := l.read()
		if err != nil {
			return xmlEOF, err
		}
		head[n] = c
		n++
		if n == 2 && head[1] != '-' && head[1] != '[' {
			return l.doctype(keep)
		}
	}
	switch string(head[:n]) {
	case "!--":
		l.comments++
		return l.skipTo("-->", keep)
	case "![CDATA[":
		l.text = l.text[:0]
		var buf *[]byte
		if keep {
			buf = &l.text
		}
		return xmlText, l.until("]]>", buf)
	}
	return xmlEOF, l.fault("a declaration that is not XML")
}

// doctype skips a document type with its internal subset: nested brackets,
// quoted strings.
func (l *xmlLexer) doctype(keep bool) (int, error) {
	depth, quote := 1, byte(0)
	for depth > 0 {
		c, err := l.read()
		if err != nil {
			return xmlEOF, err
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<' || c == '[':
			depth++
		case c == '>' || c == ']':
			depth--
		}
	}
	return l.next(keep)
}

var textStops = stopSet("<&")

// characters reads text up to the next tag.
func (l *xmlLexer) characters(keep bool) error {
	l.text = l.text[:0]
	for {
		c, err := l.tx.peekByte()
		if isEOF(err) || err == nil && c == '<' {
			return nil
		}
		if err != nil {
			return err
		}
		b := l.tx.span(textStops)
		if len(l.depths) == 0 && (len(trim(b)) > 0 || len(b) == 0 && !isBlank(c)) {
			return l.fault("text outside of the XML elements")
		}
		if keep {
			l.text = append(l.text, b...)
		}
		if len(b) == 0 {
			if err := l.special(keep); err != nil {
				return err
			}
		}
		if len(l.text) > maxLine {
			return l.fault("text longer than " + sizeText(maxLine))
		}
	}
}

// special reads an entity or a control byte in text.
func (l *xmlLexer) special(keep bool) error {
	c, err := l.tx.readByte()
	if err != nil || !keep {
		return err
	}
	if c == '&' {
		l.text, err = l.entity(l.text)
		return err
	}
	l.text = append(l.text, c)
	return nil
}

// entity reads an entity behind its & and appends what it stands for.
func (l *xmlLexer) entity(to []byte) ([]byte, error) {
	var buf [12]byte
	n := 0
	for {
		c, err := l.read()
		if err != nil {
			return to, err
		}
		if c == ';' {
			break
		}
		if n == len(buf) {
			return to, l.fault("& that begins no entity")
		}
		buf[n] = c
		n++
	}
	name := string(buf[:n])
	switch name {
	case "lt":
		return append(to, '<'), nil
	case "gt":
		return append(to, '>'), nil
	case "amp":
		return append(to, '&'), nil
	case "quot":
		return append(to, '"'), nil
	case "apos":
		return append(to, '\''), nil
	}
	if r, ok := characterNumber(name); ok {
		return utf8.AppendRune(to, r), nil
	}
	return to, l.fault("unknown entity &" + name + ";")
}

// characterNumber reads #233 or #xE9.
func characterNumber(name string) (rune, bool) {
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, false
	}
	return rune(n), true
}

// local drops the prefix of a name.
func local(name []byte) []byte {
	return name[bytes.IndexByte(name, ':')+1:]
}

func (l *xmlLexer) fault(reason string) *LineError {
	return &LineError{File: l.tx.file, Line: l.line, Byte: l.tx.offset(), Reason: reason,
		Remedy: "Export the file again, or correct the XML there."}
}
