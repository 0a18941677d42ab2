package blockmatmul

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// mixedRows has empty rows, short rows, a batch's worth of rows, and one row with more arcs
// than a call may have.
func mixedRows(rng *rand.Rand, n int) *CSR {
	c := &CSR{First: 3, Ptr: []int64{0}}
	row := func(degree int) {
		cols := rng.Perm(n)[:degree]
		slices.Sort(cols)
		for _, j := range cols {
			c.Col = append(c.Col, int32(j))
		}
		c.Ptr = append(c.Ptr, int64(len(c.Col)))
	}
	for _, degree := range []int{0, 1, 5, n, 0, n - 1, 2, 40_000, 30_000, 1, 0} {
		row(min(degree, n))
	}
	for range 2100 {
		var cols []int32
		for range rng.IntN(4) {
			cols = append(cols, int32(rng.IntN(n)))
		}
		c.Col = append(c.Col, cols...) // repeats and order do not matter to a sum
		c.Ptr = append(c.Ptr, int64(len(c.Col)))
	}
	return c
}

// Every width, strip and path gives the sums of the definition, at the limits of the types
// too: rows of 2¹⁶ and more equal entries of the largest magnitude.
func TestMultiplyEqualsTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = callArcs + 3
	a := mixedRows(rng, n)
	rows := a.Rows()
	fills := map[string]func(int) int32{
		"narrow":         func(int) int32 { return int32(int16(rng.Uint32())) },
		"narrow largest": func(int) int32 { return MostNarrow },
		"narrow least":   func(int) int32 { return -MostNarrow - 1 },
		"just wide":      func(i int) int32 { return MostNarrow + int32(i%2) },
		"wide":           func(int) int32 { return int32(rng.Uint32()) },
		"wide least":     func(int) int32 { return math.MinInt32 },
	}
	for name, fill := range fills {
		for _, k := range []int{1, 3, 4, 7, 8, 12, 16, 20, 31, 32, 36, 60} {
			v := make([]int32, n*k)
			for i := range v {
				v[i] = fill(i)
			}
			p := packed(v, k, name[0] == 'n')
			want, got, plain := make([]int64, rows*k), make([]int64, rows*k), make([]int64, rows*k)
			a.MultiplyRows(want, v, k, 0, rows)
			a.Multiply(got, p, 0, rows, 0)
			a.gatherPlain(plain, p, 0, rows)
			if !slices.Equal(got, want) || !slices.Equal(plain, want) {
				t.Fatalf("%s, %d columns: kernel equal: %v, plain Go equal: %v", name, k, slices.Equal(got, want), slices.Equal(plain, want))
			}
			from, to := 5, rows-700
			a.Multiply(got, p, from, to, 0)
			if !slices.Equal(got[:(to-from)*k], want[from*k:to*k]) {
				t.Fatalf("%s, %d columns: rows %d to %d differ", name, k, from, to)
			}
		}
	}
}

// No call of a kernel covers more than callArcs arcs unless it is one row's.
func TestBatchesAreShort(t *testing.T) {
	a := mixedRows(rand.New(rand.NewPCG(3, 4)), callArcs+3)
	for from := 0; from < a.Rows(); {
		end := a.batch(from, a.Rows())
		if end <= from || end-from > 1 && a.Ptr[end]-a.Ptr[from] > callArcs {
			t.Fatalf("batch of rows %d to %d with %d arcs", from, end, a.Ptr[end]-a.Ptr[from])
		}
		from = end
	}
	if got := int64(callArcs) * MostNarrow; got > math.MaxInt32 {
		t.Errorf("sums of a call reach %d", got)
	}
	if got := int64(callArcs) * (-MostNarrow - 1); got < math.MinInt32 {
		t.Errorf("sums of a call reach %d", got)
	}
}

// packed lays out entries whatever their bound.
func packed(v []int32, k int, narrow bool) *Packed {
	p := NewPacked(len(v)/k, k, narrow)
	if !narrow {
		p.SetWide(0, v)
		return p
	}
	short := make([]int16, len(v))
	for i, x := range v {
		short[i] = int16(x)
	}
	p.SetNarrow(0, short)
	return p
}

// Rows that arrive in pieces, in any order and more than once, make the matrix that Pack does.
func TestPackedInPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, k := range []int{16, 3, 8, 5, 1} {
		for _, bits := range []uint{8, 28} {
			const n = 50
			op := randomOperand(t, rng, n, k, bits)
			p := NewPacked(n, k, op.Narrow())
			for _, from := range []int{30, 0, 30, 10} {
				to := min(from+20, n)
				if op.Narrow() {
					p.SetNarrow(from, op.Narrowed(from, to))
				} else {
					p.SetWide(from, op.Data()[from*k:to*k])
				}
			}
			whole := Pack(op)
			if !slices.Equal(p.narrow, whole.narrow) || !slices.Equal(p.wide, whole.wide) || !p.Has(n, k, op.Narrow()) || p.Bytes() != whole.Bytes() {
				t.Fatalf("%d columns, %d bits: the pieces make another matrix", k, bits)
			}
		}
	}
}

// The clip's guess and its correction, at the edges of a floor: rows that scale to whole
// numbers exactly, or miss them by little, and rows near the largest that the path takes.
func TestClipAtTheEdgesOfAFloor(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200_000 {
		k := 1 + rng.IntN(5)
		x := make([]int64, k)
		unit := rng.Int64N(1 << rng.IntN(28))
		for j := range x {
			x[j] = unit*rng.Int64N(5) + rng.Int64N(3) - 1
			if rng.IntN(2) == 0 {
				x[j] = -x[j]
			}
		}
		c := 1 + rng.Int64N(max(2*unit, 1))
		narrow, wide := slices.Clone(x), slices.Clone(x)
		ClipRow(narrow, c)
		clipWide(wide, c)
		if !slices.Equal(narrow, wide) {
			t.Fatalf("clip of %v to %d gives %v, the definition %v", x, c, narrow, wide)
		}
	}
}
