package reader

import (
	"bytes"
	"strings"
)

// comment reads what comments of KONECT and SNAP say about the file:
//
//	% sym unweighted            KONECT, line 1: sym, asym or bip, then the weights
//	% 16631 2426 2426           KONECT, line 2: edges, vertices (twice)
//	# Directed graph (...)      SNAP
//	# Nodes: 5242 Edges: 28980  SNAP
func (t *tableReader) comment(line []byte) {
	t.comments++
	if t.late || t.rows > 0 {
		if t.lateCount++; t.lateCount == 1 {
			t.lateLine = t.e.Line
		}
		return
	}
	b := trim(line)
	mark := b[0]
	words := bytes.Fields(bytes.TrimLeft(b, "#%"))
	if len(words) == 0 || len(words) > 64 {
		return
	}
	if mark == '%' {
		t.konectComment(words)
		return
	}
	t.snapComment(words)
}

func (t *tableReader) konectComment(words [][]byte) {
	switch {
	case t.e.Line == 1 && (string(words[0]) == "sym" || string(words[0]) == "asym" || string(words[0]) == "bip"):
		t.konectKind = string(words[0])
		t.directed = map[string]string{"sym": "no", "asym": "yes"}[t.konectKind]
	case t.e.Line == 2 && t.konectKind != "" && len(words) == 3:
		rows, ok1 := parseInt(words[0], 1<<62)
		n, ok2 := parseInt(words[1], 1<<62)
		m, ok3 := parseInt(words[2], 1<<62)
		if ok1 && ok2 && ok3 {
			t.konectRows, t.konectVertices = rows+1, max(n, m)
		}
	}
}

func (t *tableReader) snapComment(words [][]byte) {
	if len(words) >= 2 && strings.HasPrefix(strings.ToLower(string(words[1])), "graph") {
		switch strings.ToLower(string(words[0])) {
		case "directed":
			t.directed = "yes"
		case "undirected":
			t.directed = "no"
		}
	}
	for i := 0; i+1 < len(words); i++ {
		n, ok := parseInt(words[i+1], 1<<62)
		if !ok {
			continue
		}
		switch strings.TrimSuffix(strings.ToLower(string(words[i])), ":") {
		case "nodes":
			t.snapVertices = n
		case "edges":
			t.snapEdges = n + 1
		}
	}
}

// mergeHeader takes over what comments declare. konectRows and snapEdges are
// one more than declared, so that 0 is "not declared".
func (u *run) mergeHeader(c *tableCounts) {
	s := u.stats
	if c.directed != "" {
		s.Directed = c.directed
	}
	s.DeclaredVertices = max(s.DeclaredVertices, c.konectVertices, c.snapVertices)
	if c.konectRows > 0 {
		u.konect = max(u.konect, 0) + c.konectRows - 1
		s.DeclaredEdges = u.konect
	}
	if c.snapEdges > 0 {
		u.snapEdges = max(u.snapEdges, 0) + c.snapEdges - 1
		s.DeclaredEdges = u.snapEdges
	}
}
