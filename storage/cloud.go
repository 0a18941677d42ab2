package storage

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// cloud adapts a gocloud bucket: S3, and memory.
type cloud struct {
	bucket *blob.Bucket
	base   string // scheme://name
	query  string
	shared bool
}

// attemptKey is the object metadata that tells a Create which of several
// attempts made the object.
const attemptKey = "privcom-attempt"

func isCloud(where string) bool { return strings.HasPrefix(where, "s3://") }

func (c *cloud) url(prefix string) string {
	s := c.base
	if p := strings.TrimSuffix(prefix, "/"); p != "" {
		s += "/" + p
	}
	if c.query != "" {
		s += "?" + c.query
	}
	return s
}

func (c *cloud) close() error {
	if c.shared {
		return nil
	}
	return c.bucket.Close()
}

func (c *cloud) readAll(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // the memory driver does not look
	}
	return c.bucket.ReadAll(ctx, key)
}

func (c *cloud) put(ctx context.Context, key string, data []byte) error {
	return c.bucket.WriteAll(ctx, key, data, &blob.WriterOptions{ContentType: contentType})
}

const contentType = "application/octet-stream"

// create is a conditional write. The client below it repeats a request whose
// answer was lost, and then meets its own object: the attempt's nonce, kept as
// object metadata, tells that case from another writer's object.
func (c *cloud) create(ctx context.Context, key string, data []byte) error {
	attempt := nonce()
	err := c.bucket.WriteAll(ctx, key, data, &blob.WriterOptions{
		ContentType: contentType,
		IfNotExist:  true,
		Metadata:    map[string]string{attemptKey: attempt},
	})
	if err == nil {
		return nil
	}
	if attrs, lookErr := c.bucket.Attributes(ctx, key); lookErr == nil {
		if attrs.Metadata[attemptKey] == attempt {
			return nil
		}
		// A conditional request that met another one is answered with a
		// conflict; the object is there now, so it exists. So it does after every
		// other error: a write that is still under way meets it, and fails.
		return errors.Join(ErrExists, err)
	}
	return err
}

func (c *cloud) exists(ctx context.Context, key string) (bool, error) {
	return c.bucket.Exists(ctx, key)
}

func (c *cloud) delete(ctx context.Context, key string) error { return c.bucket.Delete(ctx, key) }

func (c *cloud) list(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	it := c.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := it.Next(ctx)
		if err == io.EOF {
			return keys, nil
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, o.Key)
	}
}

// cloudSink streams to a gocloud writer, which uploads in parts and makes the
// object visible on Close. Cancelling its context before Close drops it.
type cloudSink struct {
	w      *blob.Writer
	cancel context.CancelFunc
}

func (c *cloud) newSink(ctx context.Context, key string) (sink, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := c.bucket.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType})
	if err != nil {
		cancel()
		return nil, err
	}
	return &cloudSink{w: w, cancel: cancel}, nil
}

func (s *cloudSink) Write(p []byte) (int, error) { return s.w.Write(p) }

func (s *cloudSink) commit() error {
	defer s.cancel()
	return s.w.Close()
}

func (s *cloudSink) abort() error {
	s.cancel()
	err := s.w.Close()
	if errors.Is(err, context.Canceled) || gcerrors.Code(err) == gcerrors.Canceled {
		return nil
	}
	return err
}

const (
	rangeBytes   = 1 << 20 // a ranged read is at least this long
	cachedRanges = 8
)

func (c *cloud) openFile(ctx context.Context, key string) (source, int64, error) {
	attrs, err := c.bucket.Attributes(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	return &ranged{
		size: attrs.Size,
		read: func(p []byte, off int64) error {
			r, err := c.bucket.NewRangeReader(ctx, key, off, int64(len(p)), nil)
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = io.ReadFull(r, p)
			return err
		},
	}, attrs.Size, nil
}

// ranged reads an object in aligned ranges and keeps the last few, because
// Parquet readers ask for many small pieces of neighbouring pages.
type ranged struct {
	size int64
	read func(p []byte, off int64) error

	mu    sync.Mutex
	kept  [cachedRanges]keptRange
	clock int64
}

type keptRange struct {
	data []byte
	at   int64 // range number
	used int64 // 0: empty slot
}

func (r *ranged) Close() error { return nil }

func (r *ranged) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.size {
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), r.size-off)]
	if len(want) >= rangeBytes {
		if err := r.read(want, off); err != nil {
			return 0, err
		}
	} else if err := r.readSmall(want, off); err != nil {
		return 0, err
	}
	if len(want) < len(p) {
		return len(want), io.EOF
	}
	return len(want), nil
}

func (r *ranged) readSmall(p []byte, off int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(p) > 0 {
		data, err := r.rangeAt(off / rangeBytes)
		if err != nil {
			return err
		}
		n := copy(p, data[off%rangeBytes:])
		p, off = p[n:], off+int64(n)
	}
	return nil
}

func (r *ranged) rangeAt(at int64) ([]byte, error) {
	r.clock++
	oldest := 0
	for i := range r.kept {
		if r.kept[i].used != 0 && r.kept[i].at == at {
			r.kept[i].used = r.clock
			return r.kept[i].data, nil
		}
		if r.kept[i].used < r.kept[oldest].used {
			oldest = i
		}
	}
	slot := &r.kept[oldest]
	slot.used = 0 // not valid until the read below went well
	if slot.data == nil {
		slot.data = make([]byte, min(rangeBytes, r.size))
	}
	slot.data = slot.data[:min(rangeBytes, r.size-at*rangeBytes)]
	if err := r.read(slot.data, at*rangeBytes); err != nil {
		return nil, err
	}
	slot.at, slot.used = at, r.clock
	return slot.data, nil
}
