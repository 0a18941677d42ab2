package evaluate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Usual names, in lower case, in order of preference.
var (
	labelNames = []string{"label", "class", "community", "value", "club", "groundtruth", "ground_truth", "truth",
		"group", "cluster", "department", "target", "category", "page_type"}
	idNames = []string{"id", "node", "vertex", "node_id", "nodeid", "vertex_id", "user", "user_id"}
)

// readLines reads a table or a list.
func (b *labelBuilder) readLines(text []byte, o LabelOptions) error {
	var form *table
	line := 0
	for raw := range bytes.Lines(text) {
		line++
		s := strings.TrimRight(string(raw), "\r\n")
		if t := strings.TrimSpace(s); t == "" || t[0] == '#' || t[0] == '%' {
			continue
		}
		if form == nil {
			header := false
			var err error
			if form, header, err = newTable(s, o); err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			b.Format, b.Column = form.format(), form.columnName
			if header {
				continue
			}
		}
		if err := b.addLine(form, s); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if form == nil {
		return errors.New("the file has comments only")
	}
	return nil
}

func (b *labelBuilder) addLine(t *table, s string) error {
	fields, err := t.split(s)
	if err != nil {
		return err
	}
	if t.width == 1 {
		if len(fields) != 1 {
			return fmt.Errorf("%d fields where the first line has one", len(fields))
		}
		b.list = append(b.list, b.class(fields[0]))
		return nil
	}
	if len(fields) != t.width {
		return fmt.Errorf("%d fields where the first line has %d", len(fields), t.width)
	}
	return b.set(fields[t.id], fields[t.label])
}

// table is the shape of a file of lines.
type table struct {
	separator  byte // 0: any run of spaces and tabs
	width      int  // fields per line; 1 for a list
	id, label  int
	columnName string
}

func (t *table) format() string {
	if t.width == 1 {
		return "list"
	}
	return "table"
}

// newTable learns the shape from the first line and tells whether that is a header.
func newTable(first string, o LabelOptions) (*table, bool, error) {
	t := &table{}
	plain := outsideQuotes(first)
	for _, s := range []byte{',', ';', '\t'} {
		if strings.IndexByte(plain, s) >= 0 {
			t.separator = s
			break
		}
	}
	fields, err := t.split(first)
	if err != nil {
		return nil, false, err
	}
	t.width = len(fields)
	header := isHeader(fields, o)
	if t.width == 1 {
		return t, header, nil
	}
	if t.id, err = findColumn(o.IDColumn, fields, header, idNames, 0); err != nil {
		return nil, false, err
	}
	if t.label, err = t.labelColumn(fields, header, o); err != nil {
		return nil, false, err
	}
	if t.id == t.label {
		return nil, false, fmt.Errorf("column %d would hold both the id and the label: name two columns", t.id+1)
	}
	t.columnName = strconv.Itoa(t.label + 1)
	if header {
		t.columnName = fields[t.label]
	}
	return t, header, nil
}

// outsideQuotes leaves out what stands between double quotes.
func outsideQuotes(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, `"`) {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}

// labelColumn refuses to guess where the guess is likely wrong: a table of more than
// two columns without a header, or whose last column is another id.
func (t *table) labelColumn(fields []string, header bool, o LabelOptions) (int, error) {
	last := len(fields) - 1
	if last == t.id {
		last--
	}
	column, err := findColumn(o.Column, fields, header, labelNames, last)
	if err != nil || o.Column != "" || len(fields) == 2 {
		return column, err
	}
	if !header {
		return 0, fmt.Errorf("%d fields and no header: say which column holds the label, from 1 to %d", len(fields), len(fields))
	}
	name := strings.ToLower(fields[column])
	if slices.Contains(idNames, name) || strings.HasSuffix(name, "_id") {
		return 0, fmt.Errorf("no column has a usual name for a label: say which of %s holds it", strings.Join(fields, ", "))
	}
	return column, nil
}

func isHeader(fields []string, o LabelOptions) bool {
	for _, f := range fields {
		f = strings.ToLower(f)
		if slices.Contains(idNames, f) || slices.Contains(labelNames, f) {
			return true
		}
		for _, asked := range []string{o.Column, o.IDColumn} {
			if _, err := strconv.Atoi(asked); asked != "" && err != nil && strings.EqualFold(f, asked) {
				return true
			}
		}
	}
	return false
}

// findColumn finds the column asked for by header or by number from 1; without a
// request, the first usual name that the header has, else the default.
func findColumn(asked string, fields []string, header bool, usual []string, otherwise int) (int, error) {
	if asked == "" {
		for _, name := range usual {
			for i, f := range fields {
				if header && strings.EqualFold(f, name) {
					return i, nil
				}
			}
		}
		return otherwise, nil
	}
	for i, f := range fields {
		if header && strings.EqualFold(f, asked) {
			return i, nil
		}
	}
	if i, err := strconv.Atoi(asked); err == nil && i >= 1 && i <= len(fields) {
		return i - 1, nil
	}
	if header {
		return 0, fmt.Errorf("there is no column %q: the columns are %s", asked, strings.Join(fields, ", "))
	}
	return 0, fmt.Errorf("there is no column %q: the file has no header and %d columns", asked, len(fields))
}

// split cuts a line into fields. A field that starts with a double quote ends at the
// next one; two of them inside stand for one.
func (t *table) split(s string) ([]string, error) {
	fields := make([]string, 0, max(2, t.width))
	for rest := s; ; {
		rest = strings.TrimLeft(rest, t.blanks())
		if t.separator == 0 && rest == "" {
			return fields, nil
		}
		field, after, err := t.cut(rest)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
		if after == "" {
			return fields, nil
		}
		if rest = after[1:]; t.separator != 0 && rest == "" {
			return append(fields, ""), nil // the line ends in a separator
		}
	}
}

func (t *table) blanks() string {
	if t.separator == '\t' {
		return " "
	}
	return " \t"
}

// cut takes one field off the front; after starts with the separator or is empty.
func (t *table) cut(s string) (field, after string, err error) {
	stop := " \t"
	if t.separator != 0 {
		stop = string(t.separator)
	}
	if !strings.HasPrefix(s, `"`) {
		if i := strings.IndexAny(s, stop); i >= 0 {
			return strings.TrimRight(s[:i], t.blanks()), s[i:], nil
		}
		return strings.TrimRight(s, t.blanks()), "", nil
	}
	var quoted strings.Builder
	for s = s[1:]; ; {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return "", "", errors.New("a quoted field does not end on its line")
		}
		quoted.WriteString(s[:i])
		if s = s[i+1:]; !strings.HasPrefix(s, `"`) {
			break
		}
		quoted.WriteByte('"')
		s = s[1:]
	}
	if s = strings.TrimLeft(s, t.tail()); s != "" && !strings.ContainsRune(stop, rune(s[0])) {
		return "", "", fmt.Errorf("%q follows the quoted field %q", s, quoted.String())
	}
	return quoted.String(), s, nil
}

// tail is what may stand between a closing quote and the separator.
func (t *table) tail() string {
	if t.separator == 0 {
		return ""
	}
	return t.blanks()
}
