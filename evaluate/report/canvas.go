package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// canvas collects the elements of one drawing. Its coordinates are those of a phone
// screen, so that the text has the size of the page's there; wider screens scale it
// up a little.
type canvas struct {
	b             strings.Builder
	width, height float64
}

// canvasWidth is the width of every drawing in its own units.
const canvasWidth = 400

func newCanvas(height float64) *canvas { return &canvas{width: canvasWidth, height: height} }

// at writes a coordinate with one decimal.
func at(x float64) string {
	s := fmt.Sprintf("%.1f", x)
	return strings.TrimSuffix(s, ".0")
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, at(x1), at(y1), at(x2), at(y2))
}

// text writes s with its anchor start, middle or end.
func (c *canvas) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`,
		class, at(x), at(y), anchor, template.HTMLEscapeString(s))
}

// rect draws a box; a tip, where given, is shown by the pointer.
func (c *canvas) rect(x, y, w, h float64, class, tip string) {
	fmt.Fprintf(&c.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s">%s</rect>`,
		class, at(x), at(y), at(max(w, 0)), at(max(h, 0)), tipOf(tip))
}

// shade draws a cell whose fill is more or less opaque.
func (c *canvas) shade(x, y, w, h, opacity float64, tip string) {
	fmt.Fprintf(&c.b, `<rect class="cell fill-first" x="%s" y="%s" width="%s" height="%s" fill-opacity="%.3f">%s</rect>`,
		at(x), at(y), at(w), at(h), opacity, tipOf(tip))
}

func (c *canvas) circle(x, y, r float64, class, tip string) {
	fmt.Fprintf(&c.b, `<circle class="%s" cx="%s" cy="%s" r="%s">%s</circle>`, class, at(x), at(y), at(r), tipOf(tip))
}

func (c *canvas) path(points [][2]float64, class string) {
	if len(points) == 0 {
		return
	}
	var d strings.Builder
	for i, p := range points {
		letter := "L"
		if i == 0 {
			letter = "M"
		}
		d.WriteString(letter + at(p[0]) + " " + at(p[1]))
	}
	fmt.Fprintf(&c.b, `<path class="%s" d="%s"/>`, class, d.String())
}

func tipOf(s string) string {
	if s == "" {
		return ""
	}
	return "<title>" + template.HTMLEscapeString(s) + "</title>"
}

// done closes the drawing; id must be unique in its page.
func (c *canvas) done(id, title, description string) template.HTML {
	// Every text in c.b went through HTMLEscapeString; the rest are our numbers.
	return template.HTML(fmt.Sprintf(
		`<svg viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		at(c.width), at(c.height), id, id, id, template.HTMLEscapeString(title), id, template.HTMLEscapeString(description), c.b.String()))
}

// scale maps values to coordinates, straight or by logarithm.
type scale struct {
	from, to   float64 // values
	low, high  float64 // coordinates
	logarithms bool
}

func (s scale) of(v float64) float64 {
	a, b := s.from, s.to
	if s.logarithms {
		v, a, b = math.Log(v), math.Log(a), math.Log(b)
	}
	if a == b {
		return (s.low + s.high) / 2
	}
	return s.low + (v-a)/(b-a)*(s.high-s.low)
}

// decades are the powers of ten from s.from to s.to, at most seven of them.
func (s scale) decades() []float64 {
	first, last := math.Ceil(math.Log10(s.from)-1e-9), math.Floor(math.Log10(s.to)+1e-9)
	step := math.Ceil((last - first + 1) / 7)
	var ticks []float64
	for e := first; e <= last; e += step {
		ticks = append(ticks, math.Pow(10, e))
	}
	return ticks
}

// ticks are round numbers from s.from to s.to, about four of them.
func (s scale) ticks() []float64 {
	span := s.to - s.from
	if span <= 0 {
		return []float64{s.from}
	}
	power := math.Pow(10, math.Floor(math.Log10(span/4)))
	step := 10 * power
	for _, m := range [][2]float64{{1.5, 1}, {3, 2}, {7, 5}} {
		if span/4/power <= m[0] {
			step = m[1] * power
			break
		}
	}
	var ticks []float64
	for i := math.Ceil(s.from/step - 1e-9); i <= math.Floor(s.to/step+1e-9); i++ {
		ticks = append(ticks, i*step+0) // + 0 turns −0 into 0
	}
	return ticks
}
