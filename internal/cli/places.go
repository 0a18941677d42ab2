package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/privcom/privcom/storage"
)

// openLasting opens a place whose content must outlive this process.
func openLasting(ctx context.Context, flag, where string) (*storage.Bucket, error) {
	if strings.HasPrefix(where, "mem:") {
		return nil, usagef("--%s %s is memory of this process and gone with it: name a folder or a bucket", flag, where)
	}
	b, err := storage.Open(ctx, where)
	return b, usage(err)
}

// openOut opens the folder of a release and keeps private places out of it.
func openOut(ctx context.Context, where, work string, ledger ledgerFlags) (*storage.Bucket, error) {
	if err := errors.Join(apart(where, "work", work), apart(where, "ledger", ledger.url)); err != nil {
		return nil, err
	}
	return openLasting(ctx, "out", where)
}

// leaveNoFolder gives what to do when a run ends: after a failure it removes the directories of a local
// release folder that were not there before and hold nothing. A run that was refused leaves
// no trace then, and one that can be taken up again keeps what it wrote.
func leaveNoFolder(out *storage.Bucket) func(error) {
	var fresh []string
	if dir := out.URL(); filepath.IsAbs(dir) {
		for ; ; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			fresh = append(fresh, dir)
		}
	}
	return func(err error) {
		if err == nil {
			return
		}
		for _, dir := range fresh {
			if os.Remove(dir) != nil { // it holds something, or never came to be
				return
			}
		}
	}
}

// apart refuses a private place inside the release folder, which leaves the boundary as a
// whole.
func apart(out string, flag, where string) error {
	if where != "" && inside(where, out) {
		return usagef("--%s %s lies in the release folder %s: everything in there is published", flag, where, out)
	}
	return nil
}

// inside reports whether a place is, or lies in, a folder or a bucket's prefix. Links are
// followed.
func inside(place, folder string) bool {
	if strings.Contains(folder, "://") || strings.Contains(place, "://") {
		place, _, _ = strings.Cut(place, "?")
		folder, _, _ = strings.Cut(folder, "?")
		return place == folder || strings.HasPrefix(place, strings.TrimSuffix(folder, "/")+"/")
	}
	f, err1 := resolve(place)
	d, err2 := resolve(folder)
	if err1 != nil || err2 != nil {
		return true
	}
	rel, err := filepath.Rel(d, f)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolve is the absolute path without links, of as much of a path as exists.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(strings.TrimPrefix(path, "file://"))
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil && filepath.Dir(path) != path {
		dir, err := resolve(filepath.Dir(path))
		return filepath.Join(dir, filepath.Base(path)), err
	}
	return real, err
}
