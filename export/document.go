package export

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
)

// markup writes the parts of a format that lists vertices, or their number,
// before the edges.
type markup interface {
	head(b *bufio.Writer, g *graph) error
	edge(b *bufio.Writer, g *graph, u, v int64) error
	tail(b *bufio.Writer) error
}

// graph is what a head can say: counts, names, labels.
type graph struct {
	n, edges int64
	name     func(i int64) string
	labels   []int
}

// document writes head, edges and tail. Where the head has to wait for the last
// edge, edges are spooled to a second temporary file.
type document struct {
	markup
	graph
	out   *file
	spool *os.File      // nil if the head is written
	body  *bufio.Writer // out, or on top of spool

	fixed bool             // n is given
	index map[string]int64 // numbers of identifiers, from the first WriteIDs on
	found []string         // identifiers in order of appearance, if n is not given
}

func newDocument(format Format, out *file, o Options) (*document, error) {
	d := &document{out: out, body: out.Writer, fixed: o.N > 0}
	d.n, d.labels, d.name = o.N, o.Labels, o.IDs
	if d.name == nil {
		d.name = func(i int64) string { return strconv.FormatInt(i, 10) }
	}
	switch format {
	case MTX:
		d.markup = matrixMarket{}
	case GML:
		d.markup = gml{namesAreIDs: o.IDs != nil && gmlIntegers(o.N, o.IDs)}
	case GraphML:
		d.markup = graphML{}
	}
	if d.fixed && format != MTX {
		return d, d.head(d.body, &d.graph)
	}
	var err error
	if d.spool, err = tempBeside(out.path, "spool"); err != nil {
		return nil, err
	}
	d.body = bufio.NewWriterSize(d.spool, bufferBytes)
	return d, nil
}

func (d *document) numbers(u, v int64) error {
	if d.found != nil {
		return fmt.Errorf("edge (%d, %d) by number after edges by identifier, and the vertices are not given", u, v)
	}
	if !d.fixed {
		d.n = max(d.n, u+1, v+1)
	}
	d.edges++
	return d.edge(d.body, &d.graph, u, v)
}

func (d *document) names(src, dst string) error {
	if d.index == nil {
		if err := d.makeIndex(src); err != nil {
			return err
		}
	}
	u, err := d.lookUp(src)
	if err != nil {
		return err
	}
	v, err := d.lookUp(dst)
	if err != nil {
		return err
	}
	d.edges++
	return d.edge(d.body, &d.graph, u, v)
}

func (d *document) makeIndex(id string) error {
	d.index = map[string]int64{}
	if d.fixed {
		for i := range d.n {
			d.index[d.name(i)] = i
		}
		if int64(len(d.index)) != d.n {
			return fmt.Errorf("%d vertices have only %d different identifiers", d.n, len(d.index))
		}
		return nil
	}
	if _, isMatrix := d.markup.(matrixMarket); isMatrix {
		return fmt.Errorf("MatrixMarket numbers the vertices, so identifier %q is only known if all vertices are given", id)
	}
	if d.edges > 0 {
		return fmt.Errorf("identifier %q after edges by number, and the vertices are not given", id)
	}
	d.found = []string{}
	d.name = func(i int64) string { return d.found[i] }
	return nil
}

func (d *document) lookUp(id string) (int64, error) {
	if i, ok := d.index[id]; ok {
		return i, nil
	}
	if d.fixed {
		return 0, fmt.Errorf("identifier %q is none of the graph's %d vertices", id, d.n)
	}
	d.index[id] = d.n
	d.found = append(d.found, id)
	d.n++
	return d.n - 1, nil
}

func (d *document) finish() error {
	if d.spool != nil {
		if err := d.body.Flush(); err != nil {
			return err
		}
		if err := d.head(d.out.Writer, &d.graph); err != nil {
			return err
		}
		if _, err := d.spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(d.out, d.spool); err != nil {
			return err
		}
		d.dropSpool()
	}
	if err := d.tail(d.out.Writer); err != nil {
		return err
	}
	return d.out.commit(nil)
}

func (d *document) dropSpool() {
	if d.spool != nil {
		d.spool.Close()
		os.Remove(d.spool.Name())
		d.spool = nil
	}
}

func (d *document) abort() {
	d.dropSpool()
	d.out.abort()
}
