package community

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFromEdgesKeepsEverySimpleEdgeOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		end := rapid.Int32Range(0, int32(n-1))
		m := rapid.IntRange(0, 60).Draw(t, "m")
		source, target := rapid.SliceOfN(end, m, m).Draw(t, "source"), rapid.SliceOfN(end, m, m).Draw(t, "target")
		g, err := FromEdges(n, source, target)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		want := make(map[[2]int32]bool)
		for i, u := range source {
			if v := target[i]; u != v {
				want[[2]int32{u, v}], want[[2]int32{v, u}] = true, true
			}
		}
		if int(g.Arcs()) != len(want) || g.Edges() != g.Arcs()/2 {
			t.Fatalf("%d arcs, want %d", g.Arcs(), len(want))
		}
		for u := range int32(n) {
			for v := range int32(n) {
				if g.HasArc(u, v) != want[[2]int32{u, v}] || slices.Contains(g.Neighbours(int(u)), v) != want[[2]int32{u, v}] {
					t.Fatalf("arc %d→%d: in graph %v", u, v, g.HasArc(u, v))
				}
			}
		}
	})
}

func TestCheckRefusesMalformedGraphs(t *testing.T) {
	for _, c := range []struct {
		name string
		g    Graph
		says string
	}{
		{"no pointers", Graph{}, "row pointers"},
		{"pointers past the end", Graph{Ptr: []int64{0, 2}, Adj: []int32{0}}, "row pointers"},
		{"pointers decrease", Graph{Ptr: []int64{0, 2, 1, 2}, Adj: []int32{1, 2}}, "decrease"},
		{"neighbour out of range", Graph{Ptr: []int64{0, 1}, Adj: []int32{1}}, "increasing"},
		{"negative neighbour", Graph{Ptr: []int64{0, 1}, Adj: []int32{-1}}, "increasing"},
		{"repeated neighbour", Graph{Ptr: []int64{0, 2, 4}, Adj: []int32{1, 1, 0, 0}}, "increasing"},
		{"one-way arc", Graph{Ptr: []int64{0, 1, 1}, Adj: []int32{1}}, "mirror"},
		{"mirror elsewhere", Graph{Ptr: []int64{0, 1, 2, 3}, Adj: []int32{1, 2, 0}}, "mirror"},
		{"unequal weights", Graph{Ptr: []int64{0, 1, 2}, Adj: []int32{1, 0}, Weight: []int64{1, 2}}, "mirror"},
		{"too few weights", Graph{Ptr: []int64{0, 1, 2}, Adj: []int32{1, 0}, Weight: []int64{1}}, "weights"},
		{"zero weight", Graph{Ptr: []int64{0, 1, 2}, Adj: []int32{1, 0}, Weight: []int64{0, 0}}, "> 0"},
		{"overweight", Graph{Ptr: []int64{0, 1, 2}, Adj: []int32{1, 0}, Weight: []int64{maxTotal, maxTotal}}, "total"},
		{"weight that would wrap", Graph{Ptr: []int64{0, 1}, Adj: []int32{0}, Weight: []int64{math.MaxInt64}}, "total"},
	} {
		err := c.g.Check()
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.says)
		}
		if _, err := Louvain(t.Context(), &c.g, Options{}); err == nil {
			t.Errorf("%s: Louvain ran", c.name)
		}
	}
	if _, err := FromEdges(2, []int32{0}, []int32{2}); err == nil {
		t.Error("an edge out of range was taken")
	}
	if _, err := FromEdges(2, []int32{0}, nil); err == nil {
		t.Error("an edge with one end was taken")
	}
	if _, err := FromEdges(-1, nil, nil); err == nil {
		t.Error("a negative number of vertices was taken")
	}
}

func TestComponentsAndSplit(t *testing.T) {
	// Two triangles that share a community number, a pair and a lone vertex.
	g := build(t, 9, []int32{0, 1, 2, 3, 4, 5, 6}, []int32{1, 2, 0, 4, 5, 3, 7})
	part, count := Components(g)
	if count != 4 || !slices.Equal(part, []int32{0, 0, 0, 1, 1, 1, 2, 2, 3}) {
		t.Errorf("components %v (%d)", part, count)
	}
	part, count, err := Split(g, []int32{7, 7, 7, 7, 7, 7, -1, -1, 3})
	if err != nil || count != 5 || !slices.Equal(part, []int32{0, 0, 0, 1, 1, 1, 2, 3, 4}) {
		t.Errorf("split %v (%d), %v", part, count, err)
	}
	if _, _, err := Split(g, []int32{1}); err == nil {
		t.Error("a partition of another length was split")
	}
}
