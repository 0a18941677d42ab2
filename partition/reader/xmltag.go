package reader

import "bytes"

// startTag reads <name attributes> behind the <.
func (l *xmlLexer) startTag() error {
	l.full, l.attrs, l.arena = l.full[:0], l.attrs[:0], l.arena[:0]
	var err error
	if l.full, err = l.word(l.full); err != nil {
		return err
	}
	l.name = local(l.full)
	if err := l.push(); err != nil {
		return err
	}
	for {
		blank, err := l.blanks()
		if err != nil {
			return err
		}
		c, err := l.peek()
		if err != nil {
			return err
		}
		switch {
		case c == '>':
			_, err = l.read()
			return err
		case c == '/':
			return l.selfClose()
		case !blank:
			return l.fault("a tag of XML with a stray " + quoteShort(string(c)))
		}
		if err := l.attribute(); err != nil {
			return err
		}
	}
}

func (l *xmlLexer) selfClose() error {
	if _, err := l.read(); err != nil {
		return err
	}
	c, err := l.read()
	if err == nil && c != '>' {
		err = l.fault("/ in a tag of XML")
	}
	l.closes = err == nil
	return err
}

// attribute reads name = "value".
func (l *xmlLexer) attribute() error {
	from := len(l.arena)
	var err error
	if l.arena, err = l.word(l.arena); err != nil {
		return err
	}
	if colon := bytes.IndexByte(l.arena[from:], ':'); colon >= 0 {
		from += colon + 1
	}
	a := xmlAttr{name: from, eq: len(l.arena)}
	if _, err := l.blanks(); err != nil {
		return err
	}
	if c, err := l.read(); err != nil || c != '=' {
		return l.orFault(err, "an attribute without a value")
	}
	if _, err := l.blanks(); err != nil {
		return err
	}
	quote, err := l.read()
	if err != nil || quote != '"' && quote != '\'' {
		return l.orFault(err, "an attribute whose value is not quoted")
	}
	if err := l.value(quote); err != nil {
		return err
	}
	a.end = len(l.arena)
	l.attrs = append(l.attrs, a)
	return nil
}

func (l *xmlLexer) orFault(err error, reason string) error {
	if err != nil {
		return err
	}
	return l.fault(reason)
}

var valueStops = stopSet("<&\"'")

// value reads an attribute value up to its closing quote. Line ends and tabs
// in it are blanks (XML 1.0, section 3.3.3).
func (l *xmlLexer) value(quote byte) error {
	for {
		l.arena = append(l.arena, l.tx.span(valueStops)...)
		c, err := l.read()
		switch {
		case err != nil:
			return err
		case c == quote:
			return nil
		case c == '<':
			return l.fault("< in the value of an attribute")
		case c == '&':
			if l.arena, err = l.entity(l.arena); err != nil {
				return err
			}
		case c == '\r':
			if next, err := l.peek(); err != nil || next == '\n' { // CRLF is one blank
				continue
			}
			l.arena = append(l.arena, ' ')
		case c < ' ':
			l.arena = append(l.arena, ' ')
		default:
			l.arena = append(l.arena, c)
		}
		if len(l.arena) > maxLine {
			return l.fault("a tag longer than " + sizeText(maxLine))
		}
	}
}

var nameStops = stopSet(" >/=<\"'&")

// word appends a name.
func (l *xmlLexer) word(to []byte) ([]byte, error) {
	from := len(to)
	for {
		c, err := l.peek()
		if err != nil {
			return to, err
		}
		if nameStops[c] {
			break
		}
		to = append(to, l.tx.span(nameStops)...)
		if len(to)-from > 1024 {
			return to, l.fault("a name of XML longer than 1024 bytes")
		}
	}
	if len(to) == from || isDigit(to[from]) || to[len(to)-1] == ':' {
		return to, l.fault("< or an attribute without a name of XML")
	}
	return to, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (l *xmlLexer) blanks() (bool, error) {
	some := false
	for {
		c, err := l.peek()
		if err != nil || !isBlank(c) {
			return some, err
		}
		some = true
		if _, err := l.read(); err != nil {
			return some, err
		}
	}
}

// endTag reads </name> behind the <.
func (l *xmlLexer) endTag() error {
	if _, err := l.read(); err != nil {
		return err
	}
	var err error
	if l.full, err = l.word(l.full[:0]); err != nil {
		return err
	}
	if _, err := l.blanks(); err != nil {
		return err
	}
	if c, err := l.read(); err != nil || c != '>' {
		return l.orFault(err, "an end tag that does not end")
	}
	if len(l.depths) == 0 || !bytes.Equal(l.stack[l.depths[len(l.depths)-1]:], l.full) {
		return l.fault("the end tag </" + clip(l.full) + "> closes no open element")
	}
	l.name = local(l.full)
	l.pop()
	return nil
}

func (l *xmlLexer) push() error {
	if len(l.stack)+len(l.full) > maxNesting || len(l.depths) > 10000 {
		return l.fault("elements nested too deeply")
	}
	l.depths = append(l.depths, len(l.stack))
	l.stack = append(l.stack, l.full...)
	return nil
}

func (l *xmlLexer) pop() {
	last := len(l.depths) - 1
	l.stack = l.stack[:l.depths[last]]
	l.depths = l.depths[:last]
}
