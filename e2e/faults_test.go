package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// faultEnv is the coordinator of a run of some steps that waits briefly for what is gone.
func (s *site) faultEnv(more ...string) []string {
	return s.coordinatorEnv(append([]string{"PRIVCOM_STEPS=6", "PRIVCOM_LEASE=500ms", "PRIVCOM_JOIN=30s"}, more...)...)
}

// completes holds a finished run against what it must be: a release that verifies, one
// reservation, which is committed, and the bytes that an undisturbed run makes of the same
// noisy answers: one that replays the records into an empty folder.
func (s *site) completes(t *testing.T, env []string) {
	t.Helper()
	out := filepath.Join(s.dir, "out")
	var verified struct{ OK bool }
	run(t, 0, "privcom", "verify", out, "--output", "json").document(&verified)
	l := s.showLedger(t)
	if !verified.OK || len(l.Releases) != 1 || l.Releases[0].Status != "committed" || l.Releases[0].Release != "night-1" {
		t.Errorf("verified %v, ledger %+v", verified.OK, l)
	}
	have, records := folder(t, out), s.records(t)
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	shards := s.startShards(t)
	start(t, env, "coordinator").exits(0)
	for _, p := range shards { // the word of the end may be lost to one
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	want := folder(t, out)
	for name := range want {
		if have[name] != want[name] {
			t.Errorf("%s differs from that of an undisturbed run with the same noise", name)
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			t.Errorf("the folder held %s, which an undisturbed run does not write", name)
		}
	}
	if !maps.Equal(records, s.records(t)) {
		t.Error("the undisturbed run drew noise of its own")
	}
	if again := s.showLedger(t); !slices.Equal(again.Releases, l.Releases) {
		t.Errorf("ledger before %+v, after %+v", l, again)
	}
}

// records are the noisy answers of the run.
func (s *site) records(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(s.work(), "night-1", "steps")
	return folder(t, dir)
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

func TestCoordinatorKilledAndTakenUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, 120, startNATS(t))
	shards := s.startShards(t)
	for _, at := range []int{1, 4} {
		c := start(t, s.faultEnv(), "coordinator")
		s.recorded(t, at)
		c.kill()
		if l := s.showLedger(t); len(l.Releases) != 1 || l.Releases[0].Status != "reserved" {
			t.Errorf("after step %d: ledger %+v", at, l)
		}
	}
	c := start(t, s.faultEnv(), "coordinator")
	c.exits(0)
	if !strings.Contains(c.stderr.String(), "of 6 steps are recorded") {
		t.Errorf("it does not say that it goes on:\n%s", c.stderr.String())
	}
	for _, p := range shards {
		p.exits(0)
	}
	s.completes(t, s.faultEnv())
}

func TestTwoCoordinatorsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, 120, startNATS(t))
	env := s.faultEnv("PRIVCOM_STEPS=40", "PRIVCOM_GROWTH=1", "PRIVCOM_LEASE=2s")
	first := start(t, env, "coordinator") // waits for shards
	first.says("waiting for shards")
	second := start(t, env, "coordinator")
	second.exits(6)
	if text := second.stderr.String(); !strings.Contains(text, "is under way in another coordinator") || !strings.Contains(text, fmt.Sprint("process ", first.cmd.Process.Pid)) {
		t.Errorf("the second coordinator says:\n%s", text)
	}
	shards := s.startShards(t)
	// The first one stands still, as after a long pause of its machine: another takes the run
	// over, and the first finds that out when it wakes.
	s.recorded(t, 2)
	first.signal(syscall.SIGSTOP)
	third := start(t, env, "coordinator")
	third.says("private Oja steps")
	first.signal(syscall.SIGCONT)
	third.exits(0)
	<-first.done
	// The first has lost the run, or has found it finished by the other.
	if code := first.cmd.ProcessState.ExitCode(); code != 6 && code != 0 {
		t.Errorf("the coordinator that was taken over ended with %d:\n%s", code, first.stderr.String())
	}
	for _, p := range shards {
		p.exits(0)
	}
	s.completes(t, env)
}

func TestShardsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newSite(t, 120, startNATS(t))
	shard := func(i int) *process {
		return start(t, append(s.env, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i)), "shard")
	}
	env := s.faultEnv("PRIVCOM_JOIN=300ms", "PRIVCOM_STEPS=24", "PRIVCOM_GROWTH=1")
	fewer := shard(0) // one of three, and its twin
	twin := shard(0)
	c := start(t, env, "coordinator")
	s.recorded(t, 2)
	fewer.kill()
	late := shard(2)
	c.exits(0)
	twin.exits(0)
	late.exits(0)
	s.completes(t, env)
}

func TestMessagesLostRepeatedAndReordered(t *testing.T) {
	t.Parallel()
	badMessages(t, 0.1)
}

// badMessages runs through a proxy that loses a share of all messages, and repeats or
// reorders a fifth.
func badMessages(t *testing.T, lose float64) {
	p := &proxy{lose: lose, repeat: 0.1, delay: 0.1}
	s := newSite(t, 120, startProxy(t, startNATS(t), p, 7))
	shards := s.startShards(t)
	env := s.faultEnv("PRIVCOM_STEPS=5")
	start(t, env, "coordinator").exits(0)
	// Of more than 120 messages a tenth each: without a single one less than once in 3·10⁵ runs.
	if lost, doubled, held := p.counts(); lost == 0 || doubled == 0 || held == 0 {
		t.Errorf("the proxy lost %d messages, repeated %d and reordered %d", lost, doubled, held)
	}
	for _, p := range shards { // the word of the end may be lost to some
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	s.completes(t, env)
}

func TestNATSGoesAway(t *testing.T) {
	t.Parallel()
	natsGoesAway(t, 1500*time.Millisecond)
}

// natsGoesAway kills nats-server in the middle of a run and starts it again after a while.
func natsGoesAway(t *testing.T, down time.Duration) {
	nats, server := startServer(t)
	s := newSite(t, 120, nats)
	env := s.faultEnv("PRIVCOM_STEPS=24", "PRIVCOM_GROWTH=1")
	shards := s.startShards(t)
	c := start(t, env, "coordinator")
	s.recorded(t, 2)
	server.kill()
	time.Sleep(down)
	port := nats[strings.LastIndex(nats, ":")+1:]
	start(t, nil, "nats-server", "-a", "127.0.0.1", "-p", port)
	c.exits(0)
	for _, p := range shards {
		p.exits(0)
	}
	s.completes(t, env)
}

func TestWithoutNATSAllEndWith6(t *testing.T) {
	t.Parallel()
	s := newSite(t, 60, "nats://127.0.0.1:1")
	env := []string{"PRIVCOM_NATS_WAIT=300ms"}
	all := []*process{start(t, s.faultEnv(env...), "coordinator"), start(t, append(s.env, env...), "shard"),
		start(t, append(s.env, env...), "privcom", "status"), start(t, append(s.env, env...), "privcom", "end")}
	for _, p := range all {
		p.exits(6)
		if text := p.stderr.String(); !strings.Contains(text, "no NATS server answered for 300ms (--nats-wait)") {
			t.Errorf("%s says:\n%s", p.name, text)
		}
	}
	if l := s.showLedger(t); len(l.Releases) > 0 {
		t.Errorf("ledger: %+v", l)
	}
}

func TestCorruptShardIsNamedBeforeAnythingIsSpent(t *testing.T) {
	t.Parallel()
	s := newSite(t, 60, startNATS(t))
	files, err := filepath.Glob(filepath.Join(s.graph, "rows-00001-*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(data)
	damaged[len(damaged)/2] ^= 1
	if err := os.WriteFile(files[0], damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	shards := s.startShards(t)
	c := start(t, s.faultEnv(), "coordinator")
	c.exits(7)
	if text := c.stderr.String(); !strings.Contains(text, filepath.Base(files[0])) || !strings.Contains(text, "nothing was spent") {
		t.Errorf("the coordinator says:\n%s", text)
	}
	if l := s.showLedger(t); len(l.Releases) > 0 {
		t.Errorf("ledger: %+v", l)
	}
	for _, p := range shards {
		<-p.done
	}
	// The file is restored: the same command begins.
	if err := os.WriteFile(files[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	s.startShards(t)
	start(t, s.faultEnv(), "coordinator").exits(0)
	s.completes(t, s.faultEnv())
}

// The disk of the release folder is full: the run says so, keeps its reservation, and is
// finished when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if unbuilt != "" {
		t.Skip(unbuilt)
	}
	if out, err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "-o", "size=16k", "none", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no small file system can be mounted here: %v: %s", err, out)
	}
	s := newSite(t, 400, startNATS(t))
	out := filepath.Join(s.dir, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	// In one process, since only its children see the small disk.
	p := &process{t: t, name: "release on a small disk", done: make(chan struct{}),
		cmd: exec.Command("unshare", "-Urm", "sh", "-c", `mount -t tmpfs -o size=16k none "$0" && exec "$1" release`, out, filepath.Join(binaries, "privcom"))}
	p.cmd.Env = append([]string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}, s.faultEnv()...)
	p.begin()
	p.exits(3)
	if text := p.stderr.String(); !strings.Contains(text, "the disk or quota is full") || !strings.Contains(text, "can be taken up again") {
		t.Errorf("on a full disk:\n%s", text)
	}
	if l := s.showLedger(t); len(l.Releases) != 1 || l.Releases[0].Status != "reserved" || s.steps(t) != 6 {
		t.Errorf("%d steps, ledger %+v", s.steps(t), l)
	}
	s.startShards(t)
	start(t, s.faultEnv(), "coordinator").exits(0)
	s.completes(t, s.faultEnv())
}

// Shards that wait for a successor are ended by hand; a shard that waits in vain ends with 6.
func TestShardsThatWait(t *testing.T) {
	t.Parallel()
	s := newSite(t, 60, startNATS(t))
	patient := s.startShards(t)
	hasty := start(t, append(s.env, "PRIVCOM_COORDINATOR_WAIT=400ms"), "shard")
	hasty.exits(6)
	if text := hasty.stderr.String(); !strings.Contains(text, "no coordinator of run night-1") {
		t.Errorf("the shard says:\n%s", text)
	}
	var e struct {
		Shards int `json:"shards_ended"`
	}
	end := start(t, append(s.env, "PRIVCOM_OUTPUT=json"), "privcom", "end")
	end.exits(0)
	end.document(&e)
	if e.Shards != 3 {
		t.Errorf("%d shards were ended of 3", e.Shards)
	}
	for _, p := range patient {
		p.exits(0)
	}
}
