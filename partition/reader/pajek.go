package reader

import (
	"bytes"
	"fmt"
)

// pajekReader reads the network of a Pajek .net file or of a .paj project
// (Batagelj, Mrvar: Pajek manual): *Vertices, then *Arcs, *Edges, *Arcslist,
// *Edgeslist or *Matrix. The ids are the vertex numbers 1..n, because names
// need not differ; all are handed out at the end. Partitions, vectors and
// other objects of a project are skipped.
type pajekReader struct {
	u       *run
	tx      *text
	section string // heading, "" before the first
	n       int64
	first   int64 // vertices of the first mode of a two-mode network, else 0
	sized   bool
	seen    idSet // numbers in the vertex list
	arcs    int64 // rows of arcs
	rows    int64 // rows of the section
	want    int64 // rows that the heading declares, -1 without
	heading int64 // its line
	cut     splitter
	line    []byte
	buf     [20]byte
}

func (u *run) pajek(src *source) error {
	src.limit = maxRow
	p := &pajekReader{u: u, tx: src.text, want: -1}
	err := p.read()
	u.stats.Lines += src.line
	if err != nil {
		return err
	}
	u.stats.DeclaredVertices = p.n
	u.stats.Directed = "no"
	if p.arcs > 0 {
		u.stats.Directed = "yes"
	}
	return u.numbered(p.n)
}

func (p *pajekReader) read() error {
	for {
		line, err := p.tx.next()
		if isEOF(err) {
			break
		}
		if err != nil {
			return err
		}
		p.line = line
		if err := p.any(trim(line)); err != nil {
			return err
		}
	}
	if err := p.endSection(); err != nil {
		return err
	}
	if !p.sized {
		return p.fault("a Pajek file without *Vertices")
	}
	return nil
}

// any reads one line.
func (p *pajekReader) any(b []byte) error {
	switch {
	case len(b) == 0:
		p.u.stats.Blank++
		return nil
	case b[0] == '%':
		p.u.stats.Comments++
		return nil
	case b[0] == '*':
		return p.head(b)
	}
	switch p.section {
	case "":
		return p.fault("a Pajek file begins with *Vertices")
	case "*network":
		return p.fault("*Vertices was expected after *Network")
	case "*vertices":
		return p.vertex(b)
	case "*arcs", "*edges":
		return p.pair(b)
	case "*arcslist", "*edgeslist":
		return p.list(b)
	case "*matrix":
		return p.matrix(b)
	}
	return nil // another object of a project
}

// head begins a section.
func (p *pajekReader) head(b []byte) error {
	section := pajekHeading(b)
	if section == "*matrix" && !p.sized {
		section = "*network" // the heading of a network in some projects
	}
	switch p.section {
	case "*partition", "*vector", "*permutation", "*cluster", "*hierarchy":
		if section != "*network" {
			if section != "*vertices" && section != "" { // *Vertices there is the length of the object
				p.section = section
			}
			return p.onlyObjects(section)
		}
	}
	if err := p.endSection(); err != nil {
		return err
	}
	p.section, p.rows, p.want, p.heading = section, 0, -1, p.tx.line
	switch section {
	case "":
		return p.fault("a section that is not read")
	case "*events":
		return p.fault("a network of time events is not read")
	case "*network":
		if p.sized {
			return p.fault("a second network in the file")
		}
	case "*vertices":
		return p.size(b)
	case "*arcs", "*edges", "*arcslist", "*edgeslist", "*matrix":
		if !p.sized {
			return p.fault("*Vertices was expected before the edges")
		}
		p.declared(b)
	}
	return nil
}

// onlyObjects refuses edges that stand behind a partition or vector.
func (p *pajekReader) onlyObjects(section string) error {
	switch section {
	case "*arcs", "*edges", "*arcslist", "*edgeslist", "*matrix", "*events":
		return p.fault("edges that belong to no network")
	}
	return nil
}

// declared reads the count that some writers put behind *Edges or *Arcs
// (":1" there is the number of a relation).
func (p *pajekReader) declared(b []byte) {
	p.cut.fields = p.cut.fields[:0]
	p.cut.words(b)
	if f := p.cut.fields; len(f) == 2 && (p.section == "*arcs" || p.section == "*edges") {
		if n, ok := parseInt(f[1], 1<<62); ok {
			p.want = n
			p.u.stats.DeclaredEdges += n
		}
	}
}

// endSection checks a section that a heading or the end has closed.
func (p *pajekReader) endSection() error {
	if p.want >= 0 && p.rows != p.want {
		return &LineError{File: p.tx.file, Line: p.heading, Reason: fmt.Sprintf("the heading declares %d edges and the section has %d", p.want, p.rows),
			Remedy: "The file may be cut off: fetch it again, or correct the heading."}
	}
	if rows, _ := p.shape(); p.section == "*matrix" && p.rows != rows {
		return p.fault(fmt.Sprintf("the matrix has %d rows where %d are needed", p.rows, rows))
	}
	return nil
}

// size reads "*Vertices n [n1]".
func (p *pajekReader) size(b []byte) error {
	if p.sized {
		return p.fault("a second *Vertices in the network")
	}
	p.cut.fields = p.cut.fields[:0]
	p.cut.words(b)
	f := p.cut.fields
	if len(f) < 2 {
		return p.fault("*Vertices without a number")
	}
	n, ok := parseInt(f[1], 1<<62)
	if !ok {
		return p.fault("the number behind *Vertices is not a non-negative integer")
	}
	if n > maxVertices {
		return p.fault(fmt.Sprintf("%d vertices are more than %d, the most that a graph may have", n, int64(maxVertices)))
	}
	if len(f) > 2 {
		if p.first, ok = parseInt(f[2], n); !ok {
			return p.fault("the second number behind *Vertices is not an integer up to the first")
		}
	}
	p.n, p.sized = n, true
	return nil
}

// vertex checks a line of the vertex list: number, name, anything.
func (p *pajekReader) vertex(b []byte) error {
	word := b
	if i := bytes.IndexAny(word, " \t\""); i >= 0 {
		word = word[:i]
	}
	id, ok := p.number(word)
	if !ok {
		return p.outOfRange(word)
	}
	if !p.seen.add(id) {
		return p.fault("vertex " + string(id) + " is listed twice")
	}
	return nil
}

// number checks a vertex number and drops leading zeros.
func (p *pajekReader) number(word []byte) ([]byte, bool) {
	word = bytes.TrimLeft(word, "0")
	_, ok := parseInt(word, p.n)
	return word, ok
}

func (p *pajekReader) outOfRange(word []byte) *LineError {
	return p.fault(fmt.Sprintf("vertex %s is not an integer from 1 to %d", quoteShort(clip(word)), p.n))
}

// words cuts an edge line, without the number of the relation ("2:") in front
// and without attributes from the first quote on.
func (p *pajekReader) words(b []byte) [][]byte {
	if i := bytes.IndexByte(b, '"'); i >= 0 {
		b = b[:i]
	}
	p.cut.fields = p.cut.fields[:0]
	p.cut.words(b)
	f := p.cut.fields
	if len(f) > 0 && len(f[0]) > 1 && f[0][len(f[0])-1] == ':' && allDigits(f[0][:len(f[0])-1]) {
		f = f[1:]
	}
	return f
}

// pair reads a line of *Arcs or *Edges: source target [weight [attributes]].
func (p *pajekReader) pair(b []byte) error {
	p.rows++
	f := p.words(b)
	if len(f) < 2 {
		return p.u.skip(p.fault("a line with one field where two ids are needed"), p.line)
	}
	e := Edge{Line: p.tx.line, File: p.tx.file}
	var ok bool
	if e.Source, ok = p.number(f[0]); !ok {
		return p.u.skip(p.outOfRange(f[0]), p.line)
	}
	if e.Target, ok = p.number(f[1]); !ok {
		return p.u.skip(p.outOfRange(f[1]), p.line)
	}
	if len(f) > 2 {
		e.Weight, e.HasWeight = parseWeight(f[2])
	}
	return p.hand(e)
}

func (p *pajekReader) hand(e Edge) error {
	if p.section != "*edges" && p.section != "*edgeslist" {
		p.arcs++
	}
	return p.u.addEdge(e)
}

// list reads a line of *Arcslist or *Edgeslist: vertex neighbour neighbour ...
func (p *pajekReader) list(b []byte) error {
	f := p.words(b)
	for i := range f {
		word, ok := p.number(f[i])
		if !ok {
			return p.u.skip(p.outOfRange(f[i]), p.line)
		}
		f[i] = word
	}
	for i := 1; i < len(f); i++ {
		if err := p.hand(Edge{Source: f[0], Target: f[i], Line: p.tx.line, File: p.tx.file}); err != nil {
			return err
		}
	}
	return nil
}

// shape is the size of *Matrix: square, or first mode × second mode.
func (p *pajekReader) shape() (rows, columns int64) {
	if p.first > 0 && p.first < p.n {
		return p.first, p.n - p.first
	}
	return p.n, p.n
}

// matrix reads one row of *Matrix; every value but 0 is an arc.
func (p *pajekReader) matrix(b []byte) error {
	rows, columns := p.shape()
	f := p.words(b)
	if p.rows++; p.rows > rows || int64(len(f)) != columns {
		return p.fault(fmt.Sprintf("row %d of the matrix has %d values where there are %d rows of %d", p.rows, len(f), rows, columns))
	}
	source := appendInt(nil, p.rows)
	for j, value := range f {
		w, ok := parseWeight(value)
		if !ok {
			return p.fault("value " + quoteShort(clip(value)) + " is not a number")
		}
		if w == 0 {
			continue
		}
		target := appendInt(p.buf[:0], int64(j)+1+p.n-columns)
		if err := p.hand(Edge{Source: source, Target: target, Weight: w, HasWeight: true, Line: p.tx.line, File: p.tx.file}); err != nil {
			return err
		}
	}
	return nil
}

func (p *pajekReader) fault(reason string) *LineError {
	return &LineError{File: p.tx.file, Line: max(p.tx.line, 1), Byte: max(0, p.tx.offset()-int64(len(p.line)+len(p.tx.eol))),
		Text: clip(p.line), Reason: reason}
}
