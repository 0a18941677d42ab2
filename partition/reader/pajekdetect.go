package reader

import (
	"bytes"
	"strings"
)

// pajekHeadings are sections of Pajek network and project files.
var pajekHeadings = []string{"*vertices", "*network", "*matrix", "*arcs", "*edges", "*arcslist", "*edgeslist", "*partition", "*vector", "*permutation", "*cluster", "*hierarchy", "*events"}

// looksPajek: the first line that is no % comment is a heading with a star.
func looksPajek(sample []byte) bool {
	t := blockText("", sample, 0, 0, -1)
	for {
		line, err := t.next()
		if err != nil {
			return false
		}
		b := trim(line)
		if len(b) == 0 || b[0] == '%' {
			continue
		}
		return pajekHeading(b) != ""
	}
}

// pajekHeading is the heading of a line in lower case, "" for other lines.
func pajekHeading(line []byte) string {
	if len(line) == 0 || line[0] != '*' {
		return ""
	}
	word := line
	if i := bytes.IndexAny(word, " \t\""); i >= 0 {
		word = word[:i]
	}
	if len(word) > 20 {
		return ""
	}
	low := strings.ToLower(string(word))
	for _, h := range pajekHeadings {
		if low == h {
			return h
		}
	}
	return ""
}
