package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// maxVertices is the most vertices of a graph: rows are numbered by int32.
const maxVertices = math.MaxInt32

// matrixReader reads MatrixMarket coordinate files (Boisvert, Pozo, Remington
// 1996): a banner, a size line, one entry per line. The ids are the numbers
// 1..N; all of them are handed out after the entries have been counted.
type matrixReader struct {
	u       *run
	tx      *text
	values  bool // entries have a value
	n, want int64
	entries int64
	cut     splitter
	line    []byte
}

func isMatrixBanner(b []byte) bool {
	b = bytes.TrimLeft(b[:min(len(b), 40)], "%")
	return len(b) >= 12 && strings.EqualFold(string(b[:12]), "MatrixMarket")
}

func (u *run) matrixMarket(src *source) error {
	m := &matrixReader{u: u, tx: src.text}
	err := m.read()
	u.stats.Lines += src.line
	if err != nil {
		return err
	}
	u.stats.DeclaredVertices, u.stats.DeclaredEdges = m.n, m.want
	return u.numbered(m.n)
}

// numbered hands out the vertices 1..n.
func (u *run) numbered(n int64) error {
	var buf [20]byte
	for i := int64(1); i <= n; i++ {
		if i&0xffff == 0 {
			if err := u.ctx.Err(); err != nil {
				return err
			}
		}
		if err := u.addVertex(appendInt(buf[:0], i)); err != nil {
			return err
		}
	}
	return nil
}

func (m *matrixReader) read() error {
	if err := m.banner(); err != nil {
		return err
	}
	if err := m.size(); err != nil {
		return err
	}
	for {
		f, err := m.row()
		if isEOF(err) {
			break
		}
		if err != nil {
			return err
		}
		e, fault := m.entry(f)
		if fault == "" {
			m.entries++
			err = m.u.addEdge(e)
		} else {
			err = m.u.skip(m.fault(fault, ""), m.line)
		}
		if err != nil {
			return err
		}
	}
	if m.entries != m.want {
		return m.fault(fmt.Sprintf("the size line declares %d entries and the file has %d", m.want, m.entries),
			"The file may be cut off: fetch it again, or correct the size line.")
	}
	return nil
}

// row is the next line that is neither blank nor a comment, in fields.
func (m *matrixReader) row() ([][]byte, error) {
	for {
		line, err := m.tx.next()
		m.line = line
		if err != nil {
			return nil, err
		}
		b := trim(line)
		switch {
		case len(b) == 0:
			m.u.stats.Blank++
		case b[0] == '%':
			m.u.stats.Comments++
		default:
			m.cut.fields = m.cut.fields[:0]
			m.cut.words(b)
			return m.cut.fields, nil
		}
	}
}

// banner: %%MatrixMarket matrix coordinate <field> <symmetry>. One % is taken
// too: files with it are about.
func (m *matrixReader) banner() error {
	line, err := m.tx.next()
	for err == nil && len(trim(line)) == 0 {
		m.u.stats.Blank++
		line, err = m.tx.next()
	}
	m.line = line
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	words := strings.Fields(strings.ToLower(string(line[:min(len(line), 1024)])))
	if len(words) != 5 || strings.TrimLeft(words[0], "%") != "matrixmarket" || words[0][0] != '%' {
		return m.fault("the first line of a MatrixMarket file is %%MatrixMarket matrix coordinate <field> <symmetry>", "")
	}
	object, layout, field, symmetry := words[1], words[2], words[3], words[4]
	const remedy = "Write the graph as a coordinate matrix, pattern, integer or real, general or symmetric."
	switch {
	case object != "matrix":
		return m.fault("a MatrixMarket "+object+" is not a matrix", remedy)
	case layout == "array":
		return m.fault("a dense matrix (array) is not read", remedy)
	case layout != "coordinate":
		return m.fault("unknown MatrixMarket layout "+layout, remedy)
	case field == "complex":
		return m.fault("a complex matrix is not the adjacency matrix of a graph", remedy)
	case field != "pattern" && field != "integer" && field != "real" && field != "double":
		return m.fault("unknown MatrixMarket field "+field, remedy)
	case symmetry != "general" && symmetry != "symmetric":
		return m.fault("a matrix that is "+symmetry+" is not read", remedy)
	}
	m.values = field != "pattern"
	m.u.stats.Directed = "yes"
	if symmetry == "symmetric" {
		m.u.stats.Directed = "no"
	}
	return nil
}

// size: rows columns entries.
func (m *matrixReader) size() error {
	f, err := m.row()
	if isEOF(err) {
		return m.fault("the file ends before the size line", "Fetch or copy the file again.")
	}
	if err != nil {
		return err
	}
	if len(f) != 3 {
		return m.fault("the size line has three integers: rows, columns, entries", "")
	}
	var size [3]int64
	for i := range f {
		n, ok := parseInt(f[i], math.MaxInt64)
		if !ok {
			return m.fault("the size line has three non-negative integers: rows, columns, entries", "")
		}
		size[i] = n
	}
	switch {
	case size[0] != size[1]:
		return m.fault(fmt.Sprintf("a matrix of %d rows and %d columns is not square, so it is not an adjacency matrix", size[0], size[1]),
			"Write a bipartite graph as an edge list with different names on the two sides.")
	case size[0] > maxVertices:
		return m.fault(fmt.Sprintf("%d vertices are more than %d, the most that a graph may have", size[0], int64(maxVertices)), "")
	}
	m.n, m.want = size[0], size[2]
	return nil
}

// entry: row column [value].
func (m *matrixReader) entry(f [][]byte) (Edge, string) {
	fields := 2
	if m.values {
		fields = 3
	}
	switch {
	case m.entries == m.want:
		return Edge{}, fmt.Sprintf("text after the %d entries that the size line declares", m.want)
	case len(f) != fields:
		return Edge{}, fmt.Sprintf("%d fields where an entry has %d", len(f), fields)
	}
	for k, id := range f[:2] {
		f[k] = bytes.TrimLeft(id, "0") // 007 is the index 7
		if _, ok := parseInt(f[k], m.n); !ok {
			return Edge{}, fmt.Sprintf("index %s is not an integer from 1 to %d", quoteShort(clip(id)), m.n)
		}
	}
	e := Edge{Source: f[0], Target: f[1], Line: m.tx.line, File: m.tx.file}
	if m.values {
		if e.Weight, e.HasWeight = parseWeight(f[2]); !e.HasWeight {
			return Edge{}, "value " + quoteShort(clip(f[2])) + " is not a number"
		}
	}
	return e, ""
}

func (m *matrixReader) fault(reason, remedy string) *LineError {
	return &LineError{File: m.tx.file, Line: max(m.tx.line, 1), Byte: max(0, m.tx.offset()-int64(len(m.line)+len(m.tx.eol))),
		Text: clip(m.line), Reason: reason, Remedy: remedy}
}
