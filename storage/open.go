package storage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/blob/s3blob"
)

// Open opens a place:
//
//	path, file:///path   a local folder, made on the first write
//	mem://name           memory of this process, shared by name; without a name, a new one
//	s3://bucket/prefix?region=…&endpoint=…&use_path_style=true
//
// It does not touch the place, so that a wrong bucket shows on first use.
func Open(ctx context.Context, where string) (*Bucket, error) {
	scheme, rest, ok := strings.Cut(where, "://")
	if !ok {
		return openFolder(where)
	}
	switch scheme {
	case "file":
		return openFileURL(where)
	case "mem":
		return openMemory(rest)
	case s3blob.Scheme:
		return openS3(ctx, where)
	}
	return nil, badPlace(where, fmt.Errorf("scheme %q is not one of file, mem, s3 (Google Cloud Storage and others: use their S3-compatible endpoint)", scheme))
}

func badPlace(where string, err error) error {
	return &opError{op: "open", where: where, class: ClassUser, err: err}
}

func openFolder(dir string) (*Bucket, error) {
	if dir == "" {
		return nil, badPlace(`""`, fmt.Errorf("the path is empty"))
	}
	if strings.ContainsRune(dir, 0) {
		return nil, badPlace(fmt.Sprintf("%q", dir), fmt.Errorf("the path has a NUL byte"))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, wrap("open", "", dir, err)
	}
	return &Bucket{back: folder{root: abs}}, nil
}

func openFileURL(where string) (*Bucket, error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, badPlace(where, err)
	}
	if u.Host != "" && u.Host != "localhost" {
		return nil, badPlace(where, fmt.Errorf("a file URL needs three slashes (file:///path); %q is read as a host name", u.Host))
	}
	return openFolder(filepath.FromSlash(u.Path))
}

var sharedMemory struct {
	sync.Mutex
	byName map[string]*blob.Bucket
}

func openMemory(rest string) (*Bucket, error) {
	name, prefix, _ := strings.Cut(rest, "/")
	if name == "" {
		name = "unnamed-" + nonce()
	}
	if strings.ContainsAny(name, "?#% ") {
		return nil, badPlace("mem://"+rest, fmt.Errorf("the name has one of the characters ?#%% or a blank"))
	}
	sharedMemory.Lock()
	defer sharedMemory.Unlock()
	if sharedMemory.byName == nil {
		sharedMemory.byName = map[string]*blob.Bucket{}
	}
	b := sharedMemory.byName[name]
	if b == nil {
		b = memblob.OpenBucket(nil)
		sharedMemory.byName[name] = b
	}
	// The shared bucket is never closed: another holder may still use it.
	return (&Bucket{back: &cloud{bucket: b, base: "mem://" + name, shared: true}}).withPrefix(prefix), nil
}

func openS3(ctx context.Context, where string) (*Bucket, error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, badPlace(where, err)
	}
	if u.Host == "" || u.User != nil {
		return nil, badPlace(u.Redacted(), fmt.Errorf("want s3://bucket/prefix?…, without user or password"))
	}
	base := url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: quietChecksums(u.Query()).Encode()}
	b, err := blob.OpenBucket(ctx, base.String())
	if err != nil {
		return nil, badPlace(u.Redacted(), err)
	}
	back := &cloud{bucket: b, base: u.Scheme + "://" + u.Host, query: u.RawQuery}
	return (&Bucket{back: back}).withPrefix(u.Path), nil
}

// quietChecksums: stores other than AWS often know no checksum trailers, and the
// client then refuses or warns on every answer. What matters is pinned by the
// SHA-256 in manifests anyway. A choice in the URL stands.
func quietChecksums(q url.Values) url.Values {
	if q.Has("endpoint") {
		for _, key := range []string{"request_checksum_calculation", "response_checksum_validation"} {
			if !q.Has(key) {
				q.Set(key, "when_required")
			}
		}
	}
	return q
}

// withPrefix is Sub that keeps the right to close.
func (b *Bucket) withPrefix(prefix string) *Bucket {
	prefix = strings.Trim(path.Clean("/"+prefix), "/")
	if prefix != "" {
		b.prefix = prefix + "/"
	}
	return b
}

// nonce is 16 hex digits that no other call has.
func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails; it ends the program instead
	return hex.EncodeToString(b[:])
}
