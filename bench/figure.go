package bench

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// series is a line of the drawing.
type series struct {
	method, unit, name, colour, dash string
}

var paperSeries = []series{
	{PrivCom, "edge", "PrivCom, edge", "#1d6396", ""},
	{PrivComOne, "edge", "PrivCom, edge, k = 1", "#1d6396", "6 3"},
	{PrivCom, "node", "PrivCom, node", "#2e7d32", ""},
	{PaperProfile, "node", "paper's constants, node", "#2e7d32", "2 3"},
	{"hrg", "edge", "HRG, edge", "#a8480f", ""},
	{"dk2", "edge", "dK-2, edge, ε = 5, 10, 15, 20 in place of these", "#6a3d9a", ""},
}

const (
	panelWidth, panelHeight, margin = 300.0, 190.0, 48.0
)

// PaperFigure draws the paper's comparison: a column per graph, the paper's measure above, AMI
// below, with the rows that know nothing as grey lines and the ceiling dashed.
func PaperFigure(rows []Row, graphs []string) []byte {
	var b strings.Builder
	width := max(760, margin+float64(len(graphs))*(panelWidth+margin)) // the legend needs 760
	legend := 2*(panelHeight+margin) + 34
	height := legend + 20*math.Ceil(float64(len(paperSeries))/2) + 44
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12" role="img" aria-labelledby="t d">`+"\n",
		width, height, width, height)
	b.WriteString(`<title id="t">The paper's comparison, repeated</title><desc id="d">Average F1 and AMI of the communities of released graphs against those of the original, by privacy budget; the figures stand in table.txt.</desc>` + "\n")
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="#fff"/>`+"\n", width, height)
	for column, g := range graphs {
		for line, measure := range []string{"avg_f1", "ami"} {
			x, y := margin+float64(column)*(panelWidth+margin), 30+float64(line)*(panelHeight+margin)
			panel(&b, rows, g, measure, x, y)
		}
	}
	for i, s := range paperSeries {
		x, y := margin+float64(i%2)*340, legend+20*float64(i/2)
		fmt.Fprintf(&b, `<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f" stroke="%s" stroke-width="2" stroke-dasharray="%s"/><text x="%.0f" y="%.0f">%s</text>`+"\n",
			x, y-4, x+34, y-4, s.colour, s.dash, x+42, y, html.EscapeString(s.name))
	}
	fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" fill="#555">grey: one community, random graph; grey dashes: a second run on the original. %s</text>`+"\n",
		margin, height-14, html.EscapeString(Notice))
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// panel draws one graph and measure with its corner at x, y.
func panel(b *strings.Builder, rows []Row, graph, measure string, x, y float64) {
	title := map[string]string{"avg_f1": "Avg-F1", "ami": "AMI"}[measure]
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-weight="bold">%s: %s</text>`+"\n", x, y-8, html.EscapeString(graph), title)
	fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" fill="none" stroke="#999"/>`+"\n", x, y, panelWidth, panelHeight)
	at := func(level int, value float64) (float64, float64) {
		return x + panelWidth*(float64(level)-0.5)/4, y + panelHeight*(1-min(max(value, 0), 1))
	}
	for _, tick := range []float64{0, 0.25, 0.5, 0.75, 1} {
		_, ty := at(1, tick)
		fmt.Fprintf(b, `<text x="%.0f" y="%.1f" text-anchor="end" fill="#555">%g</text><line x1="%.0f" y1="%.1f" x2="%.0f" y2="%.1f" stroke="#eee"/>`+"\n",
			x-4, ty+4, tick, x, ty, x+panelWidth, ty)
	}
	for level, e := range []string{"0.1", "0.5", "1", "1.5"} {
		tx, _ := at(level+1, 0)
		fmt.Fprintf(b, `<text x="%.1f" y="%.0f" text-anchor="middle" fill="#555">ε = %s</text>`+"\n", tx, y+panelHeight+16, e)
	}
	for _, r := range rows {
		if r.Experiment != Yardsticks || r.Graph != graph || r.Method == Singletons {
			continue
		}
		dash := ""
		if r.Method == Ceiling {
			dash = "6 4"
		}
		_, ty := at(1, r.Mean[measure])
		fmt.Fprintf(b, `<line x1="%.0f" y1="%.1f" x2="%.0f" y2="%.1f" stroke="#999" stroke-dasharray="%s"><title>%s: %.3f</title></line>`+"\n",
			x, ty, x+panelWidth, ty, dash, r.Method, r.Mean[measure])
	}
	for _, s := range paperSeries {
		var points []Row
		for _, r := range rows {
			if _, known := r.Mean[measure]; known && r.Experiment == Figure && r.Graph == graph && r.Method == s.method && r.Unit == s.unit {
				points = append(points, r)
			}
		}
		slices.SortStableFunc(points, func(a, b Row) int { return a.Level - b.Level })
		var line strings.Builder
		for _, r := range points {
			px, py := at(r.Level, r.Mean[measure])
			fmt.Fprintf(&line, "%.1f,%.1f ", px, py)
			low, high := r.Mean[measure]-r.StdDev[measure], r.Mean[measure]+r.StdDev[measure]
			_, ly := at(r.Level, low)
			_, hy := at(r.Level, high)
			fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/><circle cx="%.1f" cy="%.1f" r="3" fill="%s"><title>%s, ε = %g: %.3f ± %.3f</title></circle>`+"\n",
				px, ly, px, hy, s.colour, px, py, s.colour, html.EscapeString(s.name), r.Epsilon, r.Mean[measure], r.StdDev[measure])
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", strings.TrimSpace(line.String()), s.colour, s.dash)
	}
}
