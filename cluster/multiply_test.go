package cluster

import (
	"fmt"
	"testing"
)

// The product is the reference's, bit for bit, whatever the number of shards and
// workers, the message size, the row clip and the width of the entries.
func TestMultiplyEqualsReference(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 7} {
		for _, workers := range []int{1, shards, shards + 1} {
			t.Run(fmt.Sprintf("%d shards, %d workers", shards, workers), func(t *testing.T) {
				t.Parallel()
				g := newGraph(3000, 6, shards, uint64(shards))
				tc := newCluster(t, g, func(o *CoordinatorOptions) {
					o.ChunkBytes = 16<<10 + shards*4096
					o.Workers = workers
				})
				for i := range workers {
					tc.worker(min(i, shards)%shards, nil)
				}
				if err := tc.c.WaitShards(tc.ctx); err != nil {
					t.Fatal(err)
				}
				for k := 1; k <= 5; k += 2 {
					tc.multiply(operand(t, g.n, k, uint64(k)), 0)
					tc.multiply(operand(t, g.n, k, uint64(k)), 3000)
				}
			})
		}
	}
}
