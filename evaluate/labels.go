package evaluate

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// Labels are the ground-truth classes of a label file, by vertex id or in vertex
// order.
type Labels struct {
	Format  string   // "gml", "table" (id and label on each line) or "list" (a label per line)
	Column  string   // the GML attribute or the column that was read; "" for a list
	Classes []string // class names in order of first appearance; a class's number is its place

	byID map[string]int32
	list []int32
	path string
}

// LabelOptions say where in a label file the ids and labels stand. The zero value
// fits most files.
type LabelOptions struct {
	// Column names the column (its header, or its number from 1) or the GML attribute
	// that holds the label. Default: the attribute or header with a usual name (value,
	// club, groundTruth, label, class, community, …), else the last column.
	Column string
	// IDColumn names the column that holds the vertex id. Default: the header id,
	// node or vertex, else the first column. A GML node's id is its id.
	IDColumn string
	// Name stands for the file in errors. Default "labels".
	Name string
}

// Coverage says how the labels and the vertices met.
type Coverage struct {
	Labelled  int    `json:"labelled"`   // vertices with a label
	Without   int    `json:"without"`    // vertices without one
	Unused    int    `json:"unused"`     // labels whose id is no vertex
	UnusedFor string `json:"unused_for"` // one such id
}

// ReadLabelFile reads a label file, plain or gzip.
func ReadLabelFile(path string, o LabelOptions) (*Labels, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	defer f.Close()
	o.Name = path
	return ReadLabels(f, o)
}

// ReadLabels reads labels, plain or gzip, in one of these forms, told by content:
//
//   - GML: every node's id and one of its attributes;
//   - a table: an id and its label on each line, with spaces, tabs, commas or
//     semicolons between, with or without a header, fields quoted or not;
//   - a list: one label on each line, for the vertices in order.
//
// Lines that start with # or % are comments. A label "" or a missing GML attribute
// leaves the vertex without one. Anything else is an error that names the line.
func ReadLabels(r io.Reader, o LabelOptions) (*Labels, error) {
	if o.Name == "" {
		o.Name = "labels"
	}
	text, err := labelText(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	l := &Labels{path: o.Name, byID: make(map[string]int32)}
	b := labelBuilder{Labels: l, number: make(map[string]int32)}
	if looksLikeGML(text) {
		err = b.readGML(text, o)
	} else {
		err = b.readLines(text, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if len(l.Classes) == 0 {
		return nil, fmt.Errorf("%s: there is no label in this file", o.Name)
	}
	return l, nil
}

// labelText unpacks and takes off a byte order mark.
func labelText(r io.Reader) ([]byte, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("not a whole gzip file: %w", err)
		}
		in = bufio.NewReader(unpacked)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("reading stopped after %d bytes: %w", len(text), err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, fmt.Errorf("byte %d is zero: this is not a text file", i)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the file is empty")
	}
	return text, nil
}

// labelBuilder numbers classes while a file is read.
type labelBuilder struct {
	*Labels
	number map[string]int32
}

func (b *labelBuilder) class(name string) int32 {
	if name == "" {
		return -1
	}
	c, seen := b.number[name]
	if !seen {
		c = int32(len(b.Classes))
		b.number[name] = c
		b.Classes = append(b.Classes, name)
	}
	return c
}

// set labels an id once; the same label again is no harm.
func (b *labelBuilder) set(id, label string) error {
	if id == "" {
		return errors.New("the vertex id is empty")
	}
	c := b.class(label)
	if was, seen := b.byID[id]; seen && was != c {
		return fmt.Errorf("vertex %q gets a second label %q: labels must not overlap", id, label)
	}
	b.byID[id] = c
	return nil
}

// Len is the number of labelled ids or list entries.
func (l *Labels) Len() int {
	if l.Format == "list" {
		return len(l.list)
	}
	return len(l.byID)
}

// Align gives every vertex 0 … n−1, whose id is id(v), its class, or −1. A list must
// have exactly n lines; a table or GML file must name at least one of the vertices.
func (l *Labels) Align(n int, id func(v int) string) ([]int32, Coverage, error) {
	if l.Format == "list" {
		return l.alignList(n)
	}
	classes, c := make([]int32, n), Coverage{}
	used := make(map[string]struct{}, len(l.byID))
	for v := range classes {
		name := id(v)
		class, known := l.byID[name]
		if known {
			used[name] = struct{}{}
		} else {
			class = -1
		}
		classes[v] = class
		if class >= 0 {
			c.Labelled++
		}
	}
	c.Without = n - c.Labelled
	for name := range l.byID {
		if _, met := used[name]; !met {
			c.Unused++
			if c.UnusedFor == "" || name < c.UnusedFor {
				c.UnusedFor = name
			}
		}
	}
	if c.Labelled == 0 {
		example := ""
		if n > 0 {
			example = id(0)
		}
		return nil, c, fmt.Errorf("%s: none of its %d ids (such as %q) is a vertex of the graph (such as %q): is it the label file of this graph, and does the id stand in the right column?",
			l.path, len(l.byID), c.UnusedFor, example)
	}
	return classes, c, nil
}

func (l *Labels) alignList(n int) ([]int32, Coverage, error) {
	if len(l.list) != n {
		return nil, Coverage{}, fmt.Errorf("%s: %d lines with one label each, for a graph of %d vertices: a list needs one line per vertex, in vertex order; otherwise write \"id label\" lines",
			l.path, len(l.list), n)
	}
	c := Coverage{}
	for _, class := range l.list {
		if class >= 0 {
			c.Labelled++
		}
	}
	c.Without = n - c.Labelled
	return append([]int32(nil), l.list...), c, nil
}
