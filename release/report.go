package release

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/privcom/privcom/evaluate/community"
	"github.com/privcom/privcom/evaluate/report"
)

// reportEdges is the size up to which release.html shows communities of the released
// graph: finding them reads the graph back into memory.
const reportEdges = 2_000_000

// report makes release.html from what is in the document and in the released edges.
func (r *runner) report(ctx context.Context) ([]byte, error) {
	d := &r.doc
	page := report.ReleaseReport{
		Title: "Synthetic graph of " + d.Dataset, Guarantee: d.Guarantee.Sentence, Version: d.Tool, Unit: d.Guarantee.Unit.String(),
		Epsilon: d.Guarantee.Epsilon.Float(), Delta: d.Guarantee.Delta.Float(), Rho: d.Guarantee.Rho.Float(),
		Vertices: int64(d.Graph.Vertices), Edges: d.Graph.Edges, Parameters: r.parameterRows(), Warnings: d.Notes,
	}
	for _, row := range d.Guarantee.DegreeTable {
		page.DegreeTable = append(page.DegreeTable, report.DegreeEpsilon{Degree: row.Degree, Epsilon: row.Epsilon.Float()})
	}
	for j, x := range d.Spectrum.Eigenvalues {
		page.Spectrum = append(page.Spectrum, report.Eigenvalue{Value: x, Noise: d.Spectrum.NoiseLevels[j]})
	}
	for _, f := range d.Files {
		rows := f.Rows
		if rows == 0 && f.Key != NodesKey {
			rows = -1
		}
		page.Files = append(page.Files, report.File{Name: f.Key, Rows: rows, Bytes: f.Bytes, SHA256: f.SHA256})
	}
	if d.Graph.Edges > reportEdges {
		page.Notes = append(page.Notes, "Degrees and communities are not drawn for a graph of this size.")
	} else if err := r.drawGraph(ctx, &page); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := report.WriteRelease(&b, page); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// drawGraph adds degrees and communities of the released graph.
func (r *runner) drawGraph(ctx context.Context, page *report.ReleaseReport) error {
	c, err := Read(ctx, r.Out, &r.doc)
	if err != nil {
		return err
	}
	g, err := community.FromEdges(len(c.IDs), c.Source, c.Target)
	if err != nil {
		return err
	}
	count := map[int64]int64{}
	for v := range g.Vertices() {
		count[int64(g.Degree(v))]++
	}
	for d, n := range count {
		page.DegreeHistogram = append(page.DegreeHistogram, [2]int64{d, n})
	}
	slices.SortFunc(page.DegreeHistogram, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	found, err := community.Louvain(ctx, g, community.Options{Seed: r.Params.Seed})
	if err != nil {
		return err
	}
	page.CommunitySizes = make([]int64, found.Count)
	for _, k := range found.Community {
		page.CommunitySizes[k]++
	}
	return nil
}

// parameterRows lists the public parameters as a person reads them.
func (r *runner) parameterRows() [][2]string {
	p := r.plan.Params
	num := func(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }
	rows := [][2]string{
		{"vertices n", strconv.Itoa(p.Vertices)}, {"rank k", strconv.Itoa(p.Rank)}, {"Oja steps T", strconv.Itoa(p.Steps)},
		{"Katz terms 2h+1", strconv.Itoa(p.Katz.Order)}, {"decay β", num(p.Beta())},
		{"row norm μ", num(p.RowNorm)}, {"budget growth g", num(p.Growth)}, {"step factor x", num(p.StepFactor)},
		{"reconstruction", r.Params.reconstruction()}, {"edge target", fmt.Sprintf("%d (%s)", r.doc.Edges.Edges, r.doc.Edges.Source)},
		{"noise N per column", num(r.plan.NoiseNorm)}, {"seed of public randomness", strconv.FormatUint(r.Params.Seed, 10)},
	}
	if p.Unit.PerVertex() {
		rows = append(rows, [2]string{"degree bound D", strconv.FormatInt(p.DegreeBound, 10)})
	}
	if p.ClipStart > 0 {
		rows = append(rows, [2]string{"row clip κ", num(p.ClipStart) + " to " + num(p.ClipEnd)})
	}
	return rows
}
