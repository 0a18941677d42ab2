package release

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/privcom/privcom/storage"
)

type (
	numberEdge struct {
		Src uint64 `parquet:"src"`
		Dst uint64 `parquet:"dst"`
	}
	nameEdge struct {
		Src string `parquet:"src"`
		Dst string `parquet:"dst"`
	}
)

// Content is a release read back: the vertices in order and the edges as indices.
type Content struct {
	IDs            []string
	Source, Target []int32
}

// Read loads the vertices and edges of a finished release. An edge with an end that is
// no vertex, a loop or a repeat is a *storage.CorruptError.
func Read(ctx context.Context, b *storage.Bucket, d *Document) (*Content, error) {
	c := &Content{}
	if d.Graph.IDType == "uint64" {
		return c, readContent(ctx, b, d, c, func(n numberNode) string { return strconv.FormatUint(n.ID, 10) },
			func(e numberEdge) (uint64, uint64) { return e.Src, e.Dst }, func(n numberNode) uint64 { return n.ID })
	}
	return c, readContent(ctx, b, d, c, func(n nameNode) string { return n.ID },
		func(e nameEdge) (string, string) { return e.Src, e.Dst }, func(n nameNode) string { return n.ID })
}

func readContent[N, E any, K comparable](ctx context.Context, b *storage.Bucket, d *Document, c *Content,
	name func(N) string, ends func(E) (K, K), key func(N) K) error {
	index := map[K]int32{}
	for _, f := range d.Files {
		if f.Key != NodesKey {
			continue
		}
		_, err := storage.ReadParquet(ctx, b, f.Key, func(rows []N) error {
			for _, r := range rows {
				if _, twice := index[key(r)]; twice {
					return &storage.CorruptError{Key: f.Key, Detail: fmt.Sprintf("vertex %s stands twice", name(r))}
				}
				index[key(r)] = int32(len(c.IDs))
				c.IDs = append(c.IDs, strings.Clone(name(r)))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	seen := make(map[int64]struct{}, d.Graph.Edges)
	for _, f := range d.Files {
		if !strings.HasPrefix(f.Key, "edges-") {
			continue
		}
		_, err := storage.ReadParquet(ctx, b, f.Key, func(rows []E) error {
			for _, r := range rows {
				s, t := ends(r)
				u, ok1 := index[s]
				v, ok2 := index[t]
				if !ok1 || !ok2 {
					return &storage.CorruptError{Key: f.Key, Detail: fmt.Sprintf("edge %v–%v has an end that is no vertex", s, t)}
				}
				pair := int64(min(u, v))<<32 | int64(max(u, v))
				if _, twice := seen[pair]; twice || u == v {
					return &storage.CorruptError{Key: f.Key, Detail: fmt.Sprintf("edge %v–%v is a loop or stands twice", s, t)}
				}
				seen[pair] = struct{}{}
				c.Source, c.Target = append(c.Source, u), append(c.Target, v)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
