package partition

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/privcom/privcom/storage"
)

// flakyS3 is just enough of S3 to hold a graph, and refuses one request.
type flakyS3 struct {
	mu      sync.Mutex
	objects map[string][]byte
	meta    map[string]http.Header
	seen    int
	refuse  int // number of the request that is refused, from 1; 0: none
}

func (s *flakyS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen++
	if s.seen == s.refuse {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `<Error><Code>AccessDenied</Code></Error>`)
		return
	}
	data, ok := s.objects[r.URL.Path]
	switch {
	case r.Method == http.MethodPut && ok && r.Header.Get("If-None-Match") == "*":
		w.WriteHeader(http.StatusPreconditionFailed)
		io.WriteString(w, `<Error><Code>PreconditionFailed</Code></Error>`)
	case r.Method == http.MethodPut:
		s.objects[r.URL.Path], _ = io.ReadAll(r.Body)
		s.meta[r.URL.Path] = http.Header{}
		for key, values := range r.Header {
			if strings.HasPrefix(strings.ToLower(key), "x-amz-meta-") {
				s.meta[r.URL.Path][key] = values
			}
		}
	case r.Method == http.MethodDelete:
		delete(s.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
	default:
		for key, values := range s.meta[r.URL.Path] {
			w.Header()[key] = values
		}
		http.ServeContent(w, r, "", time.Unix(1, 0), strings.NewReader(string(data)))
	}
}

// calm stops refusing and gives the number of requests so far.
func (s *flakyS3) calm() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = 0
	return s.seen
}

// Every request to the store is refused once. Each time Ingest fails with an
// error that names the place, and leaves nothing, or it succeeds; then the
// graph is whole.
func TestEveryStorageRequestFailsOnce(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "none")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "none")
	transport := http.DefaultTransport.(*http.Transport)
	defer transport.CloseIdleConnections()
	src := &sliceSource{rows: rowsOf("1", "2", "2", "3", "3", "4", "4", "1", "9", "1")}
	failed, requests := 0, -1
	for refuse := 0; refuse <= requests || requests < 0; refuse++ {
		fake := &flakyS3{objects: map[string][]byte{}, meta: map[string]http.Header{}, refuse: refuse}
		server := httptest.NewServer(fake)
		b, err := storage.Open(t.Context(), "s3://bucket/g?region=none&use_path_style=true&endpoint="+server.URL)
		if err != nil {
			t.Fatal(err)
		}
		o, _ := Options{Inputs: []string{"x"}, Shards: 2, TempDir: t.TempDir()}.withDefaults()
		err = withSpace(&o, func(space *workspace) error {
			if err := refuseExisting(t.Context(), b); err != nil {
				return err
			}
			_, _, err := ingest(t.Context(), &o, space, src, b)
			return err
		})
		wantEmptyDir(t, o.TempDir)
		seen := fake.calm()
		g, openErr := OpenGraph(t.Context(), b)
		switch {
		case err != nil:
			failed++
			if !strings.Contains(err.Error(), "s3://bucket/g") || storage.Class(err) != storage.ClassUser {
				t.Errorf("request %d: %v", refuse, err)
			}
			if !errors.Is(openErr, storage.ErrNotExist) {
				t.Errorf("request %d refused, but there is a graph (%v)", refuse, openErr)
			}
			if len(fake.objects) > 0 {
				t.Errorf("request %d refused: %d files are left: %v", refuse, len(fake.objects), err)
			}
		case openErr != nil:
			t.Errorf("request %d: %v", refuse, openErr)
		default:
			if err := g.Verify(t.Context()); err != nil {
				t.Errorf("request %d: %v", refuse, err)
			}
		}
		if refuse == 0 {
			requests = seen
		}
		b.Close()
		server.Close()
		if slices.Contains([]int{100, 200}, refuse) {
			t.Fatal("more requests than this graph can need")
		}
	}
	if failed < 15 {
		t.Errorf("only %d refusals were errors", failed)
	}
}

// An attempt that fails removes its own files and no others: none that stood there, none
// that the manifest of another attempt names, and none where it cannot tell.
func TestFailedAttemptsRemoveTheirOwnFiles(t *testing.T) {
	src := &sliceSource{rows: rowsOf("1", "2", "2", "3", "3", "4", "4", "1", "9", "1")}
	o, _ := Options{Inputs: []string{"x"}, Shards: 2}.withDefaults()
	attempt := func(b *storage.Bucket) error {
		o.TempDir = t.TempDir()
		return withSpace(&o, func(space *workspace) error {
			_, _, err := ingest(t.Context(), &o, space, src, b)
			return err
		})
	}
	left := func(b *storage.Bucket) []string {
		keys, err := b.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	open := func() *storage.Bucket {
		b, err := storage.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	broken := errors.New("the place is broken")
	at := func(op storage.Op, run func(key string) error) storage.Faults {
		var once sync.Once
		return storage.Faults{Before: func(o storage.Op, key string) (err error) {
			if o == op {
				once.Do(func() { err = run(key) })
			}
			return err
		}}
	}
	fail := func(string) error { return broken }

	whole := open()
	if err := attempt(whole); err != nil {
		t.Fatal(err)
	}
	all := left(whole)

	b := open() // a file of the same content, left by somebody else
	for _, key := range all {
		if strings.HasPrefix(key, "vertices-00000") {
			data, _ := whole.ReadAll(t.Context(), key)
			if err := errors.Join(b.Put(t.Context(), key, data), b.Put(t.Context(), "notes.txt", []byte("mine"))); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := left(b)
	if err := attempt(b.WithFaults(at(storage.OpReadAt, fail))); !errors.Is(err, broken) || !slices.Equal(left(b), before) {
		t.Errorf("%v, left %q, had %q", err, left(b), before)
	}

	b = open() // another attempt comes to its end first
	err := attempt(b.WithFaults(at(storage.OpCreate, func(string) error { return attempt(b) })))
	if !errors.Is(err, storage.ErrExists) || !slices.Equal(left(b), all) {
		t.Errorf("%v, left %q, want %q", err, left(b), all)
	}
	g, err := OpenGraph(t.Context(), b)
	if err == nil {
		err = g.Verify(t.Context())
	}
	if err != nil {
		t.Error(err)
	}

	b = open() // the answer to the manifest is lost
	err = attempt(b.WithFaults(storage.Faults{After: func(op storage.Op, _ string) error {
		if op == storage.OpCreate {
			return broken
		}
		return nil
	}}))
	if !errors.Is(err, broken) || !slices.Equal(left(b), all) {
		t.Errorf("%v, left %q, want %q", err, left(b), all)
	}

	b = open() // nothing can be deleted
	err = attempt(b.WithFaults(storage.Faults{Before: func(op storage.Op, key string) error {
		if op == storage.OpDelete || op == storage.OpBegin && strings.HasPrefix(key, "rows-00001") {
			return broken
		}
		return nil
	}}))
	if err == nil || !strings.Contains(err.Error(), "files of this attempt may be left in "+b.URL()) {
		t.Error(err)
	}

	b = open() // stopped by a signal while it writes
	ctx, cancel := context.WithCancel(t.Context())
	err = withSpace(&o, func(space *workspace) error {
		_, _, err := ingest(ctx, &o, space, src, b.WithFaults(at(storage.OpReadAt, func(string) error { cancel(); return nil })))
		return err
	})
	if !errors.Is(err, context.Canceled) || len(left(b)) > 0 {
		t.Errorf("%v, left %q", err, left(b))
	}

	b = open() // the owner of a shared file fails after this attempt has come to rely on it
	data, _ := whole.ReadAll(t.Context(), all[len(all)-1])
	if err := b.Put(t.Context(), all[len(all)-1], data); err != nil {
		t.Fatal(err)
	}
	err = attempt(b.WithFaults(at(storage.OpCreate, func(string) error { return b.Delete(t.Context(), all[len(all)-1]) })))
	var corrupt *storage.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Key != all[len(all)-1] {
		t.Errorf("a file that went away: %v", err)
	}
}
