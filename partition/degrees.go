package partition

import (
	"math/bits"
	"slices"
)

// Degrees describe the degree distribution: what is below or at Q50 holds for
// half of the vertices, and so on.
type Degrees struct {
	Min  int64   `json:"min"`
	Q25  int64   `json:"q25"`
	Q50  int64   `json:"q50"`
	Q75  int64   `json:"q75"`
	Q90  int64   `json:"q90"`
	Q99  int64   `json:"q99"`
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
	// Histogram counts vertices of degree 0, 1, 2–3, 4–7, …: entry i > 0 is for
	// [2^(i-1), 2^i).
	Histogram []int64 `json:"histogram"`
}

func (r *rows) degreeSummary() Degrees {
	var sizes []uint32
	for d := range r.histogram {
		sizes = append(sizes, d)
	}
	slices.Sort(sizes)
	out := Degrees{Mean: float64(r.arcs) / float64(max(r.vertices, 1))}
	if len(sizes) == 0 {
		return out
	}
	out.Min, out.Max = int64(sizes[0]), int64(sizes[len(sizes)-1])
	quantiles := []struct {
		percent int64
		to      *int64
	}{{25, &out.Q25}, {50, &out.Q50}, {75, &out.Q75}, {90, &out.Q90}, {99, &out.Q99}}
	seen := int64(0)
	for _, d := range sizes {
		seen += r.histogram[d]
		for len(quantiles) > 0 && 100*seen >= quantiles[0].percent*r.vertices {
			*quantiles[0].to = int64(d)
			quantiles = quantiles[1:]
		}
		bin := histogramBin(d)
		for len(out.Histogram) <= bin {
			out.Histogram = append(out.Histogram, 0)
		}
		out.Histogram[bin] += r.histogram[d]
	}
	return out
}

func histogramBin(degree uint32) int { return bits.Len32(degree) }
