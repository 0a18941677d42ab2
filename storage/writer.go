package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
)

// Writer streams one object. Exactly one of Commit and Abort ends it; Abort
// after either does nothing, so that it can be deferred. Not for use by several
// goroutines.
type Writer struct {
	ctx        context.Context
	sink       sink
	key, where string
	sum        hash.Hash
	bytes      int64
	failed     error
	ended      bool
	digest     string
}

var errEnded = errors.New("the writer was committed or aborted already")

// NewWriter begins an object. Nothing is visible under the key before Commit,
// which replaces what was there.
func (b *Bucket) NewWriter(ctx context.Context, key string) (*Writer, error) {
	name, err := b.full("write", key)
	if err != nil {
		return nil, err
	}
	s, err := b.back.newSink(ctx, name)
	if err != nil {
		return nil, wrap("write", key, b.URL(), err)
	}
	return &Writer{ctx: ctx, sink: s, key: key, where: b.URL(), sum: sha256.New()}, nil
}

// Write follows io.Writer. After an error Commit refuses.
func (w *Writer) Write(p []byte) (int, error) {
	if w.ended {
		return 0, w.wrap(errEnded)
	}
	if w.failed == nil {
		w.failed = w.wrap(w.ctx.Err())
	}
	if w.failed != nil {
		return 0, w.failed
	}
	n, err := w.sink.Write(p)
	w.sum.Write(p[:n])
	w.bytes += int64(n)
	w.failed = w.wrap(err)
	return n, w.failed
}

// Commit makes the object visible and durable. On an error of a folder or of
// memory nothing is visible; on a lost answer from S3 the outcome is unknown.
func (w *Writer) Commit() error {
	if w.ended {
		return w.wrap(errEnded)
	}
	if w.failed == nil {
		w.failed = w.wrap(w.ctx.Err())
	}
	if w.failed != nil {
		return errors.Join(w.failed, w.Abort())
	}
	w.ended = true
	if err := w.sink.commit(); err != nil {
		return w.wrap(err)
	}
	w.digest = hex.EncodeToString(w.sum.Sum(nil))
	return nil
}

// Abort drops what was written.
func (w *Writer) Abort() error {
	if w.ended {
		return nil
	}
	w.ended = true
	return w.wrap(w.sink.abort())
}

// Bytes is the size of the object, after Commit.
func (w *Writer) Bytes() int64 { return w.bytes }

// SHA256 is the hash of the object in hex, after Commit.
func (w *Writer) SHA256() string { return w.digest }

func (w *Writer) wrap(err error) error { return wrap("write", w.key, w.where, err) }
