package storage

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// versity is the module of a real S3 server, apart from this one.
const versity = "../deploy/k8s/e2e/tools/versitygw"

// The same suite against a real S3 server: versitygw over a folder. It runs where
// PRIVCOM_TEST_VERSITYGW is "build", or names the binary; CI builds it.
func TestConformanceS3Server(t *testing.T) {
	binary := os.Getenv("PRIVCOM_TEST_VERSITYGW")
	switch binary {
	case "":
		t.Skip("PRIVCOM_TEST_VERSITYGW is not set: set it to build, or to a versitygw, to run the suite against a real S3 server")
	case "build":
		binary = filepath.Join(t.TempDir(), "versitygw")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/versity/versitygw/cmd/versitygw")
		build.Dir = versity
		if out, err := build.CombinedOutput(); err != nil {
			t.Skipf("versitygw cannot be built here: %v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "bucket"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, binary, "--access", "test", "--secret", "test-secret", "--port", addr, "posix", "--sidecar", t.TempDir(), root)
	var log strings.Builder
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = server.Wait() // killed
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if r, err := http.Get("http://" + addr); err == nil {
			r.Body.Close()
			break
		} else if time.Since(begin) > 20*time.Second {
			t.Fatalf("versitygw does not answer: %v", err)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret")
	conform(t, func(t *testing.T) *Bucket {
		b, err := Open(t.Context(), fmt.Sprintf("s3://bucket/conformance-%s?region=us-east-1&use_path_style=true&endpoint=http://%s", nonce(), addr))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	})
}
