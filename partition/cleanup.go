package partition

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/privcom/privcom/storage"
)

// written keeps the keys that one ingest brought into a folder, to take them
// away again if it fails. A file that stood there under the same name, which
// holds its hash, belongs to somebody else.
type written struct {
	mu     sync.Mutex
	keys   []string
	shared []string // of this graph too, but there before
}

// claim notes a key before it is written.
func (w *written) claim(ctx context.Context, out *storage.Bucket, key string) error {
	there, err := out.Exists(ctx, key)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if there {
		w.shared = append(w.shared, key)
	} else {
		w.keys = append(w.keys, key)
	}
	return nil
}

// cleanupTime bounds how long an ingest that failed goes on for the sake of
// what it leaves: the place may be what failed.
const cleanupTime = 10 * time.Second

// remove takes away what was written, after an error that comes before the
// manifest or with it, and gives the error with what was left. It deletes
// nothing that a manifest names, and nothing where it cannot tell.
func (w *written) remove(ctx context.Context, out *storage.Bucket, why error) error {
	if len(w.keys) == 0 {
		return why
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	named, err := manifestKeys(ctx, out)
	left := 0
	for _, key := range w.keys {
		if err != nil {
			left++
		} else if !named[key] {
			if gone := out.Delete(ctx, key); gone != nil && !errors.Is(gone, storage.ErrNotExist) {
				left, err = left+1, gone
			}
		}
	}
	if left > 0 {
		return fmt.Errorf("%w; %d files of this attempt may be left in %s (%w); without a manifest that names them they can be deleted", why, left, out.URL(), err)
	}
	return why
}

// manifestKeys are the files that a graph which stands in the folder meanwhile
// is made of.
func manifestKeys(ctx context.Context, out *storage.Bucket) (map[string]bool, error) {
	there, err := out.Exists(ctx, ManifestKey)
	if err != nil || !there {
		return nil, err
	}
	g, err := OpenGraph(ctx, out)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, f := range g.Manifest().VertexFiles {
		named[f.Key] = true
	}
	for _, s := range g.Manifest().Shards {
		named[s.Key] = true
	}
	return named, nil
}

// check looks, once the manifest stands, whether files that were there before
// still are: the attempt that had written them may have failed and removed
// them.
func (w *written) check(ctx context.Context, out *storage.Bucket) error {
	for _, key := range w.shared {
		there, err := out.Exists(ctx, key)
		if err != nil {
			return err
		}
		if !there {
			return &storage.CorruptError{Key: key, Detail: "another ingest into " + out.URL() + " failed at the same time and removed it; remove the folder and run again"}
		}
	}
	return nil
}
