package dk

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/privcom/privcom/baseline/draw"
	"github.com/privcom/privcom/evaluate/community"
)

// tries is how often two ends are drawn for an edge before it is left out: near the end
// only ends that are joined already may be left.
const tries = 200

// maker collects the edges of a simple graph.
type maker struct {
	n              int
	name           []int32 // the series know no vertex: names are dealt at random
	source, target []int32
	has            map[int64]struct{}
	rng            *rand.Rand
}

func newMaker(n int, rng *rand.Rand) *maker {
	m := &maker{n: n, name: make([]int32, n), has: map[int64]struct{}{}, rng: rng}
	for i, v := range rng.Perm(n) {
		m.name[i] = int32(v)
	}
	return m
}

// join adds the edge unless it is a loop or there already.
func (m *maker) join(u, v int32) bool {
	if u == v {
		return false
	}
	x := draw.Index(u, v)
	if _, again := m.has[x]; again {
		return false
	}
	m.has[x] = struct{}{}
	m.source, m.target = append(m.source, m.name[u]), append(m.target, m.name[v])
	return true
}

func (m *maker) graph() (*community.Graph, error) {
	return community.FromEdges(m.n, m.source, m.target)
}

// class is the vertices of one degree, each as often as it still wants edges.
type class struct {
	degree   int32
	stubs    int64
	vertices int64
	ends     []int32
}

func (c *class) draw(rng *rand.Rand) int { return rng.IntN(len(c.ends)) }

func (c *class) remove(i int) {
	last := len(c.ends) - 1
	c.ends[i] = c.ends[last]
	c.ends = c.ends[:last]
}

// pair joins a random end of a to a random end of b, and tells whether that could be.
func (m *maker) pair(a, b *class) bool {
	for range tries {
		if len(a.ends) == 0 || len(b.ends) == 0 || a == b && len(a.ends) < 2 {
			return false
		}
		i, j := a.draw(m.rng), b.draw(m.rng)
		if !m.join(a.ends[i], b.ends[j]) {
			continue
		}
		if a == b && i < j {
			i, j = j, i // the later end first: removal moves the last one
		}
		a.remove(i)
		b.remove(j)
		return true
	}
	return false
}

// anywhere joins random vertices.
func (m *maker) anywhere() {
	for range tries {
		if m.join(int32(m.rng.IntN(m.n)), int32(m.rng.IntN(m.n))) {
			return
		}
	}
}

// fromDegrees pairs the ends of all vertices at random (the configuration model), loops
// and repeats drawn again.
func fromDegrees(ctx context.Context, n int, degrees []int32, rng *rand.Rand) (*community.Graph, error) {
	m := newMaker(n, rng)
	all := &class{}
	for v, d := range degrees {
		for range d {
			all.ends = append(all.ends, int32(v))
		}
	}
	for i := len(all.ends) / 2; i > 0; i-- {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !m.pair(all, all) {
			break // what is left are ends of vertices that are joined already
		}
	}
	return m.graph()
}

// fromJoint gives each class of degree as many vertices as its edges ask for, as far as
// the n vertices go, and joins the classes as the cells say. Where no simple graph has the
// cells, which much noise makes the rule, edges without a place go anywhere: their
// number is the one figure that noise hardly touches.
func fromJoint(ctx context.Context, n int, cells []cell, rng *rand.Rand) (*community.Graph, error) {
	classes := map[int32]*class{}
	at := func(d int32) *class {
		if classes[d] == nil {
			classes[d] = &class{degree: d}
		}
		return classes[d]
	}
	var edges [][2]*class
	for _, c := range cells {
		i, j := jointDegrees(c.at)
		for range whole(rng, c.value) {
			a, b := at(i), at(j)
			a.stubs++
			b.stubs++
			edges = append(edges, [2]*class{a, b})
		}
	}
	m := newMaker(n, rng)
	instead := m.settle(classes)
	rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	homeless := 0
	for i, e := range edges {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !m.pair(instead(e[0]), instead(e[1])) {
			homeless++
		}
	}
	for range homeless {
		m.anywhere()
	}
	return m.graph()
}

// settle deals the vertices out, the classes with most ends first. A class for which none
// is left passes its ends to the settled class of nearest degree; the function returned
// tells which.
func (m *maker) settle(classes map[int32]*class) func(*class) *class {
	order := make([]*class, 0, len(classes))
	for _, c := range classes {
		c.vertices = (c.stubs + int64(c.degree) - 1) / int64(c.degree)
		order = append(order, c)
	}
	slices.SortFunc(order, func(a, b *class) int { return cmp.Or(cmp.Compare(b.stubs, a.stubs), cmp.Compare(a.degree, b.degree)) })
	left, settled := int64(m.n), []*class{}
	for _, c := range order {
		if c.vertices = min(c.vertices, left); c.vertices > 0 {
			left -= c.vertices
			settled = append(settled, c)
		}
	}
	slices.SortFunc(settled, func(a, b *class) int { return cmp.Compare(a.degree, b.degree) })
	instead := func(c *class) *class {
		if c.vertices > 0 {
			return c
		}
		i, _ := slices.BinarySearchFunc(settled, c.degree, func(s *class, d int32) int { return cmp.Compare(s.degree, d) })
		if i == len(settled) || i > 0 && c.degree-settled[i-1].degree < settled[i].degree-c.degree {
			i--
		}
		return settled[i]
	}
	for _, c := range order {
		if c.vertices == 0 {
			instead(c).stubs += c.stubs
		}
	}
	next := int32(0)
	for _, c := range settled {
		for i := range c.stubs { // in turn, so that ends are spread evenly
			c.ends = append(c.ends, next+int32(i%c.vertices))
		}
		next += int32(c.vertices)
	}
	return instead
}
