package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/statistics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// planted draws n vertices in equal blocks: edges inside blocks, then anywhere.
func planted(t testing.TB, n, blocks, inside, anywhere int, seed uint64) (*community.Graph, []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	block := make([]int32, n)
	for v := range block {
		block[v] = int32(v * blocks / n)
	}
	size := n / blocks
	var source, target []int32
	for range inside {
		b := rng.IntN(blocks) * size
		source, target = append(source, int32(b+rng.IntN(size))), append(target, int32(b+rng.IntN(size)))
	}
	for range anywhere {
		source, target = append(source, int32(rng.IntN(n))), append(target, int32(rng.IntN(n)))
	}
	g, err := community.FromEdges(n, source, target)
	if err != nil {
		t.Fatal(err)
	}
	return g, block
}

func compare(t testing.TB, a, b *community.Graph, o Options) *Evaluation {
	t.Helper()
	e, err := Compare(t.Context(), a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func row(t testing.TB, rows []Row, name string) Row {
	t.Helper()
	for _, r := range rows {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no row %q", name)
	return Row{}
}

func TestACopyIsPerfectAndTrivialRowsAreNot(t *testing.T) {
	g, block := planted(t, 600, 6, 6000, 600, 1)
	e := compare(t, g, g, Options{Seed: 1, Labels: block, ReleaseLabels: block})
	// The blocks are plain, so every run finds them.
	for _, name := range []string{"release", "release's own labels", "ceiling"} {
		if r := row(t, e.Rows, name); r.AMI != 1 || r.ARI != 1 || r.Communities != 6 || r.Modularity != e.ModularityOriginal {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := row(t, e.Labels.Rows, "original graph"); r.AMI != 1 || e.Labels.Classes != 6 || e.Labels.Labelled != 600 {
		t.Errorf("against labels: %+v", e.Labels)
	}
	// Random and shuffled partitions of 600 vertices in six groups have AMI and ARI of
	// standard deviation below 0.005; 0.05 is ten of them.
	for _, rows := range [][]Row{e.Rows, e.Labels.Rows} {
		for _, name := range []string{"random graph", "permuted labels", "one community", "singletons"} {
			if r := row(t, rows, name); math.Abs(r.AMI) > 0.05 || math.Abs(r.ARI) > 0.05 {
				t.Errorf("%s: AMI %v, ARI %v, want about 0", name, r.AMI, r.ARI)
			}
		}
	}
	if one := row(t, e.Rows, "one community"); one.Communities != 1 || math.Abs(one.Modularity) > 1e-12 || one.AvgF1Detected < 0.28 {
		t.Errorf("one community: %+v", one)
	}
	if single := row(t, e.Rows, "singletons"); single.Communities != 600 || single.NMI < 0.4 {
		t.Errorf("singletons: %+v", single)
	}
	for _, q := range e.Quantities {
		if q.Difference != 0 || q.Relative != 0 || q.Sampled {
			t.Errorf("a copy differs in %+v", q)
		}
	}
	d := e.Degrees
	if d.MeanAbsolute != 0 || d.MaxAbsolute != 0 || d.Distribution.L1 != 0 || d.Distribution.KL != 0 || math.Abs(d.Correlation-1) > 1e-12 {
		t.Errorf("a copy has degree errors %+v", d)
	}
	if e.Centrality.MeanAbsolute != 0 || e.Distances.L1 != 0 {
		t.Errorf("a copy has centrality errors %+v, distance errors %+v", e.Centrality, e.Distances)
	}
}

func TestTopLevelFiguresAreTheReleaseRow(t *testing.T) {
	a, _ := planted(t, 300, 3, 2000, 300, 1)
	b, _ := planted(t, 300, 3, 1500, 600, 2)
	e := compare(t, a, b, Options{Seed: 5})
	if e.Rows[0].Name != "release" || e.Scores != e.Rows[0].Scores || e.ModularityDetected != e.Rows[0].Modularity {
		t.Errorf("top level %+v, row %+v", e.Scores, e.Rows[0])
	}
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := json.Unmarshal(raw, &top); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"ami", "ari", "nmi", "ami_arithmetic", "nmi_arithmetic", "avg_f1_detected", "avg_f1_truth",
		"avg_f1_detected_weighted_by_size", "modularity_detected", "modularity_original", "modularity_synthetic", "rows", "notice"} {
		if top[key] == nil {
			t.Errorf("the JSON has no %q", key)
		}
	}
	if e.Edges.Original != float64(a.Edges()) || e.Edges.Difference != float64(b.Edges()-a.Edges()) {
		t.Errorf("edges %+v", e.Edges)
	}
	var back Evaluation
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e, &back, cmpopts.IgnoreUnexported(Figures{})); d != "" {
		t.Error("JSON does not carry everything:", d)
	}
}

func TestProcessorsDoNotChangeTheResult(t *testing.T) {
	a, _ := planted(t, 400, 4, 2000, 800, 1)
	b, _ := planted(t, 400, 4, 1500, 900, 2)
	e := compare(t, a, b, Options{Seed: 9, Repeat: 3})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if d := cmp.Diff(e, compare(t, a, b, Options{Seed: 9, Repeat: 3}), cmpopts.IgnoreUnexported(Figures{})); d != "" {
		t.Error(d)
	}
}

func TestRepeatedRunsGiveMediansWithinTheirSpread(t *testing.T) {
	a, _ := planted(t, 300, 10, 900, 700, 1)
	b, _ := planted(t, 300, 10, 800, 800, 2)
	steps := atomic.Int64{}
	e := compare(t, a, b, Options{Seed: 2, Repeat: 5, Progress: func(_ string, done, total int64) {
		if done != steps.Add(1) || total != 22 {
			t.Errorf("progress %d of %d", done, total)
		}
	}})
	if steps.Load() != 22 {
		t.Errorf("%d steps told", steps.Load())
	}
	differs := false
	for _, r := range e.Rows {
		if r.Low == nil || r.Low.AMI > r.AMI || r.AMI > r.High.AMI || r.Low.AvgF1Detected > r.High.AvgF1Detected {
			t.Errorf("%s: median %+v outside %+v … %+v", r.Name, r.Scores, r.Low, r.High)
		}
		differs = differs || r.Low.AMI < r.High.AMI
	}
	if !differs {
		t.Error("five runs on a weak structure agree: the seeds are not different")
	}
	if median([]float64{3, 1, 2, 10}) != 2.5 || median([]float64{5}) != 5 {
		t.Error("median is wrong")
	}
}

func TestEveryMethodRuns(t *testing.T) {
	g, _ := planted(t, 200, 4, 1500, 100, 1)
	for _, m := range []Method{Louvain, Leiden, LabelPropagation} {
		e := compare(t, g, g, Options{Method: m, SkipPaths: true})
		if e.Method != m || e.AMI != 1 || e.Original.Paths != nil || e.Centrality != nil {
			t.Errorf("%s: %+v", m, e)
		}
	}
}

func TestMatchingAndStructureAddUp(t *testing.T) {
	a, _ := planted(t, 500, 25, 2500, 400, 1)
	b, _ := planted(t, 500, 5, 2500, 400, 2)
	e := compare(t, a, b, Options{})
	m := e.Matching
	if len(m.Original) != shown+1 || len(m.Count) != len(m.Original) || len(m.Count[0]) != len(m.Synthetic) {
		t.Fatalf("heat map of %d × %d", len(m.Original), len(m.Synthetic))
	}
	if sum(m.Original) != 500 || sum(m.Synthetic) != 500 {
		t.Errorf("heat map counts %d and %d vertices", sum(m.Original), sum(m.Synthetic))
	}
	for i, r := range m.Count {
		if sum(r) != m.Original[i] {
			t.Errorf("row %d adds up to %d, size %d", i, sum(r), m.Original[i])
		}
	}
	s := e.Structure.Synthetic
	if !slices.IsSortedFunc(e.Structure.Original.Size, func(x, y int64) int { return int(y - x) }) {
		t.Errorf("sizes %v", e.Structure.Original.Size)
	}
	if !slices.Equal(s.Size, m.Synthetic[:len(m.Synthetic)-1]) {
		t.Errorf("the drawing has communities of %v, the heat map of %v", s.Size, m.Synthetic)
	}
	edges := int64(0)
	for i := range s.Edges {
		for j := range s.Edges {
			if s.Edges[i][j] != s.Edges[j][i] {
				t.Fatalf("mixing is not symmetric at %d, %d", i, j)
			}
			if j <= i {
				edges += s.Edges[i][j]
			}
		}
	}
	if edges != b.Edges() {
		t.Errorf("the drawing has %d edges, the graph %d", edges, b.Edges())
	}
}

func TestRandomGraphHasTheEdgesAsked(t *testing.T) {
	for _, c := range []struct {
		n int
		m int64
	}{{0, 0}, {1, 0}, {2, 1}, {10, 45}, {10, 40}, {10, 11}, {1000, 5000}} {
		g, err := RandomGraph(t.Context(), c.n, c.m, rand.New(rand.NewPCG(1, 1)))
		if err != nil || g.Edges() != c.m || g.Check() != nil || g.Vertices() != c.n {
			t.Errorf("G(%d, %d): %v", c.n, c.m, err)
		}
	}
	if _, err := RandomGraph(t.Context(), 4, 7, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("four vertices got seven edges")
	}
}

// Every set of two pairs is equally likely: 15 sets on four vertices (the dense way),
// 45 on five (the sparse way). 30,000 draws; χ² with 14 and 44 degrees of freedom lies
// above the limits with probability below 2e-5.
func TestRandomGraphIsUniform(t *testing.T) {
	draw := map[string]func(*rand.Rand) (*community.Graph, error){
		"dense":  func(rng *rand.Rand) (*community.Graph, error) { return denseRandom(t.Context(), 4, 2, 6, rng) },
		"sparse": func(rng *rand.Rand) (*community.Graph, error) { return RandomGraph(t.Context(), 5, 2, rng) },
	}
	limit := map[string]float64{"dense": 48, "sparse": 102}
	cells := map[string]int{"dense": 15, "sparse": 45}
	for name, f := range draw {
		rng := rand.New(rand.NewPCG(3, 4))
		counts := map[string]int{}
		const draws = 30_000
		for range draws {
			g, err := f(rng)
			if err != nil {
				t.Fatal(err)
			}
			var key strings.Builder
			for v := range g.Vertices() {
				for _, u := range g.Neighbours(v) {
					key.WriteString(string(rune('a'+u)) + string(rune('a'+v)))
				}
			}
			counts[key.String()]++
		}
		expected, chi := float64(draws)/float64(cells[name]), 0.0
		for _, c := range counts {
			chi += (float64(c) - expected) * (float64(c) - expected) / expected
		}
		if len(counts) != cells[name] || chi > limit[name] {
			t.Errorf("%s: %d of %d sets seen, χ² = %.1f", name, len(counts), cells[name], chi)
		}
	}
}

func TestRefusals(t *testing.T) {
	g, _ := planted(t, 30, 3, 60, 10, 1)
	small, _ := planted(t, 20, 2, 40, 10, 1)
	empty := &community.Graph{Ptr: []int64{0}}
	none := slices.Repeat([]int32{-1}, 30)
	for _, c := range []struct {
		name string
		a, b *community.Graph
		o    Options
		says string
	}{
		{"different vertices", g, small, Options{}, "30 vertices and the synthetic graph 20"},
		{"no vertices", empty, empty, Options{}, "no vertices"},
		{"unknown method", g, g, Options{Method: "infomap"}, "infomap"},
		{"negative repeat", g, g, Options{Repeat: -1}, "repeat"},
		{"short labels", g, g, Options{Labels: []int32{1}}, "1 labels for 30"},
		{"short release labels", g, g, Options{ReleaseLabels: []int32{1}}, "1 release labels for 30"},
		{"labels of nobody", g, g, Options{Labels: none}, "no vertex has a label"},
		{"broken graph", g, &community.Graph{Ptr: g.Ptr, Adj: make([]int32, len(g.Adj))}, Options{}, "synthetic graph"},
	} {
		if e, err := Compare(t.Context(), c.a, c.b, c.o); err == nil || e != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, g, g, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestGraphsWithoutEdges(t *testing.T) {
	g, _ := planted(t, 30, 3, 60, 10, 1)
	bare, err := community.FromEdges(30, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]*community.Graph{{g, bare}, {bare, g}, {bare, bare}} {
		e := compare(t, pair[0], pair[1], Options{Repeat: 2})
		if raw, err := json.Marshal(e); err != nil || bytes.Contains(raw, []byte("NaN")) {
			t.Errorf("%v", err)
		}
		if err := e.Text(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	}
}

func TestTextFitsATerminalAndWarns(t *testing.T) {
	a, block := planted(t, 300, 10, 900, 700, 1)
	b, _ := planted(t, 300, 10, 800, 800, 2)
	e := compare(t, a, b, Options{Seed: 2, Repeat: 3, Labels: block, ReleaseLabels: block,
		Statistics: statistics.Options{TriangleWork: -1, Wedges: 1000, PathWork: 1, Sources: 20}})
	e.Vertices, e.Rows[0].Communities = 2_000_000_000, 1_234_567_890
	for i := range e.Quantities {
		e.Quantities[i].Original, e.Quantities[i].Difference = 123_456_789_012, -123_456_789_012
	}
	var out bytes.Buffer
	if err := e.Text(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); len(line) > textWidth || strings.TrimRight(line, " ") != line {
			t.Errorf("%d columns: %q", len(line), line)
		}
		for _, r := range line {
			if r < ' ' || r > '~' {
				t.Errorf("%q is not plain", line)
			}
		}
	}
	if strings.Count(strings.ToLower(text), Notice) != 2 {
		t.Error("the notice does not stand at both ends")
	}
	for _, word := range []string{"singletons", "one community", "permuted labels", "random graph", "ceiling", "highest", "sampled", "lower bound"} {
		if !strings.Contains(text, word) {
			t.Errorf("the text has no %q:\n%s", word, text)
		}
	}
	// Column order: AMI and ARI lead.
	if i, j := strings.Index(text, "AMI     ARI"), strings.Index(text, "Avg-F1"); i < 0 || i > j {
		t.Error("AMI and ARI do not lead")
	}
}
