package metrics

import (
	"errors"
	"fmt"
)

// Contingency counts, for each pair (detected community, truth community), the
// vertices that they share. Only pairs that share one are stored, row by row:
// row i has columns Col[Ptr[i]:Ptr[i+1]] with counts Count[Ptr[i]:Ptr[i+1]].
type Contingency struct {
	N        int64   // vertices with a community on both sides
	Detected []int64 // size of each detected community, all > 0
	Truth    []int64 // size of each truth community, all > 0
	Ptr      []int   // len(Detected)+1
	Col      []int32 // truth community of a cell
	Count    []int64 // vertices in a cell, all > 0

	// DetectedName and TruthName give the caller's number of each community.
	DetectedName, TruthName []int32
}

// ErrNoOverlap is returned when no vertex has a community on both sides.
var ErrNoOverlap = errors.New("metrics: no vertex has a community in both partitions")

// NewContingency tabulates two partitions of the same vertices in time and
// memory proportional to their length. Communities are numbered in the order in
// which they first appear.
func NewContingency(detected, truth []int32) (*Contingency, error) {
	if len(detected) != len(truth) {
		return nil, fmt.Errorf("metrics: partitions of %d and %d vertices cannot be compared: give both for the same vertices",
			len(detected), len(truth))
	}
	d, t := make([]int32, 0, len(detected)), make([]int32, 0, len(truth))
	for v, c := range detected {
		if c >= 0 && truth[v] >= 0 {
			d, t = append(d, c), append(t, truth[v])
		}
	}
	if len(d) == 0 {
		return nil, ErrNoOverlap
	}
	table := &Contingency{N: int64(len(d))}
	table.DetectedName = compact(d)
	table.TruthName = compact(t)
	table.Detected = sizes(d, len(table.DetectedName))
	table.Truth = sizes(t, len(table.TruthName))
	table.fill(d, t)
	return table, nil
}

// compact renumbers the communities of p as 0, 1, … in order of appearance, in
// place, and returns the old number of each.
func compact(p []int32) []int32 {
	var most int32
	for _, c := range p {
		most = max(most, c)
	}
	var names []int32
	// A flat table where the numbers are dense, a map where they are not.
	if int(most) < 4*len(p)+1024 {
		number := make([]int32, most+1)
		for v, c := range p {
			if number[c] == 0 {
				names = append(names, c)
				number[c] = int32(len(names))
			}
			p[v] = number[c] - 1
		}
		return names
	}
	number := make(map[int32]int32)
	for v, c := range p {
		k, seen := number[c]
		if !seen {
			k = int32(len(names))
			names = append(names, c)
			number[c] = k
		}
		p[v] = k
	}
	return names
}

func sizes(p []int32, communities int) []int64 {
	s := make([]int64, communities)
	for _, c := range p {
		s[c]++
	}
	return s
}

// fill counts the cells: vertices grouped by detected community (a counting
// sort), then one pass over each group.
func (c *Contingency) fill(d, t []int32) {
	start := make([]int, len(c.Detected)+1)
	for i, s := range c.Detected {
		start[i+1] = start[i] + int(s)
	}
	grouped, next := make([]int32, len(d)), make([]int, len(c.Detected))
	copy(next, start)
	for v, i := range d {
		grouped[next[i]] = t[v]
		next[i]++
	}
	c.Ptr = make([]int, 1, len(c.Detected)+1)
	seen := make([]int64, len(c.Truth))
	for i := range c.Detected {
		first := len(c.Col)
		for _, j := range grouped[start[i]:start[i+1]] {
			if seen[j] == 0 {
				c.Col = append(c.Col, j)
			}
			seen[j]++
		}
		for _, j := range c.Col[first:] {
			c.Count = append(c.Count, seen[j])
			seen[j] = 0
		}
		c.Ptr = append(c.Ptr, len(c.Col))
	}
}

// cells calls f(i, j, count) for every stored cell, in storage order.
func (c *Contingency) cells(f func(i int, j int32, count int64)) {
	for i := range c.Detected {
		for p := c.Ptr[i]; p < c.Ptr[i+1]; p++ {
			f(i, c.Col[p], c.Count[p])
		}
	}
}

// same tells whether the two partitions are equal up to numbering.
func (c *Contingency) same() bool {
	return len(c.Col) == len(c.Detected) && len(c.Col) == len(c.Truth)
}
