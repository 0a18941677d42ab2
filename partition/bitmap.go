package partition

import "math/bits"

// bitmap is a set of numbers below 2^31 with ranks: the dictionary of inputs
// whose ids are small numbers.
type bitmap struct {
	words []uint64
	count int64
	below []uint32 // set bits before every group of 8 words, after index
}

// has reports whether x is in the set.
func (b *bitmap) has(x uint32) bool {
	w := int(x >> 6)
	return w < len(b.words) && b.words[w]>>(x&63)&1 != 0
}

// add puts x in the set.
func (b *bitmap) add(x uint32) {
	w := int(x >> 6)
	if w >= len(b.words) {
		b.grow(w + 1)
	}
	bit := uint64(1) << (x & 63)
	if b.words[w]&bit == 0 {
		b.words[w] |= bit
		b.count++
	}
}

// grow makes room in powers of two; untouched pages cost no memory.
func (b *bitmap) grow(n int) {
	words := make([]uint64, 1<<bits.Len(uint(max(n, 1024)-1)))
	copy(words, b.words)
	b.words = words
}

// index prepares rank; the set must not change any more.
func (b *bitmap) index() {
	b.below = make([]uint32, (len(b.words)+7)/8)
	sum := uint32(0)
	for i, w := range b.words {
		if i%8 == 0 {
			b.below[i/8] = sum
		}
		sum += uint32(bits.OnesCount64(w))
	}
}

// rank is the number of members below x.
func (b *bitmap) rank(x uint32) uint32 {
	w := x >> 6
	n := b.below[w>>3]
	for i := w &^ 7; i < w; i++ {
		n += uint32(bits.OnesCount64(b.words[i]))
	}
	return n + uint32(bits.OnesCount64(b.words[w]&(1<<(x&63)-1)))
}

// each visits the members in ascending order.
func (b *bitmap) each(visit func(x uint32) error) error {
	for i, w := range b.words {
		for ; w != 0; w &= w - 1 {
			if err := visit(uint32(i<<6 + bits.TrailingZeros64(w))); err != nil {
				return err
			}
		}
	}
	return nil
}
