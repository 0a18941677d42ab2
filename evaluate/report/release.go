package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/privcom/privcom/evaluate"
)

// ReleaseReport is what release.html says. It has no room for anything of the
// original graph; every field must be public already.
type ReleaseReport struct {
	Title     string
	Guarantee string // one sentence, as in release.json
	Version   string // tool and version; "" to leave out

	Unit       string // who is protected: node, node-rewire or edge
	Epsilon    float64
	Delta      float64
	Rho        float64 // zCDP; 0 to leave out
	Vertices   int64
	Edges      int64 // of the released graph
	Parameters [][2]string

	// DegreeTable tells what a vertex with so many edges gets; empty where every
	// vertex gets the same.
	DegreeTable []DegreeEpsilon

	// DegreeHistogram of the released graph: [degree, vertices], degrees increasing.
	DegreeHistogram [][2]int64
	CommunitySizes  []int64 // of the released graph, in any order
	Spectrum        []Eigenvalue

	Files    []File
	Notes    []string
	Warnings []string
}

// DegreeEpsilon is one row of the guarantee by degree.
type DegreeEpsilon struct {
	Degree  int64
	Epsilon float64
}

// Eigenvalue is a released eigenvalue and the level that pure noise would reach.
type Eigenvalue struct{ Value, Noise float64 }

// File is one file of the release folder.
type File struct {
	Name   string
	Rows   int64 // −1 where it has none
	Bytes  int64
	SHA256 string
}

//go:embed style.css
var style string

//go:embed release.html
var releasePage string

var functions = template.FuncMap{
	"count": count, "number": number, "score": score, "percent": percent, "bytesOf": bytesOf,
	"style": func() template.CSS { return template.CSS(style) },
	"int64": func(x int) int64 { return int64(x) },
	"table": func(label string, rows []evaluate.Row) map[string]any {
		return map[string]any{"Label": label, "Rows": rows}
	},
}

var releaseTemplate = template.Must(template.New("release").Funcs(functions).Parse(releasePage))

// WriteRelease writes the public page of a release.
func WriteRelease(w io.Writer, r ReleaseReport) error {
	if err := r.validate(); err != nil {
		return fmt.Errorf("report: release page: %w", err)
	}
	r.CommunitySizes = slices.Clone(r.CommunitySizes)
	slices.SortFunc(r.CommunitySizes, func(a, b int64) int { return int(min(1, max(-1, b-a))) })
	return write(w, releaseTemplate, r)
}

// write renders a page whole before it writes a byte.
func write(w io.Writer, t *template.Template, data any) error {
	var page bytes.Buffer
	if err := t.Execute(&page, data); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := w.Write(page.Bytes())
	return err
}

func (r ReleaseReport) validate() error {
	var faults []error
	if strings.TrimSpace(r.Guarantee) == "" {
		faults = append(faults, errors.New("there is no guarantee sentence"))
	}
	for _, f := range []struct {
		name  string
		value float64
	}{{"epsilon", r.Epsilon}, {"delta", r.Delta}, {"rho", r.Rho}} {
		if !finite(f.value) || f.value < 0 {
			faults = append(faults, fmt.Errorf("%s is %v", f.name, f.value))
		}
	}
	for i, e := range r.Spectrum {
		if !finite(e.Value) || !finite(e.Noise) || e.Noise < 0 {
			faults = append(faults, fmt.Errorf("eigenvalue %d is %v with noise %v", i+1, e.Value, e.Noise))
		}
	}
	for _, d := range r.DegreeTable {
		// An infinite ε is an honest statement: no guarantee at this degree.
		if d.Degree < 0 || !(d.Epsilon >= 0) {
			faults = append(faults, fmt.Errorf("epsilon for degree %d is %v", d.Degree, d.Epsilon))
		}
	}
	faults = append(faults, checkHistogram(r.DegreeHistogram)...)
	if r.Vertices < 0 || r.Edges < 0 || slices.ContainsFunc(r.CommunitySizes, func(s int64) bool { return s < 1 }) {
		faults = append(faults, errors.New("a number of vertices or edges is negative, or a community is empty"))
	}
	return errors.Join(faults...)
}

func checkHistogram(h [][2]int64) []error {
	for i, d := range h {
		if d[0] < 0 || d[1] < 0 || i > 0 && d[0] <= h[i-1][0] {
			return []error{fmt.Errorf("the degree histogram has %d vertices of degree %d after degree %d", d[1], d[0], h[max(0, i-1)][0])}
		}
	}
	return nil
}

// EpsilonText and the other methods below serve the template.
func (d DegreeEpsilon) EpsilonText() string {
	if !finite(d.Epsilon) {
		return "no guarantee"
	}
	return number(d.Epsilon)
}

// Isolated counts released vertices without an edge.
func (r ReleaseReport) Isolated() int64 { return isolated(r.DegreeHistogram) }

func isolated(h [][2]int64) int64 {
	if len(h) > 0 && h[0][0] == 0 {
		return h[0][1]
	}
	return 0
}

// MaxDegree of the released graph.
func (r ReleaseReport) MaxDegree() int64 {
	if len(r.DegreeHistogram) == 0 {
		return 0
	}
	return r.DegreeHistogram[len(r.DegreeHistogram)-1][0]
}

// MeanDegree of the released graph.
func (r ReleaseReport) MeanDegree() float64 {
	return 2 * float64(r.Edges) / float64(max(1, r.Vertices))
}

// HasDegrees tells whether some vertex has an edge to draw.
func (r ReleaseReport) HasDegrees() bool { return r.MaxDegree() > 0 }

// DegreeChart draws the released degree distribution.
func (r ReleaseReport) DegreeChart() template.HTML {
	return degreeChart("degrees", "Degrees of the released graph", fmt.Sprintf(
		"Share of vertices with at least so many edges, on logarithmic axes. The mean is %s, the maximum %s; %s vertices have no edge.",
		number(r.MeanDegree()), count(r.MaxDegree()), count(r.Isolated())),
		[]series{{label: "release", class: "first", histogram: r.DegreeHistogram}})
}

// SizeChart draws the released community sizes.
func (r ReleaseReport) SizeChart() template.HTML {
	return sizeChart("sizes", "Community sizes of the released graph", r.SizeSentence(), r.CommunitySizes)
}

// SizeSentence says in words what the chart shows.
func (r ReleaseReport) SizeSentence() string {
	s := r.CommunitySizes
	text := fmt.Sprintf("%s communities; the largest has %s vertices, the middle one %s.", count(int64(len(s))), count(s[0]), count(s[len(s)/2]))
	if len(s) == 1 {
		text = fmt.Sprintf("One community of %s vertices.", count(s[0]))
	}
	if len(s) > barsShown {
		text += fmt.Sprintf(" The chart shows the %d largest.", barsShown)
	}
	return text
}

// SpectrumChart draws the released eigenvalues.
func (r ReleaseReport) SpectrumChart() template.HTML {
	return spectrumChart("spectrum", "Spectrum and noise level", r.SpectrumSentence(), r.Spectrum)
}

// SpectrumSentence says in words what the chart shows.
func (r ReleaseReport) SpectrumSentence() string {
	above := 0
	for _, e := range r.Spectrum {
		if e.Value > e.Noise || -e.Value > e.Noise {
			above++
		}
	}
	return fmt.Sprintf("%d of %d released eigenvalues stand above the noise level; a hollow point is indistinguishable from noise.", above, len(r.Spectrum))
}
