package synthesis

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// LocalRunner runs items in goroutines of this process.
type LocalRunner struct {
	Handlers map[string]Handler
	Workers  int // default: processors
}

// Run implements Runner. The first error ends the run.
func (l LocalRunner) Run(ctx context.Context, kind string, items [][]byte) ([][]byte, error) {
	handle := l.Handlers[kind]
	if handle == nil {
		return nil, fmt.Errorf("synthesis: no handler for items of kind %q", kind)
	}
	workers := l.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	results := make([][]byte, len(items))
	for i, item := range items {
		group.Go(func() (err error) {
			results[i], err = handle(ctx, item)
			return err
		})
	}
	return results, group.Wait()
}
