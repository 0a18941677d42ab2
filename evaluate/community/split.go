package community

import "fmt"

// Split returns the partition in which every connected part of every community is
// a community of its own, and how many those are. Where a community falls apart
// modularity rises: no arc is lost and the squares of the degrees shrink.
func Split(g *Graph, community []int32) ([]int32, int, error) {
	if err := g.checkShape(); err != nil {
		return nil, 0, err
	}
	if len(community) != g.Vertices() {
		return nil, 0, fmt.Errorf("community: a partition of %d vertices for a graph of %d", len(community), g.Vertices())
	}
	part, count := connectedParts(g.Ptr, g.Adj, community)
	return part, count, nil
}

// Components numbers the connected components of g in order of their lowest vertex.
func Components(g *Graph) ([]int32, int) {
	return connectedParts(g.Ptr, g.Adj, make([]int32, g.Vertices()))
}

// connectedParts walks each community depth first. Negative numbers are
// communities of their own. Parts are numbered by their lowest vertex.
func connectedParts(ptr []int64, adj []int32, community []int32) ([]int32, int) {
	part := make([]int32, len(community))
	for v := range part {
		part[v] = -1
	}
	count := int32(0)
	var stack []int32
	for v := range part {
		if part[v] >= 0 {
			continue
		}
		part[v] = count
		if c := community[v]; c >= 0 {
			for stack = append(stack[:0], int32(v)); len(stack) > 0; {
				u := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				for _, w := range adj[ptr[u]:ptr[u+1]] {
					if part[w] < 0 && community[w] == c {
						part[w] = count
						stack = append(stack, w)
					}
				}
			}
		}
		count++
	}
	return part, int(count)
}
