package report

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/privcom/privcom/evaluate"
)

// EvaluationReport is what evaluation.html says. It is private.
type EvaluationReport struct {
	Title      string
	Original   string // what the original is called
	Synthetic  string // what the release is called
	Version    string // tool and version; "" to leave out
	Evaluation *evaluate.Evaluation
	Notes      []string
}

//go:embed evaluation.html
var evaluationPage string

var evaluationTemplate = template.Must(template.New("evaluation").Funcs(functions).Parse(evaluationPage))

// WriteEvaluation writes the private page that compares a release with the original.
func WriteEvaluation(w io.Writer, r EvaluationReport) error {
	if err := r.validate(); err != nil {
		return fmt.Errorf("report: evaluation page: %w", err)
	}
	return write(w, evaluationTemplate, r)
}

func (r EvaluationReport) validate() error {
	e := r.Evaluation
	if e == nil || len(e.Rows) == 0 {
		return errors.New("there is no evaluation")
	}
	var faults []error
	rows := e.Rows
	if e.Labels != nil {
		rows = append(rows[:len(rows):len(rows)], e.Labels.Rows...)
	}
	for _, row := range rows {
		for _, v := range []float64{row.AMI, row.ARI, row.NMI, row.AvgF1Detected, row.AvgF1Truth, row.AvgF1Weighted, row.PairwiseF1, row.Modularity} {
			if !finite(v) {
				faults = append(faults, fmt.Errorf("the row %q holds %v", row.Name, v))
				break
			}
		}
	}
	for _, h := range [][][2]int64{e.Degrees.HistogramFrom, e.Degrees.HistogramTo} {
		faults = append(faults, checkHistogram(h)...)
	}
	m := e.Matching
	for i := range m.Count {
		if len(m.Count) != len(m.Original) || len(m.Count[i]) != len(m.Synthetic) {
			faults = append(faults, errors.New("the heat map is not a whole table"))
			break
		}
	}
	for _, s := range []evaluate.Mixing{e.Structure.Original, e.Structure.Synthetic} {
		if len(s.Edges) != len(s.Size) {
			faults = append(faults, errors.New("the ties between communities are not a whole table"))
		}
	}
	return errors.Join(faults...)
}

// Notice, Why and the other methods below serve the template.
func (r EvaluationReport) Notice() string {
	return strings.ToUpper(evaluate.Notice[:1]) + evaluate.Notice[1:]
}

// Why explains the yardsticks.
func (r EvaluationReport) Why() string { return evaluate.Why }

// Yardstick finds a row by name.
func (r EvaluationReport) Yardstick(name string) *evaluate.Row {
	for i := range r.Evaluation.Rows {
		if r.Evaluation.Rows[i].Name == name {
			return &r.Evaluation.Rows[i]
		}
	}
	return nil
}

// Verdict says in a sentence how much of what could be kept was kept.
func (r EvaluationReport) Verdict() string {
	release, ceiling := r.Evaluation.Rows[0], r.Yardstick("ceiling")
	if ceiling == nil || ceiling.AMI <= 0.05 {
		return "The original shows no communities that two runs agree on, so there is little to keep."
	}
	kept := math.Max(0, release.AMI/ceiling.AMI)
	return fmt.Sprintf("By AMI the release keeps %s of what a second run on the original keeps (%s of %s); chance keeps none.",
		percent(math.Min(1, kept)), score(release.AMI), score(ceiling.AMI))
}

// ScoreChart draws AMI and ARI of the rows against the original's communities.
func (r EvaluationReport) ScoreChart() template.HTML {
	return scoreChart("scores", "AMI and ARI of the release and its yardsticks", r.Verdict(), r.Evaluation.Rows)
}

// LabelChart draws the same against ground-truth labels.
func (r EvaluationReport) LabelChart() template.HTML {
	return scoreChart("label-scores", "AMI and ARI against ground-truth labels", "The figures stand in the table beside.", r.Evaluation.Labels.Rows)
}

// ModularityChart draws the modularities side by side.
func (r EvaluationReport) ModularityChart() template.HTML {
	e := r.Evaluation
	bars := []bar{
		{"original, its own communities", "fill-second", e.ModularityOriginal},
		{"release, its own communities", "fill-first", e.ModularitySynthetic},
		{"release's communities on the original", "fill-first", e.ModularityDetected},
	}
	if random := r.Yardstick("random graph"); random != nil {
		bars = append(bars, bar{"random graph's communities on the original", "fill-calm", random.Modularity})
	}
	return barChart("modularity", "Modularity", fmt.Sprintf("Original %s, release %s, the release's communities on the original %s.",
		score(e.ModularityOriginal), score(e.ModularitySynthetic), score(e.ModularityDetected)), bars)
}

// HasDegrees tells whether there is an edge to draw.
func (r EvaluationReport) HasDegrees() bool { return r.Evaluation.Degrees.Max.Original > 0 }

// DegreeChart lays both degree distributions over each other.
func (r EvaluationReport) DegreeChart() template.HTML {
	d := r.Evaluation.Degrees
	return degreeChart("degrees", "Degrees of both graphs", fmt.Sprintf(
		"Share of vertices with at least so many edges. Means %s and %s, maxima %s and %s.",
		number(d.Mean.Original), number(d.Mean.Synthetic), number(d.Max.Original), number(d.Max.Synthetic)),
		[]series{{"original", "second", d.HistogramFrom}, {"release", "first", d.HistogramTo}})
}

// MatchingChart draws the heat map.
func (r EvaluationReport) MatchingChart() template.HTML {
	return heatMap("matching", "Where the original's communities went",
		"Each row is a community of the original, largest first; a dark cell means that much of it lies in that community of the release. The counts stand in the table below.",
		r.Evaluation.Matching)
}

// StructureOriginal draws the original's communities.
func (r EvaluationReport) StructureOriginal() template.HTML {
	return structureChart("structure-original", "Communities of the original",
		"Circles by number of vertices, ties by density of edges between communities.", r.Evaluation.Structure.Original, r.strongest(), "fill-second")
}

// StructureSynthetic draws the release's communities.
func (r EvaluationReport) StructureSynthetic() template.HTML {
	return structureChart("structure-release", "Communities of the release",
		"Circles by number of vertices, ties by density of edges between communities, in the order of the heat map.", r.Evaluation.Structure.Synthetic, r.strongest(), "fill-first")
}

func (r EvaluationReport) strongest() float64 {
	return strongestTie(r.Evaluation.Structure.Original, r.Evaluation.Structure.Synthetic)
}

// MatchingName names a row or column of the heat map.
func (r EvaluationReport) MatchingName(i int, all []int64) string { return nameOf(i, len(all)) }
