package export

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Prints vertices, edges, direction and communities as igraph reads them.
const igraphScript = `
import sys
import igraph
for read, path in zip((igraph.Graph.Read_GML, igraph.Graph.Read_GraphML, lambda p: igraph.Graph.Read_Ncol(p, directed=False)), sys.argv[1:]):
    g = read(path)
    print(g.vcount(), g.ecount(), g.is_directed(), sorted(int(c) for c in g.vs["community"]) if "community" in g.vs.attributes() else [])
`

const igraphWant = "5 3 False [0, 0, 1, 1, 2]\n5 3 False [0, 0, 1, 1, 2]\n4 3 False []"

// pythonWith finds a python3 that has the module: that of PATH, or Debian's.
func pythonWith(module string) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import "+module).Run() == nil {
			return python
		}
	}
	return ""
}

// writeTestGraph writes testEdges and returns the path.
func writeTestGraph(t *testing.T, path string, opts Options) string {
	t.Helper()
	w, err := NewWriter(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range testEdges {
		if err := w.Write(e[0], e[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIgraphReadsTheFiles(t *testing.T) {
	python := pythonWith("igraph")
	if python == "" {
		t.Skip("python3 with igraph is not installed")
	}
	dir := t.TempDir()
	args := []string{"-X", "utf8", "-c", igraphScript}
	for _, c := range []struct {
		name string
		opts Options
	}{
		{"g.gml", Options{N: 5, IDs: testName, Labels: testLabels}},
		{"g.graphml", Options{N: 5, IDs: testName, Labels: testLabels}},
		{"g.txt", Options{}},
	} {
		args = append(args, writeTestGraph(t, filepath.Join(dir, c.name), c.opts))
	}
	out, err := exec.Command(python, args...).Output() // warnings go to standard error
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != igraphWant {
		t.Errorf("igraph reads\n%s\nwant\n%s", got, igraphWant)
	}
}
