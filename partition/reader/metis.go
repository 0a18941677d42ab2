package reader

import "fmt"

// metisReader reads METIS graph files (manual 5.1.0, section 4.1.1): a header
// "n m [fmt [ncon]]", then one row per vertex with the neighbours of it, so
// each edge is handed out from both ends. A blank row is a vertex without
// neighbours. The ids are the numbers 1..n, all handed out at the end.
type metisReader struct {
	u       *run
	lex     rowLexer
	size    metisSizes
	entries int64 // neighbours so far
	loops   int64
	source  []byte
}

func (u *run) metis(src *source) error {
	m := &metisReader{u: u, lex: rowLexer{tx: src.text}}
	err := m.read()
	u.stats.Lines += src.lines()
	u.stats.Comments += m.lex.comments
	if err != nil {
		return err
	}
	u.stats.Directed = "no"
	u.stats.DeclaredVertices, u.stats.DeclaredEdges = m.size.n, m.size.m
	return u.numbered(m.size.n)
}

func (m *metisReader) read() error {
	if err := m.header(); err != nil {
		return err
	}
	rows := int64(0)
	for ; rows < m.size.n; rows++ {
		more, err := m.row(rows + 1)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	// A last row that is blank has no line end in some files.
	if rows < m.size.n-1 || rows < m.size.n && !m.countFits() {
		return m.whole(fmt.Sprintf("the header declares %d vertices and there are %d rows", m.size.n, rows))
	}
	if err := m.rest(); err != nil {
		return err
	}
	if !m.countFits() {
		return m.whole(fmt.Sprintf("the header declares %d edges, which are named twice each, and the rows name %d neighbours", m.size.m, m.entries))
	}
	return nil
}

// countFits: every edge is named from both ends; a loop once or twice.
func (m *metisReader) countFits() bool {
	return m.entries == 2*m.size.m || m.entries+m.loops == 2*m.size.m
}

func (m *metisReader) header() error {
	var f []int64
	for {
		kind, err := m.lex.next("%")
		switch {
		case err != nil:
			return err
		case kind == rowEOF, kind == rowEnd && len(f) > 0:
			return m.sizes(f)
		case kind == rowEnd:
			continue // blank lines in front
		}
		n, ok := parseInt(m.lex.tok, 1<<62)
		if !ok || len(f) == 4 {
			return m.lex.fault("the first line of a METIS file has two to four integers: vertices, edges, format, weights")
		}
		f = append(f, n)
	}
}

func (m *metisReader) sizes(f []int64) error {
	size, fault := metisHeader(f)
	switch {
	case fault != "":
		return m.lex.fault(fault)
	case size.n > maxVertices:
		return m.lex.fault(fmt.Sprintf("%d vertices are more than %d, the most that a graph may have", size.n, int64(maxVertices)))
	case size.m > 1<<60:
		return m.lex.fault("more edges than any file can hold")
	}
	m.size = size
	return nil
}

// row reads the row of one vertex; false at the end of the file.
func (m *metisReader) row(vertex int64) (bool, error) {
	m.source = appendInt(m.source[:0], vertex)
	numbers := 0
	for {
		kind, err := m.lex.next("%")
		switch {
		case err != nil:
			return false, err
		case kind == rowEOF:
			return false, nil
		case kind == rowEnd && numbers < m.size.weights:
			return false, m.lex.fault(fmt.Sprintf("the row of vertex %d has %d of its %d leading numbers (size and weights)", vertex, numbers, m.size.weights))
		case kind == rowEnd:
			return true, nil
		}
		if numbers < m.size.weights {
			if _, ok := parseWeight(m.lex.tok); !ok {
				return false, m.lex.fault("a vertex weight that is no number")
			}
			numbers++
			continue
		}
		if err := m.neighbour(vertex); err != nil {
			return false, err
		}
	}
}

func (m *metisReader) neighbour(vertex int64) error {
	v, ok := parseInt(m.lex.tok, m.size.n)
	if !ok || v == 0 {
		return m.lex.fault(fmt.Sprintf("neighbour %s of vertex %d is not an integer from 1 to %d", quoteShort(clip(m.lex.tok)), vertex, m.size.n))
	}
	var buf [20]byte
	e := Edge{Source: m.source, Target: appendInt(buf[:0], v), Line: m.lex.line, File: m.lex.tx.file}
	if m.size.edgeWeights {
		kind, err := m.lex.next("")
		if err != nil {
			return err
		}
		if kind == rowWord {
			e.Weight, e.HasWeight = parseWeight(m.lex.tok)
		}
		if !e.HasWeight {
			return m.lex.fault(fmt.Sprintf("neighbour %d of vertex %d has no weight", v, vertex))
		}
	}
	m.entries++
	if v == vertex {
		m.loops++
	}
	return m.u.addEdge(e)
}

// rest refuses text after the last row.
func (m *metisReader) rest() error {
	for {
		kind, err := m.lex.next("%")
		switch {
		case err != nil:
			return err
		case kind == rowEOF:
			return nil
		case kind == rowWord:
			return m.lex.fault(fmt.Sprintf("text after the rows of the %d vertices that the header declares", m.size.n))
		}
	}
}

func (m *metisReader) whole(reason string) error {
	e := m.lex.fault(reason)
	e.Text = ""
	e.Remedy = "The file may be cut off: fetch it again, or correct the header."
	return e
}
