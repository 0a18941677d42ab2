package partition

import (
	"context"
	"encoding/binary"
	"io"
	"math"
)

// runReader gives the keys of one sorted run in blocks.
type runReader struct {
	run   sortedRun
	spill *spill
	buf   []uint64
	bytes []byte
	given bool
}

// next gives the next block, empty at the end, valid until the next call.
func (r *runReader) next(ctx context.Context) ([]uint64, error) {
	if r.run.keys != nil {
		if r.given {
			return nil, nil
		}
		r.given = true
		return r.run.keys, nil
	}
	n := min(int64(len(r.buf)), r.run.count)
	if n == 0 {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.bytes == nil {
		r.bytes = make([]byte, 8*len(r.buf))
	}
	if _, err := io.ReadFull(io.NewSectionReader(r.spill, 8*r.run.first, 8*n), r.bytes[:8*n]); err != nil {
		return nil, err
	}
	for i := range r.buf[:n] {
		r.buf[i] = binary.LittleEndian.Uint64(r.bytes[8*i:])
	}
	r.run.first += n
	r.run.count -= n
	return r.buf[:n], nil
}

// merger merges sorted runs with a tree of losers: node i>0 of the tree holds
// the run that lost there, node 0 the one that won.
type merger struct {
	ctx     context.Context
	readers []runReader
	blocks  [][]uint64
	head    []uint64 // first key of each run; endKey at its end
	tree    []int
}

// endKey is above every arc key, whose top bit is zero.
const endKey = math.MaxUint64

// newMerger reads the runs of a finished sorter with buffers of, together,
// about memory bytes.
func newMerger(ctx context.Context, s *sorter, memory int64) (*merger, error) {
	k := len(s.runs)
	m := &merger{ctx: ctx, readers: make([]runReader, k), blocks: make([][]uint64, k), head: make([]uint64, k), tree: make([]int, k)}
	files := int64(0)
	for _, run := range s.runs {
		if run.keys == nil {
			files++
		}
	}
	// A key takes 16 bytes on its way: as it lies in the file, and decoded.
	keys := min(max(memory/16/max(files, 1), 256), 1<<16)
	for i, run := range s.runs {
		m.readers[i] = runReader{run: run, spill: s.spill}
		if run.keys == nil {
			m.readers[i].buf = make([]uint64, min(keys, run.count))
		}
		if err := m.refill(i); err != nil {
			return nil, err
		}
	}
	if k > 0 {
		m.tree[0] = m.play(1)
	}
	return m, nil
}

// play plays the games below node and gives the winner. Leaf i is node k+i.
func (m *merger) play(node int) int {
	if node >= len(m.tree) {
		return node - len(m.tree)
	}
	a, b := m.play(2*node), m.play(2*node+1)
	if m.head[b] < m.head[a] {
		a, b = b, a
	}
	m.tree[node] = b
	return a
}

// refill reads the next block of run i.
func (m *merger) refill(i int) error {
	block, err := m.readers[i].next(m.ctx)
	if err != nil {
		return err
	}
	if len(block) == 0 {
		m.head[i] = endKey
		return nil
	}
	m.head[i], m.blocks[i] = block[0], block[1:]
	return nil
}

// fill writes the next merged keys to dst and gives their number, 0 at the end.
func (m *merger) fill(dst []uint64) (int, error) {
	if len(m.tree) == 0 {
		return 0, nil
	}
	for n := range dst {
		w := m.tree[0]
		key := m.head[w]
		if key == endKey {
			return n, nil
		}
		dst[n] = key
		if block := m.blocks[w]; len(block) > 0 {
			m.head[w], m.blocks[w] = block[0], block[1:]
		} else if err := m.refill(w); err != nil {
			return 0, err
		}
		for node := (len(m.tree) + w) / 2; node > 0; node /= 2 {
			if l := m.tree[node]; m.head[l] < m.head[w] {
				m.tree[node], w = w, l
			}
		}
		m.tree[0] = w
	}
	return len(dst), nil
}
