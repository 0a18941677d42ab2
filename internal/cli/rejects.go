package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/partition"
	"github.com/privcom/privcom/partition/reader"
	"github.com/privcom/privcom/release"
	"github.com/privcom/privcom/storage"
)

// rejectFile collects the lines of an input that could not be read. They are written to a
// temporary file beside the one that was asked for, which appears complete or not at all.
type rejectFile struct {
	path string
	temp *os.File
	rows *csv.Writer
	n    int64
}

// rejecting runs a reading with its bad lines written to --reject-file, if that is set.
func (f *ingestFlags) rejecting(a *app, o *partition.Options, read func() error) (err error) {
	if f.rejects == "" {
		return read()
	}
	if o.MaxBadLines == 0 {
		return usagef("--reject-file has lines to keep only with --max-bad-lines: say how many may be bad")
	}
	r, err := newRejectFile(f.rejects)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, r.discard()) }()
	o.OnBadLine = r.add
	if err := read(); err != nil {
		return err
	}
	if err := r.publish(); err != nil {
		return fmt.Errorf("the graph was read, but its bad lines were not kept: %w", err)
	}
	if !a.quiet {
		lines := "1 line"
		if r.n != 1 {
			lines = strconv.FormatInt(r.n, 10) + " lines"
		}
		fmt.Fprintf(a.stderr, "reject file: %s, %s (%s)\n", r.path, lines, evaluate.Notice)
	}
	return nil
}

func newRejectFile(path string) (*rejectFile, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, rejectsExist(path)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.part") // of mode 0600
	if err != nil {
		return nil, usagef("--reject-file %s cannot be made: %w", path, err)
	}
	r := &rejectFile{path: path, temp: temp, rows: csv.NewWriter(temp)}
	if _, err = fmt.Fprintf(temp, "# %s\n", evaluate.Notice); err == nil {
		err = r.row("file", "line", "byte", "reason", "content")
	}
	if err != nil {
		return nil, firstError(r.fault(err), r.discard())
	}
	return r, nil
}

// rejectsExist is an output that is there already (exit code 5).
type rejectsExist string

func (e rejectsExist) Error() string {
	return fmt.Sprintf("--reject-file %s exists, and nothing is replaced: name another file or remove it", string(e))
}

func (e rejectsExist) Is(target error) bool { return target == release.ErrOccupied }

func (r *rejectFile) fault(err error) error {
	return storage.Wrap("write", filepath.Base(r.path), filepath.Dir(r.path), err)
}

// row writes at once: bad lines are few, and a full disk ends the reading where it is met.
func (r *rejectFile) row(fields ...string) error {
	if err := r.rows.Write(fields); err != nil {
		return err
	}
	r.rows.Flush()
	return r.rows.Error()
}

// add keeps one line.
func (r *rejectFile) add(e *reader.LineError, line []byte) error {
	content := string(line)
	if line == nil {
		content = e.Text
	}
	r.n++
	if err := r.row(e.File, strconv.FormatInt(e.Line, 10), strconv.FormatInt(e.Byte, 10), e.Reason, content); err != nil {
		return r.fault(err)
	}
	return nil
}

// publish gives the file its name, unless another has it meanwhile.
func (r *rejectFile) publish() error {
	if err := r.temp.Sync(); err != nil {
		return r.fault(err)
	}
	err := os.Link(r.temp.Name(), r.path)
	if errors.Is(err, fs.ErrExist) {
		return rejectsExist(r.path)
	}
	if err != nil { // a file system without links
		if _, there := os.Lstat(r.path); there == nil {
			return rejectsExist(r.path)
		}
		err = os.Rename(r.temp.Name(), r.path)
	}
	if err != nil {
		return r.fault(err)
	}
	return nil
}

// discard closes and removes the temporary file.
func (r *rejectFile) discard() error {
	err := r.temp.Close()
	if gone := os.Remove(r.temp.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = firstError(err, gone)
	}
	return err
}
