package reader

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// gmlReader reads GML (Himsolt 1997): nested lists of keys and values. The id
// of a vertex is the GML id; labels are not used. Every node is handed out.
type gmlReader struct {
	u      *run
	lex    gmlLexer
	nodes  declared
	source []byte
	target []byte
	id     []byte
}

func (u *run) gml(src *source) error {
	src.limit = maxLine
	g := &gmlReader{u: u, lex: gmlLexer{tx: src.text}, nodes: declared{file: src.text.file}}
	err := g.top()
	u.stats.Lines += src.lines()
	u.stats.Comments += g.lex.comments
	if err != nil {
		return err
	}
	u.stats.DeclaredVertices = u.listed
	return g.nodes.check()
}

// top reads keys outside of any list until the end.
func (g *gmlReader) top() error {
	graphs := 0
	for {
		kind, err := g.lex.next(true)
		if err != nil {
			return err
		}
		switch {
		case kind == gmlEnd && graphs == 0:
			return g.fault("a GML file without a graph [ ... ]")
		case kind == gmlEnd:
			return nil
		case kind != gmlWord || !isKey(g.lex.tok):
			return g.fault("a key was expected here")
		}
		if !g.lex.is("graph") {
			if err := g.value(); err != nil {
				return err
			}
			continue
		}
		if graphs++; graphs > 1 {
			return g.fault("a second graph in the file")
		}
		if err := g.open("graph"); err != nil {
			return err
		}
		if err := g.graph(); err != nil {
			return err
		}
	}
}

// open takes the [ behind a key.
func (g *gmlReader) open(key string) error {
	kind, err := g.lex.next(true)
	if err == nil && kind != gmlOpen {
		err = g.fault("[ was expected after " + key)
	}
	return err
}

// value skips the value of a key, however deep.
func (g *gmlReader) value() error {
	kind, err := g.lex.next(false)
	switch {
	case err != nil:
		return err
	case kind == gmlOpen:
		return g.skipList()
	case kind == gmlClose:
		return g.fault("a value was expected before ]")
	case kind == gmlEnd:
		return g.cutOff()
	}
	return nil
}

func (g *gmlReader) skipList() error {
	for depth := 1; depth > 0; {
		kind, err := g.lex.next(false)
		if err != nil {
			return err
		}
		switch kind {
		case gmlOpen:
			depth++
		case gmlClose:
			depth--
		case gmlEnd:
			return g.cutOff()
		}
	}
	return nil
}

func (g *gmlReader) graph() error {
	g.u.stats.Directed = "no" // the default of GML
	return g.list(func() error {
		switch {
		case g.lex.is("node"):
			return g.node()
		case g.lex.is("edge"):
			return g.edge()
		case g.lex.is("directed"):
			if _, err := g.lex.next(true); err != nil {
				return err
			}
			if string(g.lex.tok) == "1" {
				g.u.stats.Directed = "yes"
			}
			return nil
		}
		return g.value()
	})
}

// list calls item for each key up to the closing bracket.
func (g *gmlReader) list(item func() error) error {
	for {
		kind, err := g.lex.next(true)
		switch {
		case err != nil:
			return err
		case kind == gmlClose:
			return nil
		case kind == gmlEnd:
			return g.cutOff()
		case kind != gmlWord || !isKey(g.lex.tok):
			return g.fault("a key was expected here")
		}
		if err := item(); err != nil {
			return err
		}
	}
}

func (g *gmlReader) node() error {
	line := g.lex.line
	if err := g.open("node"); err != nil {
		return err
	}
	g.id = g.id[:0]
	err := g.list(func() error {
		if g.lex.is("id") {
			return g.label(&g.id, "id")
		}
		return g.value()
	})
	if err != nil {
		return err
	}
	if len(g.id) == 0 {
		return g.faultAt(line, "a node without an id")
	}
	if err := g.nodes.node(g.id, line); err != nil {
		return err
	}
	return g.u.addVertex(g.id)
}

func (g *gmlReader) edge() error {
	e := Edge{Line: g.lex.line, File: g.nodes.file}
	if err := g.open("edge"); err != nil {
		return err
	}
	g.source, g.target = g.source[:0], g.target[:0]
	named := false // a key "weight" wins over "value"
	err := g.list(func() error {
		switch {
		case g.lex.is("source"):
			return g.label(&g.source, "source")
		case g.lex.is("target"):
			return g.label(&g.target, "target")
		case g.lex.is("weight"), g.lex.is("value") && !named:
			named = g.lex.is("weight")
			return g.number(&e)
		}
		return g.value()
	})
	if err != nil {
		return err
	}
	if len(g.source) == 0 || len(g.target) == 0 {
		return g.faultAt(e.Line, "an edge without source or target")
	}
	g.nodes.use(g.source, e.Line)
	g.nodes.use(g.target, e.Line)
	e.Source, e.Target = g.source, g.target
	return g.u.addEdge(e)
}

// number takes a weight; a value that is no number or a list is no weight.
func (g *gmlReader) number(e *Edge) error {
	kind, err := g.lex.next(true)
	switch {
	case err != nil:
		return err
	case kind == gmlOpen:
		return g.skipList()
	case kind == gmlClose || kind == gmlEnd:
		return g.fault("a value was expected here")
	}
	e.Weight, e.HasWeight = parseWeight(g.lex.tok)
	return nil
}

// label takes the value of id, source or target.
func (g *gmlReader) label(into *[]byte, key string) error {
	if len(*into) > 0 {
		return g.fault("a second " + key)
	}
	kind, err := g.lex.next(true)
	if err != nil {
		return err
	}
	switch kind {
	case gmlString:
		*into = append(*into, unescape(g.lex.tok)...)
	case gmlWord:
		if reason := idFault(g.lex.tok, g.u.strings); reason != "" {
			err := g.fault(reason)
			err.Remedy = idRemedy
			return err
		}
		*into = append(*into, g.lex.tok...)
	default:
		return g.fault("a value was expected after " + key)
	}
	if len(*into) == 0 {
		return g.fault("an empty vertex id")
	}
	return nil
}

func (g *gmlReader) fault(reason string) *LineError { return g.lex.fault(reason) }

func (g *gmlReader) faultAt(line int64, reason string) *LineError {
	return &LineError{File: g.nodes.file, Line: line, Reason: reason}
}

func (g *gmlReader) cutOff() error {
	e := g.faultAt(g.lex.tx.line+1, "the GML text stops before the closing ]: the file may be cut off")
	e.Remedy = "Fetch or copy the file again."
	return e
}

// unescape replaces the character entities of GML and a backslash before a
// quote or a backslash (igraph).
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') >= 0 {
		b = []byte(strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(string(b)))
	}
	if bytes.IndexByte(b, '&') < 0 {
		return b
	}
	return []byte(strings.NewReplacer("&quot;", `"`, "&apos;", "'", "&lt;", "<", "&gt;", ">", "&#34;", `"`, "&amp;", "&").Replace(string(b)))
}

// looksGML: keys with values come first (Creator "..."), then graph [.
func looksGML(sample []byte) bool {
	lex := gmlLexer{tx: blockText("", sample, 0, 0, -1)}
	g := gmlReader{lex: lex}
	for {
		kind, err := g.lex.next(true)
		if err != nil || kind != gmlWord || !isLetter(g.lex.tok[0]) {
			return false
		}
		graph := g.lex.is("graph")
		kind, err = g.lex.next(true)
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return false
		case graph:
			return kind == gmlOpen
		case kind == gmlOpen:
			if g.skipList() != nil {
				return false
			}
		case kind == gmlString:
		case kind == gmlWord && !isLetter(g.lex.tok[0]):
		default:
			return false
		}
	}
}

// isKey: keys begin with a letter. Text without quotes would shift keys and
// values against each other; a number in place of a key shows that.
func isKey(word []byte) bool { return isLetter(word[0]) || word[0] == '_' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
