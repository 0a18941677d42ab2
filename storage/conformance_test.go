package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// places are the implementations that must all behave the same.
func places(t *testing.T) map[string]func(t *testing.T) *Bucket {
	open := func(where func(t *testing.T) string) func(t *testing.T) *Bucket {
		return func(t *testing.T) *Bucket {
			t.Helper()
			b, err := Open(t.Context(), where(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			return b
		}
	}
	all := map[string]func(t *testing.T) *Bucket{
		"folder": open(func(t *testing.T) string { return t.TempDir() + "/new/place" }),
		"memory": open(func(t *testing.T) string { return "mem://" }),
	}
	if url := os.Getenv("PRIVCOM_TEST_S3_URL"); url != "" {
		// The URL of an empty bucket that may be written to.
		all["s3"] = func(t *testing.T) *Bucket {
			b := open(func(*testing.T) string { return url })(t)
			return b.Sub("conformance-" + nonce())
		}
	}
	return all
}

func TestConformance(t *testing.T) {
	for name, open := range places(t) {
		t.Run(name, func(t *testing.T) { conform(t, open) })
	}
}

// conform runs the suite; each case gets a place of its own.
func conform(t *testing.T, open func(t *testing.T) *Bucket) {
	t.Helper()
	cases := map[string]func(t *testing.T, b *Bucket){
		"absent":        testAbsent,
		"put":           testPut,
		"create":        testCreate,
		"create race":   testCreateRace,
		"writer":        testWriter,
		"writer abort":  testWriterAbort,
		"writer cancel": testWriterCancel,
		"list":          testList,
		"sub":           testSub,
		"delete":        testDelete,
		"ranges":        testRanges,
		"bad keys":      testBadKeys,
		"cancelled":     testCancelled,
		"url":           testURL,
	}
	for what, run := range cases {
		t.Run(what, func(t *testing.T) { run(t, open(t)) })
	}
}

func mustPut(t *testing.T, b *Bucket, key, data string) {
	t.Helper()
	if err := b.Put(t.Context(), key, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func wantContent(t *testing.T, b *Bucket, key, want string) {
	t.Helper()
	got, err := b.ReadAll(t.Context(), key)
	if err != nil || string(got) != want {
		t.Fatalf("%s holds %q, %v; want %q", key, got, err, want)
	}
}

func wantKeys(t *testing.T, b *Bucket, prefix string, want ...string) {
	t.Helper()
	got, err := b.List(t.Context(), prefix)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("keys under %q are %q, %v; want %q", prefix, got, err, want)
	}
}

func testAbsent(t *testing.T, b *Bucket) {
	ctx := t.Context()
	_, readErr := b.ReadAll(ctx, "a/b")
	_, openErr := b.OpenFile(ctx, "a/b")
	_, _, hashErr := b.Hash(ctx, "a/b")
	for _, err := range []error{readErr, openErr, hashErr, b.Delete(ctx, "a/b")} {
		if !errors.Is(err, ErrNotExist) || Class(err) != ClassUser || !strings.Contains(err.Error(), "a/b") {
			t.Errorf("got %v (%v), want ErrNotExist naming the key", err, Class(err))
		}
	}
	if ok, err := b.Exists(ctx, "a/b"); ok || err != nil {
		t.Errorf("Exists: %v %v", ok, err)
	}
	wantKeys(t, b, "")
	mustPut(t, b, "x/y", "1")
	if _, err := b.ReadAll(ctx, "x"); !errors.Is(err, ErrNotExist) {
		t.Errorf("a prefix of keys read as an object: %v", err)
	}
	if _, err := b.OpenFile(ctx, "x"); !errors.Is(err, ErrNotExist) {
		t.Errorf("a prefix of keys opened as an object: %v", err)
	}
}

func testPut(t *testing.T, b *Bucket) {
	mustPut(t, b, "k", "one")
	mustPut(t, b, "k", "two, longer")
	wantContent(t, b, "k", "two, longer")
	mustPut(t, b, "k", "")
	wantContent(t, b, "k", "")
	wantKeys(t, b, "", "k")
	hash, n, err := b.Hash(t.Context(), "k")
	if n != 0 || err != nil || !strings.HasPrefix(hash, "e3b0c442") {
		t.Errorf("hash of an empty object: %s %d %v", hash, n, err)
	}
}

func testCreate(t *testing.T, b *Bucket) {
	ctx := t.Context()
	if err := b.Create(ctx, "d/k", []byte("first")); err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{"second", "first"} {
		err := b.Create(ctx, "d/k", []byte(again))
		if !errors.Is(err, ErrExists) || errors.Is(err, ErrNotExist) || Class(err) != ClassUser {
			t.Errorf("second Create gave %v, want ErrExists", err)
		}
	}
	wantContent(t, b, "d/k", "first")
	wantKeys(t, b, "", "d/k")
}

func testCreateRace(t *testing.T, b *Bucket) {
	for round := range 5 {
		key := fmt.Sprintf("race/%d", round)
		var won atomic.Int64
		var winner atomic.Value
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				data := strings.Repeat(fmt.Sprint(i), 1000)
				switch err := b.Create(t.Context(), key, []byte(data)); {
				case err == nil:
					won.Add(1)
					winner.Store(data)
				case !errors.Is(err, ErrExists):
					t.Errorf("loser got %v", err)
				}
			})
		}
		wait.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d of 8 simultaneous creations succeeded", won.Load())
		}
		wantContent(t, b, key, winner.Load().(string))
	}
}

func testWriter(t *testing.T, b *Bucket) {
	w, err := b.NewWriter(t.Context(), "parts/f")
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for i := range 1000 {
		piece := bytes.Repeat([]byte{byte(i)}, i)
		want.Write(piece)
		if _, err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	wantKeys(t, b, "")
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after Commit: %v", err)
	}
	if w.Commit() == nil {
		t.Error("a second Commit succeeded")
	}
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("Write after Commit succeeded")
	}
	hash, n, err := b.Hash(t.Context(), "parts/f")
	if err != nil || hash != w.SHA256() || n != w.Bytes() || n != int64(want.Len()) {
		t.Errorf("stored %s %d %v, writer says %s %d", hash, n, err, w.SHA256(), w.Bytes())
	}
	wantContent(t, b, "parts/f", want.String())
	wantKeys(t, b, "", "parts/f")
}

func testWriterAbort(t *testing.T, b *Bucket) {
	mustPut(t, b, "f", "kept")
	w, err := b.NewWriter(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("dropped"))
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if w.Commit() == nil {
		t.Error("Commit after Abort succeeded")
	}
	wantContent(t, b, "f", "kept")
	wantKeys(t, b, "", "f")
}

func testWriterCancel(t *testing.T, b *Bucket) {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := b.NewWriter(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("some"))
	cancel()
	if _, err := w.Write([]byte("more")); err == nil {
		t.Error("Write after cancellation succeeded")
	}
	if err := w.Commit(); err == nil || Class(err) != ClassRetryable {
		t.Errorf("Commit after cancellation: %v", err)
	}
	wantKeys(t, b, "")
}

func testList(t *testing.T, b *Bucket) {
	for _, key := range []string{"a/b", "a-b", "a/c/d", "ab", "b", "z/y"} {
		mustPut(t, b, key, key)
	}
	wantKeys(t, b, "", "a-b", "a/b", "a/c/d", "ab", "b", "z/y")
	wantKeys(t, b, "a", "a-b", "a/b", "a/c/d", "ab")
	wantKeys(t, b, "a/", "a/b", "a/c/d")
	wantKeys(t, b, "a/c/d", "a/c/d")
	wantKeys(t, b, "nothing/at/all")
	wantKeys(t, b, "b/x")
}

func testSub(t *testing.T, b *Bucket) {
	s := b.Sub("/one/").Sub("two")
	mustPut(t, s, "k", "v")
	mustPut(t, b, "one/twofold", "other")
	wantContent(t, b, "one/two/k", "v")
	wantKeys(t, s, "", "k")
	if err := s.Create(t.Context(), "k", nil); !errors.Is(err, ErrExists) {
		t.Errorf("Create in Sub: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wantContent(t, b, "one/two/k", "v")
}

func testDelete(t *testing.T, b *Bucket) {
	mustPut(t, b, "d/k", "v")
	if err := b.Delete(t.Context(), "d/k"); err != nil {
		t.Fatal(err)
	}
	if ok, err := b.Exists(t.Context(), "d/k"); ok || err != nil {
		t.Errorf("Exists after Delete: %v %v", ok, err)
	}
	if err := b.Create(t.Context(), "d/k", []byte("again")); err != nil {
		t.Errorf("Create after Delete: %v", err)
	}
}

// testRanges reads random ranges, over the cached and the direct path.
func testRanges(t *testing.T, b *Bucket) {
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 3*rangeBytes+12345)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	mustPut(t, b, "f", string(data))
	f, err := b.OpenFile(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Size() != int64(len(data)) {
		t.Fatalf("size %d, want %d", f.Size(), len(data))
	}
	var wait sync.WaitGroup
	for seed := range uint64(3) {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 7))
			for range 60 {
				off := rng.IntN(len(data))
				p := make([]byte, rng.IntN(1<<rng.IntN(22)))
				n, err := f.ReadAt(p, int64(off))
				want := data[off:min(len(data), off+len(p))]
				if !bytes.Equal(p[:n], want) || (err == nil) != (len(want) == len(p)) {
					t.Errorf("ReadAt(%d bytes, %d) gave %d bytes, %v", len(p), off, n, err)
				}
			}
		})
	}
	wait.Wait()
	if n, err := f.ReadAt(make([]byte, 4), f.Size()); n != 0 || err != io.EOF {
		t.Errorf("read at the end: %d %v", n, err)
	}
	if _, err := f.ReadAt(make([]byte, 4), -1); err == nil {
		t.Error("read at -1 succeeded")
	}
}

func testBadKeys(t *testing.T, b *Bucket) {
	for _, key := range []string{"", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", `a\b`, "a\nb", "a\x00b", tempPrefix + "x", "a/" + tempPrefix, strings.Repeat("k", 901)} {
		if err := b.Put(t.Context(), key, nil); err == nil || Class(err) != ClassUser {
			t.Errorf("Put(%q) gave %v", key, err)
		}
		if err := b.Create(t.Context(), key, nil); err == nil {
			t.Errorf("Create(%q) succeeded", key)
		}
		if _, err := b.NewWriter(t.Context(), key); err == nil {
			t.Errorf("NewWriter(%q) succeeded", key)
		}
		if _, err := b.ReadAll(t.Context(), key); err == nil {
			t.Errorf("ReadAll(%q) succeeded", key)
		}
	}
	wantKeys(t, b, "")
}

func testCancelled(t *testing.T, b *Bucket) {
	mustPut(t, b, "k", "v")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, readErr := b.ReadAll(ctx, "k")
	_, _, hashErr := b.Hash(ctx, "k")
	for what, err := range map[string]error{
		"Put":     b.Put(ctx, "k", []byte("w")),
		"Create":  b.Create(ctx, "new", []byte("w")),
		"ReadAll": readErr,
		"Hash":    hashErr,
	} {
		if err == nil || errors.Is(err, ErrExists) {
			t.Errorf("%s with a cancelled context: %v", what, err)
		}
	}
	wantContent(t, b, "k", "v")
	wantKeys(t, b, "", "k")
}

func testURL(t *testing.T, b *Bucket) {
	s := b.Sub("x/y z")
	mustPut(t, s, "k", "v")
	again, err := Open(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	wantContent(t, again, "k", "v")
	if again.URL() != s.URL() {
		t.Errorf("%s opened as %s", s.URL(), again.URL())
	}
}
