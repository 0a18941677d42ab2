package partition

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/privcom/privcom/storage"
)

// Ingest reads the inputs and writes the graph to out. The manifest comes last,
// by create-if-absent: a folder with a manifest is complete, and one that has a
// manifest already is refused with storage.ErrExists. After an error there is
// no manifest, and the files that this call wrote are removed again; where the
// place does not let it, or does not say whether the manifest was written, the
// error says that files are left.
func Ingest(ctx context.Context, o Options, out *storage.Bucket) (*Manifest, *Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	if err := refuseExisting(ctx, out); err != nil {
		return nil, nil, err
	}
	var m *Manifest
	var report *Report
	err = withSource(ctx, &o, func(space *workspace, src source) error {
		m, report, err = ingest(ctx, &o, space, src, out)
		return err
	})
	if err != nil {
		return nil, report, err
	}
	return m, report, nil
}

func refuseExisting(ctx context.Context, out *storage.Bucket) error {
	ok, err := out.Exists(ctx, ManifestKey)
	if err == nil && ok {
		err = holdsGraph(out)
	}
	return err
}

func holdsGraph(out *storage.Bucket) error {
	return fmt.Errorf("partition: %s holds a graph already (%w: %s); nothing was replaced; choose another folder", out.URL(), storage.ErrExists, ManifestKey)
}

func ingest(ctx context.Context, o *Options, space *workspace, src source, out *storage.Bucket) (*Manifest, *Report, error) {
	b, err := build(ctx, space, o, src)
	if err != nil {
		return nil, nil, err
	}
	if err := b.checkGraph(o); err != nil {
		return nil, b.report, err
	}
	m, err := b.write(ctx, o, out)
	return m, b.report, err
}

// write writes all files and then the manifest.
func (b *built) write(ctx context.Context, o *Options, out *storage.Bucket) (m *Manifest, err error) {
	defer func() {
		if err != nil {
			m, err = nil, b.wrote.remove(ctx, out, err)
		}
	}()
	spans, err := b.rows.cut(ctx, o.Shards)
	if err != nil {
		return nil, err
	}
	m = &Manifest{
		Format: manifestFormat, Version: FormatVersion,
		Vertices: b.dict.count, Arcs: b.rows.arcs,
		IDType: b.report.IDType, IDEncoding: b.dict.encoding(), VertexSource: b.report.VertexSource,
		DegreeBound: o.DegreeBound, Mutual: o.Mutual, MinWeight: o.MinWeight,
		Shards: make([]Shard, o.Shards),
	}
	ids, err := b.writeFiles(ctx, o, out, spans, m)
	if err != nil {
		return nil, err
	}
	m.Content = b.rows.content(ids)
	if err := m.check(); err != nil {
		return nil, &LossError{Detail: err.Error()}
	}
	data, err := m.seal()
	if err != nil {
		return nil, err
	}
	err = out.Create(ctx, ManifestKey, data)
	if errors.Is(err, storage.ErrExists) {
		return nil, holdsGraph(out)
	}
	if err != nil {
		if storage.Class(err) != storage.ClassUser { // it may have been written, or be on its way
			b.wrote.keys = nil
		}
		return nil, fmt.Errorf("%w; look whether the manifest is there before trying again", err)
	}
	b.wrote.keys = nil
	return m, b.wrote.check(ctx, out)
}

// writeFiles writes the vertex files in one goroutine and shards in others.
func (b *built) writeFiles(ctx context.Context, o *Options, out *storage.Bucket, spans []span, m *Manifest) (ids hash.Hash, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, min(runtime.GOMAXPROCS(0), int(o.Memory>>25))))
	progress := o.steadyProgress()("write")
	var done atomic.Int64
	tick := func(arcs int64) { progress(done.Add(arcs), b.rows.arcs) }
	group.Go(func() (err error) {
		m.VertexFiles, ids, err = b.writeVertices(ctx, o, out, spans)
		return err
	})
	for i, at := range spans {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := b.writeShard(ctx, o, out, i, len(spans), at, tick)
			if err == nil {
				m.Shards[i] = *s
			}
			return err
		})
	}
	err = group.Wait()
	return ids, err
}

// encoding is the manifest's name for how ids are kept.
func (d *dictionary) encoding() string {
	switch {
	case !d.text:
		return "number"
	case d.binary:
		return "binary"
	}
	return "utf-8"
}
