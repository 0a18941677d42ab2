package release

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/privcom/privcom/privoja"
	"github.com/privcom/privcom/storage"
)

// transcript keeps the public records of a run in a bucket: Arrow blocks of V and Y,
// and a small JSON object, written last, without which the step does not exist.
type transcript struct {
	bucket *storage.Bucket
	length int
}

// openTranscript counts the complete steps that a bucket holds.
func openTranscript(ctx context.Context, bucket *storage.Bucket) (*transcript, error) {
	t := &transcript{bucket: bucket}
	for {
		ok, err := bucket.Exists(ctx, stepKey(t.length, "json"))
		if err != nil {
			return nil, err
		}
		if !ok {
			return t, nil
		}
		t.length++
	}
}

func stepKey(step int, ext string) string { return fmt.Sprintf("step-%05d.%s", step, ext) }

// Append implements privoja.Transcript.
func (t *transcript) Append(ctx context.Context, r *privoja.Record) error {
	if r.Step != t.length {
		return fmt.Errorf("release: step %d appended to a transcript of %d", r.Step, t.length)
	}
	v, err := storage.EncodeBlock(storage.Block[int32]{Cols: r.Cols, Data: r.V})
	if err != nil {
		return err
	}
	y, err := storage.EncodeBlock(storage.Block[int64]{Cols: r.Cols, Data: r.Y})
	if err != nil {
		return err
	}
	head, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := t.bucket.Put(ctx, stepKey(r.Step, "v.arrow"), v); err != nil {
		return err
	}
	if err := t.bucket.Put(ctx, stepKey(r.Step, "y.arrow"), y); err != nil {
		return err
	}
	if err := t.bucket.Create(ctx, stepKey(r.Step, "json"), head); err != nil {
		return err
	}
	t.length++
	return nil
}

// Len implements privoja.Transcript.
func (t *transcript) Len() int { return t.length }

// Read implements privoja.Transcript.
func (t *transcript) Read(ctx context.Context, step int) (*privoja.Record, error) {
	head, err := t.bucket.ReadAll(ctx, stepKey(step, "json"))
	if err != nil {
		return nil, err
	}
	r := &privoja.Record{}
	if err := json.Unmarshal(head, r); err != nil {
		return nil, &storage.CorruptError{Key: stepKey(step, "json"), Detail: err.Error()}
	}
	if r.V, err = readBlock[int32](ctx, t.bucket, stepKey(step, "v.arrow")); err != nil {
		return nil, err
	}
	r.Y, err = readBlock[int64](ctx, t.bucket, stepKey(step, "y.arrow"))
	return r, err
}

func readBlock[T storage.Element](ctx context.Context, b *storage.Bucket, key string) ([]T, error) {
	raw, err := b.ReadAll(ctx, key)
	if err != nil {
		return nil, err
	}
	block, err := storage.DecodeBlock[T](raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return block.Data, nil
}
