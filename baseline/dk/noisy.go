package dk

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/privcom/privcom/baseline/draw"
)

// cell is one entry of a series: its number and its value.
type cell struct {
	at    int64
	value float64
}

// mostEmpty bounds the noisy empty cells that are held at once.
const mostEmpty = 1_000_000

// noisy adds Laplace noise of the given scale to all cells, occupied (sorted by number)
// or empty, and returns those above a level that depends on the scale and the number
// of cells only. The level is 0 where all empty cells can be held.
func noisy(rng *rand.Rand, occupied []cell, cells int64, scale float64) (above []cell, level float64) {
	empty := cells - int64(len(occupied))
	if over := float64(empty) / 2 / mostEmpty; over > 1 {
		level = scale * math.Log(over)
	}
	for _, c := range occupied {
		if c.value += draw.Laplace(rng, scale); c.value > level {
			above = append(above, c)
		}
	}
	taken := func(x int64) bool {
		_, found := slices.BinarySearchFunc(occupied, x, func(c cell, x int64) int { return cmp.Compare(c.at, x) })
		return found
	}
	count := draw.Binomial(rng, empty, draw.LaplaceAbove(level, scale))
	for _, x := range draw.Others(rng, cells, count, empty, taken) {
		above = append(above, cell{x, level + scale*rng.ExpFloat64()}) // an exponential has no memory
	}
	return above, level
}

// project moves the values to the nearest non-negative ones of the given total: each
// loses the same θ ≥ level, and what falls below 0 is left out. Where the values do not
// reach the total they stay as they are.
func project(cells []cell, total, level float64) []cell {
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.at, b.at)) })
	sum, theta := 0.0, level
	for i, c := range cells {
		sum += c.value
		t := (sum - total) / float64(i+1)
		if t >= c.value {
			break
		}
		theta = max(level, t)
	}
	out := cells[:0]
	for _, c := range cells {
		if c.value -= theta; c.value > 0 {
			out = append(out, c)
		}
	}
	return out
}

// whole rounds at random, up or down, so that the expectation stays.
func whole(rng *rand.Rand, x float64) int64 {
	floor := math.Floor(x)
	if rng.Float64() < x-floor {
		floor++
	}
	return int64(floor)
}
