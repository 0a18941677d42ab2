package synthesis

import (
	"math"
	"runtime"
	"sync"
)

// leafTarget is the largest number of rows of a leaf of the tree. Rows are
// visited one by one only where the law is close to certainty, so the leaf
// decides how tight the bound is there; 16 rows of coordinates are 1 KiB at k = 8.
const leafTarget = 16

// A tree holds the rows in the order of a k-d tree over their coordinates, with
// a bound for every node. Node t of level l is the range [⌊tn/2^l⌋, ⌊(t+1)n/2^l⌋)
// of positions; its index is 2^l − 1 + t.
type tree struct {
	n, k  int
	depth int       // level of the leaves
	sign  []float64 // k: score(p,q) = Σ_a sign_a y_pa y_qa
	order []int32   // position → row of the model
	y     []float64 // n×k by position

	// Per node: centre and half widths of the box around its rows (k each).
	bounds []float64
	// Per node: sum of its rows (k); made for estimation only.
	sums []float64
}

func depthFor(n int) int {
	d := 0
	for n>>d > leafTarget {
		d++
	}
	return d
}

func (t *tree) first(level, node int) int { return int(int64(node) * int64(t.n) >> level) }

// buildTree orders the rows. y is moved, not copied. Each split is at the
// middle of the coordinate with the largest variance; equal coordinates are
// ordered by row number, so the order is a function of the coordinates alone.
func buildTree(y, sign []float64, n, k int) *tree {
	t := &tree{n: n, k: k, depth: depthFor(n), sign: sign, order: make([]int32, n), y: y}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	s := &splitter{t: t, keys: make([]key, n), spare: make([]float64, n*k), spareOrder: make([]int32, n)}
	s.room = make(chan struct{}, runtime.GOMAXPROCS(0)-1)
	if k > 0 {
		s.split(0, 0)
	}
	t.computeBounds()
	return t
}

type key struct {
	value float64
	row   int32 // number in the model: breaks ties
	at    int32 // position
}

func (a key) less(b key) bool { return a.value < b.value || (a.value == b.value && a.row < b.row) }

type splitter struct {
	t          *tree
	keys       []key
	spare      []float64
	spareOrder []int32
	room       chan struct{}
}

func (s *splitter) split(level, node int) {
	if level == s.t.depth {
		return
	}
	from, to := s.t.first(level, node), s.t.first(level, node+1)
	middle := s.t.first(level+1, 2*node+1)
	s.partition(from, middle, to)
	if to-from > 1<<15 {
		select {
		case s.room <- struct{}{}:
			var wg sync.WaitGroup
			wg.Go(func() { s.split(level+1, 2*node); <-s.room })
			s.split(level+1, 2*node+1)
			wg.Wait()
			return
		default:
		}
	}
	s.split(level+1, 2*node)
	s.split(level+1, 2*node+1)
}

// partition moves the rows of [from, to) so that those before middle do not
// come after those behind it in the widest coordinate.
func (s *splitter) partition(from, middle, to int) {
	t := s.t
	a := t.widest(from, to)
	keys := s.keys[from:to]
	for i := range keys {
		p := from + i
		keys[i] = key{t.y[p*t.k+a], t.order[p], int32(p)}
	}
	selectKey(keys, middle-from)
	for i, q := range keys {
		p := int(q.at)
		copy(s.spare[(from+i)*t.k:(from+i+1)*t.k], t.y[p*t.k:(p+1)*t.k])
		s.spareOrder[from+i] = q.row
	}
	copy(t.y[from*t.k:to*t.k], s.spare[from*t.k:to*t.k])
	copy(t.order[from:to], s.spareOrder[from:to])
}

// widest returns the coordinate with the largest variance over [from, to).
func (t *tree) widest(from, to int) int {
	sum, square := make([]float64, t.k), make([]float64, t.k)
	origin := t.y[from*t.k : (from+1)*t.k]
	for p := from; p < to; p++ {
		for a, x := range t.y[p*t.k : (p+1)*t.k] {
			d := x - origin[a]
			sum[a] += d
			square[a] += d * d
		}
	}
	best, most := 0, -1.0
	for a := range sum {
		if v := square[a] - sum[a]*sum[a]/float64(to-from); v > most {
			best, most = a, v
		}
	}
	return best
}

// selectKey reorders keys so that keys[:middle] ≤ keys[middle:].
func selectKey(keys []key, middle int) {
	for len(keys) > 1 && middle > 0 && middle < len(keys) {
		pivot := pivotOf(keys)
		i, j := 0, len(keys)-1
		for i <= j {
			for keys[i].less(pivot) {
				i++
			}
			for pivot.less(keys[j]) {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}
		switch { // keys[:j+1] ≤ pivot ≤ keys[i:], between them the pivot itself
		case middle <= j:
			keys = keys[:j+1]
		case middle >= i:
			keys, middle = keys[i:], middle-i
		default:
			return
		}
	}
}

// pivotOf is the median of three medians of three, spread over the keys.
func pivotOf(keys []key) key {
	n := len(keys)
	if n < 9 {
		return median(keys[0], keys[n/2], keys[n-1])
	}
	s := n / 9
	return median(
		median(keys[0], keys[s], keys[2*s]),
		median(keys[3*s], keys[4*s], keys[5*s]),
		median(keys[6*s], keys[7*s], keys[n-1]))
}

func median(a, b, c key) key {
	if b.less(a) {
		a, b = b, a
	}
	if c.less(b) {
		b = c
		if b.less(a) {
			return a
		}
	}
	return b
}

// computeBounds fills in centre and half widths of every node, leaves first.
func (t *tree) computeBounds() {
	t.bounds = make([]float64, ((2<<t.depth)-1)*2*t.k)
	if t.k == 0 || t.n == 0 {
		return
	}
	parallelFor(1<<t.depth, func(leaf int) {
		low, high := t.emptyBox()
		for p := t.first(t.depth, leaf); p < t.first(t.depth, leaf+1); p++ {
			y := t.y[p*t.k : (p+1)*t.k]
			widen(low, high, y, y)
		}
		t.setBox(t.depth, leaf, low, high)
	})
	for level := t.depth - 1; level >= 0; level-- {
		parallelFor(1<<level, func(node int) {
			low, high := t.emptyBox()
			for child := 2 * node; child <= 2*node+1; child++ {
				from, to := t.box(level+1, child)
				widen(low, high, from, to)
			}
			t.setBox(level, node, low, high)
		})
	}
}

func (t *tree) emptyBox() (low, high []float64) {
	low, high = make([]float64, t.k), make([]float64, t.k)
	for a := range t.k {
		low[a], high[a] = math.Inf(1), math.Inf(-1)
	}
	return low, high
}

func widen(low, high, from, to []float64) {
	for a := range low {
		low[a], high[a] = min(low[a], from[a]), max(high[a], to[a])
	}
}

// setBox stores a box, rounded outwards.
func (t *tree) setBox(level, node int, low, high []float64) {
	b := t.at(level, node)
	for a := range t.k {
		centre := low[a] + (high[a]-low[a])/2
		b[a] = centre
		b[t.k+a] = max(high[a]-centre, centre-low[a]) * (1 + 1e-12)
	}
}

// box returns the corners of a node's box.
func (t *tree) box(level, node int) (low, high []float64) {
	b := t.at(level, node)
	low, high = make([]float64, t.k), make([]float64, t.k)
	for a := range t.k {
		low[a], high[a] = b[a]-b[t.k+a], b[a]+b[t.k+a]
	}
	return low, high
}

// computeSums fills in the sums of the rows of every node.
func (t *tree) computeSums() {
	t.sums = make([]float64, ((2<<t.depth)-1)*t.k)
	if t.k == 0 {
		return
	}
	at := func(level, node int) []float64 {
		i := (1<<level - 1 + node) * t.k
		return t.sums[i : i+t.k]
	}
	for leaf := range 1 << t.depth {
		s := at(t.depth, leaf)
		for p := t.first(t.depth, leaf); p < t.first(t.depth, leaf+1); p++ {
			for a, x := range t.y[p*t.k : (p+1)*t.k] {
				s[a] += x
			}
		}
	}
	for level := t.depth - 1; level >= 0; level-- {
		for node := range 1 << level {
			s, x, y := at(level, node), at(level+1, 2*node), at(level+1, 2*node+1)
			for a := range s {
				s[a] = x[a] + y[a]
			}
		}
	}
}

func (t *tree) at(level, node int) []float64 {
	i := (1<<level - 1 + node) * 2 * t.k
	return t.bounds[i : i+2*t.k]
}

// parallelFor calls f for 0..n−1 from as many goroutines as processors.
func parallelFor(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 || n < 64 {
		for i := range n {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				f(i)
			}
		})
	}
	wg.Wait()
}
