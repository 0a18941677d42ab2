package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
)

// ReadList reads a list of vertex ids, one per line, and calls take for each:
// an id is valid until take returns. It gives the number of ids, repeats
// included. The file is one path, or "-" for opts.Stdin.
//
// Packing, encodings, line ends and the rules for ids are those of graph files
// (package comment), and opts.IDType holds here too. White space around an id
// is dropped, blank lines and lines that begin with # or % are skipped. An id in
// double quotes is text that may hold anything, "" for a quote. Without quotes
// a tab, comma, semicolon or bar, or words behind a number, are the mark of a
// second column, which is refused: what it says would be lost. So is a first
// line that looks like a header. Faults are a LineError or FileError of the list;
// none may be skipped, for a list with a hole makes other vertices unlisted.
func ReadList(ctx context.Context, file string, opts Options, take func(id []byte) error) (int64, error) {
	ins, _, err := expand([]string{file}, opts.Stdin)
	if err != nil {
		return 0, listError(err)
	}
	if len(ins) > 1 {
		return 0, &FileError{File: file, Byte: -1, Reason: fmt.Sprintf("the list of vertices is %d files", len(ins)), Remedy: onePerLine}
	}
	src, err := ins[0].open(ctx)
	if err != nil {
		return 0, listError(err)
	}
	defer src.close()
	if src.parquet {
		return 0, &FileError{File: src.text.file, Byte: 0, Reason: "this is a Parquet file", Remedy: onePerLine + " Write the column of ids as text."}
	}
	if err := refuse(src, src.sample(), true); err != nil {
		return 0, listError(err)
	}
	l := &list{text: src.text, strings: opts.IDType == "string", take: take}
	if err := l.read(); err != nil {
		return 0, err
	}
	return l.ids, nil
}

const onePerLine = "The list of vertices holds one id per line."

// listError replaces the advice about graph files.
func listError(err error) error {
	var line *LineError
	var file *FileError
	switch {
	case errors.As(err, &line):
		line.Remedy = onePerLine
	case errors.As(err, &file) && file.Err == nil:
		file.Remedy = onePerLine
	}
	return err
}

type list struct {
	*text
	strings bool
	take    func(id []byte) error
	cut     splitter

	ids     int64
	numbers int64     // ids of digits alone
	first   LineError // where the first id stands
	word    bool      // the first id is neither digits alone nor in quotes
}

func (l *list) read() error {
	for {
		line, err := l.next()
		if isEOF(err) {
			return l.finish()
		}
		if err != nil {
			return listError(err)
		}
		id := trim(line)
		if len(id) == 0 || id[0] == '#' || id[0] == '%' {
			continue
		}
		id, reason := l.id(id)
		if reason == "" {
			reason = idFault(id, l.strings)
		}
		if reason != "" {
			return l.at(line, reason, listRemedy(reason))
		}
		l.count(id, line)
		if err := l.take(id); err != nil {
			return err
		}
	}
}

const (
	twoColumns   = "a row of several columns where one id is needed"
	columnRemedy = onePerLine + " Keep the column of ids alone (cut -f1 -d,), or put an id that holds such a character in double quotes."
)

func listRemedy(reason string) string {
	switch reason {
	case twoColumns:
		return columnRemedy
	case "an empty vertex id", unclosedQuote, textAfterQuote:
		return onePerLine
	}
	return idRemedy
}

// id takes off quotes, or says why a line is not one id.
func (l *list) id(line []byte) (id []byte, reason string) {
	if line[0] == '"' {
		fields, fault := l.cut.split(line, ',')
		switch {
		case fault != "":
			return line, fault
		case len(fields) > 1:
			return line, twoColumns
		}
		return fields[0], ""
	}
	if bytes.ContainsAny(line, "\t,;|") {
		return line, twoColumns
	}
	if word, _, more := bytes.Cut(line, []byte{' '}); more && allDigits(word) {
		return line, twoColumns
	}
	return line, ""
}

func (l *list) count(id, line []byte) {
	l.ids++
	digits := allDigits(id)
	if digits {
		l.numbers++
	}
	if l.ids == 1 {
		l.first = *l.at(line, "", "")
		l.word = !digits && trim(line)[0] != '"'
	}
}

func (l *list) finish() error {
	if l.ids == 0 {
		return &FileError{File: l.file, Byte: -1, Reason: "lists no vertex", Remedy: onePerLine}
	}
	if !l.word || l.ids == 1 {
		return nil
	}
	const remedy = "If it is a header, begin the line with # or remove it; if it is an id, put it in double quotes."
	switch first := []byte(l.first.Text); {
	case l.numbers == l.ids-1:
		l.first.Reason, l.first.Remedy = "every id but this one is a number, so it looks like a header", remedy
	case slices.Contains(numbered, normal(string(first))):
		l.first.Reason, l.first.Remedy = "this is the name of a column, so it looks like a header", remedy
	default:
		return nil
	}
	return &l.first
}

// at is a fault of the line that was taken last.
func (l *list) at(line []byte, reason, remedy string) *LineError {
	at := l.offset() - int64(len(l.eol)+len(line))
	return &LineError{File: l.file, Line: l.line, Byte: max(at, 0), Text: clip(line), Reason: reason, Remedy: remedy}
}
