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

// sorter takes arc keys in any order and gives them sorted, within its share
// of memory: full buffers are sorted by another goroutine, without repeats, and
// kept in memory or appended to a spill as sorted runs.
type sorter struct {
	ctx    context.Context
	space  *workspace
	buffer int   // keys in a full buffer, even
	keep   int64 // keys that may be kept in memory as runs

	current []uint64
	full    chan []uint64
	free    chan []uint64
	ended   sync.WaitGroup

	// Owned by the worker until wait returns.
	spare   []uint64
	runs    []sortedRun
	kept    int64
	spill   *spill
	repeats int64 // forward keys dropped
	scratch []byte

	mu  sync.Mutex
	err error
}

// sortedRun is keys in memory, or keys [first, first+count) of the spill.
type sortedRun struct {
	keys         []uint64
	first, count int64
}

// newSorter takes about memory bytes: four parts for the runs kept, and one
// each for the buffer that fills, the one that is sorted and the sort's second.
func newSorter(ctx context.Context, space *workspace, memory int64) *sorter {
	return &sorter{
		ctx: ctx, space: space,
		buffer: int(max(memory/7/8, 64)) &^ 1,
		keep:   memory / 7 * 4 / 8,
	}
}

// add takes one row a→b of the input, a ≠ b.
func (s *sorter) add(a, b uint32) error {
	if len(s.current)+2 > s.buffer {
		if err := s.hand(); err != nil {
			return err
		}
	}
	s.current = append(s.current, arcKey(a, b, 0), arcKey(b, a, 1))
	return nil
}

// hand gives the current buffer to the worker and takes a free one.
func (s *sorter) hand() error {
	if s.full == nil {
		s.full, s.free = make(chan []uint64), make(chan []uint64, 2)
		s.ended.Go(s.work)
	}
	if err := s.failure(); err != nil {
		return err
	}
	s.full <- s.current
	select {
	case s.current = <-s.free:
	default:
		s.current = make([]uint64, 0, min(len(s.current), s.buffer))
	}
	return nil
}

func (s *sorter) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	return s.err
}

// work sorts buffers until full is closed; after an error it drops them.
func (s *sorter) work() {
	for keys := range s.full {
		if s.failure() != nil {
			continue
		}
		if err := s.store(keys); err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
		}
	}
}

func (s *sorter) store(keys []uint64) error {
	if cap(s.spare) < len(keys) {
		s.spare = make([]uint64, len(keys), max(cap(keys), len(keys)))
	}
	keys, s.spare = sortKeys(keys, s.spare[:cap(s.spare)])
	keys, forward := dedup(keys)
	s.repeats += forward
	if s.kept+int64(cap(keys)) <= s.keep {
		s.kept += int64(cap(keys))
		s.runs = append(s.runs, sortedRun{keys: keys, count: int64(len(keys))})
		return nil
	}
	if s.spill == nil {
		s.spill = s.space.newSpill(0)
	}
	run := sortedRun{first: s.spill.size / 8, count: int64(len(keys))}
	for rest := keys; len(rest) > 0; {
		part := rest[:min(len(rest), pageBytes/8)]
		s.scratch = s.scratch[:0]
		for _, k := range part {
			s.scratch = binary.LittleEndian.AppendUint64(s.scratch, k)
		}
		if _, err := s.spill.Write(s.scratch); err != nil {
			return err
		}
		rest = rest[len(part):]
	}
	s.runs = append(s.runs, run)
	select {
	case s.free <- keys[:0]:
	default:
	}
	return nil
}

// finish sorts what is left and ends the worker. Then runs can be read.
func (s *sorter) finish() error {
	if len(s.current) > 0 {
		if err := s.hand(); err != nil {
			s.stop()
			return err
		}
	}
	s.stop()
	if err := s.failure(); err != nil {
		return err
	}
	s.current, s.spare = nil, nil
	if s.spill != nil {
		return s.spill.done()
	}
	return nil
}

// stop ends the worker; it may be called again.
func (s *sorter) stop() {
	if s.full != nil {
		close(s.full)
		s.ended.Wait()
		s.full, s.free = nil, nil
	}
}

// drain finishes, gives every forward arc that is held to visit, and empties
// the sorter. Repeats that were dropped stay counted.
func (s *sorter) drain(visit func(a, b uint32) error) error {
	if err := s.finish(); err != nil {
		return err
	}
	runs, old := s.runs, s.spill
	s.runs, s.kept, s.spill = nil, 0, nil
	buf := make([]uint64, min(s.buffer, pageBytes/8))
	for i := range runs {
		r := runReader{run: runs[i], spill: old, buf: buf}
		runs[i].keys = nil
		for {
			keys, err := r.next(s.ctx)
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				break
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
