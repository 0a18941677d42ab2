package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"gocloud.dev/gcerrors"
)

// ErrNotExist says that no object has the key. Test with errors.Is.
var ErrNotExist = errors.New("no such object")

// ErrExists says that create-if-absent found an object. Test with errors.Is.
var ErrExists = errors.New("object exists already")

// CorruptError says that the bytes under Key are not what they should be: a
// hash that does not match, a malformed file, a block of the wrong shape.
type CorruptError struct {
	Key    string // object key, or "block" for bytes that have none
	Detail string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("storage: %s is corrupt: %s; restore it or write it again", e.Key, e.Detail)
}

// ErrorClass says what can be done about an error.
type ErrorClass int

const (
	// ClassPermanent: trying again gives the same error, and no flag helps.
	ClassPermanent ErrorClass = iota
	// ClassRetryable: the same call may succeed later.
	ClassRetryable
	// ClassUser: the person who runs the program can fix it (a wrong path, no
	// permission, a full disk, an object that exists already).
	ClassUser
)

func (c ErrorClass) String() string {
	return [...]string{"permanent", "retryable", "user"}[c]
}

// Class classes any error that this package returned, also when wrapped.
func Class(err error) ErrorClass {
	var op *opError
	var corrupt *CorruptError
	switch {
	case err == nil:
		return ClassPermanent
	case errors.As(err, &corrupt):
		return ClassPermanent
	case errors.As(err, &op):
		return op.class
	case errors.Is(err, ErrNotExist), errors.Is(err, ErrExists):
		return ClassUser
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ClassRetryable
	}
	return ClassPermanent
}

// opError is one failed operation: what was tried, on which key, where.
type opError struct {
	op, key, where string
	advice         string
	class          ErrorClass
	sentinel       error // ErrNotExist, ErrExists or nil
	err            error // cause, may be nil beside a sentinel
}

func (e *opError) Error() string {
	s := "storage: " + e.op
	if e.key != "" {
		s += fmt.Sprintf(" %q", e.key)
	}
	s += " in " + e.where + ": "
	switch {
	case e.sentinel != nil:
		s += e.sentinel.Error()
	default:
		s += e.err.Error()
	}
	if e.advice != "" {
		s += "; " + e.advice
	}
	return s
}

func (e *opError) Unwrap() []error {
	var all []error
	for _, err := range []error{e.sentinel, e.err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// Wrap classes and words an error of the outside world as this package does its
// own: what was tried (op), on which name (key, may be empty), where. It is for
// files that a package keeps beside a bucket, such as temporary ones.
func Wrap(op, key, where string, err error) error { return wrap(op, key, where, err) }

// wrap turns a cause into an opError; an error that is one already, a
// CorruptError, or nil passes through.
func wrap(op, key, where string, err error) error {
	var done *opError
	var corrupt *CorruptError
	if err == nil || errors.As(err, &done) || errors.As(err, &corrupt) {
		return err
	}
	e := &opError{op: op, key: key, where: where, err: err}
	switch {
	case errors.Is(err, ErrNotExist), errors.Is(err, fs.ErrNotExist):
		e.class, e.sentinel = ClassUser, ErrNotExist
	case errors.Is(err, ErrExists), errors.Is(err, fs.ErrExist):
		e.class, e.sentinel = ClassUser, ErrExists
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e.class = ClassRetryable
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.class, e.advice = ClassUser, "the disk or quota is full and nothing was kept under this name: free space or choose another place"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.class, e.advice = ClassUser, "check the permissions of this place"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		e.class, e.advice = ClassUser, "a file stands where a folder is needed, or the reverse"
	default:
		e.classCloud()
	}
	return e
}

func (e *opError) classCloud() {
	var network net.Error
	switch gcerrors.Code(e.err) {
	case gcerrors.NotFound:
		e.class, e.sentinel = ClassUser, ErrNotExist
	case gcerrors.FailedPrecondition, gcerrors.AlreadyExists:
		e.class, e.sentinel = ClassUser, ErrExists
	case gcerrors.PermissionDenied:
		e.class, e.advice = ClassUser, "check the credentials and the bucket policy"
	case gcerrors.InvalidArgument, gcerrors.Unimplemented:
		e.class = ClassUser
	case gcerrors.ResourceExhausted, gcerrors.DeadlineExceeded, gcerrors.Canceled, gcerrors.Internal:
		e.class = ClassRetryable
	default:
		// S3 answers that its driver has no name for, and broken connections.
		e.class = ClassPermanent
		if errors.As(e.err, &network) || isCloud(e.where) {
			e.class = ClassRetryable
		}
	}
}
