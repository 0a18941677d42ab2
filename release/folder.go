package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/privcom/privcom/storage"
)

// ErrOccupied says that the output folder holds something already.
var ErrOccupied = errors.New("output folder is not empty")

// CheckEmpty refuses a folder that holds a release, finished or not, or anything else,
// before anything is spent: what lies in a release folder is taken for public, and Verify
// would not accept it.
func CheckEmpty(ctx context.Context, out *storage.Bucket) error {
	keys, err := out.List(ctx, "")
	if err != nil {
		return err
	}
	for _, k := range keys {
		switch {
		case k == SuccessKey:
			return fmt.Errorf("%w: %s already holds a finished release (%s); nothing was spent; choose another folder", ErrOccupied, out.URL(), SuccessKey)
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

// ours reports whether a key is one that a release writes.
func ours(key string) bool {
	switch key {
	case DocumentKey, NodesKey, FactorsKey, LabelsKey, ReportKey, SuccessKey:
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
