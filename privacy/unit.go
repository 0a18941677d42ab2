package privacy

import (
	"fmt"
	"strings"
)

// Unit says which graphs are neighbours, and so who is protected.
type Unit int

const (
	// Node: A' is A with every edge at one vertex removed, or the reverse.
	Node Unit = iota
	// NodeRewire: A' and A differ in any edges at one vertex.
	NodeRewire
	// Edge: A' is A with one edge added or removed.
	Edge
)

var unitNames = [...]string{Node: "node", NodeRewire: "node-rewire", Edge: "edge"}

// Units lists every unit, in the order of their constants.
func Units() []Unit { return []Unit{Node, NodeRewire, Edge} }

// ParseUnit reads "node", "node-rewire" or "edge".
func ParseUnit(s string) (Unit, error) {
	for u, name := range unitNames {
		if s == name {
			return Unit(u), nil
		}
	}
	return 0, fmt.Errorf("unit %q is not one of %s", s, strings.Join(unitNames[:], ", "))
}

func (u Unit) String() string {
	if int(u) < 0 || int(u) >= len(unitNames) {
		panic(fmt.Sprintf("privacy: unit %d does not exist", int(u)))
	}
	return unitNames[u]
}

// Protects names in plain words what one unit of change is.
func (u Unit) Protects() string {
	switch u {
	case Node:
		return "whether one person's contacts are in the graph at all"
	case NodeRewire:
		return "one person's whole contact list, against any other list"
	case Edge:
		return "whether one connection between two people exists"
	}
	panic("privacy: unknown unit")
}

// PerVertex reports whether the unit protects all edges of a vertex at once.
func (u Unit) PerVertex() bool { return u != Edge }

// MarshalText writes the unit's name.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads the unit's name.
func (u *Unit) UnmarshalText(b []byte) error {
	v, err := ParseUnit(string(b))
	if err == nil {
		*u = v
	}
	return err
}
