package partition

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// place is where an id was first seen: a file by number, and a line.
type place struct {
	file uint32
	line int64
}

// chunks is the part of the input whose ids are not yet final: a sequence of
// chunks, each with its own local numbers. The ids of a chunk are written
// sorted when it is closed; its edges are pairs of local numbers.
type chunks struct {
	ids    *spill // entries: length, key, local number[, place]
	edges  *spill // pairs of 4-byte local numbers
	closed []chunk
	places bool // entries carry the place where the id was seen first
}

type chunk struct {
	from, to           int64 // bytes of ids
	count              int64 // ids
	firstEdge, endEdge int64 // pairs of edges
}

func newChunks(space *workspace, memory int64) *chunks {
	return &chunks{ids: space.newSpill(memory / 16), edges: space.newSpill(memory / 8)}
}

// edge appends one pair of local numbers of the open chunk.
func (c *chunks) edge(a, b uint32) error {
	var pair [8]byte
	binary.LittleEndian.PutUint32(pair[:], a)
	binary.LittleEndian.PutUint32(pair[4:], b)
	_, err := c.edges.Write(pair[:])
	return err
}

// close writes the ids of t and ends the open chunk.
func (c *chunks) close(t table, seen []place) error {
	next := chunk{from: c.ids.size, count: int64(t.length()), endEdge: c.edges.size / 8}
	if n := len(c.closed); n > 0 {
		next.firstEdge = c.closed[n-1].endEdge
	}
	var entry []byte
	err := t.sorted(func(key []byte, local uint32) error {
		entry = binary.AppendUvarint(entry[:0], uint64(len(key)))
		entry = append(entry, key...)
		entry = binary.LittleEndian.AppendUint32(entry, local)
		if c.places {
			entry = binary.LittleEndian.AppendUint32(entry, seen[local].file)
			entry = binary.LittleEndian.AppendUint64(entry, uint64(seen[local].line))
		}
		_, err := c.ids.Write(entry)
		return err
	})
	next.to = c.ids.size
	c.closed = append(c.closed, next)
	return err
}

// done ends writing.
func (c *chunks) done() error {
	if err := c.ids.done(); err != nil {
		return err
	}
	return c.edges.done()
}

func (c *chunks) release() error {
	if err := c.ids.close(); err != nil {
		return err
	}
	return c.edges.close()
}

// cursor reads the entries of one chunk in order.
type cursor struct {
	r     *bufio.Reader
	left  int64
	seen  bool
	key   []byte
	local uint32
	place place
}

func (c *chunks) cursor(i int, buffer int) *cursor {
	at := c.closed[i]
	section := io.NewSectionReader(c.ids, at.from, at.to-at.from)
	return &cursor{r: bufio.NewReaderSize(section, int(min(int64(buffer), at.to-at.from))), left: at.count, seen: c.places}
}

// next reads an entry into the cursor; false at the end.
func (c *cursor) next() (bool, error) {
	if c.left == 0 {
		return false, nil
	}
	c.left--
	n, err := binary.ReadUvarint(c.r)
	if err != nil {
		return false, fmt.Errorf("partition: read ids back from a temporary file: %w", err)
	}
	if uint64(cap(c.key)) < n {
		c.key = make([]byte, n)
	}
	c.key = c.key[:n]
	var tail [16]byte
	size := 4
	if c.seen {
		size = 16
	}
	if _, err = io.ReadFull(c.r, c.key); err == nil {
		_, err = io.ReadFull(c.r, tail[:size])
	}
	if err != nil {
		return false, fmt.Errorf("partition: read ids back from a temporary file: %w", err)
	}
	c.local = binary.LittleEndian.Uint32(tail[:])
	c.place = place{binary.LittleEndian.Uint32(tail[4:]), int64(binary.LittleEndian.Uint64(tail[8:]))}
	return true, nil
}

// eachEdge visits the pairs of chunk i in the order of the input.
func (c *chunks) eachEdge(i int, visit func(a, b uint32) error) error {
	return c.edgesBetween(c.closed[i].firstEdge, c.closed[i].endEdge, visit)
}

// edgesBetween visits the pairs [first, end).
func (c *chunks) edgesBetween(first, end int64, visit func(a, b uint32) error) error {
	buf := make([]byte, min(8*(end-first), pageBytes))
	section := io.NewSectionReader(c.edges, 8*first, 8*(end-first))
	for {
		n, err := io.ReadFull(section, buf)
		for p := buf[:n]; len(p) >= 8; p = p[8:] {
			if err := visit(binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}
