package storage

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// folder keeps each object in a file of the same name under root.
type folder struct{ root string }

// tempPrefix begins the name of every file that is not an object yet.
const tempPrefix = ".privcom-tmp-"

func (f folder) path(key string) string { return filepath.Join(f.root, filepath.FromSlash(key)) }

func (f folder) url(prefix string) string { return f.path(prefix) }

func (f folder) close() error { return nil }

func (f folder) readAll(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(f.path(key))
	return data, absent(err)
}

// absent: a key below a file, or one that names a directory, is no object.
func absent(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return errors.Join(ErrNotExist, err)
	}
	return err
}

func (f folder) put(ctx context.Context, key string, data []byte) error {
	s, err := f.newSink(ctx, key)
	if err != nil {
		return err
	}
	if _, err := s.Write(data); err != nil {
		return errors.Join(err, s.abort())
	}
	return s.commit()
}

// create finishes a temporary file and then links it to its name: link(2) fails
// if the name is taken, and the name never shows half a file. File systems
// without hard links get O_EXCL, which is as exclusive but may show a partial
// file to a reader that looks during the write.
func (f folder) create(ctx context.Context, key string, data []byte) error {
	if ok, err := f.exists(ctx, key); err != nil || ok {
		if ok {
			err = ErrExists
		}
		return err
	}
	s, err := f.newFileSink(ctx, key)
	if err != nil {
		return err
	}
	defer s.abort()
	if _, err := s.Write(data); err != nil {
		return err
	}
	if err := s.finish(); err != nil {
		return err
	}
	err = os.Link(s.file.Name(), s.target)
	if linkUnsupported(err) {
		err = createExclusive(s.target, data)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(s.target))
}

func linkUnsupported(err error) bool {
	for _, code := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.ENOSYS, syscall.EMLINK} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

func createExclusive(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

func (f folder) exists(ctx context.Context, key string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	info, err := os.Stat(f.path(key))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

func (f folder) delete(ctx context.Context, key string) error {
	ok, err := f.exists(ctx, key)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotExist
	}
	if err := os.Remove(f.path(key)); err != nil {
		return err
	}
	return syncDir(filepath.Dir(f.path(key)))
}

func (f folder) list(ctx context.Context, prefix string) ([]string, error) {
	dir, _ := filepath.Split(f.path(prefix + "x"))
	var keys []string
	err := filepath.WalkDir(filepath.Clean(dir), func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil // an absent place holds nothing, and files may go while we look
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if strings.HasPrefix(entry.Name(), tempPrefix) || entry.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(f.root, name)
		if key := filepath.ToSlash(rel); err == nil && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		return err
	})
	slices.Sort(keys)
	return keys, err
}

func (f folder) openFile(ctx context.Context, key string) (source, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	file, err := os.Open(f.path(key))
	if err != nil {
		return nil, 0, absent(err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotExist
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// fileSink writes a temporary file beside the target.
type fileSink struct {
	file   *os.File
	buf    *bufio.Writer
	target string
	closed bool
}

func (f folder) newSink(ctx context.Context, key string) (sink, error) {
	return f.newFileSink(ctx, key)
}

func (f folder) newFileSink(ctx context.Context, key string) (*fileSink, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	target := f.path(key)
	if err := makeDirs(filepath.Dir(target)); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(filepath.Dir(target), tempPrefix+nonce()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	return &fileSink{file: file, buf: bufio.NewWriterSize(file, 1<<17), target: target}, nil
}

func (s *fileSink) Write(p []byte) (int, error) { return s.buf.Write(p) }

// finish makes the temporary file durable.
func (s *fileSink) finish() error {
	if err := s.buf.Flush(); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.closed = true
	return s.file.Close()
}

func (s *fileSink) commit() error {
	err := s.finish()
	if err == nil {
		err = os.Rename(s.file.Name(), s.target)
	}
	if err != nil {
		return errors.Join(err, s.abort())
	}
	return syncDir(filepath.Dir(s.target))
}

func (s *fileSink) abort() error {
	if !s.closed {
		s.closed = true
		s.file.Close()
	}
	if err := os.Remove(s.file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeDirs is MkdirAll that makes the new directories durable.
func makeDirs(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil
	}
	if err := makeDirs(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncDir makes the names in a directory durable. Windows has no such call and
// some network file systems refuse it.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
