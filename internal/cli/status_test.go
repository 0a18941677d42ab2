package cli

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/privcom/privcom/cluster"
)

// notes is a standard error that can be read while a command writes.
type notes struct {
	mu sync.Mutex
	b  strings.Builder
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(p)
}

func (n *notes) waitFor(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		n.mu.Lock()
		said := n.b.String()
		n.mu.Unlock()
		if strings.Contains(said, text) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%q was not said, but\n%s", text, said)
		}
	}
}

// Who follows a run is told of silence, and of the end of another coordinator after it.
func TestStatusTellsOfSilence(t *testing.T) {
	server, err := cluster.StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	connect := func(name string) *cluster.Conn {
		c, err := server.Connect(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	coordinator := func() *cluster.Coordinator {
		c, err := cluster.NewCoordinator(ctx, cluster.CoordinatorOptions{Conn: connect("coordinator"), Prefix: "p", Run: "r", Rows: 4,
			Shards: []cluster.Range{{From: 0, To: 4}}, Timeouts: cluster.Timeouts{Beat: 10 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var out, said notes
	a := &app{stdout: &out, stderr: &said, output: "text"}
	watcher, done := connect("watcher"), make(chan error, 1)
	go func() { done <- a.follow(ctx, watcher, "p", "r", false, 300*time.Millisecond) }()
	said.waitFor(t, "no word of run r yet")
	first := coordinator()
	out.waitFor(t, "starting")
	first.Pause()
	said.waitFor(t, "no word of run r for 300ms")
	coordinator().Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	out.waitFor(t, "the run has ended")
}

// The line and the table tell steps, rows covered, shards, MB/s and the time left.
func TestStatusTellsWhatIsGoingOn(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := cluster.Status{Run: "night", Rows: 2000, Shards: 4, Progress: cluster.Progress{Step: 9, Kind: "multiply", Done: 500, Total: 2000, Workers: 2},
		Phase: cluster.Phase{Name: "private Oja steps", Done: 8, Total: 32, Elapsed: 80 * time.Second, Left: 237*time.Second + 300*time.Millisecond},
		Stats: cluster.Stats{Term: "t", BytesSent: 1e6, Repaired: 3}}
	for i := range 20 {
		s.Stats.Workers = append(s.Stats.Workers, cluster.WorkerStats{ID: "w" + string(rune('a'+i)), Shards: []int{i}})
	}
	v := statusView{}
	v.take(s, at)
	if !strings.Contains(v.line(), "- MB/s") {
		t.Errorf("a rate from one status: %s", v.line())
	}
	s.Stats.BytesSent += 30e6
	s.Stats.BytesReceived += 10e6
	v.take(s, at.Add(2*time.Second))
	want := "03:04:07 run night: private Oja steps, 8 of 32 done, 500 of 2000 rows, 2 workers for 4 shards, 20.0 MB/s, about 3m57s left in this phase, repaired 3, asked again 0"
	if got := v.line(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var b strings.Builder
	if err := v.table(&b); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"night", "8 of 32 done", "1m20s in this phase, about 3m57s left", "[#######.......................] 500 of 2000 rows", "20.0 MB/s", "2 for 4 shards", "and 4 more"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("the first table moves the cursor")
	}
	lines := strings.Count(b.String(), "\n")
	b.Reset()
	if err := v.table(&b); err != nil || !strings.HasPrefix(b.String(), "\x1b["+strconv.Itoa(lines)+"A\x1b[J") {
		t.Errorf("the second table does not replace the first: %q", b.String()[:8])
	}
	s.Stats.Term = "another" // a coordinator that counts from 0
	s.Stats.BytesSent = 0
	v.take(s, at.Add(3*time.Second))
	if _, ok := v.rate(); ok {
		t.Error("a rate across two coordinators")
	}
	s.Ended = true
	v.take(s, at)
	if !strings.Contains(v.line(), "the run has ended") {
		t.Error(v.line())
	}
}
