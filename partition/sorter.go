package partition

import (
	"context"
	"encoding/binary"
	"sync"
)

// An arc key is row<<32 | col<<1 | reverse. Each row a→b of the input gives the
// forward key (a, b, 0) and the reverse key (b, a, 1), so that sorted keys are
// the rows of the symmetric matrix and still tell which way a pair was listed.
func arcKey(row, col, reverse uint32) uint64 {
	return uint64(row)<<32 | uint64(col)<<1 | uint64(reverse)
}

func keyRow(key uint64) uint32 { return uint32(key >> 32) }
func keyCol(key uint64) uint32 { return uint32(key) >> 1 }

// sorter takes arc keys in any order, by several goroutines, and makes sorted
// runs of them within its share of memory: each goroutine fills a lane of its
// own, sorts it when it is full, without repeats, and the run is kept in memory
// or appended to a spill.
type sorter struct {
	ctx    context.Context
	space  *workspace
	buffer int   // keys in a full lane
	page   int   // keys in a page of a lane
	stride int   // keys from one mark of a run to the next
	keep   int64 // keys that may be kept in memory as runs
	lanes  []*lane

	mu      sync.Mutex // guards what follows
	runs    []sortedRun
	kept    int64
	spill   *spill
	repeats int64 // forward keys dropped
	scratch []byte
}

// sortedRun is keys in memory, or keys [first, first+count) of the spill.
type sortedRun struct {
	keys         []uint64
	first, count int64
	marks        []uint64 // keys 0, stride, 2·stride, …
}

// newSorter takes about memory bytes: four parts of seven for the runs kept,
// the others for the lanes, each twice: as it fills, and sorted.
func newSorter(ctx context.Context, space *workspace, memory int64, lanes int) *sorter {
	s := &sorter{ctx: ctx, space: space, keep: memory / 7 * 4 / 8}
	s.buffer = int(max(memory/7*3/16/int64(lanes), 64)) &^ 1
	s.page = min(1<<16, max(s.buffer/8, 16)) &^ 1
	s.stride = min(1<<12, max(s.buffer/128, 16))
	for range lanes {
		s.lanes = append(s.lanes, &lane{s: s})
	}
	return s
}

// add takes one row a→b of the input, a ≠ b, in the first lane.
func (s *sorter) add(a, b uint32) error { return s.lanes[0].add(a, b) }

// lane is the part of a sorter that one goroutine fills.
type lane struct {
	s       *sorter
	open    []uint64
	pages   [][]uint64 // full ones
	free    [][]uint64
	count   int // keys in pages
	out     []uint64
	scratch []uint64
}

// add takes one row a→b of the input, a ≠ b.
func (l *lane) add(a, b uint32) error {
	if len(l.open)+2 > cap(l.open) {
		if err := l.turn(); err != nil {
			return err
		}
	}
	l.open = append(l.open, arcKey(a, b, 0), arcKey(b, a, 1))
	return nil
}

// turn begins a page, after sorting what the lane holds if that is enough.
func (l *lane) turn() error {
	l.shelve()
	if l.count+l.s.page > l.s.buffer {
		if err := l.sort(); err != nil {
			return err
		}
	}
	if n := len(l.free); n > 0 {
		l.open, l.free = l.free[n-1], l.free[:n-1]
		return nil
	}
	// Pages of a small graph are small.
	l.open = make([]uint64, 0, min(l.s.page, max(1<<10, l.count)))
	return nil
}

// shelve puts the open page with the full ones.
func (l *lane) shelve() {
	if len(l.open) > 0 {
		l.pages, l.count = append(l.pages, l.open), l.count+len(l.open)
	}
	l.open = nil
}

// sort makes a run of what the lane holds.
func (l *lane) sort() error {
	if l.count == 0 {
		return nil
	}
	if err := l.s.ctx.Err(); err != nil {
		return err
	}
	if cap(l.out) < l.count {
		l.out = make([]uint64, l.count)
	}
	l.scratch = sortPages(l.pages, l.out[:l.count], l.scratch)
	keys, forward := dedup(l.out[:l.count])
	for _, page := range l.pages {
		if cap(page) == l.s.page {
			l.free = append(l.free, page[:0])
		}
	}
	l.pages, l.count = l.pages[:0], 0
	kept, err := l.s.store(keys, forward)
	if kept {
		l.out = nil
	}
	return err
}

// store keeps sorted keys as a run: kept says that the slice itself was.
func (s *sorter) store(keys []uint64, forward int64) (kept bool, err error) {
	run := sortedRun{count: int64(len(keys))}
	for i := 0; i < len(keys); i += s.stride {
		run.marks = append(run.marks, keys[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repeats += forward
	if s.kept+int64(cap(keys)) <= s.keep {
		s.kept += int64(cap(keys))
		run.keys = keys
		s.runs = append(s.runs, run)
		return true, nil
	}
	if s.spill == nil {
		s.spill = s.space.newSpill(0)
	}
	run.first = s.spill.size / 8
	for rest := keys; len(rest) > 0; {
		part := rest[:min(len(rest), pageBytes/8)]
		s.scratch = s.scratch[:0]
		for _, k := range part {
			s.scratch = binary.LittleEndian.AppendUint64(s.scratch, k)
		}
		if _, err := s.spill.Write(s.scratch); err != nil {
			return false, err
		}
		rest = rest[len(part):]
	}
	s.runs = append(s.runs, run)
	return false, nil
}

// finish sorts what the lanes hold. Nobody adds any more; then runs can be read.
func (s *sorter) finish() error {
	errs := make([]error, len(s.lanes))
	var wait sync.WaitGroup
	for i, l := range s.lanes {
		wait.Go(func() {
			l.shelve()
			errs[i] = l.sort()
			*l = lane{s: s}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	s.scratch = nil
	if s.spill != nil {
		return s.spill.done()
	}
	return s.ctx.Err()
}

// drain finishes, gives every forward arc that is held to visit, and empties
// the sorter. Repeats that were dropped stay counted.
func (s *sorter) drain(visit func(a, b uint32) error) error {
	if err := s.finish(); err != nil {
		return err
	}
	runs, old := s.runs, s.spill
	s.runs, s.kept, s.spill = nil, 0, nil
	blocks := blockReader{ctx: s.ctx, spill: old}
	for i := range runs {
		run := runs[i]
		runs[i].keys = nil
		for from := int64(0); from < run.count; from += drainBlock {
			keys, err := blocks.read(&run, from, min(run.count, from+drainBlock))
			if err != nil {
				return err
			}
			for _, k := range keys {
				if k&1 == 0 {
					if err := visit(keyRow(k), keyCol(k)); err != nil {
						return err
					}
				}
			}
		}
	}
	if old != nil {
		return old.close()
	}
	return nil
}

// drainBlock is how many keys drain reads at once.
const drainBlock = pageBytes / 8
