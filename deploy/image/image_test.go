package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"archive/tar"
)

// Two builds in two folders are the same bytes, and what is in them is what is meant to be.
func TestTwoBuildsAreEqual(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the image's own binary is run, which is for Linux")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir := t.TempDir()
	var first []byte
	for _, name := range []string{"a.tar", "b.tar"} {
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), name+"-elsewhere"))
		if err := os.MkdirAll(os.Getenv("TMPDIR"), 0o755); err != nil {
			t.Fatal(err)
		}
		err := run(t.Context(), []string{"--version", "1.2.3-test", "--out", filepath.Join(dir, name), "--sbom", filepath.Join(dir, "sbom.json")}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		} else if !bytes.Equal(first, data) {
			t.Fatal("two builds differ")
		}
	}
	img, err := tarball.ImageFromPath(filepath.Join(dir, "a.tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Config.User != "65532:65532" || cfg.OS != "linux" || cfg.Architecture != runtime.GOARCH || cfg.Config.Entrypoint[0] != "/bin/privcom" ||
		!cfg.Created.Equal(time.Unix(1700000000, 0)) {
		t.Errorf("configuration: %+v", cfg)
	}
	if l := cfg.Config.Labels; l["org.opencontainers.image.version"] != "1.2.3-test" || l["org.opencontainers.image.licenses"] != "Apache-2.0" {
		t.Errorf("labels: %v", l)
	}
	files := map[string][]byte{}
	rc := mutate.Extract(img)
	defer rc.Close()
	for r := tar.NewReader(rc); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.ModTime.Unix() != 1700000000 || h.Mode&0o022 != 0 && h.Name != "tmp/" && h.Name != "tmp" {
			t.Errorf("%s: uid %d, mode %o, time %s", h.Name, h.Uid, h.Mode, h.ModTime)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bin/privcom", "bin/coordinator", "bin/shard", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "usr/share/doc/privcom/LICENSE"} {
		if len(files[name]) == 0 {
			t.Errorf("%s is missing", name)
		}
	}
	binary := filepath.Join(dir, "privcom")
	if err := os.WriteFile(binary, files["bin/privcom"], 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), binary, "version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "privcom 1.2.3-test") {
		t.Errorf("the binary says %q (%v)", out, err)
	}
	checkSBOM(t, files["usr/share/doc/privcom/sbom.spdx.json"])
	beside, err := os.ReadFile(filepath.Join(dir, "sbom.json"))
	if err != nil || !bytes.Equal(beside, files["usr/share/doc/privcom/sbom.spdx.json"]) {
		t.Errorf("--sbom wrote something else (%v)", err)
	}
}

func checkSBOM(t *testing.T, data []byte) {
	t.Helper()
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	ids, names := map[string]bool{"SPDXRef-DOCUMENT": true}, map[string]string{}
	for _, p := range d.Packages {
		if ids[p.ID] {
			t.Errorf("%s stands twice", p.ID)
		}
		ids[p.ID], names[p.Name] = true, p.Version
		if len(p.Refs) != 1 || !strings.HasPrefix(p.Refs[0].Locator, "pkg:golang/") {
			t.Errorf("%s has no package URL", p.Name)
		}
	}
	for _, r := range d.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("%v names what is not there", r)
		}
	}
	if d.Version != "SPDX-2.3" || names["github.com/nats-io/nats.go"] == "" || names["stdlib"] == "" || names["coordinator"] != "1.2.3-test" {
		t.Errorf("%s lists %d packages: %v", d.Version, len(names), names)
	}
}

func TestWhatIsRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "x.tar")
	for want, args := range map[string][]string{
		"--out is not set":      {},
		"is no Linux binary":    {"--out", out, "--static", text},
		"no such file":          {"--out", out, "--static", filepath.Join(dir, "nothing")},
		"something stands":      {"--out", out, "stray"},
		"not a valid":           {"--out", out, "--static", "/proc/self/exe", "--name", "Bad Name"},
		"could not parse":       {"--out", out, "--static", "/proc/self/exe", "--name", "UPPER"},
		"flag provided but not": {"--colour"},
	} {
		err := run(t.Context(), args, io.Discard)
		if err == nil {
			t.Errorf("%v is taken", args)
		} else if want != "not a valid" && want != "could not parse" && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused image was written")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if err := run(t.Context(), []string{"--out", out, "--static", text}, io.Discard); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Errorf("a date that is none: %v", err)
	}
}
