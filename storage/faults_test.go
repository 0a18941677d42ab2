package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// everything asks the disturbed bucket b for each operation once, and gives
// their names and errors in order. plain is the same place, undisturbed.
func everything(ctx context.Context, plain, b *Bucket) (ops []Op, errs []error) {
	if err := plain.Put(ctx, "gone", nil); err != nil {
		panic(err)
	}
	did := func(op Op, err error) { ops, errs = append(ops, op), append(errs, err) }
	did(OpPut, b.Put(ctx, "old", []byte("old")))
	did(OpCreate, b.Create(ctx, "new", []byte("new")))
	_, err := b.ReadAll(ctx, "old")
	did(OpRead, err)
	_, err = b.Exists(ctx, "old")
	did(OpExists, err)
	_, err = b.List(ctx, "o")
	did(OpList, err)
	f, err := b.OpenFile(ctx, "old")
	did(OpOpen, err)
	if err == nil {
		_, err = f.ReadAt(make([]byte, 9), 0) // to the end: io.EOF
		if err == io.EOF {
			err = nil
		}
		f.Close()
		did(OpReadAt, err)
	}
	did(OpDelete, b.Delete(ctx, "gone"))
	w, err := b.NewWriter(ctx, "streamed")
	did(OpBegin, err)
	if err == nil {
		_, err = w.Write([]byte("bytes"))
		did(OpWrite, err)
		if err == nil {
			did(OpCommit, w.Commit())
		}
		w.Abort()
	}
	if w, err = b.NewWriter(ctx, "dropped"); err == nil {
		did(OpAbort, w.Abort())
	}
	return ops, errs
}

// stands says whether the trace of an operation of everything is there.
var stands = map[Op]func(ctx context.Context, b *Bucket) (bool, error){
	OpPut:    func(ctx context.Context, b *Bucket) (bool, error) { return b.Exists(ctx, "old") },
	OpCreate: func(ctx context.Context, b *Bucket) (bool, error) { return b.Exists(ctx, "new") },
	OpCommit: func(ctx context.Context, b *Bucket) (bool, error) { return b.Exists(ctx, "streamed") },
	OpDelete: func(ctx context.Context, b *Bucket) (bool, error) {
		ok, err := b.Exists(ctx, "gone")
		return !ok, err
	},
}

var errInjected = errors.New("injected")

func TestFaultsSeeEveryOperation(t *testing.T) {
	for name, open := range places(t) {
		t.Run(name, func(t *testing.T) {
			var before, after []Op
			plain := open(t).Sub("room")
			b := plain.WithFaults(Faults{
				Before: func(op Op, key string) error { before = append(before, op); return nil },
				After: func(op Op, key string) error {
					if strings.HasPrefix(key, "room") {
						t.Errorf("%s is told of the key %q, want it under the bucket", op, key)
					}
					after = append(after, op)
					return nil
				}})
			want, errs := everything(t.Context(), plain, b)
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			// The begin of the writer that is dropped comes before its abort.
			want = slices.Insert(want, len(want)-1, OpBegin)
			if fmt.Sprint(before) != fmt.Sprint(want) || fmt.Sprint(after) != fmt.Sprint(want) {
				t.Errorf("asked %v\nbefore %v\nafter %v", want, before, after)
			}
		})
	}
}

// failing gives an error at every operation of a kind.
func failing(kind Op) func(Op, string) error {
	return func(op Op, _ string) error {
		if op == kind {
			return errInjected
		}
		return nil
	}
}

func TestAFaultBeforeLeavesNothingAndOneAfterLeavesItDone(t *testing.T) {
	all := []Op{OpRead, OpPut, OpCreate, OpExists, OpList, OpDelete, OpOpen, OpReadAt, OpBegin, OpWrite, OpCommit, OpAbort}
	for name, open := range places(t) {
		for _, op := range all {
			for when, done := range map[string]bool{"before": false, "after": true} {
				t.Run(fmt.Sprint(name, "/", op, "/", when), func(t *testing.T) {
					b := open(t)
					f := Faults{Before: failing(op)}
					if done {
						f = Faults{After: failing(op)}
					}
					ops, errs := everything(t.Context(), b, b.WithFaults(f))
					at := slices.Index(ops, op)
					if at < 0 {
						t.Fatalf("%v: the operation was not asked", ops)
					}
					if err := errs[at]; !errors.Is(err, errInjected) || !strings.HasPrefix(err.Error(), "storage: ") {
						t.Errorf("%v, want the injected error in the package's words", err)
					}
					if trace, ok := stands[op]; ok {
						if there, err := trace(t.Context(), b); there != done || err != nil {
							t.Errorf("done: %v (%v), want %v", there, err, done)
						}
					}
				})
			}
		}
	}
}

func TestAFaultyPlaceHoldsTheContract(t *testing.T) {
	for name, open := range places(t) {
		for what, run := range map[string]func(*testing.T, *Bucket){"put": testPut, "create": testCreate, "race": testCreateRace,
			"writer": testWriter, "abort": testWriterAbort, "list": testList, "sub": testSub, "delete": testDelete, "ranges": testRanges, "absent": testAbsent} {
			t.Run(name+"/"+what, func(t *testing.T) { run(t, open(t).WithFaults(Faults{})) })
		}
	}
}

func TestFaultsLeaveTheBucketAndItsURLAlone(t *testing.T) {
	b, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	count := func(Op, string) error { calls.Add(1); return nil }
	faulty := b.WithFaults(Faults{Before: count})
	mustPut(t, b, "k", "v")
	if faulty.URL() != b.URL() || calls.Load() != 0 {
		t.Errorf("URL %s, want %s; %d calls seen", faulty.URL(), b.URL(), calls.Load())
	}
	wantContent(t, faulty.Sub(""), "k", "v")
	if calls.Load() != 1 {
		t.Errorf("a part of the disturbed bucket made %d calls, want 1", calls.Load())
	}
}

// A fault keeps the class of its cause, and a failed writer leaves no file.
func TestFaultsAreClassedAndWritersEnd(t *testing.T) {
	dir := t.TempDir()
	b, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []Op{OpBegin, OpWrite, OpCommit} {
		for _, after := range []bool{false, true} {
			full := func(o Op, _ string) error {
				if o == op {
					return syscall.ENOSPC
				}
				return nil
			}
			f := Faults{Before: full}
			if after {
				f = Faults{After: full}
			}
			w, err := b.WithFaults(f).NewWriter(t.Context(), "k")
			if err == nil {
				if _, err = w.Write([]byte("x")); err == nil {
					err = w.Commit()
				}
				w.Abort()
			}
			if Class(err) != ClassUser || !strings.Contains(err.Error(), "free space") {
				t.Errorf("%s: %v is of class %v, want user", op, err, Class(err))
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			t.Errorf("%s is left", e.Name())
		}
	}
}
