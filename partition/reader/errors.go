package reader

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// nothingWritten closes every message: reading comes before any output.
const nothingWritten = "Nothing was written."

const correctLine = "Correct the line and run again."

// LineError is a fault in the content of an input: where it is, what stands
// there, and what is wrong with it.
//
// Line counts from 1. Byte is the offset of the line (in formats without lines,
// of where reading stopped) in the text after unpacking and, for UTF-16, after
// conversion to UTF-8. Text is the
// beginning of the offending text as it stands in the file, so the error is as
// private as the graph is.
type LineError struct {
	File   string
	Line   int64
	Byte   int64
	Text   string
	Reason string
	Remedy string // what to do; empty: the general advice
}

// Error prints file:line, what is wrong, that nothing was written, what to do.
func (e *LineError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s", e.File, e.Line, e.Reason)
	if e.Text != "" {
		fmt.Fprintf(&b, " (it reads %s)", quoteShort(e.Text))
	}
	remedy := e.Remedy
	if remedy == "" {
		remedy = correctLine
	}
	fmt.Fprintf(&b, ". %s %s", nothingWritten, remedy)
	return b.String()
}

// FileError is a fault of a whole input: it cannot be opened, is cut off, is
// of a kind that is not read. Byte is the offset in the file as it is stored
// (before unpacking), or -1 where no offset applies.
type FileError struct {
	File   string
	Byte   int64
	Reason string
	Remedy string
	Err    error // the cause, where another error is one
}

// Error prints the file, the byte where there is one, what is wrong, that
// nothing was written, what to do.
func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Byte >= 0 {
		fmt.Fprintf(&b, ": byte %d", e.Byte)
	}
	fmt.Fprintf(&b, ": %s", e.Reason)
	if e.Err != nil {
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	fmt.Fprintf(&b, ". %s", nothingWritten)
	if e.Remedy != "" {
		b.WriteString(" " + e.Remedy)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// OptionsError says which options cannot be used, whatever the input holds.
type OptionsError struct{ Faults []error }

// Error lists all faults.
func (e *OptionsError) Error() string { return errors.Join(e.Faults...).Error() }

const shortText = 80

// clip copies at most shortText bytes: an error must not hold a 16 MiB line.
func clip(b []byte) string {
	if len(b) > shortText {
		return string(b[:shortText]) + "..."
	}
	return string(b)
}

func quoteShort(s string) string {
	if len(s) > shortText+3 {
		s = s[:shortText] + "..."
	}
	return strconv.Quote(s)
}
