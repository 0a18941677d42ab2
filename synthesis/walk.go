package synthesis

import "math"

// A segment is a run of positions [from, to) and a bound on the score of a given
// row with each of them. node is the index of the node that it is, or −1 where
// it is a part of one.
type segment struct {
	from, to, node int
	bound          float64
}

// certain is the rate per pair from which a segment's pairs are looked at one
// by one: thinning would draw the same pair again and again.
const certain = 0.5

// enough is the expected number of candidates at or below which a node is not
// split further: looking at two children costs about as much as one candidate.
const enough = 1.0

// A walker finds the segments of one row after another. It is not for use by
// several goroutines at a time.
type walker struct {
	t     *tree
	w     []float64 // sign·y of the row
	slack float64
	spans []segment
	stack []nodeAt
}

type nodeAt struct{ level, node int }

func newWalker(t *tree) *walker {
	return &walker{t: t, w: make([]float64, t.k), slack: float64(4*t.k) * 0x1p-52}
}

// segments covers the positions behind p by segments outside of which every
// score with p is ≤ 0. Nodes are split while more than `enough` candidates are
// expected at the given rate per unit of score. The result lasts until the
// next call.
func (w *walker) segments(p int, rate float64) []segment {
	t := w.t
	w.spans = w.spans[:0]
	for a, x := range t.y[p*t.k : (p+1)*t.k] {
		w.w[a] = t.sign[a] * x
	}
	if t.k == 0 {
		return nil
	}
	w.stack = append(w.stack[:0], nodeAt{0, 0})
	for len(w.stack) > 0 {
		at := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		from, to := max(p+1, t.first(at.level, at.node)), t.first(at.level, at.node+1)
		if from >= to {
			continue
		}
		bound := w.bound(at.level, at.node)
		switch {
		case bound <= 0:
		case at.level < t.depth && rate*bound*float64(to-from) > enough:
			w.stack = append(w.stack, nodeAt{at.level + 1, 2*at.node + 1}, nodeAt{at.level + 1, 2 * at.node})
		default:
			node := 1<<at.level - 1 + at.node
			if from > t.first(at.level, at.node) {
				node = -1
			}
			w.spans = append(w.spans, segment{from, to, node, bound})
		}
	}
	return w.spans
}

// bound is an upper bound of the row's score with any row of the node:
// w·y ≤ w·c + Σ_a |w_a|h_a for every y of the box with centre c and half widths h.
func (w *walker) bound(level, node int) float64 {
	k := w.t.k
	i := (1<<level - 1 + node) * 2 * k
	centre := w.t.bounds[i : i+k]
	half := w.t.bounds[i+k : i+2*k]
	half = half[:len(centre)]
	middle, spread, scale := 0.0, 0.0, 0.0
	for a, x := range w.w[:len(centre)] {
		m := float64(x * centre[a])
		middle += m
		scale += math.Abs(m)
		spread += float64(math.Abs(x) * half[a])
	}
	// Rounding of the sums here and in score: fewer than 4k operations.
	return middle + spread + w.slack*(scale+spread)
}

// score is the exact score of the walker's row with position q.
func (w *walker) score(q int) float64 {
	k := w.t.k
	y := w.t.y[q*k : q*k+k]
	sum := 0.0
	for a, x := range w.w {
		sum += float64(x * y[a])
	}
	return sum
}
