package blockmatmul

import "fmt"

// CSR holds consecutive rows of a symmetric 0/1 adjacency matrix in compressed
// sparse row form. Row First+i has its neighbours, strictly increasing, in
// Col[Ptr[i]:Ptr[i+1]].
type CSR struct {
	First int     // index of the first row
	Ptr   []int64 // len rows+1, Ptr[0] == 0
	Col   []int32 // column (vertex) indices
}

// Rows is the number of rows held.
func (a *CSR) Rows() int { return len(a.Ptr) - 1 }

// Check reports whether the structure can be multiplied with an n-row operand
// without reading out of bounds.
func (a *CSR) Check(n int) error {
	if len(a.Ptr) == 0 || a.Ptr[0] != 0 || a.Ptr[len(a.Ptr)-1] != int64(len(a.Col)) {
		return fmt.Errorf("blockmatmul: row pointers do not span the %d column indices", len(a.Col))
	}
	if a.First < 0 || a.First+a.Rows() > n {
		return fmt.Errorf("blockmatmul: rows %d..%d lie outside a graph of %d vertices", a.First, a.First+a.Rows(), n)
	}
	for i := 1; i < len(a.Ptr); i++ {
		if a.Ptr[i] < a.Ptr[i-1] {
			return fmt.Errorf("blockmatmul: row pointers decrease at row %d", a.First+i-1)
		}
	}
	for _, c := range a.Col {
		if c < 0 || int(c) >= n {
			return fmt.Errorf("blockmatmul: column index %d lies outside a graph of %d vertices", c, n)
		}
	}
	return nil
}

// MultiplyRows adds up the neighbours' rows of v (n×k, row-major) for the rows
// [from, to) of a (counted from a.First) and writes them to dst ((to-from)×k): the
// definition, which Multiply is tested against. The caller has checked a with Check and
// the operand for overflow.
func (a *CSR) MultiplyRows(dst []int64, v []int32, k, from, to int) {
	for i := from; i < to; i++ {
		out := dst[(i-from)*k : (i-from+1)*k]
		clear(out)
		for _, c := range a.Col[a.Ptr[i]:a.Ptr[i+1]] {
			row := v[int(c)*k : int(c)*k+k]
			for j, x := range row {
				out[j] += int64(x)
			}
		}
	}
}
