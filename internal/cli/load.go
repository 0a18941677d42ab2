package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// loadGraph reads a graph file or folder as vertex ids in order and adjacency.
func (a *app) loadGraph(ctx context.Context, where string, f *ingestFlags, p *progress) ([]string, *community.Graph, error) {
	if !isGraphFolder(where) {
		bucket, remove, err := tempFolder(ctx)
		if err != nil {
			return nil, nil, err
		}
		defer remove()
		o := f.options(a, []string{where})
		o.Shards, o.Progress = 1, p.report
		if err := f.rejecting(a, &o, func() error {
			_, _, err := partition.Ingest(ctx, o, bucket)
			return input(err)
		}); err != nil {
			return nil, nil, err
		}
		where = bucket.URL()
	}
	g, closeGraph, err := openGraph(ctx, where)
	if err != nil {
		return nil, nil, err
	}
	defer closeGraph()
	return wholeGraph(ctx, g)
}

// wholeGraph reads an open graph folder into memory.
func wholeGraph(ctx context.Context, g *partition.Graph) ([]string, *community.Graph, error) {
	list, err := g.VertexIDs(ctx)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]string, list.Len())
	for i := range ids {
		ids[i] = list.At(i)
	}
	csr, err := g.LoadWhole(ctx)
	if err != nil {
		return nil, nil, err
	}
	return ids, &community.Graph{Ptr: csr.Ptr, Adj: csr.Col}, nil
}

// loadSynthetic reads what --synthetic names, a release folder or a graph file, over the
// original's vertex order, and says what to call it.
func (a *app) loadSynthetic(ctx context.Context, f *evaluateFlags, ids []string, p *progress) (string, *community.Graph, error) {
	if info, err := os.Stat(f.synthetic); err != nil || info.IsDir() {
		doc, g, err := loadRelease(ctx, f.synthetic, ids)
		if err != nil {
			return "", nil, err
		}
		return "release " + doc.ID, g, nil
	}
	names, g, err := a.loadGraph(ctx, f.synthetic, &ingestFlags{memory: f.ingest.memory}, p)
	if err != nil {
		return "", nil, err
	}
	// A file that lists edges only cannot name vertices without any: those may be missing.
	to, err := places(names, ids, f.synthetic)
	if err != nil {
		return "", nil, err
	}
	var source, target []int32
	for u := range g.Vertices() {
		for _, v := range g.Neighbours(u) {
			if int32(u) < v {
				source, target = append(source, to[u]), append(target, to[v])
			}
		}
	}
	g, err = community.FromEdges(len(ids), source, target)
	return f.synthetic, g, err
}

// places finds the vertices of a synthetic graph in the original's list.
func places(names, ids []string, where string) ([]int32, error) {
	index := make(map[string]int32, len(ids))
	for i, id := range ids {
		index[id] = int32(i)
	}
	to := make([]int32, len(names))
	for i, id := range names {
		at, ok := index[id]
		if !ok {
			return nil, input(fmt.Errorf("vertex %q of %s is not in the original: they are not of the same vertex list", id, where))
		}
		to[i] = at
	}
	return to, nil
}

// loadRelease reads a release as adjacency over the original's vertex order.
func loadRelease(ctx context.Context, where string, ids []string) (*release.Document, *community.Graph, error) {
	b, err := storage.Open(ctx, where)
	if err != nil {
		return nil, nil, usage(err)
	}
	defer b.Close()
	doc, err := release.Open(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	c, err := release.Read(ctx, b, doc)
	if err != nil {
		return nil, nil, err
	}
	if len(c.IDs) != len(ids) {
		return nil, nil, input(fmt.Errorf("%s lists %d vertices and the original %d: they are not of the same vertex list; give the file that was released (or --vertices)", where, len(c.IDs), len(ids)))
	}
	to, err := places(c.IDs, ids, where)
	if err != nil {
		return nil, nil, err
	}
	for i := range c.Source {
		c.Source[i], c.Target[i] = to[c.Source[i]], to[c.Target[i]]
	}
	g, err := community.FromEdges(len(ids), c.Source, c.Target)
	return doc, g, err
}
