package release

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/privcom/privcom/storage"
)

// forge writes a folder that says it is a release of some edges between 1, 2, 3.
func forge(t *testing.T, nodes []numberNode, edges []numberEdge, change func(*Document)) *storage.Bucket {
	t.Helper()
	ctx, b := context.Background(), memory(t, "forged")
	n, err := writeTable(ctx, b, NodesKey, len(nodes), func(i int) numberNode { return nodes[i] })
	if err != nil {
		t.Fatal(err)
	}
	e, err := writeTable(ctx, b, "edges-00000-of-00001-aa.parquet", len(edges), func(i int) numberEdge { return edges[i] })
	if err != nil {
		t.Fatal(err)
	}
	d := Document{Format: "privcom-release", Version: FormatVersion, Files: []File{n, e}}
	d.Graph = Released{Vertices: len(nodes), Edges: int64(len(edges)), IDType: "uint64", VertexSource: "list"}
	if change != nil {
		change(&d)
	}
	data, err := d.marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Put(ctx, DocumentKey, data), b.Put(ctx, SuccessKey, []byte(sum(data)+"  "+DocumentKey+"\n"))); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadRefusesWhatIsNoSimpleGraph(t *testing.T) {
	ctx := context.Background()
	three := []numberNode{{1}, {2}, {3}}
	for name, f := range map[string]struct {
		nodes []numberNode
		edges []numberEdge
		says  string
	}{
		"fine":             {three, []numberEdge{{1, 2}, {3, 2}}, ""},
		"a loop":           {three, []numberEdge{{1, 2}, {2, 2}}, "edge 2–2 is a loop or stands twice"},
		"a repeat":         {three, []numberEdge{{1, 2}, {1, 2}}, "stands twice"},
		"a repeat, turned": {three, []numberEdge{{1, 2}, {2, 1}}, "stands twice"},
		"a stranger":       {three, []numberEdge{{1, 9}}, "edge 1–9 has an end that is no vertex"},
		"a vertex twice":   {[]numberNode{{1}, {1}}, nil, "vertex 1 stands twice"},
	} {
		b := forge(t, f.nodes, f.edges, nil)
		d, err := Open(ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Read(ctx, b, d)
		var corrupt *storage.CorruptError
		switch {
		case f.says == "":
			if err != nil || len(c.IDs) != 3 || len(c.Source) != 2 || c.Source[1] != 2 || c.Target[1] != 1 {
				t.Errorf("%s: %+v, %v", name, c, err)
			}
		case !errors.As(err, &corrupt) || !strings.Contains(err.Error(), f.says):
			t.Errorf("%s: %v, want %q", name, err, f.says)
		}
	}
}

func TestVerifyChecksTheArithmetic(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, ingest(t, smallGraph(t), 1))
	mustRun(t, r)
	for name, edit := range map[string]struct{ failing, from, to string }{
		"nothing":               {"", "", ""},
		"a smaller ε":           {"guarantee", `"epsilon": "2",`, `"epsilon": "1.9",`},
		"a smaller ρ":           {"composition", `"rho": "0.108256363823",`, `"rho": "0.1",`},
		"a smaller sensitivity": {"noise", `"sensitivity2": "`, `"sensitivity2": "9`},
		"another edge count":    {"edges", `"edges": `, `"edges": 1`},
		"another vertex count":  {"vertices", `"vertices": 60`, `"vertices": 61`},
		"no files":              {"list of files", `"key": "factors.parquet"`, `"key": "factors.parque"`},
	} {
		data, err := r.Out.ReadAll(ctx, DocumentKey)
		if err != nil {
			t.Fatal(err)
		}
		forged := data
		if edit.from != "" {
			forged = []byte(strings.Replace(string(data), edit.from, edit.to, 1))
			if string(forged) == string(data) {
				t.Fatalf("%s: %q is not in the document", name, edit.from)
			}
		}
		put := func(doc []byte) {
			if err := errors.Join(r.Out.Put(ctx, DocumentKey, doc), r.Out.Put(ctx, SuccessKey, []byte(sum(doc)+"  "+DocumentKey+"\n"))); err != nil {
				t.Fatal(err)
			}
		}
		put(forged)
		_, checks, err := Verify(ctx, r.Out)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		found := edit.failing == ""
		for _, c := range checks {
			found = found || c.Name == edit.failing && !c.OK
			if edit.failing == "" && !c.OK {
				t.Errorf("%s: %s: %s", name, c.Name, c.Note)
			}
		}
		if !found {
			b, _ := json.Marshal(checks)
			t.Errorf("%s is not found: %s", name, b)
		}
		put(data)
	}
}

func TestOpenRefusesWhatIsNoRelease(t *testing.T) {
	ctx, b := context.Background(), memory(t, "open")
	if _, err := Open(ctx, b); !errors.Is(err, ErrNotRelease) {
		t.Errorf("an empty folder: %v", err)
	}
	var corrupt *storage.CorruptError
	if err := b.Put(ctx, SuccessKey, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, b); !errors.As(err, &corrupt) {
		t.Errorf("without its document: %v", err)
	}
	for _, doc := range []string{"", "{", "[]", "{}", `{"format":"privcom-release","version":2}`, `{"format":"other","version":1}`} {
		if err := b.Put(ctx, DocumentKey, []byte(doc)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(ctx, b); !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
