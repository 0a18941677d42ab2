package community

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph"
	gonum "gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/simple"
	"pgregory.net/rapid"
)

func TestModularityEqualsGolden(t *testing.T) {
	for _, c := range readGolden(t) {
		name := strings.TrimSuffix(filepath.Base(c.Graph), ".gml")
		g := readPairs(t, "testdata/"+name+".pairs", c.Nodes)
		if g.Edges() != c.Edges {
			t.Fatalf("%s has %d edges, want %d", name, g.Edges(), c.Edges)
		}
		got, err := Modularity(g, c.Detected)
		if err != nil || math.Abs(got-c.Modularity) > 1e-9 {
			t.Errorf("%s %s: modularity %.12f, want %.12f (%v)", name, c.Case, got, c.Modularity, err)
		}
	}
}

// gonumGraph and members translate to gonum's types.
func gonumGraph(g *Graph) graph.Undirected {
	u := simple.NewUndirectedGraph()
	for v := range g.Vertices() {
		u.AddNode(simple.Node(v))
	}
	for v := range g.Vertices() {
		for _, w := range g.Neighbours(v) {
			if int(w) > v {
				u.SetEdge(simple.Edge{F: simple.Node(v), T: simple.Node(w)})
			}
		}
	}
	return u
}

func members(p []int32) [][]graph.Node {
	var m [][]graph.Node
	for v, c := range p {
		for int(c) >= len(m) {
			m = append(m, nil)
		}
		m[c] = append(m[c], simple.Node(v))
	}
	return m
}

func TestModularityEqualsGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 15).Draw(t, "n")
		end := rapid.Int32Range(0, int32(n-1))
		m := rapid.IntRange(1, 40).Draw(t, "m")
		g, err := FromEdges(n, rapid.SliceOfN(end, m, m).Draw(t, "source"), rapid.SliceOfN(end, m, m).Draw(t, "target"))
		if err != nil {
			t.Fatal(err)
		}
		p := rapid.SliceOfN(rapid.Int32Range(0, 4), n, n).Draw(t, "partition")
		got, err := Modularity(g, p)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		if g.Edges() > 0 {
			renumbered := slices.Clone(p)
			renumber(renumbered)
			want = gonum.Q(gonumGraph(g), members(renumbered), 1)
		}
		if math.Abs(got-want) > 1e-12 {
			t.Fatalf("modularity %v, gonum %v", got, want)
		}
	})
}

func TestModularityOfWeightsLoopsAndUnnumberedVertices(t *testing.T) {
	// Two vertices, an edge of weight 3 and a loop of arc weight 2 at the first:
	// 2m = 8, K = 5 and 3, inside 2 when apart.
	g := &Graph{Ptr: []int64{0, 2, 3}, Adj: []int32{0, 1, 0}, Weight: []int64{2, 3, 3}}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	for _, p := range [][]int32{{0, 1}, {-1, -1}, {math.MaxInt32, -5}} {
		if q, err := Modularity(g, p); err != nil || math.Abs(q-(2.0/8-25.0/64-9.0/64)) > 1e-15 {
			t.Errorf("%v: modularity %v, %v", p, q, err)
		}
	}
	if q, _ := Modularity(g, []int32{0, 0}); math.Abs(q) > 1e-15 {
		t.Errorf("one community has modularity %v, want 0", q)
	}
	if q, err := Modularity(&Graph{Ptr: []int64{0, 0, 0}}, []int32{0, 0}); q != 0 || err != nil {
		t.Errorf("no edges: modularity %v, %v", q, err)
	}
	if _, err := Modularity(g, []int32{0}); err == nil {
		t.Error("a partition of another length was measured")
	}
}
