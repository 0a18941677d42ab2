package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/privcom/privcom/blockmatmul"
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
					tc.multiply(fineOperand(t, g.n, k, uint64(k), 24), 0) // too large a bound for int32
				}
			})
		}
	}
}

// The width of the entries is decided by n, r and c, never by the entries.
func TestWidthIsPublic(t *testing.T) {
	for _, c := range []struct {
		n    int
		bits uint
		clip int64
		wide bool
	}{
		{3, 29, 0, false},       // 2·2^29 < 2^31
		{6, 29, 0, true},        // 5·2^29 > 2^31
		{6, 29, 1 << 30, false}, // clipped
		{6, 29, 1 << 31, true},  // clipped, but beyond int32
		{2, 30, 0, false},
	} {
		v, err := blockmatmul.Quantise(make1(c.n), c.n, 1, 1, c.bits)
		if err != nil {
			t.Fatal(err)
		}
		if got := wideProduct(v, c.clip); got != c.wide {
			t.Errorf("n = %d, r = %d, c = %d: wide is %v", c.n, v.Radius(), c.clip, got)
		}
	}
}

func make1(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

func TestMultiplyRefuses(t *testing.T) {
	g := newGraph(50, 4, 2, 1)
	tc := newCluster(t, g, nil)
	tc.workers(0, 1)
	if _, err := tc.c.Multiply(tc.ctx, operand(t, 49, 2, 1), 0); !errors.Is(err, blockmatmul.ErrShape) {
		t.Errorf("another n: %v", err)
	}
	if _, err := tc.c.Multiply(tc.ctx, operand(t, 50, 2, 1), -1); err == nil {
		t.Error("a negative clip is taken")
	}
	if _, err := tc.c.Multiply(tc.ctx, operand(t, 50, 10_000, 1), 0); err == nil || !strings.Contains(err.Error(), "does not fit in a message") {
		t.Errorf("a row larger than a message: %v", err)
	}
	ctx, cancel := context.WithCancel(tc.ctx)
	cancel()
	if _, err := tc.c.Multiply(ctx, operand(t, 50, 2, 1), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	tc.multiply(operand(t, 50, 2, 1), 0)
	tc.c.Close()
	if _, err := tc.c.Multiply(tc.ctx, operand(t, 50, 2, 1), 0); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestCancelledStepLeavesCoordinatorUsable(t *testing.T) {
	g := newGraph(3000, 4, 2, 2)
	tc := newCluster(t, g, nil)
	for i := range 2 {
		tc.worker(i, func(o *ShardOptions) { o.slow = 50 * time.Millisecond })
	}
	if err := tc.c.WaitShards(tc.ctx); err != nil {
		t.Fatal(err)
	}
	for step := range 3 {
		ctx, cancel := context.WithTimeout(tc.ctx, 20*time.Millisecond)
		if _, err := tc.c.Multiply(ctx, operand(t, g.n, 8, uint64(step)), 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	tc.multiply(operand(t, g.n, 8, 9), 0)
}

func TestNoWorkerIsAnError(t *testing.T) {
	g := newGraph(50, 4, 2, 1)
	tc := newCluster(t, g, func(o *CoordinatorOptions) { o.Timeouts.Alone = 100 * time.Millisecond })
	_, err := tc.c.Multiply(tc.ctx, operand(t, 50, 2, 1), 0)
	var alone *NoWorkerError
	if !errors.As(err, &alone) || !strings.Contains(err.Error(), "privcom.test.r1") {
		t.Errorf("got %v", err)
	}
}

// The message that would not fit is not sent, and says so.
func TestOversizedMessageIsRefusedHere(t *testing.T) {
	g := newGraph(50, 4, 1, 1)
	tc := newCluster(t, g, nil)
	s := newSender(tc.conn("large"), tc.c.subj, nil)
	err := s.send("privcom.test.r1.v", head{}, make([]byte, embeddedPayload))
	var size *SizeError
	if !errors.As(err, &size) || size.Limit != embeddedPayload || size.Size <= embeddedPayload {
		t.Errorf("got %v", err)
	}
}

// Messages are cut to a server that takes less than we would send.
func TestSmallServerPayload(t *testing.T) {
	g := newGraph(5000, 4, 2, 3)
	tc := newClusterOn(t, g, 24<<10, func(o *CoordinatorOptions) { o.ChunkBytes, o.InFlight = maxChunk, 8*maxChunk })
	tc.workers(0, 1)
	tc.multiply(operand(t, g.n, 8, 1), 0)
}

func TestCoordinatorOptions(t *testing.T) {
	g := newGraph(50, 4, 1, 1)
	tc := newCluster(t, g, nil)
	good := tc.c.o
	for name, spoil := range map[string]func(*CoordinatorOptions){
		"no connection":    func(o *CoordinatorOptions) { o.Conn = nil },
		"no shard":         func(o *CoordinatorOptions) { o.Shards = nil },
		"gap":              func(o *CoordinatorOptions) { o.Shards = []Range{{0, 20}, {21, 50}} },
		"overlap":          func(o *CoordinatorOptions) { o.Shards = []Range{{0, 20}, {19, 50}} },
		"too short":        func(o *CoordinatorOptions) { o.Shards = []Range{{0, 49}} },
		"backwards":        func(o *CoordinatorOptions) { o.Shards = []Range{{0, 60}, {60, 50}} },
		"wild card prefix": func(o *CoordinatorOptions) { o.Prefix = "a.>" },
		"space in run":     func(o *CoordinatorOptions) { o.Run = "a b" },
		"empty run":        func(o *CoordinatorOptions) { o.Run = "" },
		"large messages":   func(o *CoordinatorOptions) { o.ChunkBytes = 2 << 20 },
		"narrow window":    func(o *CoordinatorOptions) { o.InFlight = o.ChunkBytes },
	} {
		o := good
		spoil(&o)
		if c, err := NewCoordinator(tc.ctx, o); err == nil {
			c.Close()
			t.Errorf("%s: taken", name)
		}
	}
}
