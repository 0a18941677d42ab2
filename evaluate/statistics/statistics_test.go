package statistics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/privcom/privcom/evaluate/community"
)

func readPairs(t testing.TB, name string, n int) *community.Graph {
	t.Helper()
	raw, err := os.ReadFile("../community/testdata/" + name + ".pairs")
	if err != nil {
		t.Fatal(err)
	}
	var source, target []int32
	for line := range bytes.Lines(raw) {
		var u, v int32
		if line[0] == '#' {
			continue
		}
		if _, err := fmt.Sscan(string(line), &u, &v); err != nil {
			t.Fatal(err)
		}
		source, target = append(source, u), append(target, v)
	}
	return build(t, n, source, target)
}

func build(t interface{ Fatal(...any) }, n int, source, target []int32) *community.Graph {
	g, err := community.FromEdges(n, source, target)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// random draws a graph of n vertices with up to m edges.
func random(t testing.TB, n, m int, seed uint64) *community.Graph {
	rng := rand.New(rand.NewPCG(seed, 1))
	source, target := make([]int32, m), make([]int32, m)
	for i := range source {
		// Squared: early vertices are hubs.
		x := rng.Float64()
		source[i], target[i] = int32(x*x*float64(n)), int32(rng.IntN(n))
	}
	return build(t, n, source, target)
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// Reference values by igraph 0.10.2.
var known = []struct {
	name                             string
	n                                int
	triangles                        float64
	global, average                  float64
	diameter                         int
	path, assortativity, centralityA float64
}{
	{"karate", 34, 45, 0.255681818182, 0.570638478208, 5, 2.408199643494, -0.475613097685, 0.355491444525},
	{"polbooks", 105, 560, 0.348403152219, 0.487526791232, 7, 3.078754578755, -0.127896009667, 0.016790919303},
	{"football", 115, 810, 0.407239819005, 0.403216011042, 4, 2.508161708619, 0.162442249574, 0.106504752186},
}

func TestStatisticsEqualReference(t *testing.T) {
	for _, k := range known {
		g := readPairs(t, k.name, k.n)
		c, err := ClusteringOf(t.Context(), g, Options{})
		if err != nil || !c.Exact || c.Triangles != k.triangles || !near(c.Global, k.global, 1e-11) || !near(c.Average, k.average, 1e-11) {
			t.Errorf("%s: clustering %+v, %v", k.name, c, err)
		}
		p, err := PathsOf(t.Context(), g, Options{})
		if err != nil || !p.Exact || p.Diameter != k.diameter || !near(p.Average, k.path, 1e-11) || p.Components != 1 || p.LargestComponent != k.n {
			t.Errorf("%s: paths %+v, %v", k.name, p, err)
		}
		if a := Assortativity(g); !near(a, k.assortativity, 1e-11) {
			t.Errorf("%s: assortativity %v, want %v", k.name, a, k.assortativity)
		}
		x, _, err := EigenvectorCentrality(t.Context(), g)
		if err != nil || !near(x[0], k.centralityA, 1e-7) {
			t.Errorf("%s: centrality of vertex 0 is %v, want %v (%v)", k.name, x[0], k.centralityA, err)
		}
	}
}

func TestTrianglesEqualEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "n")
		end := rapid.Int32Range(0, int32(n-1))
		m := rapid.IntRange(0, 60).Draw(t, "m")
		g := build(t, n, rapid.SliceOfN(end, m, m).Draw(t, "source"), rapid.SliceOfN(end, m, m).Draw(t, "target"))
		want := 0.0
		for a := range int32(n) {
			for b := range a {
				for c := range b {
					if g.HasArc(a, b) && g.HasArc(b, c) && g.HasArc(a, c) {
						want++
					}
				}
			}
		}
		got, err := ClusteringOf(context.Background(), g, Options{})
		if err != nil || got.Triangles != want {
			t.Fatalf("%v triangles, want %v (%v)", got.Triangles, want, err)
		}
	})
}

// Each of the two estimates falls outside five standard errors with probability
// below 6e-7, and the seeds are fixed.
func TestSampledClusteringIsWithinItsError(t *testing.T) {
	g := random(t, 400, 6000, 2)
	exact, err := ClusteringOf(t.Context(), g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(5) {
		s, err := ClusteringOf(t.Context(), g, Options{Seed: seed, TriangleWork: -1, Wedges: 20_000})
		if err != nil || s.Exact || s.GlobalError <= 0 || s.AverageError <= 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		if !near(s.Global, exact.Global, 5*s.GlobalError) || !near(s.Average, exact.Average, 5*s.AverageError) {
			t.Errorf("seed %d: sampled %+v, exact %+v", seed, s, exact)
		}
	}
}

func TestPathsEqualFloydWarshall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "n")
		end := rapid.Int32Range(0, int32(n-1))
		m := rapid.IntRange(0, 20).Draw(t, "m")
		g := build(t, n, rapid.SliceOfN(end, m, m).Draw(t, "source"), rapid.SliceOfN(end, m, m).Draw(t, "target"))
		const far = 1 << 20
		d := make([][]int, n)
		for u := range d {
			d[u] = make([]int, n)
			for v := range d[u] {
				if d[u][v] = far; u == v {
					d[u][v] = 0
				} else if g.HasArc(int32(u), int32(v)) {
					d[u][v] = 1
				}
			}
		}
		for k := range n {
			for u := range n {
				for v := range n {
					d[u][v] = min(d[u][v], d[u][k]+d[k][v])
				}
			}
		}
		sum, pairs, diameter := 0, 0, 0
		for u := range n {
			for v := range n {
				if u != v && d[u][v] < far {
					sum, pairs, diameter = sum+d[u][v], pairs+1, max(diameter, d[u][v])
				}
			}
		}
		p, err := PathsOf(context.Background(), g, Options{})
		if err != nil || p.Diameter != diameter || !near(p.Average*float64(pairs), float64(sum), 1e-9) {
			t.Fatalf("%+v, want diameter %d, sum %d over %d pairs (%v)", p, diameter, sum, pairs, err)
		}
	})
}

// Five seeds at five standard errors: false alarm below 3e-6.
func TestSampledPathsAreWithinTheirError(t *testing.T) {
	g := random(t, 2000, 3000, 3)
	exact, err := PathsOf(t.Context(), g, Options{})
	if err != nil || !exact.Exact {
		t.Fatal(exact.Exact, err)
	}
	for seed := range uint64(5) {
		s, err := PathsOf(t.Context(), g, Options{Seed: seed, PathWork: 1, Sources: 200})
		if err != nil || s.Exact || s.Sources != 200 || s.Error <= 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		if !near(s.Average, exact.Average, 5*s.Error) || s.Diameter > exact.Diameter || s.Diameter < exact.Diameter-2 {
			t.Errorf("seed %d: sampled average %v ± %v diameter %d, exact %v, %d", seed, s.Average, s.Error, s.Diameter, exact.Average, exact.Diameter)
		}
	}
}

func TestDegreesAndDivergence(t *testing.T) {
	star := build(t, 6, []int32{0, 0, 0, 0}, []int32{1, 2, 3, 4})
	d := DegreesOf(star)
	if d.Mean != 8.0/6 || d.Max != 4 || d.Isolated != 1 || !near(d.Variance, 20.0/6-64.0/36, 1e-12) {
		t.Errorf("star: %+v", d)
	}
	if h := Histogram(star); !slices.Equal(h, []int64{1, 4, 0, 0, 1}) {
		t.Errorf("histogram %v", h)
	}
	if same := Diverge([]int64{1, 2, 3}, []int64{2, 4, 6, 0}); same.L1 > 1e-15 || same.KS > 1e-15 || same.KL < 0 || same.KL > 0.02 {
		t.Errorf("equal distributions diverge: %+v", same)
	}
	if apart := Diverge([]int64{4, 0}, []int64{0, 4}); apart.L1 != 2 || apart.KS != 1 || !near(apart.KL, 0.8*math.Log(9), 1e-12) {
		t.Errorf("disjoint distributions: %+v, KL should be 0.9·ln 9 + 0.1·ln(1/9)", apart)
	}
	if none := Diverge(nil, []int64{1}); none != (Divergence{}) {
		t.Errorf("no vertices: %+v", none)
	}
}

func TestRegularAndEmptyGraphs(t *testing.T) {
	ring := build(t, 5, []int32{0, 1, 2, 3, 4}, []int32{1, 2, 3, 4, 0})
	if a := Assortativity(ring); a != 0 {
		t.Errorf("assortativity of a ring is %v, want 0 by convention", a)
	}
	x, _, err := EigenvectorCentrality(t.Context(), ring)
	if err != nil || !near(x[0], 1/math.Sqrt(5), 1e-12) || Correlation(x, x) != 0 {
		t.Errorf("centrality of a ring %v, %v", x, err)
	}
	// A star is bipartite: without the shift the iteration would oscillate.
	star := build(t, 5, []int32{0, 0, 0, 0}, []int32{1, 2, 3, 4})
	if x, last, _ := EigenvectorCentrality(t.Context(), star); !near(x[0], math.Sqrt(0.5), 1e-8) || last > 1e-11 {
		t.Errorf("centrality of a star's centre %v, want √½", x[0])
	}
	if Correlation([]float64{1, 2, 3}, []float64{2, 4, 6}) < 1-1e-12 || MeanAbsolute([]float64{1, 2}, []float64{2, 4}) != 1.5 {
		t.Error("correlation or mean absolute difference is wrong")
	}
	for _, n := range []int{0, 3} {
		g := build(t, n, nil, nil)
		c, err := ClusteringOf(t.Context(), g, Options{})
		p, perr := PathsOf(t.Context(), g, Options{})
		s, serr := ClusteringOf(t.Context(), g, Options{TriangleWork: -1})
		if errors.Join(err, perr, serr) != nil || c.Global != 0 || s.Global != 0 || p.Average != 0 || p.Components != n {
			t.Errorf("%d lone vertices: %+v, %+v, %+v", n, c, p, s)
		}
		if d := DegreesOf(g); d.Mean != 0 || d.Isolated != n || Assortativity(g) != 0 {
			t.Errorf("%d lone vertices: %+v", n, d)
		}
	}
}

func TestCancellation(t *testing.T) {
	g := random(t, 300, 900, 4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, exact := ClusteringOf(ctx, g, Options{})
	_, sampled := ClusteringOf(ctx, g, Options{TriangleWork: -1})
	_, paths := PathsOf(ctx, g, Options{})
	_, _, centrality := EigenvectorCentrality(ctx, g)
	for name, err := range map[string]error{"triangles": exact, "wedges": sampled, "paths": paths, "centrality": centrality} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkTriangles(b *testing.B) {
	g := random(b, 200_000, 2_000_000, 1)
	for b.Loop() {
		if c, err := ClusteringOf(b.Context(), g, Options{}); err != nil || !c.Exact {
			b.Fatal(c, err)
		}
	}
	b.ReportMetric(float64(g.Edges())*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
}

func BenchmarkPaths(b *testing.B) {
	g := random(b, 200_000, 2_000_000, 1)
	for b.Loop() {
		if _, err := PathsOf(b.Context(), g, Options{Sources: 64}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(64*float64(g.Arcs())*float64(b.N)/b.Elapsed().Seconds(), "arcs/s")
}
