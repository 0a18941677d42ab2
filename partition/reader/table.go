package reader

import (
	"bytes"
	"fmt"
)

// maxFields is the most fields of a row in an edge list whose columns nobody
// has named: source, target, weight, time (KONECT). More are the mark of an
// adjacency list or of prose.
const maxFields = 4

// tableCounts are the counts of one reader of rows; those of several add up.
type tableCounts struct {
	lines, comments, blank, rows int64
	weighted                     bool
	lateLine, lateCount          int64 // comments behind the first edge
	again                        bool  // an id of the doubtful first row came again
	konectKind                   string
	konectRows, konectVertices   int64
	snapVertices, snapEdges      int64
	directed                     string
	widths                       [maxFields + 1]int64 // first line with a row of so many fields, 0: none
}

// sawWidth notes a row of n fields at a line.
func (c *tableCounts) sawWidth(n int, line int64) {
	if w := &c.widths[n]; *w == 0 || line < *w {
		*w = line
	}
}

// tableReader turns the lines of an edge list or CSV file into edges.
type tableReader struct {
	d       *dialect
	file    string
	strings bool // ids of any form
	header  bool // the next row is the header
	late    bool // edges stand before this text
	emit    func(Edge) error
	doubt   *doubt
	numbers func(pairs []uint64) error // see Callbacks
	pairs   []uint64                   // not yet handed to numbers
	skip    func(e *LineError, line []byte) error
	tableCounts

	cut    splitter
	width  int    // fields of the row, 0 where it does not matter
	record []byte // a record whose quotes span lines
	e      Edge
}

// read reads rows to the end of tx.
func (t *tableReader) read(tx *text) error {
	fast := t.d.delim == 0 && t.d.source == 0 && t.d.target == 1 && (t.d.weight == 2 || t.d.weight < 0) && !t.d.header
	t.e.File = t.file
	from := tx.line
	defer func() { t.lines += tx.line - from }()
	for {
		if t.numbers != nil && !t.header {
			if err := t.plain(tx); err != nil {
				return err
			}
		}
		line, err := tx.next()
		if err != nil {
			if isEOF(err) {
				return t.flushPairs()
			}
			return err
		}
		var fault string
		t.e.Line = tx.line
		if fast {
			fault, err = t.pair(line)
		} else {
			line, fault, err = t.columns(tx, line)
		}
		if fault != "" {
			err = t.skip(t.fault(tx, line, fault), line)
		}
		if err != nil {
			return err
		}
	}
}

// pair reads "source target [weight [time]]" cut by white space, without
// allocating. It is the hot path.
func (t *tableReader) pair(line []byte) (fault string, err error) {
	i := 0
	for i < len(line) && space[line[i]] {
		i++
	}
	if i == len(line) {
		t.blank++
		return "", nil
	}
	switch line[i] {
	case '#', '%':
		t.comment(line)
		return "", nil
	case '"':
		return t.words(line)
	}
	sourceFrom, digits := i, true
	for i < len(line) && !space[line[i]] {
		digits = digits && isDigit(line[i])
		i++
	}
	source := line[sourceFrom:i]
	if !digits {
		if fault := idFault(source, t.strings); fault != "" {
			return fault, nil
		}
	}
	for i < len(line) && space[line[i]] {
		i++
	}
	if i == len(line) {
		return oneField(source), nil
	}
	if line[i] == '"' {
		return t.words(line)
	}
	targetFrom, digits := i, true
	for i < len(line) && !space[line[i]] {
		digits = digits && isDigit(line[i])
		i++
	}
	target := line[targetFrom:i]
	if !digits {
		if fault := idFault(target, t.strings); fault != "" {
			return fault, nil
		}
	}
	t.e.Source, t.e.Target = source, target
	t.e.Weight, t.e.HasWeight = 0, false
	t.width = 2
	for i < len(line) && space[line[i]] {
		i++
	}
	if i < len(line) {
		if fault := t.extra(line[i:]); fault != "" {
			return fault, nil
		}
	}
	return "", t.hand()
}

// extra reads what follows the two ids in an edge list.
func (t *tableReader) extra(rest []byte) string {
	for n := 2; ; n++ {
		i := 0
		for i < len(rest) && !space[rest[i]] {
			i++
		}
		word := rest[:i]
		for i < len(rest) && space[rest[i]] {
			i++
		}
		if n == 2 && t.d.weight == 2 {
			t.e.Weight, t.e.HasWeight = parseWeight(word)
		}
		if t.d.chosen || word[0] == '{' { // networkx ends a line with a Python dictionary
			t.width = 0
			return ""
		}
		if n >= maxFields {
			return manyFields
		}
		if !numberLike(word) {
			return "a third field that is no number: ids with spaces, or not an edge list"
		}
		rest = rest[i:]
		if t.width = n + 1; len(rest) == 0 {
			return ""
		}
	}
}

const manyFields = "more than 4 fields: an adjacency list, or a table whose columns nobody has named"

func oneField(b []byte) string {
	for _, scheme := range []string{"http://", "https://", "ftp://"} {
		if bytes.HasPrefix(b, []byte(scheme)) {
			return "a web address and not an edge"
		}
	}
	return "a line with one field where two ids are needed"
}

func (t *tableReader) hand() error {
	t.rows++
	t.weighted = t.weighted || t.e.HasWeight
	if t.width > 0 && !t.d.header && !t.d.chosen {
		t.sawWidth(t.width, t.e.Line)
	}
	if t.doubt != nil && !t.again {
		t.again = t.comesAgain()
	}
	return t.emit(t.e)
}

// comesAgain says that the row, if it is not the first of its part, has an id
// of the doubtful row.
func (t *tableReader) comesAgain() bool {
	if t.d.doubt != nil && t.d.doubt.line == t.e.Line {
		return false
	}
	s, d := t.e.Source, t.doubt
	return string(s) == d.source || string(s) == d.target || string(t.e.Target) == d.source || string(t.e.Target) == d.target
}

// words is pair for a line with quoted fields.
func (t *tableReader) words(line []byte) (string, error) {
	fields, fault := t.cut.split(line, 0)
	if fault != "" {
		return fault, nil
	}
	return t.fields(fields)
}

// columns reads a record of a delimited table or one with chosen columns. It
// returns the record for the error text: quotes can span lines.
func (t *tableReader) columns(tx *text, line []byte) ([]byte, string, error) {
	b := trim(line)
	if len(b) == 0 {
		t.blank++
		return line, "", nil
	}
	if (b[0] == '#' || b[0] == '%') && (!t.d.header || t.header) {
		t.comment(line)
		return line, "", nil
	}
	if t.d.delim != 0 && bytes.IndexByte(line, '"') >= 0 {
		whole, fault, err := t.gather(tx, line)
		if fault != "" || err != nil {
			return whole, fault, err
		}
		line = whole
	}
	fields, fault := t.cut.split(line, t.d.delim)
	if fault != "" {
		return line, fault, nil
	}
	if t.header {
		t.header = false
		return line, "", nil
	}
	fault, err := t.fields(fields)
	return line, fault, err
}

// gather appends lines until the quotes are closed. A quoted field that never
// ends swallows the rest of the file, so it is an error that cannot be skipped.
func (t *tableReader) gather(tx *text, line []byte) ([]byte, string, error) {
	open := bytes.Count(line, []byte{'"'})%2 == 1
	if !open {
		return line, "", nil
	}
	t.record = append(t.record[:0], line...)
	for open {
		t.record = append(t.record, tx.eol...)
		more, err := tx.next()
		if isEOF(err) || len(t.record) > maxLine {
			return nil, "", &LineError{File: t.file, Line: t.e.Line, Text: clip(t.record), Reason: unclosedQuote,
				Remedy: "Close the quote; a quote inside a field is written twice."}
		}
		if err != nil {
			return nil, "", err
		}
		t.record = append(t.record, more...)
		open = open != (bytes.Count(more, []byte{'"'})%2 == 1)
	}
	return t.record, "", nil
}

// fields checks one record and hands out its edge.
func (t *tableReader) fields(f [][]byte) (string, error) {
	d := t.d
	if fault := t.countFault(f); fault != "" {
		return fault, nil
	}
	t.e.Source, t.e.Target = f[d.source], f[d.target]
	if fault := idFault(t.e.Source, t.strings); fault != "" {
		return fault, nil
	}
	if fault := idFault(t.e.Target, t.strings); fault != "" {
		return fault, nil
	}
	t.e.Weight, t.e.HasWeight = 0, false
	if d.weight >= 0 && d.weight < len(f) {
		t.e.Weight, t.e.HasWeight = parseWeight(f[d.weight])
	}
	if t.width = len(f); t.width > maxFields {
		t.width = 0 // columns were chosen, by a header or the user
	}
	return "", t.hand()
}

func (t *tableReader) countFault(f [][]byte) string {
	d := t.d
	switch {
	case d.header && d.delim != 0 && len(f) != len(d.columns):
		return fmt.Sprintf("%s where the header has %d", plural(int64(len(f)), "field"), len(d.columns))
	case len(f) == 1:
		return oneField(f[0])
	case len(f) <= max(d.source, d.target):
		return fmt.Sprintf("%s where column %d is needed", plural(int64(len(f)), "field"), max(d.source, d.target)+1)
	case !d.header && !d.chosen && len(f) > maxFields:
		return manyFields
	case d.delim == 0 && !d.header && !d.chosen && len(f) > 2 && !(len(f[2]) > 0 && numberLike(f[2])):
		return "a third field that is no number: ids with spaces, or not an edge list"
	}
	return ""
}

// remedies say what to do about a kind of fault.
func remedy(fault string) string {
	switch {
	case fault == manyFields:
		return "Say --format adjlist or metis, or choose the columns with --source 1 --target 2."
	case fault == "a third field that is no number: ids with spaces, or not an edge list":
		return "Put tabs or commas between ids that hold spaces (--format tsv or csv), or choose the columns with --source 1 --target 2."
	case len(fault) > 9 && (fault[:9] == "vertex id" || fault[:9] == "negative "):
		return idRemedy
	}
	return "Correct or remove the line, or allow for some bad lines with --max-bad-lines."
}

func (t *tableReader) fault(tx *text, line []byte, reason string) *LineError {
	at := tx.offset() - int64(len(tx.eol)+len(line))
	return &LineError{File: t.file, Line: t.e.Line, Byte: max(at, 0), Text: clip(line), Reason: reason, Remedy: remedy(reason)}
}

// table reads one input as a table.
func (u *run) table(src *source, d *dialect) error {
	if d == nil { // an empty part
		return nil
	}
	u.columns(d, src.text.file)
	t := &tableReader{d: d, file: src.text.file, strings: u.strings, header: d.header, doubt: u.doubt, emit: u.edge, skip: u.skip}
	err := t.read(src.text)
	u.merge(&t.tableCounts)
	return err
}

// columns notes the header of the first part that has one, and doubts.
func (u *run) columns(d *dialect, file string) {
	if u.stats.Columns == nil {
		u.stats.Columns = d.columns
	}
	if d.doubt != nil && u.doubt == nil && u.stats.Rows == 0 {
		u.doubt, u.doubtFile = d.doubt, file
	}
}

// merge adds the counts of one reader of rows.
func (u *run) merge(c *tableCounts) {
	s := u.stats
	s.Lines += c.lines
	s.Comments += c.comments
	s.Blank += c.blank
	s.Rows += c.rows
	s.Weighted = s.Weighted || c.weighted
	u.again = u.again || c.again
	for n, line := range c.widths {
		if line > 0 {
			u.widths.sawWidth(n, line)
		}
	}
	if u.lateCount == 0 || c.lateCount > 0 && c.lateLine < u.lateLine {
		u.lateLine = c.lateLine
	}
	u.lateCount += c.lateCount
	u.mergeHeader(c)
}
