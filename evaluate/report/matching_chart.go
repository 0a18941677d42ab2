package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/privcom/privcom/evaluate"
)

// heatMap draws which share of each of the original's communities lies in which of
// the release's. Small maps carry the percentages.
func heatMap(id, title, description string, m evaluate.Matching) template.HTML {
	rows, columns := len(m.Original), len(m.Synthetic)
	const left, top = 58, 44
	cell := math.Min(44, float64(canvasWidth-left-4)/float64(columns))
	c := newCanvas(top + cell*float64(rows) + 8)
	c.text(left, 14, "start", "", "communities of the release →")
	c.text(0, top-8, "start", "", "original ↓")
	for j := range columns {
		if columns <= 10 || j%2 == 0 || j == columns-1 {
			c.text(left+cell*(float64(j)+.5), top-8, "middle", "tick", nameOf(j, columns))
		}
	}
	for i, row := range m.Count {
		y := top + cell*float64(i)
		c.text(left-6, y+cell/2+4, "end", "tick", nameOf(i, rows))
		for j, n := range row {
			share := 0.0
			if m.Original[i] > 0 {
				share = float64(n) / float64(m.Original[i])
			}
			x := left + cell*float64(j)
			c.shade(x, y, cell, cell, share, fmt.Sprintf("original %s, release %s: %s of %s vertices",
				nameOf(i, rows), nameOf(j, columns), count(n), count(m.Original[i])))
			if columns <= 10 && share >= 0.005 {
				class := "tick"
				if share > .5 {
					class = "on"
				}
				c.text(x+cell/2, y+cell/2+4, "middle", class, fmt.Sprintf("%.0f", 100*share))
			}
		}
	}
	return c.done(id, title, description)
}

// nameOf numbers communities from 1; the last row and column are the rest.
func nameOf(i, all int) string {
	if i == all-1 {
		return "rest"
	}
	return count(int64(i + 1))
}

// structureChart draws the communities of one graph in a circle, in the order of the
// heat map: area by vertices, ties by edges per pair of vertices. strongest is the
// density of the widest tie, so that two drawings share one scale; ties below a tenth
// of it are left out.
func structureChart(id, title, description string, m evaluate.Mixing, strongest float64, class string) template.HTML {
	const size, radius = 300, 118
	c := newCanvas(size)
	largest := int64(1)
	for _, s := range m.Size {
		largest = max(largest, s)
	}
	place := func(i int) (x, y float64) {
		if len(m.Size) == 1 {
			return canvasWidth / 2, size / 2
		}
		angle := 2*math.Pi*float64(i)/float64(len(m.Size)) - math.Pi/2
		return canvasWidth/2 + radius*math.Cos(angle), size/2 + radius*math.Sin(angle)
	}
	for i := range m.Size {
		for j := range i {
			if d := tie(m, i, j); d > 0.1*strongest {
				x1, y1 := place(i)
				x2, y2 := place(j)
				fmt.Fprintf(&c.b, `<line class="tie" x1="%s" y1="%s" x2="%s" y2="%s" stroke-width="%s" stroke-opacity="%.2f"/>`,
					at(x1), at(y1), at(x2), at(y2), at(.5+3*d/strongest), 0.2+0.8*d/strongest)
			}
		}
	}
	for i, s := range m.Size {
		x, y := place(i)
		r := 4 + 20*math.Sqrt(float64(s)/float64(largest))
		c.circle(x, y, r, class, fmt.Sprintf("community %d: %s vertices, %s edges inside", i+1, count(s), count(m.Edges[i][i])))
		if r > 9 {
			c.text(x, y+4, "middle", "on", count(int64(i+1)))
		}
	}
	return c.done(id, title, description)
}

// tie is the density of edges between two communities.
func tie(m evaluate.Mixing, i, j int) float64 {
	return float64(m.Edges[i][j]) / (float64(m.Size[i]) * float64(m.Size[j]))
}

// strongestTie of several graphs.
func strongestTie(all ...evaluate.Mixing) float64 {
	strongest := 0.0
	for _, m := range all {
		for i := range m.Size {
			for j := range i {
				strongest = math.Max(strongest, tie(m, i, j))
			}
		}
	}
	return strongest
}
