package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func openFolderFor(t *testing.T) (*Bucket, string) {
	t.Helper()
	dir := t.TempDir()
	b, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return b, dir
}

func filesUnder(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// No operation, whatever its end, leaves a temporary file.
func TestFolderLeavesNoTemporaryFiles(t *testing.T) {
	b, dir := openFolderFor(t)
	ctx := t.Context()
	b.Put(ctx, "a/put", []byte("x"))
	b.Create(ctx, "a/create", []byte("x"))
	b.Create(ctx, "a/create", []byte("y"))
	w, _ := b.NewWriter(ctx, "a/aborted")
	w.Write(make([]byte, 1<<20))
	w.Abort()
	w, _ = b.NewWriter(ctx, "a/committed")
	w.Commit()
	cancelled, cancel := context.WithCancel(ctx)
	w, _ = b.NewWriter(cancelled, "a/cancelled")
	cancel()
	w.Commit()
	if names := filesUnder(t, dir); len(names) != 3 {
		t.Errorf("files are %q, want put, create, committed", names)
	}
}

// A file left by a killed process is not an object.
func TestFolderSkipsUnfinishedFiles(t *testing.T) {
	b, dir := openFolderFor(t)
	if err := os.WriteFile(filepath.Join(dir, tempPrefix+"0123"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, b, "")
	if _, err := b.ReadAll(t.Context(), tempPrefix+"0123"); err == nil {
		t.Error("an unfinished file was read as an object")
	}
}

func TestFolderFileInTheWay(t *testing.T) {
	b, dir := openFolderFor(t)
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := b.Put(t.Context(), "x/y", []byte("1"))
	if err == nil || Class(err) != ClassUser {
		t.Errorf("Put below a file: %v (%v)", err, Class(err))
	}
	if err := os.MkdirAll(filepath.Join(dir, "d/e"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "d", []byte("1")); err == nil {
		t.Error("Put over a directory succeeded")
	}
	if names := filesUnder(t, dir); len(names) != 1 {
		t.Errorf("left %q", names)
	}
}

func TestFolderPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	b, dir := openFolderFor(t)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	err := b.Put(t.Context(), "x", nil)
	if !errors.Is(err, os.ErrPermission) || Class(err) != ClassUser || !strings.Contains(err.Error(), "permission") {
		t.Errorf("got %v (%v)", err, Class(err))
	}
}

func TestCreateWithoutHardLinks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := createExclusive(name, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := createExclusive(name, []byte("two")); !errors.Is(err, os.ErrExist) {
		t.Errorf("got %v", err)
	}
	if !linkUnsupported(&os.LinkError{Err: syscall.EPERM}) || linkUnsupported(&os.LinkError{Err: syscall.EEXIST}) || linkUnsupported(nil) {
		t.Error("linkUnsupported")
	}
}

// A full disk is named plainly and nothing shows under the key. /dev/full
// answers every write with ENOSPC.
func TestDiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system")
	}
	defer full.Close()
	_, cause := full.Write([]byte("x"))
	err = wrap("write", "rows.parquet", "/data", cause)
	if Class(err) != ClassUser || !strings.Contains(err.Error(), "disk or quota is full") || !strings.Contains(err.Error(), "rows.parquet") {
		t.Errorf("got %v (%v)", err, Class(err))
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, where := range []string{"", "ftp://host/x", "file://host/x", "s3://", "s3://user:word@bucket", "s3://bucket?nonsense=1", "mem://a?b", "a\x00b"} {
		b, err := Open(t.Context(), where)
		if err == nil {
			b.Close()
			t.Errorf("%q opened as %s", where, b.URL())
			continue
		}
		if strings.Contains(err.Error(), "user:word") {
			t.Errorf("%q: the error shows the password: %v", where, err)
		}
	}
}

func TestOpenNames(t *testing.T) {
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		"x/y":                        filepath.Join(cwd, "x/y"),
		"file:///tmp/q":              "/tmp/q",
		"mem://m/p/q/":               "mem://m/p/q",
		"s3://b/p/?region=eu-west-1": "s3://b/p?region=eu-west-1",
	} {
		b, err := Open(t.Context(), where)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if b.URL() != want {
			t.Errorf("%s opened as %s, want %s", where, b.URL(), want)
		}
		b.Close()
	}
}

func TestMemoryIsSharedByName(t *testing.T) {
	a, _ := Open(t.Context(), "mem://shared-by-name")
	b, _ := Open(t.Context(), "mem://shared-by-name/sub")
	other, _ := Open(t.Context(), "mem://another-name")
	mustPut(t, a, "sub/k", "v")
	a.Close()
	wantContent(t, b, "k", "v")
	wantKeys(t, other, "")
}
