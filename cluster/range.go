package cluster

import "fmt"

// Range is the row range [From, To).
type Range struct{ From, To int }

// Len is the number of rows.
func (r Range) Len() int { return r.To - r.From }

// checkRanges reports whether the shards cover the rows 0..n-1, each once and in
// order. Empty shards are allowed.
func checkRanges(shards []Range, n int) error {
	if n < 1 || n > maxRows {
		return fmt.Errorf("cluster: %d vertices; want 1 to %d", n, maxRows)
	}
	if len(shards) == 0 {
		return fmt.Errorf("cluster: no shard")
	}
	next := 0
	for i, r := range shards {
		if r.From != next || r.To < r.From {
			return fmt.Errorf("cluster: shard %d holds rows [%d, %d); want it to begin at row %d", i, r.From, r.To, next)
		}
		next = r.To
	}
	if next != n {
		return fmt.Errorf("cluster: the shards end at row %d of %d", next, n)
	}
	return nil
}
