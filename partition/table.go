package partition

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// A table gives the distinct ids of one chunk of the input local numbers 0, 1,
// 2, … in the order in which they appear. Its order and its hash function never
// show in the output: chunks are written sorted.
type table interface {
	length() int
	memory() int64 // bytes in use, with what sorted needs
	// sorted visits the ids in bytewise order of their keys.
	sorted(visit func(key []byte, local uint32) error) error
}

// intTable numbers uint64 ids. Keys are their 8 bytes in big-endian order, so
// bytewise order is numeric order.
type intTable struct {
	keys  []uint64
	local []uint32 // local number + 1; 0: empty slot
	count int
}

func newIntTable() *intTable {
	return &intTable{keys: make([]uint64, 1024), local: make([]uint32, 1024)}
}

func (t *intTable) length() int { return t.count }

func (t *intTable) memory() int64 { return int64(len(t.keys))*12 + int64(t.count)*16 }

// mix spreads the bits of an id over the table (the finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (t *intTable) slot(key uint64) int {
	mask := len(t.keys) - 1
	i := int(mix(key)>>1) & mask
	for t.local[i] != 0 && t.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

// add gives the number of key, and whether it is new.
func (t *intTable) add(key uint64) (local uint32, fresh bool) {
	i := t.slot(key)
	if n := t.local[i]; n != 0 {
		return n - 1, false
	}
	if 8*(t.count+1) > 5*len(t.keys) {
		old := *t
		t.keys, t.local = make([]uint64, 2*len(old.keys)), make([]uint32, 2*len(old.keys))
		for j, n := range old.local {
			if n != 0 {
				k := t.slot(old.keys[j])
				t.keys[k], t.local[k] = old.keys[j], n
			}
		}
		i = t.slot(key)
	}
	t.count++
	t.keys[i], t.local[i] = key, uint32(t.count)
	return uint32(t.count - 1), true
}

func (t *intTable) sorted(visit func([]byte, uint32) error) error {
	type pair struct {
		key   uint64
		local uint32
	}
	pairs := make([]pair, 0, t.count)
	for i, n := range t.local {
		if n != 0 {
			pairs = append(pairs, pair{t.keys[i], n - 1})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	var key [8]byte
	for _, p := range pairs {
		binary.BigEndian.PutUint64(key[:], p.key)
		if err := visit(key[:], p.local); err != nil {
			return err
		}
	}
	return nil
}

// stringTable numbers ids that are any bytes. Keys are the bytes.
type stringTable struct {
	seed    maphash.Seed
	slots   []uint64 // hash<<32 | local number + 1; 0: empty
	entries []stringEntry
	pages   [][]byte
	bytes   int64 // in pages
}

type stringEntry struct {
	page, offset, length uint32
}

func newStringTable() *stringTable {
	return &stringTable{seed: maphash.MakeSeed(), slots: make([]uint64, 512)}
}

func (t *stringTable) length() int { return len(t.entries) }

func (t *stringTable) memory() int64 {
	return t.bytes + int64(cap(t.entries))*12 + int64(len(t.slots))*8 + int64(len(t.entries))*16
}

func (t *stringTable) key(e stringEntry) []byte {
	return t.pages[e.page][e.offset : e.offset+e.length]
}

func (t *stringTable) hash(key []byte) uint32 { return uint32(maphash.Bytes(t.seed, key)) }

func (t *stringTable) add(key []byte) (local uint32, fresh bool) {
	hash := t.hash(key)
	mask := uint32(len(t.slots) - 1)
	i := hash & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if n := uint32(t.slots[i]); uint32(t.slots[i]>>32) == hash && bytes.Equal(t.key(t.entries[n-1]), key) {
			return n - 1, false
		}
	}
	t.entries = append(t.entries, t.store(key))
	t.slots[i] = uint64(hash)<<32 | uint64(len(t.entries))
	if 8*len(t.entries) > 5*len(t.slots) {
		t.grow()
	}
	return uint32(len(t.entries) - 1), true
}

// warmKeys is how many keys are warmed up together.
const warmKeys = 64

// warm brings what add will look at into the cache, for keys that lie one after
// the other in text and end at ends. A lookup in a large table waits for three
// words of memory, one after the other; here the waits of many keys overlap.
func (t *stringTable) warm(text []byte, start int, ends []int) (sum uint64) {
	var slots [warmKeys]uint64
	mask := uint32(len(t.slots) - 1)
	for i, end := range ends {
		slots[i] = t.slots[t.hash(text[start:end])&mask]
		start = end
	}
	var found [warmKeys]stringEntry
	n := 0
	for _, slot := range slots[:len(ends)] {
		if slot != 0 {
			found[n] = t.entries[uint32(slot)-1]
			n++
		}
	}
	for _, e := range found[:n] {
		if e.length > 0 {
			sum += uint64(t.pages[e.page][e.offset])
		}
	}
	return sum
}

func (t *stringTable) store(key []byte) stringEntry {
	last := len(t.pages) - 1
	if last < 0 || len(t.pages[last])+len(key) > cap(t.pages[last]) {
		size := pageBytes
		if last < 3 {
			size >>= 2 * uint(3-last) // begin with little: most graphs are small
		}
		page := make([]byte, 0, max(size, len(key)))
		t.pages, t.bytes, last = append(t.pages, page), t.bytes+int64(cap(page)), last+1
	}
	page := t.pages[last]
	t.pages[last] = append(page, key...)
	return stringEntry{page: uint32(last), offset: uint32(len(page)), length: uint32(len(key))}
}

func (t *stringTable) grow() {
	old := t.slots
	t.slots = make([]uint64, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		i := uint32(slot>>32) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot
	}
}

// sorted compares the first eight bytes as a number before it looks at the
// whole strings: those lie together, the strings do not.
func (t *stringTable) sorted(visit func([]byte, uint32) error) error {
	type pair struct {
		prefix uint64
		local  uint32
	}
	pairs := make([]pair, len(t.entries))
	for n, e := range t.entries {
		var prefix [8]byte
		copy(prefix[:], t.key(e))
		pairs[n] = pair{binary.BigEndian.Uint64(prefix[:]), uint32(n)}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return bytes.Compare(t.key(t.entries[a.local]), t.key(t.entries[b.local]))
	})
	for _, p := range pairs {
		if err := visit(t.key(t.entries[p.local]), p.local); err != nil {
			return err
		}
	}
	return nil
}
