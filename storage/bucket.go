package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// backend is one place that holds objects. Keys are valid and complete.
type backend interface {
	readAll(ctx context.Context, key string) ([]byte, error)
	put(ctx context.Context, key string, data []byte) error
	create(ctx context.Context, key string, data []byte) error
	newSink(ctx context.Context, key string) (sink, error)
	openFile(ctx context.Context, key string) (source, int64, error)
	list(ctx context.Context, prefix string) ([]string, error)
	exists(ctx context.Context, key string) (bool, error)
	delete(ctx context.Context, key string) error
	url(prefix string) string
	close() error
}

// sink takes the bytes of one object and makes them visible at once, or not.
type sink interface {
	io.Writer
	commit() error
	abort() error
}

// source is one open object.
type source interface {
	io.ReaderAt
	io.Closer
}

// Bucket is a set of objects by key, or the part of one under a prefix.
// It is safe for use by several goroutines.
type Bucket struct {
	back   backend
	prefix string // "" or ends in "/"
	sub    bool
}

// Sub is the bucket of the keys under prefix. Closing it does nothing; closing
// the bucket it came from closes both. An empty prefix gives the same keys.
func (b *Bucket) Sub(prefix string) *Bucket {
	prefix = strings.Trim(prefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &Bucket{back: b.back, prefix: b.prefix + prefix, sub: true}
}

// URL names the place so that Open in another process (for mem:// another
// goroutine) reaches the same objects. A local folder is an absolute path.
func (b *Bucket) URL() string { return b.back.url(b.prefix) }

// Close releases connections. Objects stay.
func (b *Bucket) Close() error {
	if b.sub {
		return nil
	}
	return b.back.close()
}

// full checks key and adds the prefix.
func (b *Bucket) full(op, key string) (string, error) {
	if err := checkKey(b.prefix + key); err != nil {
		return "", &opError{op: op, key: key, where: b.URL(), class: ClassUser, err: err}
	}
	return b.prefix + key, nil
}

func checkKey(key string) error {
	if key == "" {
		return fmt.Errorf("the key is empty")
	}
	if len(key) > 900 {
		return fmt.Errorf("the key has %d bytes, at most 900 are allowed", len(key))
	}
	for _, segment := range strings.Split(key, "/") {
		switch {
		case segment == "" || segment == "." || segment == "..":
			return fmt.Errorf("the key has an empty, %q or %q segment", ".", "..")
		case strings.HasPrefix(segment, tempPrefix):
			return fmt.Errorf("names that begin with %q are kept for unfinished files", tempPrefix)
		}
	}
	for i := range len(key) {
		if c := key[i]; c < 0x20 || c == 0x7f || c == '\\' {
			return fmt.Errorf("the key has the byte %#02x at %d", c, i)
		}
	}
	return nil
}

// ReadAll gives a whole object. It is meant for small documents.
func (b *Bucket) ReadAll(ctx context.Context, key string) ([]byte, error) {
	name, err := b.full("read", key)
	if err != nil {
		return nil, err
	}
	data, err := b.back.readAll(ctx, name)
	return data, wrap("read", key, b.URL(), err)
}

// Put writes or replaces an object atomically.
func (b *Bucket) Put(ctx context.Context, key string, data []byte) error {
	name, err := b.full("write", key)
	if err != nil {
		return err
	}
	return wrap("write", key, b.URL(), b.back.put(ctx, name, data))
}

// Create writes an object if none has the key, else returns ErrExists. After
// any other error the outcome may be unknown (a lost answer): read the key
// before deciding, and delete nothing.
//
// ErrExists is a fact about the key: an object of another writer stands under it, and
// this one was not written. It says nothing of whether the place could be written: to
// who may not write, or has lost the network, a key that is taken looks the same as to
// anybody else. What kept the write from being tried, or answered, is wrapped beside it.
func (b *Bucket) Create(ctx context.Context, key string, data []byte) error {
	name, err := b.full("create", key)
	if err != nil {
		return err
	}
	return wrap("create", key, b.URL(), b.back.create(ctx, name, data))
}

// Exists reports whether an object has the key.
func (b *Bucket) Exists(ctx context.Context, key string) (bool, error) {
	name, err := b.full("look for", key)
	if err != nil {
		return false, err
	}
	ok, err := b.back.exists(ctx, name)
	return ok, wrap("look for", key, b.URL(), err)
}

// Delete removes an object; ErrNotExist if there is none.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	name, err := b.full("delete", key)
	if err != nil {
		return err
	}
	return wrap("delete", key, b.URL(), b.back.delete(ctx, name))
}

// List gives the keys that begin with prefix, in bytewise order.
func (b *Bucket) List(ctx context.Context, prefix string) ([]string, error) {
	keys, err := b.back.list(ctx, b.prefix+prefix)
	if err != nil {
		return nil, wrap("list", prefix, b.URL(), err)
	}
	for i, key := range keys {
		keys[i] = strings.TrimPrefix(key, b.prefix)
	}
	return keys, nil
}

// Hash reads a whole object and gives its SHA-256 in hex and its size.
func (b *Bucket) Hash(ctx context.Context, key string) (sha256hex string, bytes int64, err error) {
	f, err := b.OpenFile(ctx, key)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return f.Hash(ctx)
}

// Hash gives the SHA-256 in hex and the size of an open object.
func (f *File) Hash(ctx context.Context) (sha256hex string, bytes int64, err error) {
	sum := sha256.New()
	buf := make([]byte, min(rangeBytes, f.size))
	for off := int64(0); off < f.size; {
		if err := ctx.Err(); err != nil {
			return "", 0, wrap("read", f.key, f.where, err)
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), f.size-off)], off)
		sum.Write(buf[:n])
		off += int64(n)
		if err != nil && (err != io.EOF || off < f.size) {
			return "", 0, err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), f.size, nil
}
