package privacy

import (
	"testing"

	"pgregory.net/rapid"
)

// shapes are graphs on which a careless bound breaks: stars, cliques, hubs that share
// their neighbours, and sparse noise.
var shapes = map[string]func(t *rapid.T, a [][]bool){
	"star": func(t *rapid.T, a [][]bool) { join(a, 0, 1, len(a)) },
	"clique": func(t *rapid.T, a [][]bool) {
		for i := range a {
			join(a, i, 0, len(a)*2/3)
		}
	},
	"shared hubs": func(t *rapid.T, a [][]bool) {
		for hub := range 3 {
			join(a, hub, 3, len(a))
		}
	},
	"sparse": func(t *rapid.T, a [][]bool) {
		for range len(a) {
			i, j := rapid.IntRange(0, len(a)-1).Draw(t, "i"), rapid.IntRange(0, len(a)-1).Draw(t, "j")
			set(a, i, j, true)
		}
	},
}

func join(a [][]bool, i, from, to int) {
	for j := from; j < to; j++ {
		set(a, i, j, true)
	}
}

func set(a [][]bool, i, j int, on bool) {
	if i != j {
		a[i][j], a[j][i] = on, on
	}
}

// change makes a neighbour of a at vertex w and returns the degree that the unit's table
// goes by.
func change(t *rapid.T, u Unit, a [][]bool, w int) int64 {
	before := degreeOf(a, w)
	switch u {
	case Edge:
		j := rapid.IntRange(0, len(a)-1).Filter(func(j int) bool { return j != w }).Draw(t, "other end")
		set(a, w, j, !a[w][j])
		return 1
	case Node:
		for j := range a {
			set(a, w, j, false)
		}
	case NodeRewire:
		for j := range a {
			set(a, w, j, rapid.Bool().Draw(t, "keep"))
		}
	}
	return max(before, degreeOf(a, w))
}

func degreeOf(a [][]bool, w int) int64 {
	d := int64(0)
	for _, on := range a[w] {
		if on {
			d++
		}
	}
	return d
}

// TestLemmas2To5HoldOnLargerGraphs draws shapes of up to 40 vertices, any V, clip and
// order, and any neighbour at any vertex.
func TestLemmas2To5HoldOnLargerGraphs(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			n, k := rapid.IntRange(4, 40).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "k")
			a := make([][]bool, n)
			for i := range a {
				a[i] = make([]bool, n)
			}
			shape(t, a)
			v := rapid.SliceOfN(rapid.Int32Range(-20_000, 20_000), n*k, n*k).Draw(t, "V")
			q := Query{Unit: rapid.SampledFrom(Units()).Draw(t, "unit"), N: n, K: k, Norms: normsOf(v, k), DegreeLimit: int64(n - 1),
				Katz: Katz{Order: rapid.SampledFrom([]int{1, 1, 3, 5}).Draw(t, "order"), Num: 1, Bits: 7}}
			q.Clip = rapid.SampledFrom([]int64{0, 1, q.Norms.Radius + 1, 3*q.Norms.Radius + 1}).Draw(t, "clip")
			before := answer(csrOf(a), v, q)
			d := change(t, q.Unit, a, rapid.IntRange(0, n-1).Draw(t, "vertex"))
			after := answer(csrOf(a), v, q)
			if got, bound := distanceSquared(before, after), q.Squared(d); got.Cmp(bound) > 0 {
				t.Fatalf("%s at degree %d: moved by √%s, bound √%s", q.Unit, d, got, bound)
			}
		}))
	}
}
