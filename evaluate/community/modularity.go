package community

import (
	"fmt"
	"slices"
)

// Modularity is Newman and Girvan's
//
//	Q = Σ_C w(C,C)/2m − (K(C)/2m)²,
//
// where w(C,C) is the weight of the arcs inside C and K(C) the sum of its degrees.
// Both sums are exact integers. A negative community number means a community of
// its own. A graph without edges has Q = 0.
func Modularity(g *Graph, community []int32) (float64, error) {
	if err := g.checkShape(); err != nil {
		return 0, err
	}
	if len(community) != g.Vertices() {
		return 0, fmt.Errorf("community: a partition of %d vertices for a graph of %d", len(community), g.Vertices())
	}
	number := slices.Clone(community)
	degree := make([]int64, renumber(number))
	inside, total := int64(0), int64(0)
	for v, c := range number {
		for i := g.Ptr[v]; i < g.Ptr[v+1]; i++ {
			w := g.arcWeight(i)
			degree[c] += w
			if number[g.Adj[i]] == c {
				inside += w
			}
		}
	}
	for _, d := range degree {
		total += d
	}
	if total > maxTotal {
		return 0, fmt.Errorf("community: the total arc weight %d is above %d", total, int64(maxTotal))
	}
	return modularity(inside, total, degree), nil
}

func modularity(inside, total int64, degree []int64) float64 {
	if total == 0 {
		return 0
	}
	square := int64(0) // ≤ total² < 2⁶³
	for _, d := range degree {
		square += d * d
	}
	return float64(inside)/float64(total) - float64(square)/float64(total)/float64(total)
}

// renumber replaces community numbers by 0, 1, … in order of first appearance, in
// place, and returns how many there are. Each negative number becomes a community
// of its own.
func renumber(community []int32) int {
	var most int32
	for _, c := range community {
		most = max(most, c)
	}
	count := int32(0)
	if int(most) < 4*len(community)+1024 {
		number := make([]int32, most+1) // 0: not seen yet
		for v, c := range community {
			if c >= 0 && number[c] > 0 {
				community[v] = number[c] - 1
				continue
			}
			if c >= 0 {
				number[c] = count + 1
			}
			community[v] = count
			count++
		}
		return int(count)
	}
	number := make(map[int32]int32)
	for v, c := range community {
		k, seen := number[c]
		if !seen || c < 0 {
			k = count
			number[c] = k
			count++
		}
		community[v] = k
	}
	return int(count)
}
