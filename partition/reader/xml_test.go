package reader

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestGraphML(t *testing.T) {
	const open = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a > b -->\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
	runCases(t, []readCase{
		{name: "networkx", format: "graphml", text: open + `<key id="d0" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="undirected">
<node id="a b"/><node id='c&amp;"d"'></node><edge source="a b" target='c&amp;"d"'><data key="d0"> 2.5
</data></edge></graph></graphml>`, vertices: `a b c&"d"`, edges: `a b>c&"d"=2.5`},
		{name: "yEd", text: open + `<key for="node" id="d6" yfiles.type="nodegraphics"/><graph id="G" edgedefault="directed">
<node id="n0"><data key="d6"><y:ShapeNode xmlns:y="u"><y:NodeLabel>a &lt; b</y:NodeLabel></y:ShapeNode></data></node>
<node id="n1"><graph id="n1:" edgedefault="directed"><node id="n1::n0"/><edge id="e" source="n1::n0" target="n1::n0"/></graph></node>
<edge id="e0" source="n0" target="n1::n0"/></graph><data key="d7"><y:Resources xmlns:y="u"><y:edge/></y:Resources></data></graphml>`,
			vertices: "n0 n1 n1::n0", edges: "n1::n0>n1::n0 n0>n1::n0"},
		{name: "graph-tool", text: `<graphml><key id="key0" for="graph" attr.name="weight"/><graph id="G" edgedefault="undirected" parse.nodeids="canonical" parse.nodes="2" parse.edges="1">
<data key="key0"><![CDATA[ <node id="x"/> ]]></data><node id="n0"/><node id="n1"/><edge id="e0" source="n0" target="n1"><data key="key0">7</data></edge></graph></graphml>`,
			vertices: "n0 n1", edges: "n0>n1"},
		{name: "prefix and document type", text: "<!DOCTYPE g:graphml [<!ENTITY x \"]>\">]>\n<g:graphml xmlns:g='u'><g:graph><g:node id='1.0'/><g:edge source='1.0' target='1.0'/></g:graph></g:graphml>",
			format: "graphml", vertices: "1.0", edges: "1.0>1.0"},
		{name: "numbers of characters", text: "<graphml><graph><node id='&#233;&#xE9;'/></graph></graphml>", vertices: "éé"},
		{name: "8-bit", text: "<?xml version='1.0' encoding='ISO-8859-1'?><graphml><graph><node id='\xe9'/><edge source='\xe9' target='\xe9'/></graph></graphml>",
			vertices: "\xe9", edges: "\xe9>\xe9"},
		{name: "blanks in an id", text: "<graphml><graph><node id='a\r\nb\tc'/></graph></graphml>", vertices: "a b c"},

		{name: "duplicate", text: open + "<graph>\n<node id='a'/>\n<node id='a'/></graph></graphml>", err: ":6: vertex id \"a\" is declared twice"},
		{name: "undeclared", text: open + "<graph>\n<node id='a'/>\n<edge source='a' target='b'/></graph></graphml>", err: ":6: an edge to \"b\", which no node declares"},
		{name: "hyperedge", text: open + "<graph>\n<node id='a'/>\n<hyperedge/></graph></graphml>", err: ":6: a hyperedge"},
		{name: "no id", text: open + "<graph><node/></graph></graphml>", err: ":4: a node without an id"},
		{name: "no target", text: open + "<graph><node id='a'/><edge source='a'/></graph></graphml>", err: ":4: an edge without source or target"},
		{name: "two graphs", text: open + "<graph></graph>\n<graph></graph></graphml>", err: ":5: a second graph in the file"},
		{name: "no graph", text: open + "</graphml>", err: ":4: GraphML without a graph"},
		{name: "cut off", text: open + "<graph><node id='a'/>", err: ":4: the XML stops inside <graph>"},
		{name: "cut off in a tag", text: open + "<graph><node id='a", err: ":4: the XML stops inside a tag"},
		{name: "tags that do not match", text: open + "<graph><node id='a'></graph></graphml>", err: ":4: the end tag </graph> closes no open element"},
		{name: "entity", text: open + "<graph><node id='&uuml;'/></graph></graphml>", err: ":4: unknown entity &uuml;"},
		{name: "count of nodes", text: "<graphml><graph parse.nodes='2'><node id='a'/></graph></graphml>", err: ":1: the file declares 2 nodes and has 1"},
		{name: "count of edges", text: "<graphml><graph parse.edges='2'><node id='a'/><edge source='a' target='a'/></graph></graphml>", err: ":1: the file declares 2 edges and has 1"},
		{name: "deep", text: "<graphml>" + strings.Repeat("<a>", 20_000), err: ":1: elements nested too deeply"},
	})
}

func TestGEXF(t *testing.T) {
	runCases(t, []readCase{
		{name: "Gephi", format: "gexf", text: `<?xml version="1.0"?><gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><meta><node id="z"/></meta>
<graph mode="static" defaultedgetype="directed"><attributes class="node"/><nodes count="2"><node id="0.0" label="a"/><node id="1" label="b"><viz:color r="1" xmlns:viz="v"/></node></nodes>
<edges count="1"><edge id="0" source="0.0" target="1" weight="2"/></edges></graph></gexf>`, vertices: "0.0 1", edges: "0.0>1=2"},
		{name: "nested nodes", text: `<gexf><graph><nodes><node id="a"><nodes><node id="b"/></nodes></node></nodes><edges><edge source="a" target="b"/></edges></graph></gexf>`, vertices: "a b", edges: "a>b"},
		{name: "count", text: "<gexf><graph>\n<nodes count=\"2\"><node id=\"a\"/></nodes></graph></gexf>", err: ":2: the file declares 2 nodes and has 1"},
		{name: "undeclared", text: "<gexf><graph>\n<edges><edge source=\"a\" target=\"b\"/></edges></graph></gexf>", err: ":2: an edge to \"a\", which no node declares"},
		{name: "no graph", text: "<gexf></gexf>", err: ":1: GEXF without a graph"},
	})
	g, err := readText(`<gexf><graph><nodes><node id="a"/></nodes></graph></gexf>`, Options{})
	if err != nil || g.stats.Directed != "no" {
		t.Errorf("direction %q, %v", g.stats.Directed, err)
	}
}

// xmlTokens writes what the lexer reads, attribute by attribute.
func xmlTokens(data []byte) (string, error) {
	l := xmlLexer{tx: newText(context.Background(), "x", bytes.NewReader(data))}
	var b strings.Builder
	for {
		kind, err := l.next(true)
		if err != nil {
			return "", err
		}
		switch kind {
		case xmlEOF:
			return b.String(), nil
		case xmlStart:
			b.WriteString("<" + string(l.name))
			for _, a := range l.attrs {
				b.WriteString(" " + string(l.arena[a.name:a.eq]) + "=" + string(l.arena[a.eq:a.end]))
			}
			b.WriteString(">")
		case xmlEnd:
			b.WriteString("</" + string(l.name) + ">")
		case xmlText:
			b.Write(l.text)
		}
	}
}

// standardTokens does the same with the decoder of the standard library.
func standardTokens(data []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	var b strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch x := token.(type) {
		case xml.StartElement:
			b.WriteString("<" + x.Name.Local)
			for _, a := range x.Attr {
				b.WriteString(" " + a.Name.Local + "=" + a.Value)
			}
			b.WriteString(">")
		case xml.EndElement:
			b.WriteString("</" + x.Name.Local + ">")
		case xml.CharData:
			b.Write(x)
		}
	}
}

// FuzzXML: whatever both this lexer and the standard decoder accept, they read
// alike. Line ends are taken out: the standard decoder changes them.
func FuzzXML(f *testing.F) {
	for _, s := range []string{"<a/>", "<a b='1' c:d=\"x&amp;y\"><!-- z --><![CDATA[<]]>t&#65;</a>", "<?xml version='1.0'?><!DOCTYPE a [<!ELEMENT a (b)>]><a><b>&lt;</b></a>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.ContainsAny(data, "\r\n\t") {
			return
		}
		own, err1 := xmlTokens(data)
		standard, err2 := standardTokens(data)
		if err1 == nil && err2 == nil && own != standard {
			t.Errorf("%q: %q, standard %q", data, own, standard)
		}
	})
}
