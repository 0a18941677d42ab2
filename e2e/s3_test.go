package e2e

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// bucketServer is as much of S3 as the commands use, in memory, with an outage switch.
type bucketServer struct {
	mu      sync.Mutex
	objects map[string]object
	down    atomic.Bool
	refused atomic.Int64
}

type object struct {
	data []byte
	meta http.Header
	at   time.Time
}

func (s *bucketServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := func(status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
	}
	if s.down.Load() {
		s.refused.Add(1)
		fault(http.StatusServiceUnavailable, "SlowDown")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	have, ok := s.objects[key]
	switch {
	case r.Method == http.MethodPut && ok && r.Header.Get("If-None-Match") == "*":
		fault(http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPut:
		o := object{data: body, meta: http.Header{}, at: time.Now()}
		for k, v := range r.Header {
			if strings.HasPrefix(k, "X-Amz-Meta-") || k == "Content-Type" {
				o.meta[k] = v
			}
		}
		s.objects[key] = o
		w.Header().Set("ETag", `"1"`)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Query().Get("list-type") == "2":
		s.list(w, r.URL.Query().Get("prefix"))
	case !ok:
		fault(http.StatusNotFound, "NoSuchKey")
	default:
		for k, v := range have.meta {
			w.Header()[k] = v
		}
		http.ServeContent(w, r, "", have.at, bytes.NewReader(have.data))
	}
}

func (s *bucketServer) list(w io.Writer, prefix string) {
	type entry struct {
		Key          string
		Size         int
		LastModified time.Time
	}
	var page struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		IsTruncated bool
		Contents    []entry
	}
	for key, o := range s.objects {
		if strings.HasPrefix(key, prefix) {
			page.Contents = append(page.Contents, entry{key, len(o.data), o.at})
		}
	}
	slices.SortFunc(page.Contents, func(a, b entry) int { return strings.Compare(a.Key, b.Key) })
	xml.NewEncoder(w).Encode(page)
}

func (s *bucketServer) copyOf(prefix string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for key, o := range s.objects {
		if strings.HasPrefix(key, prefix) {
			all[key] = string(o.data)
		}
	}
	return all
}

// The object store answers 503 in the middle of a run, for longer than anything retries: the
// coordinator ends with 6, is started again as a job does it, and ends the run when the
// store is back, with one reservation and the bytes of its own records.
func TestObjectStoreIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	store := &bucketServer{objects: map[string]object{}}
	server := httptest.NewServer(store)
	t.Cleanup(server.Close)
	s := newSite(t, 100, startNATS(t))
	place := func(prefix string) string {
		return "s3://private/" + prefix + "?region=eu-central-1&use_path_style=true&endpoint=" + server.URL
	}
	s.env = append(s.env, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true")
	env := s.faultEnv("PRIVCOM_WORK="+place("work"), "PRIVCOM_LEDGER="+place("ledger"), "PRIVCOM_OUT="+place("out"), "PRIVCOM_STEPS=12", "PRIVCOM_GROWTH=1")
	shards := s.startShards(t)
	c := start(t, env, "coordinator")
	for end := time.Now().Add(patience); len(stepsOf(store)) < 3; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no steps in the store:\n%s", c.stderr.String())
		}
	}
	store.down.Store(true)
	c.exits(6)
	if text := c.stderr.String(); !strings.Contains(text, "can be taken up again") {
		t.Errorf("without its store the coordinator says:\n%s", text)
	}
	start(t, env, "coordinator").exits(6) // still away
	store.down.Store(false)
	kept := stepsOf(store)
	c = start(t, env, "coordinator")
	c.exits(0)
	for _, p := range shards {
		p.exits(0)
	}
	for key, data := range kept {
		if stepsOf(store)[key] != data {
			t.Errorf("%s was written twice", key)
		}
	}
	if n := len(store.copyOf("ledger/people/")); n != 2 || store.refused.Load() == 0 {
		t.Errorf("%d entries in the ledger, want a reservation and its commit; %d requests were refused", n, store.refused.Load())
	}
	// The undisturbed run, from the records.
	have := store.copyOf("out/")
	store.mu.Lock()
	for key := range have {
		delete(store.objects, key)
	}
	store.mu.Unlock()
	s.startShards(t)
	start(t, env, "coordinator").exits(0)
	want := store.copyOf("out/")
	for key := range want {
		if have[key] != want[key] {
			t.Errorf("%s differs from that of an undisturbed run", filepath.Base(key))
		}
	}
	if len(want) != len(have) || len(want) < 5 {
		t.Errorf("%d objects, an undisturbed run has %d", len(have), len(want))
	}
}

func stepsOf(s *bucketServer) map[string]string {
	all := s.copyOf("work/night-1/steps/")
	for key := range all {
		if !strings.HasSuffix(key, ".rec") {
			delete(all, key)
		}
	}
	return all
}
