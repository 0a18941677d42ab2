package export

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// matrixMarket is the lower triangle of the symmetric adjacency matrix (Boisvert,
// Pozo & Remington 1996): coordinates from 1, row ≥ column, no values.
type matrixMarket struct{}

func (matrixMarket) head(b *bufio.Writer, g *graph) error {
	_, err := fmt.Fprintf(b, "%%%%MatrixMarket matrix coordinate pattern symmetric\n%d %d %d\n", g.n, g.n, g.edges)
	return err
}

func (matrixMarket) edge(b *bufio.Writer, _ *graph, u, v int64) error {
	buf := strconv.AppendInt(b.AvailableBuffer(), max(u, v)+1, 10)
	buf = append(buf, ' ')
	buf = strconv.AppendInt(buf, min(u, v)+1, 10)
	_, err := b.Write(append(buf, '\n'))
	return err
}

func (matrixMarket) tail(*bufio.Writer) error { return nil }

// gml is the Graph Modelling Language (Himsolt 1997): ASCII, integer node ids,
// the identifier as label, other characters as numeric references. Where all
// identifiers are integers that GML can hold, they are the node ids too, since
// some readers look at ids and some at labels.
type gml struct{ namesAreIDs bool }

// gmlIntegers reports whether all n names are integers of 0..2^31-1 in decimal
// form, GML's range.
func gmlIntegers(n int64, name func(int64) string) bool {
	for i := range n {
		id := name(i)
		if x, err := strconv.ParseInt(id, 10, 32); err != nil || x < 0 || strconv.FormatInt(x, 10) != id {
			return false
		}
	}
	return n > 0
}

func (m gml) appendID(buf []byte, g *graph, i int64) []byte {
	if m.namesAreIDs {
		return append(buf, g.name(i)...)
	}
	return strconv.AppendInt(buf, i, 10)
}

func (m gml) head(b *bufio.Writer, g *graph) error {
	b.WriteString("graph [\n  directed 0\n")
	for i := range g.n {
		name := g.name(i)
		if err := checkText(name, "gml"); err != nil {
			return err
		}
		fmt.Fprintf(b, "  node [\n    id %s\n    label \"%s\"\n", m.appendID(nil, g, i), escapeGML(name))
		if g.labels != nil {
			fmt.Fprintf(b, "    community %d\n", g.labels[i])
		}
		if _, err := b.WriteString("  ]\n"); err != nil {
			return err
		}
	}
	return nil
}

func (m gml) edge(b *bufio.Writer, g *graph, u, v int64) error {
	buf := append(b.AvailableBuffer(), "  edge [\n    source "...)
	buf = m.appendID(buf, g, u)
	buf = append(buf, "\n    target "...)
	buf = m.appendID(buf, g, v)
	_, err := b.Write(append(buf, "\n  ]\n"...))
	return err
}

func (gml) tail(b *bufio.Writer) error {
	_, err := b.WriteString("]\n")
	return err
}

// escapeGML follows what networkx reads and writes: & and " and all but
// printable ASCII as &#N;.
func escapeGML(s string) string {
	if !strings.ContainsFunc(s, specialInGML) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if specialInGML(r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func specialInGML(r rune) bool { return r < ' ' || r > '~' || r == '&' || r == '"' }

// graphML is GraphML 1.0 (Brandes et al. 2002) as networkx, igraph and Gephi
// read it: node ids are the identifiers.
type graphML struct{}

func (graphML) head(b *bufio.Writer, g *graph) error {
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
`)
	if g.labels != nil {
		b.WriteString(`  <key id="community" for="node" attr.name="community" attr.type="int"/>` + "\n")
	}
	b.WriteString(`  <graph id="G" edgedefault="undirected">` + "\n")
	for i := range g.n {
		name := g.name(i)
		if err := checkXML(name); err != nil {
			return err
		}
		var err error
		if g.labels != nil {
			_, err = fmt.Fprintf(b, "    <node id=\"%s\"><data key=\"community\">%d</data></node>\n", escapeXML(name), g.labels[i])
		} else {
			_, err = fmt.Fprintf(b, "    <node id=\"%s\"/>\n", escapeXML(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (graphML) edge(b *bufio.Writer, g *graph, u, v int64) error {
	buf := append(b.AvailableBuffer(), `    <edge source="`...)
	buf = append(buf, escapeXML(g.name(u))...)
	buf = append(buf, `" target="`...)
	buf = append(buf, escapeXML(g.name(v))...)
	_, err := b.Write(append(buf, "\"/>\n"...))
	return err
}

func (graphML) tail(b *bufio.Writer) error {
	_, err := b.WriteString("  </graph>\n</graphml>\n")
	return err
}

// In an attribute, a reader turns white space into blanks unless it is a
// reference.
var xmlReferences = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;",
	"\t", "&#9;", "\n", "&#10;", "\r", "&#13;")

func escapeXML(s string) string {
	if !strings.ContainsAny(s, "&<>\"'\t\n\r") {
		return s
	}
	return xmlReferences.Replace(s)
}

func checkText(name, format string) error {
	switch {
	case name == "":
		return fmt.Errorf("a vertex has an empty identifier")
	case !utf8.ValidString(name):
		return fmt.Errorf("identifier %q cannot be in a %s file: it is not UTF-8", name, format)
	}
	return nil
}

// checkXML refuses what XML 1.0 (2.2, Char) cannot hold in any form.
func checkXML(name string) error {
	if err := checkText(name, "graphml"); err != nil {
		return err
	}
	for _, r := range name {
		if (r < ' ' && r != '\t' && r != '\n' && r != '\r') || r == 0xfffe || r == 0xffff {
			return fmt.Errorf("identifier %q cannot be in a graphml file: XML has no character %U", name, r)
		}
	}
	return nil
}
