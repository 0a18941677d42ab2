package reader

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// idSet is a set of vertex ids for formats that declare vertices. It is small
// where ids are small: numbers, also behind a prefix ("n17"), lie in pages of
// 2^16 that take at most 8 KiB each; anything else is kept as a 128-bit
// fingerprint, 16 bytes in a table that is at least half full. Two different
// ids of 2^31 share a fingerprint with probability below 2^-66.
type idSet struct {
	pages    map[pageKey]*page
	prefixes []string
	prints   printTable
	len      int64
	paged    int64
}

type pageKey struct {
	high   uint64
	prefix uint8
}

// page holds the low 16 bits of ids: sorted while few, a bitmap then.
type page struct {
	few  []uint16
	many *[1024]uint64
}

const (
	fewest       = 512  // a page becomes a bitmap beyond this
	maxPrefixes  = 8    // prefixes that pages are kept for
	sparsePages  = 4096 // with more pages than this,
	sparseFilled = 8    // new ones are made only while pages hold this many ids on average
)

// add puts id into the set and says whether it is new.
func (s *idSet) add(id []byte) bool {
	key, low, ok := s.key(id)
	if ok {
		if s.pages == nil {
			s.pages = map[pageKey]*page{}
		}
		p := s.pages[key]
		if p == nil && (len(s.pages) < sparsePages || s.paged >= sparseFilled*int64(len(s.pages))) && !s.prints.has(id) {
			p = &page{}
			s.pages[key] = p
		}
		if p != nil {
			if p.has(low) || s.prints.has(id) {
				return false
			}
			p.add(low)
			s.paged++
			s.len++
			return true
		}
	}
	if !s.prints.add(id) {
		return false
	}
	s.len++
	return true
}

func (s *idSet) has(id []byte) bool {
	if key, low, ok := s.key(id); ok {
		if p := s.pages[key]; p != nil && p.has(low) {
			return true
		}
	}
	return s.prints.has(id)
}

// key splits an id into prefix and number. ok is false when it does not end in
// a number in canonical form that fits 64 bits.
func (s *idSet) key(id []byte) (key pageKey, low uint16, ok bool) {
	at := len(id)
	for at > 0 && isDigit(id[at-1]) {
		at--
	}
	n, ok := canonicalUint(id[at:])
	if !ok {
		return key, 0, false
	}
	prefix, ok := s.prefix(id[:at])
	return pageKey{n >> 16, prefix}, uint16(n), ok
}

// prefix numbers the prefixes, the empty one 0.
func (s *idSet) prefix(b []byte) (uint8, bool) {
	if len(b) == 0 {
		return 0, true
	}
	for i, p := range s.prefixes {
		if p == string(b) {
			return uint8(i + 1), true
		}
	}
	if len(s.prefixes) == maxPrefixes || len(b) > 64 {
		return 0, false
	}
	s.prefixes = append(s.prefixes, string(b))
	return uint8(len(s.prefixes)), true
}

// canonicalUint reads digits without leading zero that fit uint64.
func canonicalUint(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		hi, lo := bits.Mul64(n, 10)
		sum, carry := bits.Add64(lo, uint64(c-'0'), 0)
		if hi+carry > 0 {
			return 0, false
		}
		n = sum
	}
	return n, true
}

func (p *page) has(low uint16) bool {
	if p.many != nil {
		return p.many[low>>6]>>(low&63)&1 == 1
	}
	_, found := slices.BinarySearch(p.few, low)
	return found
}

func (p *page) add(low uint16) {
	if p.many == nil && len(p.few) == fewest {
		p.many = new([1024]uint64)
		for _, l := range p.few {
			p.many[l>>6] |= 1 << (l & 63)
		}
		p.few = nil
	}
	if p.many != nil {
		p.many[low>>6] |= 1 << (low & 63)
		return
	}
	at, _ := slices.BinarySearch(p.few, low)
	p.few = slices.Insert(p.few, at, low)
}

// printTable is an open-addressed hash set of fingerprints.
type printTable struct {
	slots [][2]uint64 // a power of two; {0,0} is free
	len   int
	seed  [2]maphash.Seed
}

func (t *printTable) fingerprint(id []byte) [2]uint64 {
	f := [2]uint64{maphash.Bytes(t.seed[0], id), maphash.Bytes(t.seed[1], id)}
	if f == ([2]uint64{}) {
		f[1] = 1
	}
	return f
}

// slot is where f stands, or the free slot where it belongs.
func (t *printTable) slot(f [2]uint64) *[2]uint64 {
	mask := uint64(len(t.slots) - 1)
	for i := f[0] & mask; ; i = (i + 1) & mask {
		if t.slots[i] == f || t.slots[i] == ([2]uint64{}) {
			return &t.slots[i]
		}
	}
}

func (t *printTable) has(id []byte) bool {
	return t.len > 0 && *t.slot(t.fingerprint(id)) != ([2]uint64{})
}

func (t *printTable) add(id []byte) bool {
	if t.slots == nil {
		t.seed = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
		t.slots = make([][2]uint64, 64)
	}
	if 4*t.len >= 3*len(t.slots) {
		old := t.slots
		t.slots = make([][2]uint64, 2*len(old))
		for _, f := range old {
			if f != ([2]uint64{}) {
				*t.slot(f) = f
			}
		}
	}
	f := t.fingerprint(id)
	s := t.slot(f)
	if *s == f {
		return false
	}
	*s = f
	t.len++
	return true
}
