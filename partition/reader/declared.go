package reader

import "fmt"

// maxPending is how many ids that are used before they are declared are kept
// with their line; beyond, only their number is checked. Only tests change it.
var maxPending = 1 << 20

// declared checks the node list of a format that has one: no id twice, no edge
// to an id that is not there. Edges may come before nodes.
type declared struct {
	file    string
	ids     idSet
	pending map[string]int64 // id → first line that uses it
	late    idSet            // used before declared, when pending is full
	settled int64            // of late
}

// node declares an id.
func (d *declared) node(id []byte, line int64) error {
	if !d.ids.add(id) {
		return &LineError{File: d.file, Line: line, Text: clip(id), Reason: "vertex id " + quoteShort(clip(id)) + " is declared twice",
			Remedy: "Give each node an id of its own."}
	}
	delete(d.pending, string(id))
	if d.late.len > 0 && d.late.has(id) {
		d.settled++
	}
	return nil
}

// use notes that an edge on the line has id at an end.
func (d *declared) use(id []byte, line int64) {
	if d.ids.has(id) {
		return
	}
	if _, known := d.pending[string(id)]; known {
		return
	}
	if len(d.pending) >= maxPending {
		d.late.add(id)
		return
	}
	if d.pending == nil {
		d.pending = map[string]int64{}
	}
	d.pending[string(id)] = line
}

// check finds the first edge to an undeclared id.
func (d *declared) check() error {
	var first string
	line := int64(-1)
	for id, at := range d.pending {
		if line < 0 || at < line || at == line && id < first {
			first, line = id, at
		}
	}
	if line >= 0 {
		return &LineError{File: d.file, Line: line, Text: first, Reason: "an edge to " + quoteShort(first) + ", which no node declares",
			Remedy: "Declare the node, or remove the edge."}
	}
	if left := d.late.len - d.settled; left > 0 {
		return &FileError{File: d.file, Byte: -1, Reason: fmt.Sprintf("edges use %d ids that no node declares", left),
			Remedy: "Declare the nodes, or remove the edges."}
	}
	return nil
}
