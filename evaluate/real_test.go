package evaluate

import (
	"bufio"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/privcom/privcom/evaluate/community"
)

// readReal reads an edge list of the data folder; ids are numbered as they appear.
func readReal(t testing.TB, name string) (*community.Graph, []string) {
	t.Helper()
	f, err := os.Open("../../shared/data/" + name)
	if err != nil {
		t.Skip("no ../shared/data next to the module: " + name + " is not here")
	}
	defer f.Close()
	number, ids := map[string]int32{}, []string{}
	id := func(s string) int32 {
		v, seen := number[s]
		if !seen {
			v = int32(len(ids))
			number[s] = v
			ids = append(ids, s)
		}
		return v
	}
	var source, target []int32
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 && fields[0][0] != '#' && fields[0][0] != '%' {
			source, target = append(source, id(fields[0])), append(target, id(fields[1]))
		}
	}
	g, err := community.FromEdges(len(ids), source, target)
	if err != nil {
		t.Fatal(err)
	}
	return g, ids
}

// What the trivial rows are there for: on real graphs a partition that knows nothing
// gets 0.68 from Avg-F1 (one community, polblogs) and from NMI (singletons, CA-GrQc),
// and 0 from AMI and ARI.
func TestTrivialRowsOnRealGraphs(t *testing.T) {
	polblogs, _ := readReal(t, "polblogs/polblogs.pairs")
	if polblogs.Vertices() != 1224 || polblogs.Edges() != 16715 {
		t.Fatalf("polblogs has %d vertices and %d edges", polblogs.Vertices(), polblogs.Edges())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	random, err := RandomGraph(t.Context(), 1224, 16715, rng)
	if err != nil {
		t.Fatal(err)
	}
	e := compare(t, polblogs, random, Options{Seed: 1, Repeat: 3})
	if one := row(t, e.Rows, "one community"); one.AvgF1Detected < 0.64 || one.AvgF1Detected > 0.72 || one.AMI != 0 || one.ARI != 0 {
		t.Errorf("one community on polblogs: %+v", one)
	}
	if c := row(t, e.Rows, "ceiling"); c.AMI < 0.85 || e.ModularityOriginal < 0.425 {
		t.Errorf("polblogs: ceiling AMI %v, modularity %v", c.AMI, e.ModularityOriginal)
	}
	// A random graph as release: AMI of one run has a standard deviation of 0.002.
	if e.AMI > 0.02 || e.AMI < -0.02 || e.ModularityDetected > 0.05 {
		t.Errorf("a random release scores AMI %v, modularity on the original %v", e.AMI, e.ModularityDetected)
	}

	grqc, _ := readReal(t, "ca-grqc/CA-GrQc-lf.txt")
	e = compare(t, grqc, grqc, Options{Seed: 1, SkipPaths: true})
	if single := row(t, e.Rows, "singletons"); single.NMI < 0.66 || single.NMI > 0.72 || single.AMI != 0 {
		t.Errorf("singletons on CA-GrQc: %+v", single)
	}
}

func TestLabelsOfARealGraph(t *testing.T) {
	g, ids := readReal(t, "email-eu-core/email-Eu-core.txt")
	l, err := ReadLabelFile("../../shared/data/email-eu-core/email-Eu-core-department-labels.txt", LabelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	classes, cover, err := l.Align(g.Vertices(), func(v int) string { return ids[v] })
	if err != nil || cover.Labelled != g.Vertices() || cover.Without != 0 {
		t.Fatalf("%+v, %v", cover, err)
	}
	e := compare(t, g, g, Options{Seed: 1, Labels: classes, SkipPaths: true})
	if e.Labels.Classes != 42 || row(t, e.Labels.Rows, "original graph").AMI < 0.45 {
		t.Errorf("against departments: %+v", e.Labels)
	}
}

// A planted graph of n vertices with mean degree 20 against a noisier one.
func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			x, _ := planted(b, n, n/500, 8*n, 2*n, 1)
			y, _ := planted(b, n, n/500, 6*n, 4*n, 2)
			for b.Loop() {
				if _, err := Compare(b.Context(), x, y, Options{SkipPaths: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
