package reader

import (
	"bytes"
	"fmt"
	"strings"
)

// xmlGraph is what GraphML and GEXF have in common.
type xmlGraph struct {
	u      *run
	lex    xmlLexer
	nodes  declared
	source []byte
	target []byte
	nested bool
}

func (u *run) xmlGraph(src *source) *xmlGraph {
	u.stats.Directed = "unknown"
	return &xmlGraph{u: u, lex: xmlLexer{tx: src.text}, nodes: declared{file: src.text.file}}
}

// end is called with what reading the file has brought.
func (g *xmlGraph) end(src *source, err error) error {
	g.u.stats.Lines += src.lines()
	g.u.stats.Comments += g.lex.comments
	if err != nil {
		return err
	}
	g.u.stats.DeclaredVertices = g.u.listed
	return g.nodes.check()
}

// node takes the id of a start tag as it stands: ids are text in XML.
func (g *xmlGraph) node() error {
	id, _ := g.lex.attr("id")
	if len(id) == 0 {
		return g.lex.fault("a node without an id")
	}
	if err := g.nodes.node(id, g.lex.line); err != nil {
		return err
	}
	return g.u.addVertex(id)
}

// edge takes source and target of a start tag.
func (g *xmlGraph) edge() (Edge, error) {
	source, _ := g.lex.attr("source")
	target, _ := g.lex.attr("target")
	if len(source) == 0 || len(target) == 0 {
		return Edge{}, g.lex.fault("an edge without source or target")
	}
	line := g.lex.line
	g.nodes.use(source, line)
	g.nodes.use(target, line)
	g.source, g.target = append(g.source[:0], source...), append(g.target[:0], target...)
	return Edge{Source: g.source, Target: g.target, Line: line, File: g.nodes.file}, nil
}

// directed notes what an attribute says about direction.
func (g *xmlGraph) directed(value []byte) {
	switch string(value) {
	case "directed", "true", "mutual":
		g.u.stats.Directed = "yes"
	case "undirected", "false":
		if g.u.stats.Directed == "unknown" {
			g.u.stats.Directed = "no"
		}
	}
}

// count compares a declared count with what was read.
func (g *xmlGraph) count(what string, declared, read, line int64) error {
	if declared < 0 || declared == read {
		return nil
	}
	return &LineError{File: g.nodes.file, Line: line, Reason: fmt.Sprintf("the file declares %d %s and has %d", declared, what, read),
		Remedy: "The file may be cut off: fetch it again, or correct the count."}
}

// number is an attribute that counts, -1 without one.
func (g *xmlGraph) number(attr string) int64 {
	if value, ok := g.lex.attr(attr); ok {
		if n, ok := parseInt(value, 1<<62); ok {
			return n
		}
	}
	return -1
}

// graphMLReader reads GraphML (Brandes et al. 2002). Nodes of nested graphs
// are nodes like others. The weight of an edge is its datum under a key whose
// attr.name is weight.
type graphMLReader struct {
	*xmlGraph
	weightKey []byte
	graphs    int
	depth     int // of graph elements
	e         Edge
	inEdge    bool
	inWeight  bool
	value     []byte
	declNodes int64 // parse.nodes
	declEdges int64 // parse.edges
	declLine  int64
}

func (u *run) graphML(src *source) error {
	g := &graphMLReader{xmlGraph: u.xmlGraph(src), declNodes: -1, declEdges: -1}
	err := g.read()
	if err == nil && !g.nested {
		err = g.count("nodes", g.declNodes, u.listed, g.declLine)
	}
	if err == nil && !g.nested {
		err = g.count("edges", g.declEdges, u.stats.Rows, g.declLine)
	}
	return g.end(src, err)
}

func (g *graphMLReader) read() error {
	for {
		kind, err := g.lex.next(g.inWeight)
		if err != nil {
			return err
		}
		switch kind {
		case xmlEOF:
			if g.graphs == 0 {
				return g.lex.fault("GraphML without a graph")
			}
			return nil
		case xmlText:
			if g.inWeight {
				g.value = append(g.value, g.lex.text...)
			}
		case xmlStart:
			err = g.start()
		case xmlEnd:
			err = g.close()
		}
		if err != nil {
			return err
		}
	}
}

func (g *graphMLReader) start() error {
	switch {
	case g.lex.is("key"):
		g.key()
	case g.lex.is("graph"):
		return g.graph()
	case g.depth == 0: // yEd resources and the like
	case g.lex.is("node"):
		return g.node()
	case g.lex.is("hyperedge"):
		return g.lex.fault("a hyperedge: only edges between two nodes are read")
	case g.lex.is("edge"):
		var err error
		g.e, err = g.edge()
		g.inEdge = err == nil
		if value, ok := g.lex.attr("directed"); ok {
			g.directed(value)
		}
		return err
	case g.inEdge && g.lex.is("data") && g.weightKey != nil:
		if key, _ := g.lex.attr("key"); bytes.Equal(key, g.weightKey) {
			g.inWeight = true
			g.value = g.value[:0]
		}
	}
	return nil
}

func (g *graphMLReader) key() {
	name, _ := g.lex.attr("attr.name")
	element, ok := g.lex.attr("for")
	if strings.EqualFold(string(name), "weight") && (!ok || string(element) == "edge" || string(element) == "all") {
		id, _ := g.lex.attr("id")
		g.weightKey = bytes.Clone(id)
	}
}

func (g *graphMLReader) graph() error {
	g.depth++
	if g.depth == 1 {
		g.graphs++
	}
	if g.graphs > 1 {
		return g.lex.fault("a second graph in the file")
	}
	if value, ok := g.lex.attr("edgedefault"); ok {
		g.directed(value)
	}
	if g.depth > 1 {
		g.nested = true
		return nil
	}
	g.declNodes, g.declEdges, g.declLine = g.number("parse.nodes"), g.number("parse.edges"), g.lex.line
	g.u.stats.DeclaredEdges = max(0, g.declEdges)
	return nil
}

func (g *graphMLReader) close() error {
	switch {
	case g.lex.is("graph"):
		g.depth--
	case g.inWeight && g.lex.is("data"):
		g.inWeight = false
		g.e.Weight, g.e.HasWeight = parseWeight(trim(bytes.TrimSpace(g.value)))
	case g.inEdge && g.lex.is("edge"):
		g.inEdge = false
		return g.u.addEdge(g.e)
	}
	return nil
}
