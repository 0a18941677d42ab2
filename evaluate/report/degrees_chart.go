package report

import (
	"html/template"
	"math"
)

// series is a degree histogram as [degree, vertices] pairs, degrees increasing.
type series struct {
	label     string
	class     string // first or second
	histogram [][2]int64
}

// degreeChart draws, for each series, the share of vertices with at least so many
// edges, both axes logarithmic. Vertices without edges count in the share's base but
// lie off the axis.
func degreeChart(id, title, description string, all []series) template.HTML {
	const left, right, top, bottom = 50, 388, 12, 228
	c := newCanvas(276)
	highest, most := int64(1), int64(1)
	for _, s := range all {
		for _, h := range s.histogram {
			highest = max(highest, h[0])
		}
		most = max(most, vertices(s.histogram))
	}
	x := scale{from: 1, to: max(2, float64(highest)*1.15), low: left, high: right, logarithms: true}
	y := scale{from: 1 / float64(max(most, 10)), to: 1, low: bottom, high: top, logarithms: true}
	for _, t := range y.decades() {
		c.line(left, y.of(t), right, y.of(t), "grid")
		c.text(left-6, y.of(t)+4, "end", "tick", percent(t))
	}
	for _, t := range x.decades() {
		c.line(x.of(t), bottom, x.of(t), bottom+4, "axis")
		c.text(x.of(t), bottom+17, "middle", "tick", count(int64(math.Round(t))))
	}
	c.line(left, bottom, right, bottom, "axis")
	c.text((left+right)/2, bottom+38, "middle", "", "edges of a vertex, at least")
	for i, s := range all {
		c.path(steps(s.histogram, x, y), s.class)
		if len(all) > 1 {
			yy := float64(top + 12 + 18*i)
			c.line(right-92, yy-4, right-68, yy-4, s.class)
			c.text(right-62, yy, "start", "say-"+s.class, s.label)
		}
	}
	return c.done(id, title, description)
}

func vertices(histogram [][2]int64) int64 {
	n := int64(0)
	for _, h := range histogram {
		n += h[1]
	}
	return n
}

// steps is the curve of a histogram's upper sums. Points closer than half a unit to
// the last are left out, which bounds the length of the path.
func steps(histogram [][2]int64, x, y scale) [][2]float64 {
	n := vertices(histogram)
	left := n
	var points [][2]float64
	for _, h := range histogram {
		share := float64(left) / float64(n)
		left -= h[1]
		if h[0] < 1 {
			continue
		}
		p := [2]float64{x.of(float64(h[0])), y.of(share)}
		if len(points) > 0 {
			last := points[len(points)-1]
			if left > 0 && math.Abs(p[0]-last[0])+math.Abs(p[1]-last[1]) < 0.5 {
				continue
			}
			points = append(points, [2]float64{p[0], last[1]})
		}
		points = append(points, p)
	}
	return points
}
