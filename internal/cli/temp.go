package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"

	"github.com/privcom/privcom/storage"
)

// Temporary folders hold the shards of a private graph. A process that is killed leaves its
// folder; the next one removes it. Each folder has a lock that ends with its process, so
// that a folder whose lock is free is nobody's.

const (
	tempName = "privcom-"
	lockName = ".lock"
)

var tempPattern = regexp.MustCompile(`^privcom-[0-9]+$`) // what os.MkdirTemp makes of tempName

// tempFolder makes a temporary folder, which the returned function removes.
func tempFolder(ctx context.Context) (*storage.Bucket, func() error, error) {
	removeStale(os.TempDir())
	dir, err := os.MkdirTemp("", tempName)
	if err != nil {
		return nil, nil, storage.Wrap("make a folder", "", os.TempDir(), err)
	}
	unlock, err := lockFolder(dir)
	if err != nil {
		return nil, nil, firstError(storage.Wrap("lock", lockName, dir, err), os.RemoveAll(dir))
	}
	b, err := storage.Open(ctx, filepath.Join(dir, "files"))
	if err != nil {
		unlock()
		return nil, nil, firstError(err, os.RemoveAll(dir))
	}
	return b, func() error {
		err := firstError(b.Close(), os.RemoveAll(dir))
		unlock()
		return err
	}, nil
}

// removeStale removes the temporary folders of dead processes. It is a courtesy: what it
// cannot see or remove it leaves.
func removeStale(in string) {
	entries, err := os.ReadDir(in)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && tempPattern.MatchString(e.Name()) {
			removeIfStale(filepath.Join(in, e.Name()))
		}
	}
}
