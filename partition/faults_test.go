package partition

import (
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
// error that names the place, and leaves no manifest, or it succeeds; then the
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
