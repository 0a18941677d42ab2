package parallel

import (
	"sync/atomic"
	"testing"
)

func TestEveryNumberIsInOneBlock(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7} {
		for _, size := range []int{1, 3, 64} {
			for _, n := range []int{0, 1, 2, 3, 64, 65, 1000} {
				visits, calls := make([]int, n), make([]int, Count(n, size))
				Blocks(workers, n, size, func(block, from, to int) {
					calls[block]++
					if from != block*size || to > n || to <= from || (to-from != size && to != n) {
						t.Errorf("workers %d, n %d, size %d: block %d is [%d, %d)", workers, n, size, block, from, to)
					}
					for i := from; i < to; i++ {
						visits[i]++
					}
				})
				for i, k := range visits {
					if k != 1 {
						t.Fatalf("workers %d, n %d, size %d: number %d is visited %d times", workers, n, size, i, k)
					}
				}
				for b, k := range calls {
					if k != 1 {
						t.Fatalf("workers %d, n %d, size %d: block %d is called %d times", workers, n, size, b, k)
					}
				}
			}
		}
	}
}

// No scratch is used by two calls at once, and there are no more of them than workers.
func TestScratchIsAWorkersOwn(t *testing.T) {
	type own struct{ busy atomic.Bool }
	var made atomic.Int64
	BlocksWith(4, 1000, 1, func() *own { made.Add(1); return &own{} }, func(s *own, _, _, _ int) {
		if !s.busy.CompareAndSwap(false, true) {
			t.Error("two calls share a scratch")
		}
		s.busy.Store(false)
	})
	if m := made.Load(); m < 1 || m > 4 {
		t.Errorf("%d scratches for 4 workers", m)
	}
}

// As many calls run at a time as workers are asked for: each waits for the others.
func TestWorkersRunTogether(t *testing.T) {
	const workers = 3
	var here atomic.Int64
	all := make(chan struct{})
	Blocks(workers, workers, 1, func(_, _, _ int) {
		if here.Add(1) == workers {
			close(all)
		}
		<-all
	})
}

func TestABlockOfNothingPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("blocks of 0 were taken")
		}
	}()
	Blocks(1, 10, 0, func(_, _, _ int) {})
}
