package evaluate

import (
	"cmp"
	"slices"

	"github.com/privcom/privcom/evaluate/community"
)

// shown is how many communities of each graph the heat map and the drawing show.
const shown = 16

// largest ranks the communities of a partition by size, then number, and returns
// the sizes of the first `shown` and, for each community, its rank or −1.
func largest(r *community.Result) (size []int64, rank []int32) {
	all := make([]int64, r.Count)
	for _, c := range r.Community {
		all[c]++
	}
	order := singletons(r.Count)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(all[b], all[a]) })
	rank = make([]int32, r.Count)
	for i, c := range order {
		rank[c] = -1
		if i < shown {
			rank[c] = int32(i)
			size = append(size, all[c])
		}
	}
	return size, rank
}

// match counts the overlaps of the largest communities of both graphs, and returns
// the order in which it shows those of the synthetic graph (as ranks by size).
func match(original, synthetic *community.Result) (Matching, []int) {
	m := Matching{}
	rowSize, rowRank := largest(original)
	columnSize, columnRank := largest(synthetic)
	rows, columns := len(rowSize), len(columnSize)
	count := make([][]int64, rows+1)
	for i := range count {
		count[i] = make([]int64, columns+1)
	}
	for v, c := range original.Community {
		i, j := rowRank[c], columnRank[synthetic.Community[v]]
		if i < 0 {
			i = int32(rows)
		}
		if j < 0 {
			j = int32(columns)
		}
		count[i][j]++
	}
	order := diagonalOrder(count[:rows], columns)
	m.Count = make([][]int64, rows+1)
	for i := range count {
		for _, j := range order {
			m.Count[i] = append(m.Count[i], count[i][j])
		}
		m.Count[i] = append(m.Count[i], count[i][columns])
	}
	for i := range count {
		m.Original = append(m.Original, sum(count[i]))
	}
	for j := range columns + 1 {
		total := int64(0)
		for i := range m.Count {
			total += m.Count[i][j]
		}
		m.Synthetic = append(m.Synthetic, total)
	}
	return m, order
}

func sum(x []int64) int64 {
	s := int64(0)
	for _, v := range x {
		s += v
	}
	return s
}

// diagonalOrder gives each row in turn the free column that it overlaps most, and
// puts what is left at the end.
func diagonalOrder(count [][]int64, columns int) []int {
	taken := make([]bool, columns)
	var order []int
	for _, row := range count {
		best := -1
		for j := range columns {
			if !taken[j] && row[j] > 0 && (best < 0 || row[j] > row[best]) {
				best = j
			}
		}
		if best >= 0 {
			taken[best] = true
			order = append(order, best)
		}
	}
	for j := range columns {
		if !taken[j] {
			order = append(order, j)
		}
	}
	return order
}

// mix counts edges within and between the largest communities of one graph.
func mix(g *community.Graph, r *community.Result) Mixing {
	size, rank := largest(r)
	m := Mixing{Size: size, Edges: make([][]int64, len(size))}
	for i := range m.Edges {
		m.Edges[i] = make([]int64, len(size))
	}
	for v := range g.Vertices() {
		i := rank[r.Community[v]]
		if i < 0 {
			continue
		}
		for _, u := range g.Neighbours(v) {
			j := rank[r.Community[u]]
			if j >= 0 && (i != j || int(u) > v) {
				m.Edges[i][j]++
			}
		}
	}
	return m
}

// arranged puts the communities in another order.
func (m Mixing) arranged(order []int) Mixing {
	a := Mixing{Size: make([]int64, len(order)), Edges: make([][]int64, len(order))}
	for i, from := range order {
		a.Size[i] = m.Size[from]
		for _, to := range order {
			a.Edges[i] = append(a.Edges[i], m.Edges[from][to])
		}
	}
	return a
}
