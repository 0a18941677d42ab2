package partition

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
)

// intake takes the pairs of the input as they come and keeps the ids by the
// cheapest means that they allow:
//
//	dense    all ids are numbers below a limit: a bitmap; arcs go to the sorter
//	         under their ids, whose order is that of the final indices
//	ints     numbers up to 2^64-1: chunks of a hash table
//	strings  anything: chunks of a hash table of bytes
//
// An input that turns out to need the next means is moved to it, at the cost of
// one pass over what was taken. The result is the same by any way.
//
// Pairs that the bitmap takes may come from several goroutines, each with its
// lane of the sorter; all others from one. Where a pair needs another means the
// rest of the input goes there, and what the bitmap took follows in settle.
type intake struct {
	ctx    context.Context
	space  *workspace
	memory int64 // all of the budget
	limit  uint64

	sorter *sorter
	dense  *bitmap
	left   atomic.Bool // dense was left
	behind *bitmap     // what it held, until settle
	ints   *intTable
	strs   *stringTable
	chunks *chunks
	seen   []place // by local number, if chunks.places
	warmed uint64  // keeps the compiler from dropping stringTable.warm

	names    []string // files, by place.file
	listName string   // the vertices file, "" without one
	listed   int      // closed chunks that hold the list, if it took several
	sealed   bool     // the list is complete: other ids are errors
}

func newIntake(ctx context.Context, space *workspace, memory int64) *intake {
	lanes := min(runtime.GOMAXPROCS(0), maxLanes)
	t := &intake{
		ctx: ctx, space: space, memory: memory,
		limit:  min(1<<31, max(1<<16, uint64(memory/4/bitPageBytes)<<16)), // a bitmap of at most a quarter of the memory
		sorter: newSorter(ctx, space, memory/2, lanes),
	}
	t.dense = newBitmap(t.limit)
	return t
}

// maxLanes bounds the goroutines that parse and sort.
const maxLanes = 16

// numbers takes a pair of ids that are canonical numbers. a = b only registers
// the vertex.
func (t *intake) numbers(a, b uint64, at place) error {
	switch {
	case t.dense != nil && a < t.limit && b < t.limit:
		return t.denseNumbers(uint32(a), uint32(b), at)
	case t.dense != nil:
		if t.sealed {
			return t.unlisted([]string{decimal(a), decimal(b)}, at)
		}
		t.leaveDense()
		t.ints = newIntTable()
	}
	if t.strs != nil {
		var buf [40]byte
		first := strconv.AppendUint(buf[:0], a, 10)
		return t.texts(first, strconv.AppendUint(buf[len(first):len(first)], b, 10), at)
	}
	if err := t.makeRoom(); err != nil {
		return err
	}
	i, fresh := t.ints.add(a)
	if fresh && t.noted() {
		if err := t.note(decimal(a), at); err != nil {
			return err
		}
	}
	j, fresh := t.ints.add(b)
	if fresh && t.noted() {
		if err := t.note(decimal(b), at); err != nil {
			return err
		}
	}
	if i == j {
		return nil
	}
	return t.chunks.edge(i, j)
}

func (t *intake) denseNumbers(a, b uint32, at place) error {
	if t.sealed && !(t.dense.has(a) && t.dense.has(b)) {
		return t.unlisted([]string{decimal(uint64(a)), decimal(uint64(b))}, at)
	}
	t.dense.add(a)
	if a == b {
		return nil
	}
	t.dense.add(b)
	return t.sorter.add(a, b)
}

// texts takes a pair of ids of any kind.
func (t *intake) texts(a, b []byte, at place) error {
	if t.strs == nil {
		if t.sealed {
			return t.unlisted([]string{string(a), string(b)}, at)
		}
		if err := t.toStrings(); err != nil {
			return err
		}
	}
	if err := t.makeRoom(); err != nil {
		return err
	}
	i, fresh := t.strs.add(a)
	if fresh && t.noted() {
		if err := t.note(string(a), at); err != nil {
			return err
		}
	}
	j, fresh := t.strs.add(b)
	if fresh && t.noted() {
		if err := t.note(string(b), at); err != nil {
			return err
		}
	}
	if i == j {
		return nil
	}
	return t.chunks.edge(i, j)
}

func decimal(x uint64) string { return strconv.FormatUint(x, 10) }

// noted: with a vertices file, every id that is new in its chunk is noted.
func (t *intake) noted() bool { return t.listName != "" }

// note refuses an id that is new although the list is complete and at hand, and
// else remembers where it was seen, by its local number.
func (t *intake) note(id string, at place) error {
	if t.sealed && t.listed == 0 {
		return &UnlistedError{ID: id, File: t.file(at), Line: at.line, List: t.listName}
	}
	t.seen = append(t.seen, at)
	return nil
}

func (t *intake) file(at place) string {
	if at.line == 0 || int(at.file) >= len(t.names) {
		return "" // a vertex that a format lists has no line
	}
	return t.names[at.file]
}

// unlisted names the first of a pair that is not in a list of which only the
// numbers in the bitmap, or only numbers, are members.
func (t *intake) unlisted(ids []string, at place) error {
	id := ids[len(ids)-1]
	for _, s := range ids {
		x, ok := parseNumber([]byte(s))
		if !ok || t.dense != nil && (x >= t.limit || !t.dense.has(uint32(x))) {
			id = s
			break
		}
	}
	return &UnlistedError{ID: id, File: t.file(at), Line: at.line, List: t.listName}
}

// open is the table of the open chunk.
func (t *intake) open() table {
	if t.strs != nil {
		return t.strs
	}
	return t.ints
}

// makeRoom closes the chunk when its table has its share of the memory. It is
// called between pairs, so that a pair is never split over chunks.
func (t *intake) makeRoom() error {
	if t.open().memory() < t.memory/4 {
		return nil
	}
	return t.closeChunk()
}

func (t *intake) closeChunk() error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	var err error
	if t.strs != nil {
		err = t.chunks.close(t.strs, t.seen)
		t.strs = newStringTable()
	} else {
		err = t.chunks.close(t.ints, t.seen)
		t.ints = newIntTable()
	}
	t.seen = t.seen[:0]
	return err
}

// leaveDense ends the use of the bitmap.
func (t *intake) leaveDense() {
	t.left.Store(true)
	t.dense, t.behind = nil, t.dense
	t.openChunks()
}

// settle moves what the bitmap took, if it was left, to what is in use now.
// Nobody adds to the sorter any more.
func (t *intake) settle() error {
	if t.behind == nil {
		return nil
	}
	old := t.behind
	t.behind = nil
	err := old.each(func(x uint32) error { return t.numbers(uint64(x), uint64(x), place{}) })
	if err != nil {
		return err
	}
	return t.sorter.drain(func(a, b uint32) error { return t.numbers(uint64(a), uint64(b), place{}) })
}

func (t *intake) openChunks() {
	t.chunks = newChunks(t.space, t.memory)
	t.chunks.places = t.listName != ""
}

// toStrings moves from the bitmap or from chunks of numbers to strings.
func (t *intake) toStrings() error {
	if t.dense != nil {
		t.leaveDense()
		t.strs = newStringTable()
		return nil
	}
	if err := t.closeChunk(); err != nil {
		return err
	}
	old := t.chunks
	t.ints, t.strs = nil, newStringTable()
	t.openChunks()
	if err := old.done(); err != nil {
		return err
	}
	for i := range old.closed {
		if err := t.replay(old, i); err != nil {
			return err
		}
	}
	return old.release()
}

// replay takes the numbers of a closed chunk again.
func (t *intake) replay(old *chunks, i int) error {
	ids := make([]uint64, old.closed[i].count)
	c := old.cursor(i, pageBytes)
	for {
		ok, err := c.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		x := keyNumber(c.key)
		ids[c.local] = x
		if err := t.numbers(x, x, place{}); err != nil {
			return err
		}
	}
	return old.eachEdge(i, func(a, b uint32) error { return t.numbers(ids[a], ids[b], place{}) })
}

// seal ends the list of vertices.
func (t *intake) seal() error {
	if err := t.settle(); err != nil {
		return err
	}
	t.sealed = true
	if t.chunks == nil || len(t.chunks.closed) == 0 && t.open().memory() < t.memory/4 {
		return nil // the list is in memory and every id is looked up there
	}
	if err := t.closeChunk(); err != nil {
		return err
	}
	t.listed = len(t.chunks.closed)
	return nil
}

// finish gives the dictionary, with all arcs in the sorter under final indices
// or, for a dense dictionary, under ids in the same order.
func (t *intake) finish(progress func(done, total int64)) (*dictionary, error) {
	if err := t.settle(); err != nil {
		return nil, err
	}
	if t.dense != nil {
		t.dense.index()
		if err := checkCount(t.dense.count); err != nil {
			return nil, err
		}
		return &dictionary{dense: t.dense, count: t.dense.count}, t.sorter.finish()
	}
	if err := t.closeChunk(); err != nil {
		return nil, err
	}
	if err := t.chunks.done(); err != nil {
		return nil, err
	}
	text := t.strs != nil
	t.ints, t.strs, t.seen = nil, nil, nil
	d, maps, err := t.mergeChunks(text)
	if err != nil {
		return nil, err
	}
	if err := t.translate(maps, progress); err != nil {
		return nil, err
	}
	return d, t.sorter.finish()
}

func checkCount(n int64) error {
	if n > maxVertices {
		return fmt.Errorf("partition: the input has more than %d vertices, which is the most that this format holds; nothing was written", int64(maxVertices))
	}
	return nil
}
