package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for a process. It is far above what any step takes.
const patience = 60 * time.Second

var (
	binaries string // folder of the built commands
	unbuilt  string // why there are none
)

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "privcom-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binaries = dir
	// -ldflags -s -w: smaller files link faster.
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator), "./cmd/...", "github.com/nats-io/nats-server/v2")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		unbuilt = fmt.Sprintf("the commands cannot be built here: %v: %s", err, bytes.TrimSpace(out))
	}
	return m.Run()
}

// process is a running command.
type process struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr lockedBuffer
	done   chan struct{}
}

// lockedBuffer can be read while the process writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs a command with nothing in its environment but what is given.
func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	if unbuilt != "" {
		t.Skip(unbuilt)
	}
	p := &process{t: t, name: name, cmd: exec.Command(filepath.Join(binaries, name), args...), done: make(chan struct{})}
	p.cmd.Env = append([]string{"HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}, env...)
	p.begin()
	return p
}

// begin starts the process and sees to its end.
func (p *process) begin() {
	p.t.Helper()
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	p.t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
	})
}

// exits waits for the end and compares the exit code.
func (p *process) exits(want int) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("%s still runs after %v:\n%s", p.name, patience, p.stderr.String())
	}
	if have := p.cmd.ProcessState.ExitCode(); have != want {
		p.t.Fatalf("%s ended with %d, want %d:\n%s", p.name, have, want, p.stderr.String())
	}
}

// says waits until standard error holds a text.
func (p *process) says(text string) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(p.stderr.String(), text) {
			return
		}
		select {
		case <-p.done:
			if !strings.Contains(p.stderr.String(), text) {
				p.t.Fatalf("%s ended and never said %q:\n%s", p.name, text, p.stderr.String())
			}
		default:
		}
	}
	p.t.Fatalf("%s does not say %q:\n%s", p.name, text, p.stderr.String())
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a command to its end.
func run(t *testing.T, want int, name string, args ...string) *process {
	t.Helper()
	p := start(t, nil, name, args...)
	p.exits(want)
	return p
}

// document decodes the one JSON document of standard output.
func (p *process) document(v any) {
	p.t.Helper()
	dec := json.NewDecoder(&p.stdout)
	if err := dec.Decode(v); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	if dec.More() {
		p.t.Fatalf("%s wrote more than one document", p.name)
	}
}

// startNATS starts a nats-server on a free loopback port and gives its URL.
func startNATS(t *testing.T) string {
	t.Helper()
	url, _ := startServer(t)
	return url
}

// startServer is startNATS with the process.
func startServer(t *testing.T) (string, *process) {
	t.Helper()
	dir := t.TempDir()
	server := start(t, nil, "nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", dir)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(dir, "*.ports"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			continue
		}
		var ports struct{ NATS []string }
		data, err := os.ReadFile(files[0])
		if errors.Is(err, os.ErrNotExist) || err == nil && json.Unmarshal(data, &ports) != nil {
			continue // not written out yet
		}
		if err != nil || len(ports.NATS) == 0 {
			t.Fatalf("ports file %s: %v", data, err)
		}
		return ports.NATS[0], server
	}
	t.Fatal("nats-server wrote no ports file")
	return "", nil
}

// site is a graph folder and the environment that every process of a run gets.
type site struct {
	dir, graph string
	env        []string
}

// newSite generates and ingests a graph of n people in two communities, in three shards.
func newSite(t *testing.T, n int, nats string) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{dir: dir, graph: filepath.Join(dir, "graph")}
	file := filepath.Join(dir, "graph.txt")
	run(t, 0, "privcom", "generate", "sbm", "--vertices", fmt.Sprint(n), "--degree-in", "20", "--degree-out", "4", "--out", file, "--quiet")
	run(t, 0, "privcom", "ingest", file, "--out", s.graph, "--shards", "3", "--quiet")
	s.env = []string{"PRIVCOM_NATS=" + nats, "PRIVCOM_GRAPH=" + s.graph, "PRIVCOM_RUN=night-1", "PRIVCOM_PREFIX=e2e"}
	return s
}

// startShards starts one shard per index, as an indexed job does.
func (s *site) startShards(t *testing.T) []*process {
	t.Helper()
	var all []*process
	for i := range 3 {
		p := start(t, append(s.env, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i), "PRIVCOM_LOG_LEVEL=info"), "shard")
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("shard %d said:\n%s", i, p.stderr.String())
			}
		})
		all = append(all, p)
	}
	return all
}

// work is the folder that holds the runs' own folders.
func (s *site) work() string { return filepath.Join(s.dir, "work") }

// steps counts the steps that the run has recorded.
func (s *site) steps(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.work(), "night-1", "steps", "*", "step-*.rec"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// recorded waits until the run has recorded n steps.
func (s *site) recorded(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if s.steps(t) >= n {
			return
		}
	}
	t.Fatalf("the run has recorded %d steps, not %d", s.steps(t), n)
}

// folder is every byte of a folder, but for the unfinished files that a process which was
// killed leaves there: they are no objects (storage).
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".privcom-tmp-") {
			return err
		}
		data, err := os.ReadFile(name)
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// coordinatorEnv is the coordinator's own environment.
func (s *site) coordinatorEnv(more ...string) []string {
	env := append([]string{"PRIVCOM_OUT=" + filepath.Join(s.dir, "out"), "PRIVCOM_LEDGER=" + filepath.Join(s.dir, "ledger"),
		"PRIVCOM_DATASET=people", "PRIVCOM_UNIT=edge", "PRIVCOM_EPSILON=4", "PRIVCOM_RANK=2", "PRIVCOM_OUTPUT=json", "PRIVCOM_JOIN=30s",
		"PRIVCOM_WORK=" + s.work(), "PRIVCOM_LEASE=1s"}, s.env...)
	return append(env, more...)
}

// ledger is what budget show says.
type ledger struct {
	Releases []struct{ ID, Status, Release, Epsilon string }
}

func (s *site) showLedger(t *testing.T) ledger {
	t.Helper()
	var l ledger
	// A process that was killed may leave the folder and an unnamed file: nothing was spent.
	if entries, _ := filepath.Glob(filepath.Join(s.dir, "ledger", "people", "[^.]*")); len(entries) == 0 {
		return l
	}
	run(t, 0, "privcom", "budget", "show", "--ledger", filepath.Join(s.dir, "ledger"), "--dataset", "people", "--output", "json").document(&l)
	return l
}
