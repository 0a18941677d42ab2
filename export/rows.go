package export

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// snapRows is the edge list of SNAP, igraph's ncol and networkx's edgelist,
// without comments, which igraph does not skip.
type snapRows struct{ out *file }

func (s *snapRows) numbers(u, v int64) error { return numberRow(s.out, u, '\t', v) }

func (s *snapRows) names(src, dst string) error {
	for _, id := range [...]string{src, dst} {
		if reason := notSnap(id); reason != "" {
			return fmt.Errorf("identifier %q cannot be in an edge list: %s; write csv instead", id, reason)
		}
	}
	return nameRow(s.out, src, '\t', dst)
}

func (s *snapRows) finish() error { return s.out.commit(nil) }
func (s *snapRows) abort()        { s.out.abort() }

func notSnap(id string) string {
	switch {
	case id[0] == '#' || id[0] == '%':
		return "readers take the line for a comment"
	case !utf8.ValidString(id):
		return "it is not UTF-8"
	case strings.ContainsFunc(id, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return "it has white space or control characters"
	}
	return ""
}

// csvRows is RFC 4180 with the header that Gephi looks for, with LF line ends.
type csvRows struct{ out *file }

func newCSVRows(out *file) (*csvRows, error) {
	_, err := out.WriteString("Source,Target\n")
	return &csvRows{out}, err
}

func (c *csvRows) numbers(u, v int64) error { return numberRow(c.out, u, ',', v) }

func (c *csvRows) names(src, dst string) error {
	return nameRow(c.out, quoteCSV(src), ',', quoteCSV(dst))
}

func (c *csvRows) finish() error { return c.out.commit(nil) }
func (c *csvRows) abort()        { c.out.abort() }

// quoteCSV quotes what a reader could take for structure: also spaces at an
// end, which some readers trim, and other separators, which some guess.
func quoteCSV(id string) string {
	if !strings.ContainsAny(id, ",;|\t\"\r\n#%") && strings.TrimSpace(id) == id {
		return id
	}
	return `"` + strings.ReplaceAll(id, `"`, `""`) + `"`
}

func numberRow(out *file, u int64, sep byte, v int64) error {
	b := strconv.AppendInt(out.AvailableBuffer(), u, 10)
	b = append(b, sep)
	b = strconv.AppendInt(b, v, 10)
	_, err := out.Write(append(b, '\n'))
	return err
}

func nameRow(out *file, src string, sep byte, dst string) error {
	b := append(out.AvailableBuffer(), src...)
	b = append(b, sep)
	b = append(b, dst...)
	_, err := out.Write(append(b, '\n'))
	return err
}

// named turns numbers into identifiers before they reach the rows.
type named struct {
	encoder
	ids func(int64) string
}

func (n named) numbers(u, v int64) error { return n.names(n.ids(u), n.ids(v)) }

func (n named) names(src, dst string) error {
	if src == "" || dst == "" {
		return fmt.Errorf("edge (%q, %q) has an empty identifier", src, dst)
	}
	return n.encoder.names(src, dst)
}
