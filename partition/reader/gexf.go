package reader

// gexfReader reads GEXF 1.1 to 1.3 (Gephi). Nodes may be nested; the counts of
// <nodes count> and <edges count> are checked where all of them are there.
type gexfReader struct {
	*xmlGraph
	inGraph              bool
	graphs               int
	declNodes, declEdges int64 // declared, -1 when some list declares none
	nodesLine, edgesLine int64
}

func (u *run) gexf(src *source) error {
	g := &gexfReader{xmlGraph: u.xmlGraph(src)}
	err := g.read()
	if err == nil && g.nodesLine > 0 {
		err = g.count("nodes", g.declNodes, u.listed, g.nodesLine)
	}
	if err == nil && g.edgesLine > 0 {
		err = g.count("edges", g.declEdges, u.stats.Rows, g.edgesLine)
	}
	u.stats.DeclaredEdges = max(0, g.declEdges)
	return g.end(src, err)
}

func (g *gexfReader) read() error {
	for {
		kind, err := g.lex.next(false)
		if err != nil {
			return err
		}
		switch {
		case kind == xmlEOF && g.graphs == 0:
			return g.lex.fault("GEXF without a graph")
		case kind == xmlEOF:
			return nil
		case kind == xmlEnd && g.lex.is("graph"):
			g.inGraph = false
		case kind == xmlStart:
			err = g.start()
		}
		if err != nil {
			return err
		}
	}
}

func (g *gexfReader) start() error {
	switch {
	case g.lex.is("graph"):
		if g.graphs++; g.graphs > 1 {
			return g.lex.fault("a second graph in the file")
		}
		g.inGraph = true
		value, ok := g.lex.attr("defaultedgetype")
		if !ok {
			value = []byte("undirected") // the default of GEXF
		}
		g.directed(value)
	case !g.inGraph:
	case g.lex.is("nodes"):
		g.declNodes, g.nodesLine = g.add(g.declNodes), g.lex.line
	case g.lex.is("edges"):
		g.declEdges, g.edgesLine = g.add(g.declEdges), g.lex.line
	case g.lex.is("node"):
		return g.node()
	case g.lex.is("edge"):
		e, err := g.edge()
		if err != nil {
			return err
		}
		if value, ok := g.lex.attr("type"); ok {
			g.directed(value)
		}
		if value, ok := g.lex.attr("weight"); ok {
			e.Weight, e.HasWeight = parseWeight(value)
		}
		return g.u.addEdge(e)
	}
	return nil
}

// add adds the count of one list to the sum, which is -1 once a list has none.
func (g *gexfReader) add(sum int64) int64 {
	n := g.number("count")
	if sum < 0 || n < 0 {
		return -1
	}
	return sum + n
}
