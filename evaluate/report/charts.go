package report

import (
	"fmt"
	"html/template"
	"math"
)

// barsShown is how many communities the chart of sizes shows.
const barsShown = 40

// sizeChart draws community sizes, largest first, as bars from 0.
func sizeChart(id, title, description string, sizes []int64) template.HTML {
	const left, right, top, bottom = 50, 388, 20, 212
	c := newCanvas(256)
	shown := sizes[:min(len(sizes), barsShown)]
	y := scale{from: 0, to: float64(max(1, shown[0])) * 1.05, low: bottom, high: top}
	for _, t := range y.ticks() {
		c.line(left, y.of(t), right, y.of(t), "grid")
		c.text(left-6, y.of(t)+4, "end", "tick", number(t))
	}
	slot := math.Min(float64(right-left)/float64(len(shown)), 34)
	for i, s := range shown {
		c.rect(left+slot*float64(i)+slot*.1, y.of(float64(s)), slot*.8, bottom-y.of(float64(s)), "fill-first",
			fmt.Sprintf("community %d: %s vertices", i+1, count(s)))
	}
	c.line(left, bottom, right, bottom, "axis")
	c.text(left+slot/2, bottom+16, "middle", "tick", "1")
	if last := len(shown); last > 1 {
		c.text(left+slot*(float64(last)-.5), bottom+16, "middle", "tick", count(int64(last)))
	}
	c.text((left+right)/2, bottom+36, "middle", "", "community, largest first")
	c.text(left, top-8, "start", "tick", "vertices")
	return c.done(id, title, description)
}

// spectrumChart draws eigenvalues as lollipops and the level of the noise as a line.
func spectrumChart(id, title, description string, values []Eigenvalue) template.HTML {
	const left, right, top, bottom = 50, 388, 20, 212
	c := newCanvas(256)
	y := scale{low: bottom, high: top}
	for _, v := range values {
		y.from, y.to = min(y.from, v.Value), max(y.to, v.Value, v.Noise)
	}
	if y.from < 0 {
		for _, v := range values {
			y.from = min(y.from, -v.Noise)
		}
	}
	if y.from == y.to {
		y.to = 1
	}
	y.from, y.to = y.from*1.05, y.to*1.05
	for _, t := range y.ticks() {
		c.line(left, y.of(t), right, y.of(t), "grid")
		c.text(left-6, y.of(t)+4, "end", "tick", number(t))
	}
	slot := float64(right-left) / float64(len(values))
	var noise, below [][2]float64
	for i, v := range values {
		x := left + slot*(float64(i)+.5)
		class, line := "fill-first", "first"
		if math.Abs(v.Value) <= v.Noise {
			class, line = "hollow-calm", "range"
		}
		c.line(x, y.of(0), x, y.of(v.Value), line)
		c.circle(x, y.of(v.Value), math.Min(5, slot/2.5), class,
			fmt.Sprintf("eigenvalue %d: %s, noise level %s", i+1, number(v.Value), number(v.Noise)))
		from, to := x-slot/2, x+slot/2
		noise = append(noise, [2]float64{from, y.of(v.Noise)}, [2]float64{to, y.of(v.Noise)})
		below = append(below, [2]float64{from, y.of(-v.Noise)}, [2]float64{to, y.of(-v.Noise)})
		if i == 0 || i == len(values)-1 || len(values) <= 12 {
			c.text(x, bottom+16, "middle", "tick", count(int64(i+1)))
		}
	}
	c.line(left, y.of(0), right, y.of(0), "axis")
	c.path(noise, "noise")
	if y.from < 0 {
		c.path(below, "noise")
	}
	c.text(right, y.of(values[len(values)-1].Noise)-7, "end", "say-second", "noise level")
	c.text((left+right)/2, bottom+36, "middle", "", "eigenvalue, in order")
	return c.done(id, title, description)
}
