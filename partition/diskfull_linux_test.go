package partition

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/privcom/privcom/storage"
)

// smallDisk mounts a file system of one MiB.
func smallDisk(t *testing.T) string {
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", dir, err)
		}
	})
	return dir
}

// A full disk, under the temporary files or under the graph, is named; no temporary file and
// nothing of the graph remain.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t)
	var text strings.Builder
	for i := range 400_000 { // 3 MB of text, and some MB of runs and of shards
		fmt.Fprintf(&text, "%d %d\n", i*7919%100_003, i*104_729%99_991)
	}
	file := writeFile(t, "g.txt", text.String())
	for _, c := range []struct{ name, temp, out string }{
		{"temporary files", disk, t.TempDir()},
		{"graph", t.TempDir(), disk},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := storage.Open(t.Context(), c.out)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = Ingest(t.Context(), Options{Inputs: []string{file}, Memory: MinMemory, TempDir: c.temp, Shards: 1}, b)
			if !errors.Is(err, syscall.ENOSPC) || storage.Class(err) != storage.ClassUser || !strings.Contains(err.Error(), disk) {
				t.Errorf("error %v, of class %v", err, storage.Class(err))
			}
			wantEmptyDir(t, c.temp)
			wantEmptyDir(t, c.out)
		})
	}
}
