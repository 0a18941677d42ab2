package release

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/privcom/privcom/storage"
)

// ErrOccupied says that the output folder holds something already.
var ErrOccupied = errors.New("output folder is not empty")

// CheckEmpty refuses a folder that holds a release, finished or not, or anything else,
// before anything is spent: what lies in a release folder is taken for public, and Verify
// would not accept it.
func CheckEmpty(ctx context.Context, out *storage.Bucket) error { return checkEmpty(ctx, out, "") }

// checkEmpty is CheckEmpty of a folder that may hold one key.
func checkEmpty(ctx context.Context, out *storage.Bucket, own string) error {
	keys, err := out.List(ctx, "")
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return k == own })
	for _, k := range keys {
		switch {
		case k == SuccessKey:
			return fmt.Errorf("%w: %s already holds a finished release (%s); nothing was spent; choose another folder", ErrOccupied, out.URL(), SuccessKey)
		case k == startedKey:
			return startedError(out)
		case ours(k):
			return fmt.Errorf("%w: %s holds parts of a release that did not finish (%s); nothing was spent; choose another folder, or remove it", ErrOccupied, out.URL(), k)
		}
	}
	if len(keys) > 0 && keys[0] == "." {
		return fmt.Errorf("%w: %s is a file; nothing was spent; choose another folder", ErrOccupied, out.URL())
	}
	if len(keys) > 0 {
		return fmt.Errorf("%w: %s holds %s, which is no part of a release; nothing was spent; choose another folder", ErrOccupied, out.URL(), keys[0])
	}
	return nil
}

// startedKey is the object with which a run takes its folder, until the first part of the
// release marks it as taken.
const startedKey = "_STARTED"

// claim takes a folder that was found empty for one run. Of two that start at once one is
// refused here, before it spends anything or writes into the other's release.
func claim(ctx context.Context, out *storage.Bucket, id string) error {
	err := createOwn(ctx, out, startedKey, []byte(id+" "+rand.Text()+"\n"))
	if errors.Is(err, storage.ErrExists) {
		return startedError(out)
	}
	if err != nil {
		return err
	}
	// Another run may have come and gone since the folder was found empty.
	if err := checkEmpty(ctx, out, startedKey); err != nil {
		back := unclaim(context.WithoutCancel(ctx), out)
		if errors.Is(back, storage.ErrNotExist) {
			back = nil // the other has failed and cleaned up
		}
		return errors.Join(err, back)
	}
	return nil
}

func startedError(out *storage.Bucket) error {
	return fmt.Errorf("%w: a run has just begun in %s, or has stopped there (%s); nothing was spent; choose another folder, or remove it if no run is under way",
		ErrOccupied, out.URL(), startedKey)
}

func unclaim(ctx context.Context, out *storage.Bucket) error { return out.Delete(ctx, startedKey) }

// createOwn creates an object of bytes that nobody else writes. Whatever a failed call
// says, the object may stand: an answer gets lost, and a request that is repeated on the
// way meets its own object. If it does, it is created.
func createOwn(ctx context.Context, b *storage.Bucket, key string, data []byte) error {
	err := b.Create(ctx, key, data)
	if err == nil {
		return nil
	}
	if have, readErr := b.ReadAll(ctx, key); readErr == nil && bytes.Equal(have, data) {
		return nil
	}
	return err
}

// ours reports whether a key is one that a release writes.
func ours(key string) bool {
	switch key {
	case DocumentKey, NodesKey, FactorsKey, LabelsKey, ReportKey, SuccessKey, startedKey:
		return true
	}
	return strings.HasPrefix(key, "edges-")
}

// clean removes what a run that failed has written to a folder that it found empty. A
// folder with a _SUCCESS is left alone: the release is complete, whatever failed after.
func clean(ctx context.Context, out *storage.Bucket) error {
	keys, err := out.List(ctx, "")
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k == SuccessKey {
			return nil
		}
	}
	var errs []error
	for _, k := range keys {
		if ours(k) {
			errs = append(errs, out.Delete(ctx, k))
		}
	}
	return errors.Join(errs...)
}

// ErrNotRelease says that a folder is no finished release.
var ErrNotRelease = errors.New("not a finished release")

// Open reads release.json of a finished folder.
func Open(ctx context.Context, b *storage.Bucket) (*Document, error) {
	ok, err := b.Exists(ctx, SuccessKey)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w: there is no %s; a run that stopped midway leaves such a folder", b.URL(), ErrNotRelease, SuccessKey)
	}
	data, err := b.ReadAll(ctx, DocumentKey)
	if errors.Is(err, storage.ErrNotExist) {
		return nil, &storage.CorruptError{Key: DocumentKey, Detail: "it is gone, though " + SuccessKey + " is there"}
	}
	if err != nil {
		return nil, err
	}
	var d Document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, &storage.CorruptError{Key: DocumentKey, Detail: err.Error()}
	}
	if d.Format != "privcom-release" || d.Version != FormatVersion {
		return nil, &storage.CorruptError{Key: DocumentKey, Detail: fmt.Sprintf("format %q version %d, this tool reads privcom-release version %d", d.Format, d.Version, FormatVersion)}
	}
	return &d, nil
}
