package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/privcom/privcom/evaluate"
)

// scoreChart draws AMI and ARI of every row on one line each, with the spread over
// the runs where there is one.
func scoreChart(id, title, description string, rows []evaluate.Row) template.HTML {
	const left, right, top, pitch = 146, 386, 26, 30
	bottom := float64(top + pitch*len(rows))
	c := newCanvas(bottom + 40)
	x := scale{from: 0, to: 1, low: left, high: right}
	for _, r := range rows {
		for _, v := range []float64{r.AMI, r.ARI} {
			x.from = math.Min(x.from, math.Floor(v*10)/10)
		}
	}
	if x.from > -0.05 {
		x.from = -0.05
	}
	for _, t := range []float64{0, .25, .5, .75, 1} {
		c.line(x.of(t), top, x.of(t), bottom, "grid")
		c.text(x.of(t), bottom+16, "middle", "tick", number(t))
	}
	c.circle(left+8, 10, 5, "fill-first", "")
	c.text(left+18, 14, "start", "", "AMI")
	c.circle(left+68, 10, 5, "hollow", "")
	c.text(left+78, 14, "start", "", "ARI")
	for i, r := range rows {
		y := float64(top + pitch*i + pitch/2)
		class, hollow, name := "fill-calm", "hollow-calm", "tick"
		if r.Kind == evaluate.KindRelease {
			class, hollow, name = "fill-first", "hollow", ""
		}
		c.text(left-10, y+4, "end", name, r.Name)
		if r.Low != nil {
			c.line(x.of(r.Low.AMI), y-5, x.of(r.High.AMI), y-5, "range")
			c.line(x.of(r.Low.ARI), y+5, x.of(r.High.ARI), y+5, "range")
		}
		c.circle(x.of(r.AMI), y-5, 5, class, fmt.Sprintf("%s: AMI %s", r.Name, score(r.AMI)))
		c.circle(x.of(r.ARI), y+5, 5, hollow, fmt.Sprintf("%s: ARI %s", r.Name, score(r.ARI)))
	}
	c.text((left+right)/2, bottom+34, "middle", "", "0: chance, 1: the same communities")
	return c.done(id, title, description)
}

// bar is one line of modularityChart.
type bar struct {
	label, class string
	value        float64
}

// barChart draws labelled horizontal bars from 0, which may run to the left.
func barChart(id, title, description string, bars []bar) template.HTML {
	const left, right, pitch = 4, 340, 44
	c := newCanvas(float64(pitch*len(bars) + 4))
	x := scale{from: 0, to: 0, low: left, high: right}
	for _, b := range bars {
		x.from, x.to = math.Min(x.from, b.value), math.Max(x.to, b.value)
	}
	if x.to == x.from {
		x.to = 1
	}
	for i, b := range bars {
		y := float64(pitch * i)
		c.text(left, y+14, "start", "", b.label)
		from, to := x.of(math.Min(0, b.value)), x.of(math.Max(0, b.value))
		c.rect(from, y+20, to-from, 14, b.class, "")
		c.line(x.of(0), y+18, x.of(0), y+36, "axis")
		c.text(math.Max(to, x.of(0))+6, y+32, "start", "tick", score(b.value))
	}
	return c.done(id, title, description)
}
