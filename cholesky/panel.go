package cholesky

// A panel holds up to 64 rows of a tall matrix, transposed: column j lies in
// col[j*64 : j*64+64], rows that are missing and columns up to a multiple of
// four are zero. Both kernels below run over contiguous rows with eight
// independent sums, which is what a scalar unit needs to stay busy.
type panel struct {
	k, padded int
	col       []float64
	leaves    int
	stack     [][]float64 // partial sums of 2^i leaves, the binary counter of leaves
	free      [][]float64
}

func newPanel(k int) *panel {
	padded := (k + 3) / 4 * 4
	return &panel{k: k, padded: padded, col: make([]float64, padded*leafRows)}
}

// load transposes rows (at most 64, row-major) into the panel, less the means
// where these are given.
func (p *panel) load(rows []float64, means []float64) {
	n := len(rows) / p.k
	if n < leafRows {
		clear(p.col)
	}
	for r := range n {
		row := rows[r*p.k : (r+1)*p.k]
		if means == nil {
			for j, x := range row {
				p.col[j*leafRows+r] = x
			}
			continue
		}
		for j, x := range row {
			p.col[j*leafRows+r] = x - means[j]
		}
	}
}

// store writes the panel's rows back.
func (p *panel) store(rows []float64) {
	for r := range len(rows) / p.k {
		row := rows[r*p.k : (r+1)*p.k]
		for j := range row {
			row[j] = p.col[j*leafRows+r]
		}
	}
}

func (p *panel) reset() {
	p.leaves = 0
	p.free = append(p.free, p.stack...)
	p.stack = p.stack[:0]
}

func (p *panel) buffer() []float64 {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		clear(b)
		return b
	}
	return make([]float64, p.padded*p.padded)
}

// addGram adds the panel's Gram matrix to the pairwise sum.
func (p *panel) addGram() {
	g := p.buffer()
	for i := 0; i < p.padded; i += 2 {
		for j := i / 4 * 4; j < p.padded; j += 4 {
			p.gramTile(g, i, j)
		}
	}
	p.leaves++
	for c := p.leaves; c%2 == 0; c /= 2 {
		top := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		addTo(top, g)
		p.free = append(p.free, g)
		g = top
	}
	p.stack = append(p.stack, g)
}

// gramTile computes the 2×4 tile (i, j) of the panel's Gram matrix.
func (p *panel) gramTile(g []float64, i, j int) {
	a0 := (*[leafRows]float64)(p.col[i*leafRows:])
	a1 := (*[leafRows]float64)(p.col[(i+1)*leafRows:])
	b0 := (*[leafRows]float64)(p.col[j*leafRows:])
	b1 := (*[leafRows]float64)(p.col[(j+1)*leafRows:])
	b2 := (*[leafRows]float64)(p.col[(j+2)*leafRows:])
	b3 := (*[leafRows]float64)(p.col[(j+3)*leafRows:])
	var s00, s01, s02, s03, s10, s11, s12, s13 float64
	for r := range leafRows {
		x, y := a0[r], a1[r]
		b := b0[r]
		s00 += x * b
		s10 += y * b
		b = b1[r]
		s01 += x * b
		s11 += y * b
		b = b2[r]
		s02 += x * b
		s12 += y * b
		b = b3[r]
		s03 += x * b
		s13 += y * b
	}
	top := (*[4]float64)(g[i*p.padded+j:])
	low := (*[4]float64)(g[(i+1)*p.padded+j:])
	*top = [4]float64{s00, s01, s02, s03}
	*low = [4]float64{s10, s11, s12, s13}
}

// sum adds up the open partial sums, smallest first, and returns a k×k matrix.
func (p *panel) sum() []float64 {
	out := make([]float64, p.k*p.k)
	if len(p.stack) == 0 {
		return out
	}
	for len(p.stack) > 1 {
		last := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		addTo(p.stack[len(p.stack)-1], last)
		p.free = append(p.free, last)
	}
	for i := range p.k {
		copy(out[i*p.k:(i+1)*p.k], p.stack[0][i*p.padded:i*p.padded+p.k])
	}
	return out
}

// solve replaces the panel's rows x by x·R⁻¹, by forward substitution. rt holds
// the columns of the upper triangular R one after another (rt[j*k+i] = R_ij),
// inverse the reciprocals of its diagonal.
func (p *panel) solve(rt, inverse []float64) {
	k := p.k
	for j := range k {
		column := rt[j*k : j*k+j]
		d := inverse[j]
		for g := 0; g < leafRows; g += 8 {
			out := (*[8]float64)(p.col[j*leafRows+g:])
			s0, s1, s2, s3, s4, s5, s6, s7 := out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7]
			at := g
			for _, x := range column {
				c := (*[8]float64)(p.col[at:])
				s0 -= x * c[0]
				s1 -= x * c[1]
				s2 -= x * c[2]
				s3 -= x * c[3]
				s4 -= x * c[4]
				s5 -= x * c[5]
				s6 -= x * c[6]
				s7 -= x * c[7]
				at += leafRows
			}
			*out = [8]float64{s0 * d, s1 * d, s2 * d, s3 * d, s4 * d, s5 * d, s6 * d, s7 * d}
		}
	}
}
