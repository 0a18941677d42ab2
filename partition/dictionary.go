package partition

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// maxVertices keeps every index below 2^31-1.
const maxVertices = 1<<31 - 2

// dictionary is the sorted sequence of vertex ids.
type dictionary struct {
	count  int64
	dense  *bitmap // ids are its members, or
	ids    *spill  // entries: length, key
	text   bool    // keys are any bytes, not numbers
	binary bool    // some key is not UTF-8
}

// index is the position of a number that the sorter used for a vertex.
func (d *dictionary) index(x uint32) uint32 {
	if d.dense != nil {
		return d.dense.rank(x)
	}
	return x
}

// each visits the keys in order: text, or 8 bytes big-endian.
func (d *dictionary) each(visit func(key []byte) error) error {
	if d.dense != nil {
		var key [8]byte
		return d.dense.each(func(x uint32) error {
			binary.BigEndian.PutUint64(key[:], uint64(x))
			return visit(key[:])
		})
	}
	r := bufio.NewReaderSize(io.NewSectionReader(d.ids, 0, d.ids.size), int(min(d.ids.size, pageBytes)))
	var key []byte
	for range d.count {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return fmt.Errorf("partition: read ids back from a temporary file: %w", err)
		}
		if uint64(cap(key)) < n {
			key = make([]byte, n)
		}
		key = key[:n]
		if _, err := io.ReadFull(r, key); err != nil {
			return fmt.Errorf("partition: read ids back from a temporary file: %w", err)
		}
		if err := visit(key); err != nil {
			return err
		}
	}
	return nil
}

func keyNumber(key []byte) uint64 { return binary.BigEndian.Uint64(key) }

// chunkMaps gives, per chunk, the final index of every local number: pairs
// (local, index) of 4 bytes each, the chunk's at its own offset.
type chunkMaps struct {
	pairs *spill
	start []int64 // by chunk, in bytes
}

// mergeChunks merges the sorted ids of all chunks into the dictionary and
// writes down where each local number went.
func (t *intake) mergeChunks(text bool) (*dictionary, *chunkMaps, error) {
	k := len(t.chunks.closed)
	d := &dictionary{text: text, ids: t.space.newSpill(t.memory / 8)}
	maps := &chunkMaps{pairs: t.space.newSpill(t.memory / 8), start: make([]int64, k)}
	total := int64(0)
	for i, c := range t.chunks.closed {
		maps.start[i] = 8 * total
		total += c.count
	}
	if err := maps.pairs.reserve(8 * total); err != nil {
		return nil, nil, err
	}
	buffer := int(min(max(t.memory/16/int64(k), 1<<10), 1<<18))
	m := idMerge{cursors: make([]*cursor, k), out: make([][]byte, k), written: make([]int64, k), maps: maps, buffer: buffer}
	for i := range k {
		m.cursors[i] = t.chunks.cursor(i, buffer)
		if err := m.advance(i, true); err != nil {
			return nil, nil, err
		}
	}
	if err := m.run(t, d); err != nil {
		return nil, nil, err
	}
	for i := range k {
		if err := m.flush(i); err != nil {
			return nil, nil, err
		}
	}
	return d, maps, d.ids.done()
}

// idMerge is a heap of cursors by key and then chunk.
type idMerge struct {
	cursors []*cursor
	heap    []int
	out     [][]byte
	written []int64
	maps    *chunkMaps
	buffer  int
}

func (m *idMerge) less(a, b int) bool {
	if c := bytes.Compare(m.cursors[a].key, m.cursors[b].key); c != 0 {
		return c < 0
	}
	return a < b
}

// advance reads the next entry of chunk i, which is on top of the heap or new.
func (m *idMerge) advance(i int, fresh bool) error {
	ok, err := m.cursors[i].next()
	if err != nil {
		return err
	}
	switch {
	case ok && fresh:
		m.heap = append(m.heap, i)
		for j := len(m.heap) - 1; j > 0 && m.less(m.heap[j], m.heap[(j-1)/2]); j = (j - 1) / 2 {
			m.heap[j], m.heap[(j-1)/2] = m.heap[(j-1)/2], m.heap[j]
		}
		return nil
	case !ok && fresh:
		return nil
	case !ok:
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	for j := 0; ; {
		c := 2*j + 1
		if c >= len(m.heap) {
			return nil
		}
		if c+1 < len(m.heap) && m.less(m.heap[c+1], m.heap[c]) {
			c++
		}
		if !m.less(m.heap[c], m.heap[j]) {
			return nil
		}
		m.heap[c], m.heap[j] = m.heap[j], m.heap[c]
		j = c
	}
}

func (m *idMerge) run(t *intake, d *dictionary) error {
	var last, entry []byte
	for steps := 0; len(m.heap) > 0; steps++ {
		if steps&0xfff == 0 {
			if err := t.ctx.Err(); err != nil {
				return err
			}
		}
		i := m.heap[0]
		c := m.cursors[i]
		if d.count == 0 || !bytes.Equal(c.key, last) {
			// The first entry of a key is that of the lowest chunk, so if
			// it is not of the list, none is. A list that fits the memory
			// was checked as the rows came (note).
			if t.listed > 0 && i >= t.listed {
				return &UnlistedError{ID: idText(c.key, d.text), File: t.file(c.place), Line: c.place.line, List: t.listName}
			}
			if err := checkCount(d.count + 1); err != nil {
				return err
			}
			d.count++
			d.binary = d.binary || d.text && !utf8.Valid(c.key)
			last = append(last[:0], c.key...)
			entry = append(binary.AppendUvarint(entry[:0], uint64(len(last))), last...)
			if _, err := d.ids.Write(entry); err != nil {
				return err
			}
		}
		if err := m.write(i, c.local, uint32(d.count-1)); err != nil {
			return err
		}
		if err := m.advance(i, false); err != nil {
			return err
		}
	}
	return nil
}

// idText is a key as a person reads it.
func idText(key []byte, text bool) string {
	if text {
		return string(key)
	}
	return decimal(keyNumber(key))
}

func (m *idMerge) write(i int, local, index uint32) error {
	m.out[i] = binary.LittleEndian.AppendUint32(m.out[i], local)
	m.out[i] = binary.LittleEndian.AppendUint32(m.out[i], index)
	if len(m.out[i]) < m.buffer {
		return nil
	}
	return m.flush(i)
}

func (m *idMerge) flush(i int) error {
	_, err := m.maps.pairs.WriteAt(m.out[i], m.maps.start[i]+m.written[i])
	m.written[i] += int64(len(m.out[i]))
	m.out[i] = m.out[i][:0]
	return err
}

// translate gives all edges of the chunks to the sorter under final indices, a
// part of each chunk to each lane.
func (t *intake) translate(maps *chunkMaps, progress func(done, total int64)) error {
	total := t.chunks.edges.size / 8
	var done atomic.Int64
	for i, c := range t.chunks.closed {
		index := make([]uint32, c.count)
		r := bufio.NewReaderSize(io.NewSectionReader(maps.pairs, maps.start[i], 8*c.count), int(min(8*c.count, pageBytes)))
		var pair [8]byte
		for range c.count {
			if _, err := io.ReadFull(r, pair[:]); err != nil {
				return fmt.Errorf("partition: read ids back from a temporary file: %w", err)
			}
			index[binary.LittleEndian.Uint32(pair[:])] = binary.LittleEndian.Uint32(pair[4:])
		}
		var group errgroup.Group
		lanes := int64(len(t.sorter.lanes))
		for j, lane := range t.sorter.lanes {
			n := c.endEdge - c.firstEdge
			first, end := c.firstEdge+n*int64(j)/lanes, c.firstEdge+n*int64(j+1)/lanes
			group.Go(func() error {
				steps := int64(0)
				err := t.chunks.edgesBetween(first, end, func(a, b uint32) error {
					if steps++; steps&0xfff == 0 {
						progress(done.Add(1<<12), total)
					}
					return lane.add(index[a], index[b])
				})
				progress(done.Add(steps&0xfff), total)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	if err := maps.pairs.close(); err != nil {
		return err
	}
	return t.chunks.release()
}
