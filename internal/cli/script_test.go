package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/privcom/privcom/baseline"
)

// The scripts run the three commands as a user would: as processes, with arguments, files
// and an environment. The test binary stands in for each of them.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"privcom":     func() { os.Exit(Privcom(os.Args[1:], baseline.Methods())) },
		"coordinator": func() { os.Exit(Coordinator(os.Args[1:])) },
		"shard":       func() { os.Exit(Shard(os.Args[1:])) },
	})
}

// realData is where the tests look for real graphs.
const realData = "../../../shared/data"

func TestScripts(t *testing.T) {
	data, err := filepath.Abs(realData)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": checkJSON, "flip": flip, "unspent": unspent, "remains": remains,
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil // who may write everywhere
			}
			if cond != "data" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			_, err := os.Stat(data)
			return err == nil, nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("DATA", data)
			// A run's temporary folders must go away with it: they stay in sight here.
			tmp := filepath.Join(e.WorkDir, ".tmp")
			e.Setenv("TMPDIR", tmp)
			return os.MkdirAll(tmp, 0o755)
		},
	})
}

// exits CODE COMMAND ARGS... runs a command that must end with an exit code. Where it
// fails, standard output must be empty: scripts parse it.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if strings.Contains(ts.ReadFile("stderr"), "goroutine ") {
		ts.Fatalf("the command panicked")
	}
}

// json FILE PATH [VALUE] looks a dotted path up in the one JSON document of a file, or of
// stdout: keys, indices, "_len" for a length. VALUE is a regular expression that the whole
// value must match. With "!" the path must be absent, or its value must not match.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: json FILE PATH [VALUE]")
	}
	doc, err := oneDocument([]byte(ts.ReadFile(args[0])))
	if err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	value, ok := lookUp(doc, args[1])
	if len(args) == 2 {
		if ok == neg {
			ts.Fatalf("%s has %s: %v", args[0], args[1], ok)
		}
		return
	}
	if !ok {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	if regexp.MustCompile("^(?:"+args[2]+")$").MatchString(value) == neg {
		ts.Fatalf("%s: %s is %s, want %s", args[0], args[1], value, args[2])
	}
}

// oneDocument decodes exactly one JSON document and nothing after it.
func oneDocument(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var doc, more any
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("not a JSON document: %w", err)
	}
	if err := dec.Decode(&more); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON document (%v)", err)
	}
	return doc, nil
}

func lookUp(doc any, path string) (string, bool) {
	for _, step := range strings.Split(path, ".") {
		switch x := doc.(type) {
		case map[string]any:
			if step == "_len" {
				return strconv.Itoa(len(x)), true
			}
			v, ok := x[step]
			if !ok {
				return "", false
			}
			doc = v
		case []any:
			if step == "_len" {
				return strconv.Itoa(len(x)), true
			}
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(x) {
				return "", false
			}
			doc = x[i]
		default:
			return "", false
		}
	}
	if s, ok := doc.(string); ok {
		return s, true
	}
	b, err := json.Marshal(doc)
	return string(b), err == nil
}

// flip FILE OFFSET inverts the lowest bit of a byte; FILE may be a pattern for one file,
// and a negative offset counts from its end.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE OFFSET")
	}
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) != 1 {
		ts.Fatalf("%d files match %s, want 1", len(names), args[0])
	}
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := os.ReadFile(names[0])
	ts.Check(err)
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 1
	ts.Check(os.WriteFile(names[0], data, 0o644))
}

// unspent LEDGER [DATASET] runs budget show, which must tell of no release at all.
func unspent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: unspent LEDGER [DATASET]")
	}
	cmd := []string{"budget", "show", "--output", "json", "--ledger", args[0]}
	if len(args) == 2 {
		cmd = append(cmd, "--dataset", args[1])
	}
	if err := ts.Exec("privcom", cmd...); err != nil {
		// No ledger at all, or none of this data set.
		if s := ts.ReadFile("stderr"); !strings.Contains(s, "holds no ledger") && !strings.Contains(s, "holds no data set") {
			ts.Fatalf("%v: %s", err, s)
		}
		return
	}
	checkJSON(ts, false, []string{"stdout", "releases._len", "0"})
}

// remains DIR [NAME...] lists every file under a folder, which must be the ones named
// (patterns, one file each); a folder that does not exist holds none.
func remains(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: remains DIR [NAME...]")
	}
	var have []string
	root := ts.MkAbs(args[0])
	err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, name)
			have = append(have, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	want := args[1:]
	ok := len(have) == len(want)
	for _, pattern := range want {
		found := 0
		for _, name := range have {
			if match, err := filepath.Match(pattern, name); err == nil && match {
				found++
			}
		}
		ok = ok && found == 1
	}
	if !ok {
		ts.Fatalf("%s holds %q, want %q", args[0], have, want)
	}
}
