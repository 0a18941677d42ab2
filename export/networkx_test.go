package export

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Prints, for each file, the vertices, edges and communities that networkx
// finds, in sorted form.
const networkxScript = `
import sys
import networkx as nx
def show(g):
    print(sorted(g.nodes), sorted(sorted(e) for e in g.edges), sorted(nx.get_node_attributes(g, "community").items()), g.is_directed())
show(nx.read_gml(sys.argv[1]))
show(nx.read_graphml(sys.argv[2]))
show(nx.read_edgelist(sys.argv[3], delimiter="\t", nodetype=int))
`

const networkxWant = `
['Zoë <z>', 'a', 'b & "c"', "it's", '日本'] [['Zoë <z>', 'b & "c"'], ['a', 'b & "c"'], ['a', "it's"]] [('Zoë <z>', 1), ('a', 0), ('b & "c"', 0), ("it's", 1), ('日本', 2)] False
['Zoë <z>', 'a', 'b & "c"', "it's", '日本'] [['Zoë <z>', 'b & "c"'], ['a', 'b & "c"'], ['a', "it's"]] [('Zoë <z>', 1), ('a', 0), ('b & "c"', 0), ("it's", 1), ('日本', 2)] False
[0, 1, 2, 3] [[0, 1], [0, 3], [1, 2]] [] False
`

func TestNetworkxReadsTheFiles(t *testing.T) {
	python := pythonWith("networkx")
	if python == "" {
		t.Skip("python3 with networkx is not installed")
	}
	dir := t.TempDir()
	var args = []string{"-X", "utf8", "-c", networkxScript}
	for _, c := range []struct {
		name string
		opts Options
	}{
		{"g.gml.gz", Options{N: 5, IDs: testName, Labels: testLabels}},
		{"g.graphml.gz", Options{N: 5, IDs: testName, Labels: testLabels}},
		{"g.txt.gz", Options{}},
	} {
		args = append(args, writeTestGraph(t, filepath.Join(dir, c.name), c.opts))
	}
	out, err := exec.Command(python, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, want := strings.TrimSpace(string(out)), strings.TrimSpace(networkxWant); got != want {
		t.Errorf("networkx reads\n%s\nwant\n%s", got, want)
	}
}
