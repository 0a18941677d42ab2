package blockmatmul

// MostNarrow is the largest entry of a narrow matrix; the least is −MostNarrow − 1.
const MostNarrow = 1<<15 - 1

// callArcs is the most arcs of one call of a kernel. A sum of 2¹⁶ entries of a narrow matrix
// is at least −2³¹ and at most 2¹⁶·(2¹⁵ − 1) < 2³¹: it fits int32, whatever the graph. A call
// is short, too, because the scheduler cannot interrupt assembly.
const callArcs = 1 << 16

// Packed is a public integer matrix V laid out for the product: in int16 where every
// entry fits, else in int32, with rows padded to a multiple of four entries. V is public
// (a function of noisy answers and public randomness), so looking at it to choose the
// width tells nobody anything; and the products are the same integers for either width.
type Packed struct {
	rows, cols int
	stride     int // entries from a row to the next, a multiple of 4
	narrow     []int16
	wide       []int32 // where narrow is nil
}

// Pack lays out the matrix v of the given number of columns (row-major). It keeps v where
// that needs no other layout: v must not change while the result is in use.
func Pack(v []int32, cols int) *Packed { return new(Packed).Repack(v, cols) }

// Repack is Pack in the memory of p, whose earlier content is lost; p may be nil.
func (p *Packed) Repack(v []int32, cols int) *Packed {
	if cols <= 0 || len(v)%cols != 0 {
		panic("blockmatmul: a matrix to pack has no whole rows")
	}
	if p == nil {
		p = new(Packed)
	}
	spare := p.narrow
	*p = Packed{rows: len(v) / cols, cols: cols, stride: (cols + 3) / 4 * 4}
	if fitsNarrow(v) {
		if size := p.rows * p.stride; cap(spare) >= size {
			p.narrow = spare[:size]
		} else {
			p.narrow = make([]int16, size)
		}
		pad(p.narrow, v, cols, p.stride)
		return p
	}
	if p.wide = v; p.stride != cols {
		p.wide = make([]int32, p.rows*p.stride)
		pad(p.wide, v, cols, p.stride)
	}
	return p
}

// Narrow reports whether entries take 16 bits.
func (p *Packed) Narrow() bool { return p.narrow != nil }

// Rows is the number of rows of V.
func (p *Packed) Rows() int { return p.rows }

// Cols is the number of columns of V.
func (p *Packed) Cols() int { return p.cols }

func fitsNarrow(v []int32) bool {
	var most uint32
	for _, x := range v {
		most |= uint32(x ^ x>>31) // |x| − 1 for negative x
	}
	return most <= MostNarrow
}

// pad copies v, the entries of which fit T, into rows of stride entries.
func pad[T int16 | int32](dst []T, v []int32, cols, stride int) {
	if cols == stride {
		for i, x := range v {
			dst[i] = T(x)
		}
		return
	}
	for i := 0; i*cols < len(v); i++ {
		row := dst[i*stride : (i+1)*stride]
		clear(row[cols:])
		for j, x := range v[i*cols : (i+1)*cols] {
			row[j] = T(x)
		}
	}
}
