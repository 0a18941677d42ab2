package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/privcom/privcom/storage"
)

// Publish copies a finished release to another place, byte by byte, and reports whether it
// stood there already. release.json goes first, by create-if-absent, and takes the place
// for this release; _SUCCESS goes last, so that readers see either nothing or all of it. A
// place that holds anything else is refused with ErrOccupied. A copy that was stopped is
// taken up where it is called again. Publish does not check the release: Verify does.
func Publish(ctx context.Context, from, to *storage.Bucket) (already bool, err error) {
	if _, err := Open(ctx, from); err != nil {
		return false, err
	}
	keys, err := from.List(ctx, "")
	if err != nil {
		return false, err
	}
	there, err := to.List(ctx, "")
	if err != nil {
		return false, err
	}
	for _, k := range there {
		if !slices.Contains(keys, k) {
			return false, fmt.Errorf("%w: %s holds %s, which is no part of %s; nothing was published; choose another place", ErrOccupied, to.URL(), k, from.URL())
		}
	}
	if err := place(ctx, from, to, DocumentKey); err != nil {
		return false, err
	}
	if slices.Contains(there, SuccessKey) {
		return true, place(ctx, from, to, SuccessKey)
	}
	for _, k := range keys {
		if k != DocumentKey && k != SuccessKey {
			if err := copyObject(ctx, from, to, k); err != nil {
				return false, err
			}
		}
	}
	return false, place(ctx, from, to, SuccessKey)
}

// place creates a small object, or accepts one of the same bytes.
func place(ctx context.Context, from, to *storage.Bucket, key string) error {
	data, err := from.ReadAll(ctx, key)
	if err != nil {
		return err
	}
	err = createOwn(ctx, to, key, data)
	if !errors.Is(err, storage.ErrExists) {
		return err
	}
	if have, readErr := to.ReadAll(ctx, key); readErr == nil && bytes.Equal(have, data) {
		return nil
	}
	return fmt.Errorf("%w: %s holds another release (its %s differs from that of %s); nothing was published; choose another place", ErrOccupied, to.URL(), key, from.URL())
}

// copyObject streams one object and compares what was written with what is read back.
func copyObject(ctx context.Context, from, to *storage.Bucket, key string) (err error) {
	f, err := from.OpenFile(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := to.NewWriter(ctx, key)
	if err != nil {
		return err
	}
	defer func() {
		if back := w.Abort(); err == nil {
			err = back
		}
	}()
	if _, err := io.Copy(w, io.NewSectionReader(f, 0, f.Size())); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	want, _, err := from.Hash(ctx, key)
	if err != nil {
		return err
	}
	have, _, err := to.Hash(ctx, key)
	if err != nil {
		return err
	}
	if have != want {
		return &storage.CorruptError{Key: key, Detail: fmt.Sprintf("SHA-256 %s where it was published, %s in the release", have, want)}
	}
	return nil
}
