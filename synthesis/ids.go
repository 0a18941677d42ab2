package synthesis

import (
	"context"
	"fmt"

	"github.com/privcom/privcom/storage"
)

const (
	idUint64 = "uint64"
	idString = "string"
)

type numberNode struct {
	ID uint64 `parquet:"id"`
}

type nameNode struct {
	ID string `parquet:"id"`
}

// ids holds the original id of every vertex; one of the slices is used.
type ids struct {
	numbers []uint64
	names   []string
}

func (x *ids) len() int { return len(x.numbers) + len(x.names) }

func loadIDs(ctx context.Context, nodes Nodes) (*ids, error) {
	b, err := storage.Open(ctx, nodes.Bucket)
	if err != nil {
		return nil, fmt.Errorf("synthesis: open the node list: %w", err)
	}
	defer b.Close()
	out := &ids{}
	for _, f := range nodes.Files {
		if sum, _, err := b.Hash(ctx, f.Key); err != nil {
			return nil, fmt.Errorf("synthesis: read %s: %w", f.Key, err)
		} else if sum != f.SHA256 {
			return nil, &storage.CorruptError{Key: f.Key, Detail: "its bytes do not have the SHA-256 that the run recorded"}
		}
		if nodes.Type == idUint64 {
			_, err = storage.ReadParquet(ctx, b, f.Key, func(rows []numberNode) error {
				for _, r := range rows {
					out.numbers = append(out.numbers, r.ID)
				}
				return nil
			})
		} else {
			_, err = storage.ReadParquet(ctx, b, f.Key, func(rows []nameNode) error {
				for _, r := range rows {
					out.names = append(out.names, r.ID)
				}
				return nil
			})
		}
		if err != nil {
			return nil, fmt.Errorf("synthesis: read the node list %s: %w", f.Key, err)
		}
	}
	return out, nil
}
