package blockmatmul

// MostNarrow is the largest entry of a narrow matrix; the least is −MostNarrow − 1.
const MostNarrow = 1<<15 - 1

// callArcs is the most arcs of one call of a kernel. A sum of 2¹⁶ entries of a narrow matrix
// is at least −2³¹ and at most 2¹⁶·(2¹⁵ − 1) < 2³¹: it fits int32, whatever the graph. A call
// is short, too, because the scheduler cannot interrupt assembly.
const callArcs = 1 << 16

// Packed is an integer matrix V laid out for the product: in int16 or in int32, with rows
// padded to a multiple of four entries. Which of the two is decided by a public bound of the
// entries (Operand.Narrow), never by looking at them; products are the same integers.
type Packed struct {
	rows, cols int
	stride     int     // entries from a row to the next, a multiple of 4
	narrow     []int16 // one of the two
	wide       []int32
}

// NewPacked is the zero matrix.
func NewPacked(rows, cols int, narrow bool) *Packed {
	if rows < 0 || cols <= 0 {
		panic("blockmatmul: a packed matrix needs columns")
	}
	p := &Packed{rows: rows, cols: cols, stride: (cols + 3) / 4 * 4}
	if narrow {
		p.narrow = make([]int16, rows*p.stride)
	} else {
		p.wide = make([]int32, rows*p.stride)
	}
	return p
}

// Pack lays out an operand.
func Pack(o *Operand) *Packed {
	p := NewPacked(o.rows, o.cols, o.Narrow())
	if p.narrow != nil {
		pad(p.narrow, o.data, o.cols, p.stride)
	} else {
		pad(p.wide, o.data, o.cols, p.stride)
	}
	return p
}

// Has reports whether p has this shape and width.
func (p *Packed) Has(rows, cols int, narrow bool) bool {
	return p.rows == rows && p.cols == cols && (p.narrow != nil) == narrow
}

// SetNarrow writes whole rows (row-major, without padding) into a narrow matrix, from row
// `from` on.
func (p *Packed) SetNarrow(from int, rows []int16) {
	pad(p.narrow[from*p.stride:], rows, p.cols, p.stride)
}

// SetWide is SetNarrow for a matrix of 32-bit entries.
func (p *Packed) SetWide(from int, rows []int32) {
	pad(p.wide[from*p.stride:], rows, p.cols, p.stride)
}

// Bytes is the memory that the matrix takes.
func (p *Packed) Bytes() int64 { return 2*int64(len(p.narrow)) + 4*int64(len(p.wide)) }

// pad copies rows of cols entries, which fit T, into rows of stride entries.
func pad[T, S int16 | int32](dst []T, rows []S, cols, stride int) {
	if cols == stride {
		dst = dst[:len(rows)]
		for i, x := range rows {
			dst[i] = T(x)
		}
		return
	}
	for i := 0; i*cols < len(rows); i++ {
		row := dst[i*stride : (i+1)*stride]
		for j, x := range rows[i*cols : (i+1)*cols] {
			row[j] = T(x)
		}
	}
}
