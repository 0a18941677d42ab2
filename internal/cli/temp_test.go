//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// The folder of a process that lives stays, that of one that died goes, and what is not
// ours is left alone.
func TestStaleTemporaryFoldersAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	alive, remove, err := tempFolder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := alive.Put(t.Context(), "rows", []byte("private")); err != nil {
		t.Fatal(err)
	}
	in := os.TempDir()
	for _, dir := range []string{"privcom-17", "privcom-18", "privcom-e2e-19", "other-20"} {
		if err := os.Mkdir(filepath.Join(in, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if dir == "privcom-18" {
			continue // no lock file: it is just being made, or of another program
		}
		if err := os.WriteFile(filepath.Join(in, dir, lockName), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removeStale(in)
	for dir, want := range map[string]bool{"privcom-17": false, "privcom-18": true, "privcom-e2e-19": true, "other-20": true} {
		if _, err := os.Stat(filepath.Join(in, dir)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", dir, err == nil, want)
		}
	}
	if data, err := alive.ReadAll(t.Context(), "rows"); err != nil || string(data) != "private" {
		t.Errorf("the folder of a living process: %v", err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(in, "privcom-*")); err != nil || len(left) != 2 {
		t.Errorf("left: %q, %v", left, err)
	}
}
