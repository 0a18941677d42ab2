package reader

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// graphCounts are the counts of data/SOURCES.md.
type graphCounts struct {
	ids, nodes, edges, rows, loops int
}

// read collects the distinct ids and counts what SOURCES.md counts.
func countGraph(t testing.TB, paths []string, o Options) (graphCounts, Stats, error) {
	t.Helper()
	r, err := Open(context.Background(), paths, o)
	if err != nil {
		return graphCounts{}, Stats{}, err
	}
	defer r.Close()
	ids, nodes, edges := map[string]bool{}, map[string]bool{}, map[[2]string]bool{}
	var c graphCounts
	err = r.ForEach(context.Background(), func(id []byte) error {
		ids[string(id)] = true
		return nil
	}, func(e Edge) error {
		c.rows++
		a, b := string(e.Source), string(e.Target)
		ids[a], ids[b] = true, true
		if a == b {
			c.loops++
			return nil
		}
		nodes[a], nodes[b] = true, true
		edges[[2]string{min(a, b), max(a, b)}] = true
		return nil
	})
	c.ids, c.nodes, c.edges = len(ids), len(nodes), len(edges)
	return c, r.Stats(), err
}

const dataDir = "../../../shared/data/"

func needData(t testing.TB) {
	if _, err := os.Stat(dataDir); err != nil {
		t.Skip("the public data folder is not beside the module")
	}
}

// publicGraphs are the files of the data folder that are read as graphs, with the
// counts of its SOURCES.md.
var publicGraphs = []struct {
	path, format, directed string
	graphCounts
}{
	{"polblogs/polblogs-undirected-0based.gml", "gml", "no", graphCounts{1224, 1224, 16715, 16715, 0}},
	{"polblogs/polblogs.gml", "gml", "yes", graphCounts{1490, 1224, 16715, 19090, 3}},
	{"polblogs/polBlogs-pajek.zip", "pajek", "yes", graphCounts{1490, 1224, 16715, 19090, 3}},
	{"polblogs/polblogs.graph", "metis", "no", graphCounts{1490, 1224, 16715, 33430, 0}},
	{"polblogs/polblogs.pairs", "edgelist", "unknown", graphCounts{1224, 1224, 16715, 19090, 3}},
	{"ca-grqc/CA-GrQc-lf.txt", "edgelist", "yes", graphCounts{5242, 5241, 14484, 28980, 12}},
	{"ca-grqc/CA-GrQc.txt", "edgelist", "yes", graphCounts{5242, 5241, 14484, 28980, 12}},
	{"ca-grqc/ca-GrQc.mtx", "mtx", "no", graphCounts{4158, 4158, 13422, 13422, 0}},
	{"petster-hamster/out.petster-hamster", "edgelist", "no", graphCounts{2426, 2426, 16631, 16631, 0}},
	{"petster-hamster/soc-hamsterster.edges", "edgelist", "unknown", graphCounts{2426, 2426, 16630, 16630, 0}},
	{"pgb/CA-HepPh.txt", "edgelist", "unknown", graphCounts{12008, 12006, 118489, 237010, 32}},
	{"pgb/Facebook.txt", "edgelist", "unknown", graphCounts{4039, 4039, 88234, 88234, 0}},
	{"pgb/Wiki-Vote.txt", "edgelist", "unknown", graphCounts{7115, 7115, 100762, 103689, 0}},
	{"pgb/ba_graph.txt", "edgelist", "unknown", graphCounts{10000, 10000, 49975, 49975, 0}},
	{"pgb/econ-poli-large-no-weights.txt", "edgelist", "unknown", graphCounts{15575, 15575, 17468, 33074, 15575}},
	{"pgb/er_graph.txt", "edgelist", "unknown", graphCounts{10000, 10000, 250278, 250278, 0}},
	{"pgb/p2p-Gnutella25.txt", "edgelist", "unknown", graphCounts{22687, 22687, 54705, 54705, 0}},
	{"pgb/road-minnesota.txt", "edgelist", "unknown", graphCounts{2642, 2642, 3303, 3303, 0}},
	{"email-eu-core/email-Eu-core.txt", "edgelist", "unknown", graphCounts{1005, 986, 16064, 25571, 642}},
	{"email-eu-core/email-Eu-core.txt.gz", "edgelist", "unknown", graphCounts{1005, 986, 16064, 25571, 642}},
	{"facebook-ego/facebook_combined.txt.gz", "edgelist", "unknown", graphCounts{4039, 4039, 88234, 88234, 0}},
	{"karate/karate.gml", "gml", "no", graphCounts{34, 34, 78, 78, 0}},
	{"karate/karate.graph", "metis", "no", graphCounts{34, 34, 78, 156, 0}},
	{"karate/karate.mtx", "mtx", "no", graphCounts{34, 34, 78, 78, 0}},
	{"karate/karate.net", "edgelist", "unknown", graphCounts{34, 34, 78, 78, 0}},
	{"karate/karate_club-qinyuenlp.gml", "gml", "no", graphCounts{34, 34, 78, 78, 0}},
	{"football/football.gml", "gml", "no", graphCounts{115, 115, 613, 613, 0}},
	{"polbooks/polbooks.gml", "gml", "no", graphCounts{105, 105, 441, 441, 0}},
	{"dolphins/dolphins.gml", "gml", "no", graphCounts{62, 62, 159, 159, 0}},
	{"lesmis/lesmis.gml", "gml", "no", graphCounts{77, 77, 254, 254, 0}},
	{"netscience/netscience.gml", "gml", "no", graphCounts{1589, 1461, 2742, 2742, 0}},
	{"com-amazon-1.90/amazon-1.90.ungraph.txt", "edgelist", "unknown", graphCounts{6926, 6926, 17893, 17893, 0}},
	{"com-dblp-1.90/dblp-1.90.ungraph.txt", "edgelist", "unknown", graphCounts{37020, 37020, 149501, 149501, 0}},
	{"musae-facebook/facebook_edges.csv", "csv", "unknown", graphCounts{22470, 22470, 170823, 171002, 179}},
	{"musae-twitch-de/DE_edges.csv", "csv", "unknown", graphCounts{9498, 9498, 153138, 153138, 0}},
	{"musae-twitch-engb/ENGB_edges.csv", "csv", "unknown", graphCounts{7126, 7126, 35324, 35324, 0}},
	{"flickr-attr/Flickr.edge", "edgelist", "unknown", graphCounts{7575, 7575, 239738, 479476, 0}},
	{"facebook100/MIT8.edgelist", "edgelist", "unknown", graphCounts{6440, 6440, 251252, 251252, 0}},
	{"wiki-vote/wiki-Vote.txt", "edgelist", "yes", graphCounts{7115, 7115, 100762, 103689, 0}},
	{"email-enron/Email-Enron.txt", "edgelist", "yes", graphCounts{36692, 36692, 183831, 367662, 0}},
	{"ugly/foodweb-baydry.konect", "edgelist", "yes", graphCounts{128, 128, 2106, 2137, 0}},
	{"ugly/Erdos02.net", "pajek", "no", graphCounts{6927, 6927, 11850, 11850, 0}},
	{"ugly/dolphins.net", "pajek", "no", graphCounts{62, 62, 159, 159, 0}},
	{"ugly/jazz.net", "pajek", "no", graphCounts{198, 198, 2742, 2742, 0}},
	{"ugly/LesMiserables.graphml", "graphml", "no", graphCounts{77, 77, 254, 254, 0}},
	{"ugly/quakers-network.graphml", "graphml", "no", graphCounts{96, 96, 162, 162, 0}},
	{"ugly/marvel-unimodal-edges.csv", "csv", "unknown", graphCounts{327, 327, 9891, 9891, 0}},
	{"ugly/quaker-edges.csv", "csv", "unknown", graphCounts{96, 96, 162, 162, 0}},
	// Labels, not edges, but two integers a line are an edge list and nothing tells.
	{"email-eu-core/email-Eu-core-department-labels.txt", "edgelist", "unknown", graphCounts{1005, 1005, 1004, 1005, 1}},
}

// TestPublicGraphs reads each graph file of the data folder.
func TestPublicGraphs(t *testing.T) {
	needData(t)
	for _, g := range publicGraphs {
		t.Run(strings.ReplaceAll(g.path, "/", "_"), func(t *testing.T) {
			c, stats, err := countGraph(t, []string{dataDir + g.path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c != g.graphCounts {
				t.Errorf("counts %+v, SOURCES.md has %+v", c, g.graphCounts)
			}
			if stats.Format != g.format || stats.Directed != g.directed || int(stats.Rows) != g.rows {
				t.Errorf("stats %+v", stats)
			}
			if len(stats.Notes) > 0 {
				t.Errorf("notes %q", stats.Notes)
			}
			packed := map[string]string{"gz": "gzip", "zip": "zip"}[g.path[strings.LastIndexByte(g.path, '.')+1:]]
			if stats.Compression != packed {
				t.Errorf("compression %q", stats.Compression)
			}
		})
	}
}

// publicRefusals are the files of the data folder that must be refused, with the
// beginning of the error after the path.
var publicRefusals = []struct{ path, want string }{
	{"ugly/ca-GrQc-paragraphl.txt", ":1: a web address and not an edge"},
	{"ugly/soc-wiki-Vote.mtx", ":2917: text after the 2914 entries that the size line declares"},
	{"ugly/soc-Epinions1-truncated.txt.gz", ": byte 1253376: the gzip data stop in the middle: the file is truncated"},
	{"ugly/lagraph-full_symmetric.mtx", ":1: a dense matrix (array) is not read"},
	{"ugly/lagraph-mangled10.mtx", ":4: a matrix of 3 rows and 4 columns is not square"},
	{"ugly/lagraph-mangled8.mtx", ":4: the size line has three integers"},
	{"com-amazon-1.90/amazon-1.90.cmty.txt", ":1: more than 4 fields"},
	{"com-dblp-1.90/dblp-1.90.cmty.txt", ":1: more than 4 fields"},
	{"musae-facebook/facebook_target.csv", ":1: the header does not say which columns are source and target; they are id, facebook_id, page_name, page_type"},
	{"musae-twitch-de/DE_target.csv", ":1: the header does not say"},
	{"musae-twitch-engb/ENGB_target.csv", ":1: the header does not say"},
	{"flickr-attr/Flickr.label", ":1: a line with one field where two ids are needed"},
	{"petster-hamster/README.petster-hamster", ":1: a third field that is no number"},
	{"petster-hamster/meta.petster-hamster", ":1: a third field that is no number"},
	{"petster-hamster/ent.petster-hamster", ":4: text after a closing quote"},
	{"facebook-ego/circles/0.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/107.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/1684.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/1912.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/3437.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/348.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/414.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/686.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/698.circles", ":1: more than 4 fields"},
	{"facebook-ego/circles/3980.circles", ":7: more than 4 fields"},
	{"SOURCES.md", ":3: a third field that is no number"},
}

// TestPublicFilesThatAreNoGraph reads the files that must be refused.
func TestPublicFilesThatAreNoGraph(t *testing.T) {
	needData(t)
	for _, f := range publicRefusals {
		t.Run(strings.ReplaceAll(f.path, "/", "_"), func(t *testing.T) {
			_, _, err := countGraph(t, []string{dataDir + f.path}, Options{})
			if err == nil {
				t.Fatal("was read")
			}
			if text := err.Error(); !strings.HasPrefix(text, dataDir+f.path+f.want) || !strings.Contains(text, "Nothing was written.") {
				t.Errorf("error %q, want %q after the path", text, f.want)
			}
		})
	}
}

// TestBadLinesLetThrough reads damaged public files with a bound on bad lines.
func TestBadLinesLetThrough(t *testing.T) {
	needData(t)
	for _, f := range []struct {
		path string
		bad  int64
		graphCounts
	}{
		{"ugly/ca-GrQc-paragraphl.txt", 1, graphCounts{5242, 5241, 14484, 28980, 12}},
		{"ugly/soc-wiki-Vote.mtx", 22, graphCounts{889, 889, 2914, 2914, 0}},
	} {
		var told []*LineError
		c, stats, err := countGraph(t, []string{dataDir + f.path}, Options{MaxBadLines: f.bad, OnBadLine: func(e *LineError, line []byte) error { told = append(told, e); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		if c != f.graphCounts || stats.BadLines != f.bad || int64(len(told)) != f.bad {
			t.Errorf("%s: counts %+v, %d bad lines, %d told", f.path, c, stats.BadLines, len(told))
		}
		if _, _, err = countGraph(t, []string{dataDir + f.path}, Options{MaxBadLines: f.bad - 1}); err == nil {
			t.Errorf("%s: one bad line too many was let through", f.path)
		}
	}
}

// TestPublicFolderIsCovered walks the data folder: each of its files is read or refused in the
// tables above, so that a new one cannot go untried.
func TestPublicFolderIsCovered(t *testing.T) {
	needData(t)
	tried := map[string]bool{}
	for _, g := range publicGraphs {
		tried[g.path] = true
	}
	for _, f := range publicRefusals {
		if tried[f.path] {
			t.Errorf("%s is both read and refused", f.path)
		}
		tried[f.path] = true
	}
	var have int
	err := fs.WalkDir(os.DirFS(dataDir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		have++
		if !tried[path] {
			t.Errorf("%s is in no table: say what is expected of it", path)
		}
		return nil
	})
	if err != nil || have < len(tried) {
		t.Errorf("%d files for %d entries, %v", have, len(tried), err)
	}
}
