package cluster

import (
	"slices"
	"time"
)

// board says who does which piece of work. It is pure bookkeeping: no clock, no
// network. A unit is a row block of Q, or an item of Run; units of one group (a
// shard) prefer the worker that owns the group.
//
// Every unit is done exactly once from the caller's view: finish tells the
// first result from a repeat. Between, a unit may be held by several workers.
type board struct {
	pace   pace
	units  []unit
	groups []group
	left   int // units not done
}

type unit struct {
	group int
	done  bool
	by    string // worker of the result that was taken
	holds []hold
}

// hold says that a worker was asked for a unit.
type hold struct {
	worker     *member
	since, due time.Time // asked first; ask again at
	tries      int
	asked      []time.Time // when, by attempt
}

// began is when the request of an attempt was made; false where it is not known which
// request was answered. (After Karn: a unit that was asked for again because a message
// was lost says nothing about how long units take, unless the answer names its request.)
func (h *hold) began(attempt int) (time.Time, bool) {
	switch {
	case h.tries == 1:
		return h.since, true
	case attempt >= 1 && attempt <= len(h.asked):
		return h.asked[attempt-1], true
	}
	return time.Time{}, false
}

type group struct {
	owner       *member
	first, last int // units [first, last)
	left        int // units not done
	front, back int // no free unit before front, none from back on
}

// pace says when to lose patience.
type pace struct {
	retry, retryMost time.Duration // first and longest pause before asking again
	slow             time.Duration // a holder is not slow before this
}

// slowFactor: a holder this many times slower than the median loses its work to
// an idle worker.
const slowFactor = 5

// newBoard makes a board with the given number of units per group.
func newBoard(p pace, sizes []int) *board {
	b := &board{pace: p, groups: make([]group, len(sizes))}
	for g, size := range sizes {
		first := len(b.units)
		b.groups[g] = group{first: first, last: first + size, left: size, front: first, back: first + size}
		for range size {
			b.units = append(b.units, unit{group: g})
		}
	}
	b.left = len(b.units)
	return b
}

func (b *board) free(u int) bool { return !b.units[u].done && len(b.units[u].holds) == 0 }

// takeFront gives the first free unit of a group, or -1.
func (b *board) takeFront(g int) int {
	gr := &b.groups[g]
	for ; gr.front < gr.back; gr.front++ {
		if b.free(gr.front) {
			return gr.front
		}
	}
	return -1
}

// takeBack gives the last free unit of a group, or -1.
func (b *board) takeBack(g int) int {
	gr := &b.groups[g]
	for ; gr.front < gr.back; gr.back-- {
		if b.free(gr.back - 1) {
			return gr.back - 1
		}
	}
	return -1
}

// hold notes that m was asked for unit u.
func (b *board) hold(u int, m *member, now time.Time) {
	b.units[u].holds = append(b.units[u].holds, hold{worker: m, since: now, due: now.Add(b.pace.retry), tries: 1, asked: []time.Time{now}})
	if m.held == nil {
		m.held = map[int]bool{}
	}
	m.held[u] = true
}

func (b *board) holds(u int, m *member) bool {
	return slices.ContainsFunc(b.units[u].holds, func(h hold) bool { return h.worker == m })
}

// finish notes a result of unit u from worker m and says whether it is the
// first. All holds on it end. attempt is the request that it answers, 0 where it does not
// say. took is how long m needed, where that is known.
func (b *board) finish(u int, m *member, now time.Time, attempt int) (first bool, took time.Duration) {
	un := &b.units[u]
	for i := range un.holds {
		h := &un.holds[i]
		delete(h.worker.held, u)
		if h.worker != m {
			continue
		}
		if began, ok := h.began(attempt); ok {
			took = now.Sub(later(began, m.progress))
		}
	}
	un.holds = nil
	if un.done {
		return false, took
	}
	un.done, un.by = true, m.id
	b.left--
	b.groups[un.group].left--
	return true, took
}

// release takes unit u from m; a unit that nobody holds then is free again.
func (b *board) release(u int, m *member) {
	un := &b.units[u]
	un.holds = slices.DeleteFunc(un.holds, func(h hold) bool { return h.worker == m })
	delete(m.held, u)
	if b.free(u) {
		gr := &b.groups[un.group]
		gr.front, gr.back = min(gr.front, u), max(gr.back, u+1)
	}
}

// drop takes everything from a worker that left.
func (b *board) drop(m *member) {
	for u := range m.held {
		b.release(u, m)
	}
	for g := range b.groups {
		if b.groups[g].owner == m {
			b.groups[g].owner = nil
		}
	}
}

// overdue gives the units to ask for again, and sets their next due time, twice
// as far away each time. Those that wait says to wait for stay as they are.
// A pause is never shorter than three times the median time of a unit.
func (b *board) overdue(now time.Time, members []*member, median time.Duration, wait func(m *member, u int) bool) (again []request) {
	for _, m := range members {
		for u := range m.held {
			if wait(m, u) {
				continue
			}
			for i := range b.units[u].holds {
				h := &b.units[u].holds[i]
				if h.worker != m || now.Before(h.due) || now.Sub(later(h.since, m.progress)) < 3*median {
					continue
				}
				pause := min(b.pace.retry<<min(h.tries, 16), b.pace.retryMost)
				h.due = now.Add(pause)
				h.tries++
				h.asked = append(h.asked, now)
				again = append(again, request{u, m, h.tries})
			}
		}
	}
	return again
}

// request is a unit to ask a worker for.
type request struct {
	unit    int
	worker  *member
	attempt int
}

// slowHold reports whether a hold has lasted too long beside the median time. While
// no unit was finished, nobody knows what is long: patience is ten times the least.
func (b *board) slowHold(h hold, now time.Time, median time.Duration) bool {
	limit := max(b.pace.slow, slowFactor*median)
	if median == 0 {
		limit = 10 * b.pace.slow
	}
	return now.Sub(later(h.since, h.worker.progress)) > limit
}

// rescue gives a unit whose every holder is slow and that m does not hold, or
// -1. allowed says which groups m may take.
func (b *board) rescue(m *member, now time.Time, median time.Duration, members []*member, allowed func(g int) bool) int {
	for _, other := range members {
		if other == m {
			continue
		}
		best := -1
		for u := range other.held {
			un := &b.units[u]
			if !allowed(un.group) || b.holds(u, m) || (best >= 0 && best < u) {
				continue
			}
			if !slices.ContainsFunc(un.holds, func(h hold) bool { return !b.slowHold(h, now, median) }) {
				best = u
			}
		}
		if best >= 0 {
			return best
		}
	}
	return -1
}

// slowOwner reports whether a group's owner sits on a unit for too long.
func (b *board) slowOwner(g int, now time.Time, median time.Duration) bool {
	owner := b.groups[g].owner
	if owner == nil {
		return true
	}
	for u := range owner.held {
		for _, h := range b.units[u].holds {
			if h.worker == owner && b.slowHold(h, now, median) {
				return true
			}
		}
	}
	return false
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// tempo keeps the last times that units took and gives their median.
type tempo struct {
	last [64]time.Duration
	n    int
}

func (t *tempo) add(d time.Duration) {
	t.last[t.n%len(t.last)] = d
	t.n++
}

func (t *tempo) median() time.Duration {
	n := min(t.n, len(t.last))
	if n == 0 {
		return 0
	}
	s := slices.Clone(t.last[:n])
	slices.Sort(s)
	return s[n/2]
}
