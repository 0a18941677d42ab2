package generate

import (
	"math/rand/v2"
	"slices"
)

// wiring makes simple graphs with given degrees: from stubs, flat pairs of
// vertices that become edges.
type wiring struct {
	stubs []int32 // reused between runs
	set   pairSet // the edges
	bad   [][2]int32
	lost  int64 // pairs left out so far
}

// swapAttempts bounds the search of an exchange for one bad pair.
const swapAttempts = 200

// connect draws a graph in which vertex v has count[v] neighbours: a
// configuration model with repairs, which works but for communities that are
// nearly complete graphs; those get Havel and Hakimi's graph, whose edges then
// swap ends at random. Only degrees that no graph has are not reached.
func (w *wiring) connect(rng *rand.Rand, vertices, count []int32, emit func(u, v int64) error) error {
	w.stubs = appendStubs(w.stubs[:0], vertices, count)
	good, lost := w.pairUp(rng, nil)
	if lost > 0 {
		good, lost = w.havelHakimi(vertices, count)
		for range mixesPerEdge * (good / 2) {
			w.mix(rng, w.stubs[:good], nil)
		}
	}
	w.lost += lost
	return emitPairs(w.stubs[:good], emit)
}

// mixesPerEdge is how often the edges of a Havel-Hakimi graph try to swap, a
// customary length of the chain (Milo et al. 2003 find 100·m ample, 10·m close).
const mixesPerEdge = 10

// connectAcross draws the edges between communities.
func (w *wiring) connectAcross(rng *rand.Rand, vertices, count, label []int32, emit func(u, v int64) error) error {
	total := 0
	for _, v := range vertices {
		total += int(count[v])
	}
	w.stubs = appendStubs(slices.Grow(w.stubs[:0], total), vertices, count)
	good, lost := w.pairUp(rng, label)
	w.lost += lost
	return emitPairs(w.stubs[:good], emit)
}

func appendStubs(stubs, vertices, count []int32) []int32 {
	for _, v := range vertices {
		for range count[v] {
			stubs = append(stubs, v)
		}
	}
	return stubs
}

func emitPairs(pairs []int32, emit func(u, v int64) error) error {
	for i := 0; i < len(pairs); i += 2 {
		if err := emit(int64(pairs[i]), int64(pairs[i+1])); err != nil {
			return err
		}
	}
	return nil
}

// pairUp pairs the stubs uniformly and repairs the pairs that cannot be edges:
// loops, repeats and, if labels are given, pairs within one community. A bad
// pair (u, v) and a random edge (x, y) become (u, x) and (v, y) where both can
// be edges, which keeps all degrees. The edges are the first good stubs.
func (w *wiring) pairUp(rng *rand.Rand, label []int32) (good int, lost int64) {
	s := w.stubs
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	w.set.reset(len(s) / 2)
	w.bad = w.bad[:0]
	for i := 0; i+1 < len(s); i += 2 {
		u, v := s[i], s[i+1]
		if !w.possible(u, v, label) {
			w.bad = append(w.bad, [2]int32{u, v})
			continue
		}
		w.set.add(pair(u, v))
		s[good], s[good+1] = u, v
		good += 2
	}
	for _, b := range w.bad {
		if w.exchange(rng, b[0], b[1], s[:good], label) {
			good += 2 // exchange wrote the new edge behind the others
		} else {
			lost++
		}
	}
	return good, lost
}

// havelHakimi connects a vertex of the most missing neighbours with those that
// miss the most after it, until none misses any. If a graph with these degrees
// exists, that finds one (Hakimi 1962).
func (w *wiring) havelHakimi(vertices, count []int32) (good int, lost int64) {
	w.set.reset(len(w.stubs) / 2)
	w.stubs = w.stubs[:0]
	var missing [][]int32 // vertices by the number of missing neighbours
	for _, v := range vertices {
		for int(count[v]) >= len(missing) {
			missing = append(missing, nil)
		}
		missing[count[v]] = append(missing[count[v]], v)
	}
	type partner struct {
		vertex int32
		left   int // neighbours it misses after this one
	}
	var partners []partner
	for top := len(missing) - 1; top > 0; {
		last := len(missing[top]) - 1
		if last < 0 {
			top--
			continue
		}
		u, want := missing[top][last], top
		missing[top] = missing[top][:last]
		partners = partners[:0]
		for d := top; d > 0 && want > 0; d-- {
			for last := len(missing[d]) - 1; last >= 0 && want > 0; last-- {
				partners = append(partners, partner{missing[d][last], d - 1})
				missing[d] = missing[d][:last]
				want--
			}
		}
		for _, p := range partners {
			w.set.add(pair(u, p.vertex))
			w.stubs = append(w.stubs, u, p.vertex)
			missing[p.left] = append(missing[p.left], p.vertex)
		}
		lost += int64(want)
	}
	return len(w.stubs), lost / 2
}

func (w *wiring) possible(u, v int32, label []int32) bool {
	return u != v && (label == nil || label[u] != label[v]) && !w.set.has(pair(u, v))
}

// exchange finds an edge (x, y) of edges to swap ends with (u, v), replaces it
// by (u, x) and writes (v, y) at the two places after edges.
func (w *wiring) exchange(rng *rand.Rand, u, v int32, edges []int32, label []int32) bool {
	if len(edges) == 0 {
		return false
	}
	for range swapAttempts {
		i, x, y := randomEdge(rng, edges)
		if !w.replaceable(u, v, x, y, label) {
			continue
		}
		edges[i], edges[i+1] = u, x
		rest := edges[:len(edges)+2]
		rest[len(edges)], rest[len(edges)+1] = v, y
		w.set.remove(pair(x, y))
		w.set.add(pair(u, x))
		w.set.add(pair(v, y))
		return true
	}
	return false
}

// mix lets two random edges swap ends, if they can.
func (w *wiring) mix(rng *rand.Rand, edges []int32, label []int32) {
	i, u, v := randomEdge(rng, edges)
	j, x, y := randomEdge(rng, edges)
	if i == j || !w.replaceable(u, v, x, y, label) {
		return
	}
	edges[i], edges[i+1] = u, x
	edges[j], edges[j+1] = v, y
	w.set.remove(pair(u, v))
	w.set.remove(pair(x, y))
	w.set.add(pair(u, x))
	w.set.add(pair(v, y))
}

// replaceable reports whether (u, x) and (v, y) can both be added.
func (w *wiring) replaceable(u, v, x, y int32, label []int32) bool {
	return w.possible(u, x, label) && w.possible(v, y, label) && pair(u, x) != pair(v, y)
}

// randomEdge returns the place of an edge and its ends in random order.
func randomEdge(rng *rand.Rand, edges []int32) (at int, x, y int32) {
	at = rng.IntN(len(edges)/2) * 2
	if rng.IntN(2) == 1 {
		return at, edges[at+1], edges[at]
	}
	return at, edges[at], edges[at+1]
}

// pair packs an unordered pair of different vertices; never 0.
func pair(u, v int32) uint64 {
	if u > v {
		u, v = v, u
	}
	return uint64(u)<<32 | uint64(v)
}

// pairSet is an open-addressing hash set of packed pairs with linear probing;
// 0 marks a free place.
type pairSet struct {
	slots []uint64
	shift uint
}

// reset empties the set and makes room for n pairs at a load of at most 2/3.
func (s *pairSet) reset(n int) {
	size, shift := 8, uint(61)
	for 2*size < 3*n {
		size, shift = size*2, shift-1
	}
	if cap(s.slots) < size {
		s.slots = make([]uint64, size)
	} else {
		s.slots = s.slots[:size]
		clear(s.slots)
	}
	s.shift = shift
}

// home is Fibonacci hashing: the top bits of a product with 2^64/φ, after
// folding the pair so that both vertices reach them.
func (s *pairSet) home(key uint64) int {
	key ^= key >> 29
	key *= 0xbf58476d1ce4e5b9
	key ^= key >> 32
	return int(key * 0x9e3779b97f4a7c15 >> s.shift)
}

func (s *pairSet) find(key uint64) (at int, found bool) {
	mask := len(s.slots) - 1
	for at = s.home(key); ; at = (at + 1) & mask {
		switch s.slots[at] {
		case key:
			return at, true
		case 0:
			return at, false
		}
	}
}

func (s *pairSet) has(key uint64) bool { _, found := s.find(key); return found }

func (s *pairSet) add(key uint64) {
	at, _ := s.find(key)
	s.slots[at] = key
}

// remove closes the gap by moving back later pairs of the same run that may
// stand there (Knuth, vol. 3, 6.4, Algorithm R).
func (s *pairSet) remove(key uint64) {
	gap, found := s.find(key)
	if !found {
		return
	}
	mask := len(s.slots) - 1
	for at := (gap + 1) & mask; s.slots[at] != 0; at = (at + 1) & mask {
		if (at-s.home(s.slots[at]))&mask >= (at-gap)&mask {
			s.slots[gap] = s.slots[at]
			gap = at
		}
	}
	s.slots[gap] = 0
}
