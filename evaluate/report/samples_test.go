package report

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/privcom/privcom/evaluate"
	"github.com/privcom/privcom/evaluate/community"
)

// keep writes a page to the folder PRIVCOM_PAGES, for a person to look at.
func keep(t *testing.T, name string, page []byte) {
	t.Helper()
	if folder := os.Getenv("PRIVCOM_PAGES"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name), page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// histogram falls off like degree^−1.6, with some lone vertices.
func histogram(n float64, most int64) [][2]int64 {
	h := [][2]int64{{0, int64(n / 50)}}
	for d := int64(1); d <= most; d++ {
		if c := int64(math.Round(n * .4 * math.Pow(float64(d), -1.6))); c > 0 {
			h = append(h, [2]int64{d, c})
		}
	}
	return append(h, [2]int64{most + 40, 1})
}

func sampleRelease() ReleaseReport {
	r := ReleaseReport{
		Title: "Synthetic graph polblogs-2026-11",
		Guarantee: "With ε = 2 and δ = 1e-5, the released data are almost as likely whether or not any one vertex of degree " +
			"at most 351 had its edges: a person's whole contact list is protected. The list of 1,224 vertices is public.",
		Version: "privcom 0.1.0",
		Unit:    "node", Epsilon: 2, Delta: 1e-5, Rho: 0.0731, Vertices: 1224, Edges: 16715,
		Parameters: [][2]string{{"rank k", "4"}, {"steps T", "32"}, {"row norm μ", "0.5"}, {"row clip c", "6.25"},
			{"reconstruction", "inverse-katz"}, {"public seed", "1"}, {"vertex list", "the input names it"}},
		DegreeTable:     []DegreeEpsilon{{1, 0.21}, {10, 0.58}, {100, 1.4}, {351, 2}, {1000, 4.7}, {1223, math.Inf(1)}},
		DegreeHistogram: histogram(1200, 280),
		CommunitySizes:  []int64{3, 531, 512, 88, 41, 20, 9, 8, 5, 3, 1, 1, 1, 1},
		Spectrum:        []Eigenvalue{{74.1, 21.5}, {60.2, 21.5}, {22.4, 21.5}, {-14.9, 21.5}},
		Files: []File{
			{"edges-00000-of-00002.parquet", 8400, 131_072, "9f63020908ac547ef4c680a717cd690cb8e6b5d664d652e6607ef87e96189bf2"},
			{"nodes.parquet", 1224, 9_200, "b3815a5ab6fd2e20f44837fc675c0a2beccd31fa128b74a812910aa869fad0ef"},
			{"release.json", -1, 812, "11545b8d05d937471f3073f770fe4d50cdb584f0fbe8593317b5a079c7ca99d8"},
		},
		Notes: []string{
			"Vertex names are public: what is protected are the edges.",
			"Counts and degrees of the original graph stand nowhere in this folder.",
		},
		Warnings: []string{"Two of the four eigenvalues are near the noise level: communities beyond the first two may be noise."},
	}
	return r
}

// planted draws a graph with blocks of falling size.
func planted(t testing.TB, n, blocks int, inside, anywhere int, seed uint64) (*community.Graph, []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	place := func() int { f := rng.Float64(); return int(f * f * float64(blocks)) }
	block := make([]int32, n)
	members := make([][]int32, blocks)
	fixed := rand.New(rand.NewPCG(99, 3))
	for v := range block {
		f := fixed.Float64()
		block[v] = int32(f * f * float64(blocks))
		members[block[v]] = append(members[block[v]], int32(v))
	}
	var source, target []int32
	for range inside {
		m := members[place()]
		f := rng.Float64()
		source, target = append(source, m[int(f*f*f*float64(len(m)))]), append(target, m[rng.IntN(len(m))])
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

func sampleEvaluation(t testing.TB, blocks, repeat int) EvaluationReport {
	t.Helper()
	original, block := planted(t, 600, blocks, 4500, 450, 1)
	release, _ := planted(t, 600, blocks, 2250, 2400, 2)
	e, err := evaluate.Compare(t.Context(), original, release, evaluate.Options{Seed: 4, Repeat: repeat, Labels: block, ReleaseLabels: block})
	if err != nil {
		t.Fatal(err)
	}
	return EvaluationReport{Title: "Evaluation of polblogs-2026-11", Original: "polblogs.gml", Synthetic: "out/r1",
		Version: "privcom 0.1.0", Evaluation: e, Notes: []string{"Labels: attribute value of polblogs.gml."}}
}

func TestSamples(t *testing.T) {
	for name, r := range map[string]EvaluationReport{"evaluation.html": sampleEvaluation(t, 7, 5), "evaluation-many.html": sampleEvaluation(t, 40, 1)} {
		var page bytes.Buffer
		if err := WriteEvaluation(&page, r); err != nil {
			t.Fatal(err)
		}
		keep(t, name, page.Bytes())
	}
	var page bytes.Buffer
	if err := WriteRelease(&page, sampleRelease()); err != nil {
		t.Fatal(err)
	}
	keep(t, "release.html", page.Bytes())
}
