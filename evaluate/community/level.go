package community

import (
	"slices"
)

// level is one graph of the hierarchy. Its vertices stand for connected sets of
// vertices of the input. Loops are kept apart from the rows: strength includes
// them, the rows do not. Rows need not be sorted.
type level struct {
	ptr      []int64
	adj      []int32
	weight   []int64 // nil: every arc weighs 1
	strength []int64 // sum of arc weights, loops included
	total    int64   // 2m
}

func (l *level) vertices() int { return len(l.strength) }

// firstLevel shares the rows of g unless it has loops.
func firstLevel(g *Graph) *level {
	l := &level{ptr: g.Ptr, adj: g.Adj, weight: g.Weight, strength: make([]int64, g.Vertices())}
	loops := false
	for v := range l.strength {
		for i := g.Ptr[v]; i < g.Ptr[v+1]; i++ {
			l.strength[v] += g.arcWeight(i)
			loops = loops || int(g.Adj[i]) == v
		}
		l.total += l.strength[v]
	}
	if loops {
		l.dropLoops(g)
	}
	return l
}

func (l *level) dropLoops(g *Graph) {
	l.ptr, l.adj, l.weight = make([]int64, 1, len(g.Ptr)), nil, nil
	for v := range l.strength {
		for i := g.Ptr[v]; i < g.Ptr[v+1]; i++ {
			if int(g.Adj[i]) == v {
				continue
			}
			l.adj = append(l.adj, g.Adj[i])
			if g.Weight != nil {
				l.weight = append(l.weight, g.Weight[i])
			}
		}
		l.ptr = append(l.ptr, int64(len(l.adj)))
	}
}

// contract makes the level whose vertices are the communities 0 … count−1 of l.
func (l *level) contract(community []int32, count int) *level {
	members, start := grouped(community, count)
	next := &level{ptr: make([]int64, 1, count+1), strength: make([]int64, count), total: l.total}
	for v, c := range community {
		next.strength[c] += l.strength[v]
	}
	acc := newAccumulator(count)
	for c := range count {
		for _, v := range members[start[c]:start[c+1]] {
			acc.addRow(l, v, community)
		}
		for _, d := range acc.touched {
			if int(d) != c {
				next.adj = append(next.adj, d)
				next.weight = append(next.weight, acc.weight[d])
			}
		}
		acc.reset()
		next.ptr = append(next.ptr, int64(len(next.adj)))
	}
	next.adj, next.weight = slices.Clip(next.adj), slices.Clip(next.weight)
	return next
}

// grouped lists the vertices of each community, in increasing order.
func grouped(community []int32, count int) (members []int32, start []int64) {
	start = make([]int64, count+1)
	for _, c := range community {
		start[c+1]++
	}
	for c := range count {
		start[c+1] += start[c]
	}
	members = make([]int32, len(community))
	next := slices.Clone(start[:count])
	for v, c := range community {
		members[next[c]] = int32(v)
		next[c]++
	}
	return members, start
}

// accumulator sums arc weights by community without a map: a flat array, and the
// list of the entries in use.
type accumulator struct {
	weight  []int64
	touched []int32
}

func newAccumulator(n int) *accumulator { return &accumulator{weight: make([]int64, n)} }

// addRow adds the arcs of v to the communities at their far ends.
func (a *accumulator) addRow(l *level, v int32, community []int32) {
	first, last := l.ptr[v], l.ptr[v+1]
	if l.weight == nil {
		for _, u := range l.adj[first:last] {
			c := community[u]
			if a.weight[c] == 0 {
				a.touched = append(a.touched, c)
			}
			a.weight[c]++
		}
		return
	}
	weights := l.weight[first:last]
	for i, u := range l.adj[first:last] {
		c := community[u]
		if a.weight[c] == 0 {
			a.touched = append(a.touched, c)
		}
		a.weight[c] += weights[i]
	}
}

func (a *accumulator) reset() {
	for _, c := range a.touched {
		a.weight[c] = 0
	}
	a.touched = a.touched[:0]
}
