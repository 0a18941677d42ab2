package evaluate

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
)

// gmlNames are usual names of a class attribute, in order of preference. A GML
// node's "label" is its name, so it is not among them.
var gmlNames = []string{"value", "club", "groundTruth", "community", "class", "group", "cluster", "category"}

// looksLikeGML finds the word graph before the first bracket, which no table has.
func looksLikeGML(text []byte) bool {
	in := gmlScanner{text: text[:min(len(text), 4096)]}
	for last := ""; ; {
		token, err := in.next()
		if err != nil || token == "" && !in.quoted {
			return false
		}
		if token == "[" && !in.quoted {
			return last == "graph"
		}
		last = token
	}
}

// readGML takes id and attribute of every node of every graph.
func (b *labelBuilder) readGML(text []byte, o LabelOptions) error {
	nodes, err := gmlNodes(text)
	if err != nil {
		return err
	}
	b.Format, b.Column = "gml", o.Column
	if b.Column == "" {
		b.Column = usualAttribute(nodes)
	}
	if b.Column == "" {
		return fmt.Errorf("no node has an attribute with a usual name for a class (%s): name the attribute", strings.Join(gmlNames, ", "))
	}
	found := false
	for _, n := range nodes {
		label, has := n.values[b.Column]
		found = found || has
		if err := b.set(n.values["id"], label); err != nil {
			return fmt.Errorf("line %d: node: %w", n.line, err)
		}
	}
	if !found {
		return fmt.Errorf("no node has an attribute %q", b.Column)
	}
	return nil
}

func usualAttribute(nodes []gmlNode) string {
	for _, name := range gmlNames {
		if slices.ContainsFunc(nodes, func(n gmlNode) bool { _, has := n.values[name]; return has }) {
			return name
		}
	}
	return ""
}

// gmlNode holds the scalar attributes of one node block.
type gmlNode struct {
	line   int
	values map[string]string
}

// gmlNodes reads the blocks graph → node; whatever else there is, is skipped.
func gmlNodes(text []byte) ([]gmlNode, error) {
	var nodes []gmlNode
	var open []string // keys of the blocks we are in
	in := gmlScanner{text: text, line: 1}
	for {
		key, err := in.next()
		if err != nil || key == "" && !in.quoted {
			return nodes, endOfGML(err, open)
		}
		if key == "]" && !in.quoted {
			if len(open) == 0 {
				return nil, fmt.Errorf("line %d: a closing bracket without an opening one", in.line)
			}
			open = open[:len(open)-1]
			continue
		}
		line := in.line
		value, err := in.next()
		switch {
		case err != nil:
			return nil, err
		case value == "[" && !in.quoted:
			open = append(open, key)
			if len(open) == 2 && open[0] == "graph" && key == "node" {
				nodes = append(nodes, gmlNode{line: line, values: make(map[string]string)})
			}
		case !in.quoted && (value == "" || value == "]"):
			return nil, fmt.Errorf("line %d: the key %q has no value", line, key)
		case len(open) == 2 && open[0] == "graph" && open[1] == "node":
			nodes[len(nodes)-1].values[key] = value
		}
	}
}

func endOfGML(err error, open []string) error {
	if err == nil && len(open) > 0 {
		return fmt.Errorf("the file ends inside of %q: it is cut off", strings.Join(open, " → "))
	}
	return err
}

// gmlScanner cuts a file into keys, values and brackets.
type gmlScanner struct {
	text   []byte
	line   int
	quoted bool // the last token stood in quotes
}

// next returns the next token, "" without quotes at the end of the file.
func (s *gmlScanner) next() (string, error) {
	s.skip()
	s.quoted = false
	if len(s.text) == 0 {
		return "", nil
	}
	switch s.text[0] {
	case '[', ']':
		token := string(s.text[:1])
		s.text = s.text[1:]
		return token, nil
	case '"':
		end := bytes.IndexByte(s.text[1:], '"')
		if end < 0 {
			return "", fmt.Errorf("line %d: a quoted value does not end: the file is cut off", s.line)
		}
		token := s.text[1 : end+1]
		s.line += bytes.Count(token, []byte{'\n'})
		s.text, s.quoted = s.text[end+2:], true
		return html.UnescapeString(string(token)), nil
	}
	end := bytes.IndexAny(s.text, " \t\r\n[]\"")
	if end < 0 {
		end = len(s.text)
	}
	token := string(s.text[:end])
	s.text = s.text[end:]
	return token, nil
}

// skip passes blanks and comment lines.
func (s *gmlScanner) skip() {
	for len(s.text) > 0 {
		switch s.text[0] {
		case '\n':
			s.line++
		case ' ', '\t', '\r':
		case '#':
			if end := bytes.IndexByte(s.text, '\n'); end >= 0 {
				s.text = s.text[end:]
			} else {
				s.text = nil
			}
			continue
		default:
			return
		}
		s.text = s.text[1:]
	}
}
