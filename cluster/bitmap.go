package cluster

import "math/bits"

// bitmap is a set of small numbers: bit i%8 of byte i/8 stands for i.
type bitmap struct {
	size int
	set  []byte
}

func newBitmap(size int) bitmap { return bitmap{size: size, set: make([]byte, (size+7)/8)} }

// bitmapFrom takes a bitmap of size bits off the wire; ok is false where the
// length is another or bits beyond the size are set.
func bitmapFrom(b []byte, size int) (m bitmap, ok bool) {
	if size < 0 || len(b) != (size+7)/8 || (size%8 != 0 && b[len(b)-1]>>(size%8) != 0) {
		return bitmap{}, false
	}
	return bitmap{size: size, set: b}, true
}

func (m bitmap) has(i int) bool { return m.set[i/8]&(1<<(i%8)) != 0 }
func (m bitmap) add(i int)      { m.set[i/8] |= 1 << (i % 8) }

func (m bitmap) count() int {
	n := 0
	for _, b := range m.set {
		n += bits.OnesCount8(b)
	}
	return n
}

func (m bitmap) full() bool { return m.count() == m.size }
