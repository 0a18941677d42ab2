package blockmatmul

import "slices"

// Multiply is MultiplyRows on a packed matrix, followed by ClipRow of every row where c is
// not 0. The caller has checked a with Check against v's rows, and the operand for overflow.
func (a *CSR) Multiply(dst []int64, v *Packed, from, to int, c int64) {
	k := v.cols
	dst = dst[:(to-from)*k]
	if vector {
		a.gather(dst, v, from, to)
	} else {
		a.gatherPlain(dst, v, from, to)
	}
	if c != 0 {
		for i := 0; i < len(dst); i += k {
			ClipRow(dst[i:i+k], c)
		}
	}
}

// gather runs the assembly kernels over batches of rows of at most callArcs arcs, and over
// pieces of a row that has more.
func (a *CSR) gather(dst []int64, v *Packed, from, to int) {
	k := v.cols
	var scratch []int64 // rows of v.stride sums, where dst has shorter ones
	for from < to {
		end := a.batch(from, to)
		rows := end - from
		out := dst[:rows*k]
		switch {
		case a.Ptr[end]-a.Ptr[from] > callArcs:
			a.hub(out, v, from)
		case k == v.stride:
			a.call(out, v, a.Ptr[from:end+1])
		default:
			scratch = slices.Grow(scratch[:0], rows*v.stride)[:rows*v.stride]
			a.call(scratch, v, a.Ptr[from:end+1])
			for i := range rows {
				copy(out[i*k:(i+1)*k], scratch[i*v.stride:])
			}
		}
		dst, from = dst[rows*k:], end
	}
}

// batch is the end of the rows from `from` on that go into one call: at least one row.
func (a *CSR) batch(from, to int) int {
	const most = 1024 // rows; their sums stay in the second-level cache
	to = min(to, from+most)
	limit := a.Ptr[from] + callArcs
	if a.Ptr[to] <= limit {
		return to
	}
	n, _ := slices.BinarySearch(a.Ptr[from+1:to+1], limit+1)
	return from + max(n, 1)
}

// hub adds up one row with more than callArcs arcs, piece by piece.
func (a *CSR) hub(out []int64, v *Packed, row int) {
	clear(out)
	piece := make([]int64, v.stride)
	for at, end := a.Ptr[row], a.Ptr[row+1]; at < end; {
		next := min(at+callArcs, end)
		a.call(piece, v, []int64{at, next})
		for j := range out {
			out[j] += piece[j]
		}
		at = next
	}
}

// call runs the kernels of all strips of columns over the rows between ptr's entries.
func (a *CSR) call(dst []int64, v *Packed, ptr []int64) {
	rows, last := len(ptr)-1, len(a.Col)-1
	if rows == 0 || last < 0 || v.rows == 0 {
		clear(dst)
		return
	}
	for at := 0; at < v.stride; {
		if width := v.stride - at; v.narrow != nil {
			at += narrowStrip(width, &dst[at], &v.narrow[at], &ptr[0], &a.Col[0], rows, last, 2*v.stride, 8*v.stride)
		} else {
			at += wideStrip(width, &dst[at], &v.wide[at], &ptr[0], &a.Col[0], rows, last, 4*v.stride, 8*v.stride)
		}
	}
}

// gatherPlain is gather in Go alone.
func (a *CSR) gatherPlain(dst []int64, v *Packed, from, to int) {
	if v.narrow != nil {
		sumStrips(a, dst, v.narrow, v.cols, v.stride, from, to)
	} else {
		sumStrips(a, dst, v.wide, v.cols, v.stride, from, to)
	}
}

// sumStrips adds up rows in strips of eight columns, and one of four where that is left.
func sumStrips[T int16 | int32](a *CSR, dst []int64, v []T, k, stride, from, to int) {
	var sum [8]int64
	for i := from; i < to; i++ {
		arcs := a.Col[a.Ptr[i]:a.Ptr[i+1]]
		out := dst[(i-from)*k : (i-from+1)*k]
		for at := 0; at < k; at += 8 {
			if stride-at >= 8 {
				sum8(&sum, arcs, v, stride, at)
			} else {
				sum4(&sum, arcs, v, stride, at)
			}
			copy(out[at:], sum[:])
		}
	}
}

func sum8[T int16 | int32](sum *[8]int64, arcs []int32, v []T, stride, at int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 int64
	for _, c := range arcs {
		x := (*[8]T)(v[int(c)*stride+at:])
		s0 += int64(x[0])
		s1 += int64(x[1])
		s2 += int64(x[2])
		s3 += int64(x[3])
		s4 += int64(x[4])
		s5 += int64(x[5])
		s6 += int64(x[6])
		s7 += int64(x[7])
	}
	*sum = [8]int64{s0, s1, s2, s3, s4, s5, s6, s7}
}

func sum4[T int16 | int32](sum *[8]int64, arcs []int32, v []T, stride, at int) {
	var s0, s1, s2, s3 int64
	for _, c := range arcs {
		x := (*[4]T)(v[int(c)*stride+at:])
		s0 += int64(x[0])
		s1 += int64(x[1])
		s2 += int64(x[2])
		s3 += int64(x[3])
	}
	*sum = [8]int64{s0, s1, s2, s3}
}
