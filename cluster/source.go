package cluster

import (
	"context"
	"fmt"

	"github.com/privcom/privcom/blockmatmul"
	"github.com/privcom/privcom/storage"
)

// Source is where a shard worker finds the rows of the graph. Every worker can
// load every shard.
type Source interface {
	Rows() int       // n, vertices of the graph
	Shards() []Range // row range of each shard, covering 0..n-1 in order
	Graph() string   // hash of the graph's manifest
	// Load reads shard i and verifies it against the manifest. A
	// *storage.CorruptError or storage.ErrNotExist ends the run; any other error
	// hands the shard to another worker.
	Load(ctx context.Context, i int) (*blockmatmul.CSR, error)
}

// loadChecked loads a shard and checks that it can be multiplied.
func loadChecked(ctx context.Context, s Source, i int) (*blockmatmul.CSR, error) {
	a, err := s.Load(ctx, i)
	if err != nil {
		return nil, err
	}
	if want := s.Shards()[i]; a.First != want.From || a.Rows() != want.Len() {
		return nil, &storage.CorruptError{Key: fmt.Sprintf("shard %d", i),
			Detail: fmt.Sprintf("holds rows [%d, %d), the manifest says [%d, %d)", a.First, a.First+a.Rows(), want.From, want.To)}
	}
	if err := a.Check(s.Rows()); err != nil {
		return nil, &storage.CorruptError{Key: fmt.Sprintf("shard %d", i), Detail: err.Error()}
	}
	return a, nil
}
