package storage

import (
	"context"
	"errors"
	"io"
)

// errNegative is a caller's fault, or that of the bytes that it interprets, and
// not one of the place.
var errNegative = errors.New("storage: read at a negative offset")

// File is one open object. It is safe for use by several goroutines.
type File struct {
	src        source
	size       int64
	key, where string
}

// OpenFile opens an object for ranged reads. Local files are read directly;
// others in ranges of at least 1 MiB, of which a few are kept. The context
// bounds all later reads.
func (b *Bucket) OpenFile(ctx context.Context, key string) (*File, error) {
	name, err := b.full("open", key)
	if err != nil {
		return nil, err
	}
	src, size, err := b.back.openFile(ctx, name)
	if err != nil {
		return nil, wrap("open", key, b.URL(), err)
	}
	return &File{src: src, size: size, key: key, where: b.URL()}, nil
}

// Size is the number of bytes in the object.
func (f *File) Size() int64 { return f.size }

// Key is the key that the file was opened by.
func (f *File) Key() string { return f.key }

// Close releases the file.
func (f *File) Close() error { return wrap("close", f.key, f.where, f.src.Close()) }

// ReadAt follows io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errNegative
	}
	n, err := f.src.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = wrap("read", f.key, f.where, err)
	}
	return n, err
}
