package storage

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// unsureS3 is just enough of S3 to test conditional writes: it executes a
// request and may then answer something else.
type unsureS3 struct {
	mu      sync.Mutex
	objects map[string]unsureObject
	lose    int // so many executed PUTs are answered with an internal error
	refuse  int // so many PUTs are answered "conflict" and not executed
	puts    int
}

type unsureObject struct {
	data    []byte
	attempt string
}

func (s *unsureS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.objects[r.URL.Path]
	switch r.Method {
	case http.MethodPut:
		s.put(w, r, ok)
	case http.MethodHead, http.MethodGet:
		if !ok {
			s3Error(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		w.Header().Set("x-amz-meta-"+attemptKey, object.attempt)
		w.Header().Set("Content-Type", contentType)
		w.Write(object.data)
	}
}

func (s *unsureS3) put(w http.ResponseWriter, r *http.Request, taken bool) {
	s.puts++
	data, _ := io.ReadAll(r.Body)
	if taken && r.Header.Get("If-None-Match") == "*" {
		s3Error(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	if s.refuse > 0 {
		s.refuse--
		s3Error(w, http.StatusConflict, "ConditionalRequestConflict")
		return
	}
	s.objects[r.URL.Path] = unsureObject{data: data, attempt: r.Header.Get("x-amz-meta-" + attemptKey)}
	if s.lose > 0 {
		s.lose--
		s3Error(w, http.StatusInternalServerError, "InternalError")
	}
}

func s3Error(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>`+code+`</Code></Error>`)
}

func openUnsureS3(t *testing.T) (*Bucket, *unsureS3) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "none")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "none")
	fake := &unsureS3{objects: map[string]unsureObject{}}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	b, err := Open(t.Context(), "s3://bucket/base?region=none&use_path_style=true&endpoint="+server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, fake
}

// The client repeats a PUT whose answer was an internal error and meets the
// object of its first attempt: that is success, not ErrExists.
func TestCreateKnowsItsOwnObject(t *testing.T) {
	b, fake := openUnsureS3(t)
	fake.lose = 1
	if err := b.Create(t.Context(), "manifest.json", []byte("{}")); err != nil {
		t.Fatalf("Create after a lost answer: %v", err)
	}
	if fake.puts != 2 {
		t.Fatalf("%d requests; the client was meant to repeat one", fake.puts)
	}
	if err := b.Create(t.Context(), "manifest.json", []byte("{}")); !errors.Is(err, ErrExists) {
		t.Errorf("another Create gave %v, want ErrExists", err)
	}
}

// A conflict without an object is no ErrExists, but worth another try.
func TestCreateConflictIsRetryable(t *testing.T) {
	b, fake := openUnsureS3(t)
	fake.refuse = 1
	err := b.Create(t.Context(), "k", []byte("v"))
	if err == nil || errors.Is(err, ErrExists) || Class(err) != ClassRetryable || !strings.Contains(err.Error(), `"k"`) {
		t.Errorf("got %v (%v), want a retryable error", err, Class(err))
	}
	if err := b.Create(t.Context(), "k", []byte("v")); err != nil {
		t.Error(err)
	}
}
