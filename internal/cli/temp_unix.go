//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
)

// lockFolder gives a folder a lock file that is locked from the moment it has its name.
func lockFolder(dir string) (func(), error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName+".new"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	// A file system without locks keeps the folder from being removed by others, no more.
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		if err := os.Rename(file.Name(), filepath.Join(dir, lockName)); err != nil {
			file.Close()
			return nil, err
		}
	}
	return func() { file.Close() }, nil
}

// removeIfStale removes a folder whose process has ended. A folder without a lock file, of
// another user, or behind a link is left alone.
func removeIfStale(dir string) {
	name := filepath.Join(dir, lockName)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return
	}
	file, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.RemoveAll(dir) // what cannot be removed stays
	}
}
