package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func TestReleaseByProcesses(t *testing.T) {
	t.Parallel()
	s := newSite(t, 240, startNATS(t))
	shards := s.startShards(t)
	c := start(t, s.coordinatorEnv("PRIVCOM_STEPS=8", "PRIVCOM_LOG_LEVEL=info"), "coordinator")
	c.exits(0)
	for _, p := range shards {
		p.exits(0)
		if p.stdout.Len() > 0 {
			t.Errorf("shard wrote %q", p.stdout.String())
		}
	}
	var doc struct {
		ID, Dataset string
		Graph       struct{ Vertices, Edges int }
		Guarantee   struct{ Epsilon, Unit string }
		Out         string
	}
	c.document(&doc)
	if doc.ID != "night-1" || doc.Dataset != "people" || doc.Graph.Vertices != 240 || doc.Guarantee.Epsilon != "4" || doc.Guarantee.Unit != "edge" {
		t.Errorf("summary: %+v", doc)
	}
	out := filepath.Join(s.dir, "out")
	var verified struct{ OK bool }
	run(t, 0, "privcom", "verify", out, "--output", "json").document(&verified)
	if !verified.OK {
		t.Error("verify says the release is not sound")
	}
	l := s.showLedger(t)
	if len(l.Releases) != 1 || l.Releases[0].Status != "committed" || l.Releases[0].Release != "night-1" {
		t.Errorf("ledger: %+v", l)
	}
	var e struct{ AMI float64 }
	run(t, 0, "privcom", "evaluate", "--original", s.graph, "--synthetic", out, "--skip-paths", "--quiet", "--output", "json").document(&e)
	// Without noise AMI is 1 for this graph; a random graph has 0 ± 0.01.
	if e.AMI < 0.1 {
		t.Errorf("AMI %.3f: the processes' release carries no communities", e.AMI)
	}
	checkLogs(t, s, append(shards, c))

	// The run is finished: the same command does nothing and says so, a changed one is refused,
	// and so is another run in the folder.
	before := folder(t, out)
	again := start(t, s.coordinatorEnv("PRIVCOM_STEPS=8"), "coordinator")
	again.exits(0)
	again.document(&doc)
	if text := again.stderr.String(); !strings.Contains(text, "run night-1 is finished already: nothing was spent") || doc.ID != "night-1" {
		t.Errorf("a finished run says of %s:\n%s", doc.ID, text)
	}
	again = start(t, s.coordinatorEnv("PRIVCOM_STEPS=9"), "coordinator")
	again.exits(2)
	if text := again.stderr.String(); !strings.Contains(text, "steps: was 8, is now 9") {
		t.Errorf("other settings: %s", text)
	}
	start(t, s.coordinatorEnv("PRIVCOM_RUN=night-2"), "coordinator").exits(5)
	if !maps.Equal(before, folder(t, out)) {
		t.Error("the finished folder was changed")
	}
	if l := s.showLedger(t); len(l.Releases) != 1 {
		t.Errorf("ledger after a refusal: %+v", l)
	}
}

// checkLogs fails where a log has the number of edges or arcs of the graph.
func checkLogs(t *testing.T, s *site, all []*process) {
	t.Helper()
	var m struct{ Arcs int }
	readJSON(t, filepath.Join(s.graph, "manifest.json"), &m)
	private := regexp.MustCompile(fmt.Sprintf(`\b(%d|%d)\b`, m.Arcs, m.Arcs/2))
	for _, p := range all {
		for _, line := range strings.Split(p.stderr.String(), "\n") {
			if private.MatchString(line) {
				t.Errorf("%s logs a count of the graph: %s", p.name, line)
			}
		}
	}
}

func TestTerminatedCoordinatorKeepsItsReservation(t *testing.T) {
	t.Parallel()
	s := newSite(t, 120, startNATS(t))
	shards := s.startShards(t)
	c := start(t, s.coordinatorEnv("PRIVCOM_STEPS=60", "PRIVCOM_GROWTH=1"), "coordinator")
	s.recorded(t, 3)
	c.signal(syscall.SIGTERM)
	c.exits(143)
	if !strings.Contains(c.stderr.String(), "coordinator: stopped by SIGTERM") || strings.Contains(c.stderr.String(), "context canceled") || c.stdout.Len() > 0 {
		t.Errorf("standard output %q, standard error:\n%s", c.stdout.String(), c.stderr.String())
	}
	l := s.showLedger(t)
	if len(l.Releases) != 1 || l.Releases[0].Status != "reserved" {
		t.Errorf("ledger: %+v", l)
	}
	if len(l.Releases) == 1 && !strings.Contains(c.stderr.String(), l.Releases[0].ID) {
		t.Errorf("the last words do not name ledger entry %s:\n%s", l.Releases[0].ID, c.stderr.String())
	}
	// Other settings are refused, with what changed. The shards wait for the run to be taken up
	// with its own, under the same ledger entry.
	c = start(t, s.coordinatorEnv("PRIVCOM_STEPS=4", "PRIVCOM_OUT="+filepath.Join(s.dir, "out3")), "coordinator")
	c.exits(2)
	for _, want := range []string{"steps: was 60, is now 4", "growth: was 1, is now 1.1", "out: was "} {
		if !strings.Contains(c.stderr.String(), want) {
			t.Errorf("the refusal does not say %q:\n%s", want, c.stderr.String())
		}
	}
	c = start(t, s.coordinatorEnv("PRIVCOM_STEPS=60", "PRIVCOM_GROWTH=1"), "coordinator")
	c.exits(0)
	for _, p := range shards {
		p.exits(0)
	}
	if text := c.stderr.String(); !strings.Contains(text, "run night-1 is taken up again: ") {
		t.Errorf("the second coordinator says:\n%s", text)
	}
	again := s.showLedger(t)
	if len(again.Releases) != 1 || again.Releases[0].Status != "committed" || again.Releases[0].ID != l.Releases[0].ID {
		t.Errorf("ledger: %+v", again)
	}
	// One command on a laptop, interrupted.
	p := start(t, nil, "privcom", "release", "--graph", s.graph, "--unit", "edge", "--epsilon", "1", "--steps", "20000", "--growth", "1",
		"--out", filepath.Join(s.dir, "out2"), "--ledger", filepath.Join(s.dir, "ledger"), "--dataset", "people")
	p.says("private Oja steps")
	p.signal(syscall.SIGINT)
	p.exits(130)
	if l := s.showLedger(t); len(l.Releases) != 2 || l.Releases[1].Status != "reserved" {
		t.Errorf("ledger: %+v", l)
	}
}

func TestShardStopsOnSignalAndWaitsForItsCoordinator(t *testing.T) {
	t.Parallel()
	s := newSite(t, 60, startNATS(t))
	p := start(t, append(s.env, "JOB_COMPLETION_INDEX=0", "PRIVCOM_LOG_LEVEL=info"), "shard")
	p.says("waiting for the coordinator")
	p.signal(syscall.SIGTERM)
	p.exits(143)
	for _, bad := range []string{"three", "-1", "3", "99999999999999999999"} {
		start(t, append(s.env, "JOB_COMPLETION_INDEX="+bad), "shard").exits(2)
	}
	start(t, s.env[:2], "shard").exits(2) // no run
	start(t, []string{s.env[0], "PRIVCOM_RUN=x", "PRIVCOM_GRAPH=" + s.dir}, "shard").exits(3)
	start(t, s.env, "coordinator").exits(2) // no folder, no budget
}

// A shard that was started with another graph is refused and says so; the run goes on with
// the others.
func TestShardOfAnotherGraphIsRefused(t *testing.T) {
	t.Parallel()
	nats := startNATS(t)
	s, other := newSite(t, 80, nats), newSite(t, 90, nats)
	stray := start(t, append(other.env, "JOB_COMPLETION_INDEX=0"), "shard")
	c := start(t, s.coordinatorEnv("PRIVCOM_STEPS=2"), "coordinator")
	stray.exits(2)
	if text := stray.stderr.String(); !strings.Contains(text, "the coordinator refused shard worker") {
		t.Errorf("the stray shard says:\n%s", text)
	}
	shards := s.startShards(t)
	c.exits(0)
	for _, p := range shards {
		p.exits(0)
	}
}

func TestPrivateRowsNeedTLSBeyondThisMachine(t *testing.T) {
	t.Parallel()
	s := newSite(t, 60, "nats://192.0.2.1:4222")
	for _, p := range []*process{start(t, s.coordinatorEnv(), "coordinator"), start(t, append(s.env, "JOB_COMPLETION_INDEX=0"), "shard")} {
		p.exits(2)
		if text := p.stderr.String(); !strings.Contains(text, "192.0.2.1:4222 is not a loopback address and the connection has no TLS") {
			t.Errorf("%s says:\n%s", p.name, text)
		}
	}
	if l := s.showLedger(t); len(l.Releases) > 0 {
		t.Errorf("ledger: %+v", l)
	}
	s.env[0] = "PRIVCOM_NATS=nats://user:secret@127.0.0.1:4222"
	p := start(t, s.coordinatorEnv(), "coordinator")
	p.exits(2)
	if text := p.stderr.String(); strings.Contains(text, "secret") || !strings.Contains(text, "put them in a file") {
		t.Errorf("a password in the URL: %s", text)
	}
}
