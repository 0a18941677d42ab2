package reader

// adjacency reads an adjacency list: in each line a vertex, then its
// neighbours, cut by white space. It cannot be told from an edge list, so it
// is read only when Options.Format says so. The first vertex of each line is
// handed out as a listed vertex. A fault ends the reading: parts of its line
// are out already.
func (u *run) adjacency(src *source) error {
	lex := rowLexer{tx: src.text}
	e := Edge{File: src.text.file}
	var first []byte
	defer func() {
		u.stats.Lines += src.lines()
		u.stats.Comments += lex.comments
	}()
	for begun := false; ; {
		kind, err := lex.next("#%")
		if err != nil {
			return err
		}
		switch {
		case kind == rowEOF:
			return nil
		case kind == rowEnd:
			if !begun {
				u.stats.Blank++
			}
			begun = false
			continue
		}
		if err := u.listID(&lex); err != nil {
			return err
		}
		if !begun {
			begun = true
			first = append(first[:0], lex.tok...)
			err = u.addVertex(first)
		} else {
			e.Source, e.Target, e.Line = first, lex.tok, lex.line
			err = u.addEdge(e)
		}
		if err != nil {
			return err
		}
	}
}

// listID checks a word of an adjacency list. A mark at its end would make
// another vertex of "7:" or "7,".
func (u *run) listID(lex *rowLexer) error {
	if c := lex.tok[len(lex.tok)-1]; c == ':' || c == ',' || c == ';' {
		e := lex.fault("an id that ends with " + string(c))
		e.Remedy = "In an adjacency list, white space alone stands between ids."
		return e
	}
	if reason := idFault(lex.tok, u.strings); reason != "" {
		e := lex.fault(reason)
		e.Remedy = idRemedy
		return e
	}
	return nil
}
