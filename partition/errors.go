package partition

import (
	"errors"
	"fmt"
)

// ErrNoEdges says that a graph has no edge between two different vertices.
var ErrNoEdges = errors.New("the graph has no edges")

// UnlistedError says that the input names a vertex that the vertices file does
// not list.
type UnlistedError struct {
	ID   string
	File string // of the input; "" if unknown
	Line int64  // in File; 0 where the format has none
	List string // the vertices file
}

func (e *UnlistedError) Error() string {
	where := ""
	if e.File != "" && e.Line > 0 {
		where = fmt.Sprintf("%s:%d: ", e.File, e.Line)
	} else if e.File != "" {
		where = e.File + ": "
	}
	return fmt.Sprintf("partition: %svertex %q is not listed in %s; nothing was written; list it, or drop what names it from the input", where, e.ID, e.List)
}

// DegreeBoundError says that a declared degree bound does not hold.
type DegreeBoundError struct {
	Bound    int64
	Vertices int64 // how many have more neighbours than Bound
}

func (e *DegreeBoundError) Error() string {
	noun := "vertices have"
	if e.Vertices == 1 {
		noun = "vertex has"
	}
	return fmt.Sprintf("partition: %d %s more than the declared %d neighbours; nothing was written and nothing is cut off silently; declare a bound that holds for every graph that could be here, or prepare the input", e.Vertices, noun, e.Bound)
}

// LossError says that the counts do not add up: a fault of this program that
// must not pass as a graph.
type LossError struct{ Detail string }

func (e *LossError) Error() string {
	return "partition: internal check failed, nothing was written: " + e.Detail + "; please report this"
}
