package community

import (
	"context"
	"math/rand/v2"
)

// checkEvery is how many vertices are visited between two looks at the context.
const checkEvery = 1 << 12

// move is the local moving phase on one level: vertices go, one at a time, to the
// neighbouring community (or to an empty one) that raises modularity most, and a
// vertex is visited again only when a neighbour has left for another community
// (Traag, Waltman, van Eck 2019, "fast local move"). community is changed in place;
// its numbers must lie in 0 … vertices−1. The result says whether anything moved.
func (l *level) move(ctx context.Context, community []int32, rng *rand.Rand) (bool, error) {
	n := l.vertices()
	m := mover{level: l, community: community, degree: make([]int64, n), size: make([]int32, n), acc: newAccumulator(n)}
	for v, c := range community {
		m.degree[c] += l.strength[v]
		m.size[c]++
	}
	for c := n - 1; c >= 0; c-- {
		if m.size[c] == 0 {
			m.empty = append(m.empty, int32(c))
		}
	}
	moved := false
	q := shuffledQueue(n, rng)
	for visits := 0; q.length > 0; visits++ {
		if visits%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
		v := q.pop()
		from := community[v]
		to := m.best(v)
		if to == from {
			continue
		}
		m.transfer(v, from, to)
		moved = true
		for _, u := range l.adj[l.ptr[v]:l.ptr[v+1]] {
			if community[u] != to {
				q.push(u)
			}
		}
	}
	return moved, nil
}

type mover struct {
	*level
	community []int32
	degree    []int64 // K(C): sum of strengths
	size      []int32
	empty     []int32 // communities without vertices; the last one is used first
	acc       *accumulator
}

// best is the community where v adds most to modularity. With v taken out, putting
// it into C adds (2m·w(v,C) − k(v)·K(C)) · 2/(2m)²; an empty community adds 0. The
// present community wins ties, then the first one met.
func (m *mover) best(v int32) int32 {
	from, k := m.community[v], m.strength[v]
	m.acc.addRow(m.level, v, m.community)
	m.degree[from] -= k
	best, most := from, m.total*m.acc.weight[from]-k*m.degree[from]
	for _, c := range m.acc.touched {
		if gain := m.total*m.acc.weight[c] - k*m.degree[c]; gain > most {
			best, most = c, gain
		}
	}
	m.degree[from] += k
	m.acc.reset()
	if most < 0 {
		return m.empty[len(m.empty)-1] // v is not alone, so some number is free
	}
	return best
}

func (m *mover) transfer(v, from, to int32) {
	if m.size[to] == 0 {
		m.empty = m.empty[:len(m.empty)-1]
	}
	m.community[v] = to
	m.degree[from] -= m.strength[v]
	m.degree[to] += m.strength[v]
	m.size[from]--
	m.size[to]++
	if m.size[from] == 0 {
		m.empty = append(m.empty, from)
	}
}
