package partition

import (
	"math/bits"
	"sync/atomic"
)

// bitmap is a set of numbers below 2^31 with ranks: the dictionary of inputs
// whose ids are small numbers. Several goroutines may add to it.
type bitmap struct {
	pages []atomic.Pointer[bitPage]
	count int64 // after index
	dense bool  // after index: the members are 0..count-1
}

// bitPage holds 2^16 numbers.
type bitPage struct {
	words [1 << 10]uint64
	below [1 << 10]uint32 // members below each word, after index
}

// bitPageBytes is the memory of a page with its ranks.
const bitPageBytes = 12 << 10

// newBitmap makes a set of numbers below limit.
func newBitmap(limit uint64) *bitmap {
	return &bitmap{pages: make([]atomic.Pointer[bitPage], (limit+1<<16-1)>>16)}
}

// has reports whether x, below the limit, is in the set.
func (b *bitmap) has(x uint32) bool {
	p := b.pages[x>>16].Load()
	return p != nil && atomic.LoadUint64(&p.words[x>>6&1023])>>(x&63)&1 != 0
}

// add puts x, below the limit, in the set.
func (b *bitmap) add(x uint32) {
	p := b.pages[x>>16].Load()
	if p == nil {
		p = b.page(int(x >> 16))
	}
	w, bit := &p.words[x>>6&1023], uint64(1)<<(x&63)
	if atomic.LoadUint64(w)&bit == 0 {
		atomic.OrUint64(w, bit)
	}
}

func (b *bitmap) page(i int) *bitPage {
	b.pages[i].CompareAndSwap(nil, new(bitPage))
	return b.pages[i].Load()
}

// index prepares rank and count; the set must not change any more.
func (b *bitmap) index() {
	sum, last := uint32(0), int64(-1)
	for i := range b.pages {
		p := b.pages[i].Load()
		if p == nil {
			continue
		}
		for j, w := range p.words {
			p.below[j] = sum
			if w != 0 {
				sum += uint32(bits.OnesCount64(w))
				last = int64(i)<<16 + int64(j)<<6 + int64(bits.Len64(w)) - 1
			}
		}
	}
	b.count, b.dense = int64(sum), last+1 == int64(sum)
}

// rank is the number of members below the member x.
func (b *bitmap) rank(x uint32) uint32 {
	if b.dense {
		return x
	}
	p := b.pages[x>>16].Load()
	w := x >> 6 & 1023
	return p.below[w] + uint32(bits.OnesCount64(p.words[w]&(1<<(x&63)-1)))
}

// each visits the members in ascending order.
func (b *bitmap) each(visit func(x uint32) error) error {
	for i := range b.pages {
		p := b.pages[i].Load()
		if p == nil {
			continue
		}
		for j, w := range p.words {
			for ; w != 0; w &= w - 1 {
				if err := visit(uint32(i<<16 + j<<6 + bits.TrailingZeros64(w))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
