package ops

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func TestPages(t *testing.T) {
	var s atomic.Value
	s.Store(Snapshot{Waiting: []string{"a connection to NATS"}})
	server, err := Start("127.0.0.1:0", Options{Role: RoleCoordinator, Version: "privcom test", State: func() Snapshot { return s.Load().(Snapshot) }})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	base := "http://" + server.Addr()
	want := func(path string, code int, text string) {
		t.Helper()
		if got, body := get(t, base+path); got != code || !strings.Contains(body, text) {
			t.Errorf("%s: %d %s, want %d with %q", path, got, body, code, text)
		}
	}
	want("/healthz", 200, "true") // the loop does not run yet
	want("/readyz", 503, "a connection to NATS")
	s.Store(Snapshot{Connected: true, Alive: time.Now(), Phase: "fitting", BytesSent: 7})
	want("/healthz", 200, "true")
	want("/readyz", 200, "true")
	want("/metrics", 200, "privcom_sent_bytes_total 7")
	want("/metrics", 200, `privcom_phase{phase="fitting"} 1`)
	want("/metrics", 200, "process_")
	s.Store(Snapshot{Connected: true, Alive: time.Now().Add(-2 * stuckAfter), Phase: "a name from the data"})
	want("/healthz", 503, "has not turned")
	want("/metrics", 200, `privcom_phase{phase="other"} 1`)
	if _, body := get(t, base+"/metrics"); strings.Contains(body, "from the data") {
		t.Error("a label was made up")
	}
	want("/debug/pprof/", 404, "")
}

// A worker's memory and processor time follow from its arcs and stay off its page; names
// are as Prometheus wants them; the manual lists exactly what there is.
func TestMetricsAreThoseOfTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(manual), "## Coordinator")
	coordinatorPart, rest, ok := strings.Cut(text, "## Shard")
	shardPart, _, end := strings.Cut(rest, "\n## ")
	if !ok || !end {
		t.Fatal("the manual has no tables of the two roles")
	}
	for role, part := range map[Role]string{RoleCoordinator: coordinatorPart, RoleShard: shardPart} {
		r := newRegistry(role, "v", func() Snapshot { return Snapshot{} })
		if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", role, problems, err)
		}
		families, err := r.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var shown, listed []string
		lines := 0
		for _, f := range families {
			if strings.HasPrefix(f.GetName(), "privcom_") {
				shown = append(shown, f.GetName())
				lines += len(f.GetMetric())
			} else if role == RoleShard {
				t.Errorf("a shard shows %s", f.GetName())
			}
		}
		if most := len(table) + len(Phases) + 1; lines > most {
			t.Errorf("%s: %d lines, want at most %d", role, lines, most)
		}
		for _, m := range Metrics(role) {
			kind, label := "gauge", ""
			if m.Counter {
				kind = "counter"
			}
			switch m.Name {
			case "privcom_build_info":
				label = "{version}"
			case "privcom_phase":
				label = "{phase}"
			}
			if row := fmt.Sprintf("| `%s%s` | %s | %s |", m.Name, label, kind, m.Help); !strings.Contains(part, row) {
				t.Errorf("docs/metrics.md lacks the row\n%s", row)
			}
		}
		for _, m := range regexp.MustCompile("(?m)^\\| `(privcom_[a-z_]+)").FindAllStringSubmatch(part, -1) {
			listed = append(listed, m[1])
		}
		slices.Sort(shown)
		slices.Sort(listed)
		if !slices.Equal(shown, listed) {
			t.Errorf("%s shows %q, the manual lists %q", role, shown, listed)
		}
	}
	if !strings.Contains(string(manual), "Phases: "+strings.Join(Phases, ", ")+".") {
		t.Errorf("the manual does not list the phases %q", Phases)
	}
}

func TestProfilerIsForLoopback(t *testing.T) {
	for _, addr := range []string{":6060", "0.0.0.0:6060", "10.0.0.1:6060", "example.org:6060", "6060"} {
		if s, err := StartProfiler(addr); err == nil {
			s.Close()
			t.Errorf("%s: taken", addr)
		}
	}
	s, err := StartProfiler("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if code, _ := get(t, "http://"+s.Addr()+"/debug/pprof/goroutine?debug=1"); code != 200 {
		t.Errorf("goroutine profile: %d", code)
	}
	if code, _ := get(t, "http://"+s.Addr()+"/debug/pprof/cmdline"); code != 404 {
		t.Errorf("the command line is shown: %d", code)
	}
}

func TestTermination(t *testing.T) {
	path := filepath.Join(t.TempDir(), "last-words")
	index := 0
	for range 2 { // the second message replaces the first
		if err := (Termination{Role: RoleShard, Run: "r1", Shard: &index, Code: 6, Class: "unreachable", Retry: true}).Write(path); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if strings.Count(string(data), "\n") != 1 || json.Unmarshal(data, &got) != nil || got["shard"] != 0.0 || got["code"] != 6.0 || got["retry"] != true {
		t.Errorf("%s", data)
	}
	if err := (Termination{}).Write(filepath.Join(path, "x")); err == nil {
		t.Error("a file as a folder: no error")
	}
	if err := (Termination{Run: strings.Repeat("r", 5000)}).Write(path); err == nil {
		t.Error("5000 bytes: no error")
	}
}

// Without OTEL_* nothing is started; with them, spans of the run, its phases and steps
// arrive, and nothing else is told.
func TestTracing(t *testing.T) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER"} {
		t.Setenv(name, "")
	}
	none, err := StartTracing(t.Context(), RoleCoordinator, "v", "r1", nil)
	if err != nil || none != nil {
		t.Fatalf("without a variable: %v %v", none, err)
	}
	none.Phase("x", 0, 1) // nil does nothing
	none.End(0)

	var bodies atomic.Value
	bodies.Store("")
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies.Store(bodies.Load().(string) + string(body))
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	tr, err := StartTracing(t.Context(), RoleCoordinator, "v", "run-of-the-test", map[string]int{"shard": 3})
	if err != nil {
		t.Fatal(err)
	}
	tr.Phase("private Oja steps", 0, 2)
	tr.Phase("private Oja steps", 1, 2)
	tr.Phase("fitting", 0, 1)
	tr.End(6)
	got := bodies.Load().(string)
	for _, want := range []string{"run-of-the-test", "private Oja steps", "fitting", "exit code 6", "privcom-coordinator", "privcom.shard"} {
		if !strings.Contains(got, want) {
			t.Errorf("the spans do not tell %q", want)
		}
	}
	if n := strings.Count(got, "privcom.step"); n != 2 {
		t.Errorf("%d spans of steps, want 2", n)
	}
	if host, err := os.Hostname(); err == nil && len(host) > 4 && strings.Contains(got, host) {
		t.Error("the spans name the host")
	}
}
