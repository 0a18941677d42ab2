package reader

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// dialect is how the rows of a table are written.
type dialect struct {
	format         string   // edgelist, csv or tsv
	delim          byte     // 0: any white space
	header         bool     // the first row names the columns
	columns        []string // of the header
	source, target int      // columns from 0
	weight         int      // column of the weight, -1 without
	chosen         bool     // the user said the format or the columns
	doubt          *doubt   // the first row may be a header
}

// sampleRows is how many rows detection compares.
const sampleRows = 200

// row is a line of the sample, cut at the delimiter that is tried.
type row struct {
	text []byte
	line int64
}

// detectTable settles delimiter, header and columns from the sample. base is
// the dialect of the first part, for the parts after it.
func detectTable(file string, sample []byte, whole bool, o Options, base *dialect) (*dialect, error) {
	if words := bytes.Fields(sample[:min(len(sample), 256)]); len(words) > 1 && string(words[0]) == "%" && string(words[1]) == "bip" {
		return nil, &LineError{File: file, Line: 1, Text: firstLine(sample), Reason: "a bipartite KONECT graph: 7 on the left and 7 on the right are two vertices",
			Remedy: "Give the two sides different names (u7, v7) and drop this line."}
	}
	rows := tableRows(sample, whole)
	d := &dialect{format: o.Format, source: 0, target: 1, weight: -1, chosen: o.Format != "" || o.Source != ""}
	if len(rows) == 0 {
		if d.format == "" {
			d.format = "edgelist"
		}
		if base != nil {
			return base.headless(), nil
		}
		return d, nil
	}
	d.delim = chooseDelimiter(rows, o)
	if base != nil && inherits(base, d, rows[0].text) {
		d.delim = base.delim
	}
	names := d.split(rows[0].text)
	d.header = o.Format == "csv" || o.Format == "tsv" || namedColumn(o.Source) || namedColumn(o.Target) ||
		looksHeader(names, d.cut(rows[1:]))
	if base != nil && base.header && (!d.header || o.Format != "") && !sameNames(base.columns, names) {
		return base.headless(), nil
	}
	if base != nil && base.header && sameNames(base.columns, names) {
		d.header = true
	}
	if o.Format == "edgelist" && o.Source == "" {
		d.header = false
	}
	if d.header {
		d.columns = names
	} else {
		d.doubt = d.doubtful(rows[0], names)
	}
	if d.format == "" || d.format == "tsv" || d.format == "csv" {
		d.format = tableFormat(d)
	}
	return d, d.chooseColumns(file, rows[0], o)
}

// doubt is a first row of words that was taken for an edge. If neither of its
// ids comes again, it may be a header whose names nobody knows.
type doubt struct {
	line           int64
	text           string
	source, target string
	delim          byte
}

// doubtful looks whether a first row that was taken for an edge is of words.
func (d *dialect) doubtful(first row, names []string) *doubt {
	if d.chosen || len(names) < 2 || !wordOnly(names[0]) || !wordOnly(names[1]) || names[0] == names[1] {
		return nil
	}
	return &doubt{line: first.line, text: clip(first.text), source: names[0], target: names[1], delim: d.delim}
}

// wordOnly: a name of a column, if it is not of a kind that knownPairs lists,
// has no digits.
func wordOnly(name string) bool { return name != "" && !strings.ContainsAny(name, "0123456789") }

func tableFormat(d *dialect) string {
	switch {
	case d.header && d.delim == '\t':
		return "tsv"
	case d.header && d.delim != 0:
		return "csv"
	}
	return "edgelist"
}

// headless is the dialect of a part that goes on without a header.
func (d *dialect) headless() *dialect {
	c := *d
	c.header = false
	return &c
}

// inherits says that a part is cut like the first one: always where the first
// delimiter stands in its first row.
func inherits(base, own *dialect, line []byte) bool {
	if base.delim == 0 {
		return own.delim == 0 || own.delim == '\t'
	}
	return bytes.IndexByte(line, base.delim) >= 0
}

// tableRows collects rows of the sample that are neither blank nor comments.
// A last line that the sample may have cut is left out.
func tableRows(sample []byte, whole bool) []row {
	t := blockText("", sample, 0, 0, -1)
	var rows []row
	for len(rows) < sampleRows {
		line, err := t.next()
		if err != nil || (t.eol == "" && !whole && len(rows) > 0) {
			break
		}
		b := bytes.TrimLeft(line, " \t\v\f")
		if len(b) == 0 || b[0] == '#' || b[0] == '%' {
			continue
		}
		rows = append(rows, row{line, t.line})
	}
	return rows
}

// chooseDelimiter: one under which the first row is a header of known names;
// else tab, semicolon, bar, comma where nearly all rows have it; else white
// space. Rows that begin with two integers apart are white space whatever
// follows (a decimal comma in a weight).
func chooseDelimiter(rows []row, o Options) byte {
	if o.Format == "tsv" {
		return '\t'
	}
	candidates := []byte{'\t', ';', '|', ','}
	for _, d := range candidates {
		names := splitFields(rows[0].text, d)
		if len(names) >= 2 && knownPair(names) >= 0 {
			return d
		}
	}
	spaced := 0
	for _, r := range rows {
		if words := bytes.Fields(r.text); len(words) >= 2 && allDigits(words[0]) && allDigits(words[1]) {
			spaced++
		}
	}
	if spaced*10 >= len(rows)*9 && o.Format != "csv" {
		return 0
	}
	for _, d := range candidates {
		with, several := 0, 0
		for _, r := range rows {
			if bytes.IndexByte(r.text, d) >= 0 {
				with++
			} else if len(bytes.Fields(r.text)) > 1 {
				several++
			}
		}
		if with == 0 || several*10 > with {
			continue
		}
		if d == '\t' && !spacesInIDs(rows) && o.Format != "csv" {
			return 0
		}
		return d
	}
	return 0
}

// spacesInIDs says that rows are cut by tabs into the same number of fields,
// and that one of the first two holds a space: only the tab cuts then.
func spacesInIDs(rows []row) bool {
	fields, spaces := 0, false
	for _, r := range rows {
		line := trim(r.text)
		if bytes.IndexByte(line, '\t') < 0 {
			if len(bytes.Fields(line)) > 1 {
				return false
			}
			continue
		}
		cut := bytes.Split(line, []byte{'\t'})
		if fields != 0 && len(cut) != fields {
			return false
		}
		fields = len(cut)
		for _, f := range cut[:2] {
			spaces = spaces || bytes.IndexByte(bytes.Trim(f, " "), ' ') >= 0
		}
	}
	return spaces
}

// split cuts one line for detection, quotes taken off.
func (d *dialect) split(line []byte) []string { return splitFields(line, d.delim) }

func (d *dialect) cut(rows []row) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = d.split(r.text)
	}
	return out
}

func splitFields(line []byte, delim byte) []string {
	var t splitter
	fields, fault := t.split(line, delim)
	if fault != "" {
		return nil
	}
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = string(f)
	}
	return out
}

// namedColumn says that a column was chosen by name, so that there must be a
// header.
func namedColumn(column string) bool {
	_, err := strconv.Atoi(column)
	return column != "" && err != nil
}

func columnNamed(column string, names []string) int {
	for i, name := range names {
		if name == column {
			return i
		}
	}
	for i, name := range names {
		if strings.EqualFold(name, column) {
			return i
		}
	}
	return -1
}

// chooseColumns finds source, target and weight.
func (d *dialect) chooseColumns(file string, first row, o Options) error {
	fault := func(reason, remedy string) error {
		return &LineError{File: file, Line: first.line, Text: clip(first.text), Reason: reason, Remedy: remedy}
	}
	list := strings.Join(d.columns, ", ")
	if o.Source != "" {
		var ok1, ok2 bool
		d.source, ok1 = d.column(o.Source)
		d.target, ok2 = d.column(o.Target)
		switch {
		case !ok1 || !ok2:
			missing := o.Source
			if ok1 {
				missing = o.Target
			}
			return fault(fmt.Sprintf("no column %q; the columns are %s", clip([]byte(missing)), list), "Choose source and target among them, by name or by number from 1.")
		case d.source == d.target:
			return fault("source and target are the same column", "Choose two different columns.")
		}
	} else if d.header {
		switch at := knownPair(d.columns); {
		case at >= 0:
			d.source, d.target = columnPair(d.columns, at)
		case len(d.columns) == 2 || onlyAttributes(d.columns):
		case len(d.columns) < 2:
			return fault("a line with one field where two ids are needed", "Give a table with a source and a target column.")
		default:
			return fault("the header does not say which columns are source and target; they are "+list, "Say it with --source and --target.")
		}
	}
	d.weight = d.weightColumn(o)
	return nil
}

// weightColumn: by name under a header; else the third column, unless the
// user has chosen columns.
func (d *dialect) weightColumn(o Options) int {
	if d.header {
		for i, name := range d.columns {
			switch normal(name) {
			case "weight", "w", "edgeweight":
				if i != d.source && i != d.target {
					return i
				}
			}
		}
		return -1
	}
	if o.Source == "" {
		return 2
	}
	return -1
}

func (d *dialect) column(name string) (int, bool) {
	if i := columnNamed(name, d.columns); i >= 0 {
		return i, true
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || n > 1<<16 || (d.header && n > len(d.columns)) {
		return 0, false
	}
	return n - 1, true
}
