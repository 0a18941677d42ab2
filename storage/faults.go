package storage

import (
	"context"
	"io"
	"strings"
)

// Op names what a bucket was asked to do, for Faults.
type Op string

const (
	OpRead   Op = "read"    // ReadAll
	OpPut    Op = "put"     // Put
	OpCreate Op = "create"  // Create
	OpExists Op = "exists"  // Exists
	OpList   Op = "list"    // List
	OpDelete Op = "delete"  // Delete
	OpOpen   Op = "open"    // OpenFile
	OpReadAt Op = "read at" // File.ReadAt, and so Hash and ReadParquet
	OpBegin  Op = "begin"   // NewWriter
	OpWrite  Op = "write"   // Writer.Write
	OpCommit Op = "commit"  // Writer.Commit
	OpAbort  Op = "abort"   // Writer.Abort
)

// Faults disturbs a bucket: for tests of the code that uses one. A function is
// told of every operation and its key under the bucket (of a List the prefix),
// from whatever goroutine asks; it may count, wait, end the process, or give
// the error that the operation then reports. A nil function is not asked.
type Faults struct {
	// Before runs before an operation; after its error the operation is not
	// done.
	Before func(op Op, key string) error
	// After runs after an operation that went well; after its error the
	// operation is done and reported as failed, as when an answer is lost.
	After func(op Op, key string) error
}

// WithFaults is the same bucket, disturbed. So are the buckets that Sub makes of
// it; b itself is not, nor what Open makes of its URL. Closing it does nothing.
func (b *Bucket) WithFaults(f Faults) *Bucket {
	return &Bucket{back: &faulty{backend: b.back, Faults: f, prefix: b.prefix}, prefix: b.prefix, sub: true}
}

// faulty is a backend with a hand on every operation.
type faulty struct {
	backend
	Faults
	prefix string
}

func (f *faulty) do(op Op, name string, run func() error) error {
	key := strings.TrimPrefix(name, f.prefix)
	if f.Before != nil {
		if err := f.Before(op, key); err != nil {
			return err
		}
	}
	if err := run(); err != nil || f.After == nil {
		return err
	}
	return f.After(op, key)
}

// give is do for an operation with a result, which an error takes away.
func give[T any](f *faulty, op Op, name string, run func() (T, error)) (T, error) {
	var got T
	err := f.do(op, name, func() (err error) {
		got, err = run()
		return err
	})
	if err != nil {
		return *new(T), err
	}
	return got, nil
}

func (f *faulty) readAll(ctx context.Context, key string) ([]byte, error) {
	return give(f, OpRead, key, func() ([]byte, error) { return f.backend.readAll(ctx, key) })
}

func (f *faulty) put(ctx context.Context, key string, data []byte) error {
	return f.do(OpPut, key, func() error { return f.backend.put(ctx, key, data) })
}

func (f *faulty) create(ctx context.Context, key string, data []byte) error {
	return f.do(OpCreate, key, func() error { return f.backend.create(ctx, key, data) })
}

func (f *faulty) exists(ctx context.Context, key string) (bool, error) {
	return give(f, OpExists, key, func() (bool, error) { return f.backend.exists(ctx, key) })
}

func (f *faulty) list(ctx context.Context, prefix string) ([]string, error) {
	return give(f, OpList, prefix, func() ([]string, error) { return f.backend.list(ctx, prefix) })
}

func (f *faulty) delete(ctx context.Context, key string) error {
	return f.do(OpDelete, key, func() error { return f.backend.delete(ctx, key) })
}

func (f *faulty) openFile(ctx context.Context, key string) (source, int64, error) {
	var open source
	var size int64
	err := f.do(OpOpen, key, func() (err error) {
		open, size, err = f.backend.openFile(ctx, key)
		return err
	})
	if err != nil {
		if open != nil {
			open.Close()
		}
		return nil, 0, err
	}
	return &faultySource{source: open, f: f, name: key}, size, nil
}

type faultySource struct {
	source
	f    *faulty
	name string
}

func (s *faultySource) ReadAt(p []byte, off int64) (n int, err error) {
	var end error // io.EOF is no failure
	err = s.f.do(OpReadAt, s.name, func() (err error) {
		if n, err = s.source.ReadAt(p, off); err == io.EOF {
			end, err = err, nil
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, end
}

func (f *faulty) newSink(ctx context.Context, key string) (sink, error) {
	var begun sink
	err := f.do(OpBegin, key, func() (err error) {
		begun, err = f.backend.newSink(ctx, key)
		return err
	})
	if err != nil {
		if begun != nil {
			begun.abort()
		}
		return nil, err
	}
	return &faultySink{sink: begun, f: f, name: key}, nil
}

type faultySink struct {
	sink
	f    *faulty
	name string
}

func (s *faultySink) Write(p []byte) (int, error) {
	return give(s.f, OpWrite, s.name, func() (int, error) { return s.sink.Write(p) })
}

// commit: a sink ends itself when its commit fails, so one whose commit is not
// done is aborted in its place.
func (s *faultySink) commit() error {
	done := false
	err := s.f.do(OpCommit, s.name, func() error {
		done = true
		return s.sink.commit()
	})
	if !done {
		s.sink.abort()
	}
	return err
}

func (s *faultySink) abort() error { return s.f.do(OpAbort, s.name, s.sink.abort) }
