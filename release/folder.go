package release

import (
	"bytes"
	"context"
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

// startedKey is the object with which a run takes its folder, until _SUCCESS.
const startedKey = "_STARTED"

// claim takes a folder for one run. Of two runs that start at once one is refused here,
// before it spends anything or writes into the other's release. A folder that this run has
// claimed before is its own still.
func (r *runner) claim(ctx context.Context) error {
	if r.Resume {
		if own, err := r.claimed(ctx); err != nil || own {
			return err
		}
	}
	err := createOwn(ctx, r.Out, startedKey, []byte(r.file.Claim))
	if errors.Is(err, storage.ErrExists) {
		return startedError(r.Out)
	}
	if err != nil {
		return err
	}
	// Another run may have come and gone since the folder was found empty.
	if err := checkEmpty(ctx, r.Out, startedKey); err != nil {
		return errors.Join(err, unclaim(context.WithoutCancel(ctx), r.Out))
	}
	return nil
}

// claimed reports whether the folder is this run's already: by _STARTED, or after that is
// gone by the release.json that it wrote.
func (r *runner) claimed(ctx context.Context) (bool, error) {
	have, err := r.Out.ReadAll(ctx, startedKey)
	if err == nil {
		return string(have) == r.file.Claim, nil
	}
	if !errors.Is(err, storage.ErrNotExist) {
		return false, err
	}
	data, err := r.Out.ReadAll(ctx, DocumentKey)
	if errors.Is(err, storage.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var d Document
	return json.Unmarshal(data, &d) == nil && d.ID == r.ID && d.Ledger.Entry == r.file.Reservation, nil
}

func startedError(out *storage.Bucket) error {
	return fmt.Errorf("%w: a run has begun in %s and is under way, or has stopped there (%s); nothing was spent; choose another folder, or remove it if no run is under way",
		ErrOccupied, out.URL(), startedKey)
}

// unclaim gives the folder back; another who works on the same run may have done so.
func unclaim(ctx context.Context, out *storage.Bucket) error {
	err := out.Delete(ctx, startedKey)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	return err
}

// sweep removes what an earlier attempt of this run left and the release does not list: a
// published folder holds the answers of one transcript and nothing else.
func (r *runner) sweep(ctx context.Context) error {
	keys, err := r.Out.List(ctx, "")
	if err != nil {
		return err
	}
	known := map[string]bool{DocumentKey: true, SuccessKey: true, startedKey: true}
	for _, f := range r.doc.Files {
		known[f.Key] = true
	}
	for _, k := range keys {
		if known[k] || !ours(k) {
			continue
		}
		if err := r.Out.Delete(ctx, k); err != nil && !errors.Is(err, storage.ErrNotExist) {
			return err
		}
	}
	return nil
}

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
