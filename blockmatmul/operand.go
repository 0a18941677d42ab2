package blockmatmul

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Operand is a clipped, quantised n×k matrix: the only thing that can be
// multiplied. Entry (i, j) stands for Data()[i*k+j] · 2^-Bits.
type Operand struct {
	rows, cols int
	bits       uint
	data       []int32
	radius     int64 // no row has a larger Euclidean norm, in units
}

// MaxBits bounds the scale of an Operand so that a clipped row fits int32.
const MaxBits = 30

// Quantise clips each row of the public matrix v (rows×cols, row-major) to
// Euclidean norm ≤ radius and rounds every entry towards zero to a multiple of
// 2^-bits. Rounding towards zero never lengthens a row.
//
// v is public (a function of earlier noisy outputs and public randomness), so
// floats are allowed here: this is the last place before the graph where they
// are. NaN or ±Inf in v is an error, as is a radius that does not fit.
func Quantise(v []float64, rows, cols int, radius float64, scaleBits uint) (*Operand, error) {
	if rows < 0 || cols <= 0 || len(v) != rows*cols {
		return nil, fmt.Errorf("blockmatmul: matrix has %d entries, want %d×%d", len(v), rows, cols)
	}
	if scaleBits > MaxBits {
		return nil, fmt.Errorf("blockmatmul: scale 2^-%d is finer than 2^-%d", scaleBits, MaxBits)
	}
	scale := math.Ldexp(1, int(scaleBits))
	if !(radius > 0) || radius*scale >= math.MaxInt32 {
		return nil, fmt.Errorf("blockmatmul: row norm bound %g is not in (0, %g) at scale 2^-%d", radius, math.MaxInt32/scale, scaleBits)
	}
	op := &Operand{rows: rows, cols: cols, bits: scaleBits, data: make([]int32, rows*cols)}
	pieces := make([]struct {
		most uint64
		err  error
	}, pieceCount(rows))
	inPieces(rows, func(piece, from, to int) {
		for i := from; i < to; i++ {
			sum, ok := quantiseRow(op.data[i*cols:(i+1)*cols], v[i*cols:(i+1)*cols], radius, scale)
			if !ok {
				pieces[piece].err = fmt.Errorf("blockmatmul: row %d of V is not finite", i)
				return
			}
			pieces[piece].most = max(pieces[piece].most, sum)
		}
	})
	var most uint64
	for _, p := range pieces {
		if p.err != nil {
			return nil, p.err
		}
		most = max(most, p.most)
	}
	// The certified bound is read off the integers themselves, rounded up:
	// whatever the floats above did, no row is longer than this.
	op.radius = ceilSqrt(most)
	return op, nil
}

// quantiseRow clips and rounds one row and returns its squared norm in units; false where
// it is not finite.
func quantiseRow(dst []int32, row []float64, radius, scale float64) (sum uint64, ok bool) {
	norm := 0.0
	for _, x := range row {
		norm = math.Hypot(norm, x)
	}
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return 0, false
	}
	f := scale
	if norm > radius {
		f = scale * (radius / norm)
	}
	for j, x := range row {
		q := int64(x * f) // Go truncates towards zero
		dst[j] = int32(q)
		sum += uint64(q * q)
	}
	return sum, true
}

// Rows is n, the number of vertices.
func (o *Operand) Rows() int { return o.rows }

// Cols is k, the number of columns.
func (o *Operand) Cols() int { return o.cols }

// Bits is the scale: one unit is 2^-Bits.
func (o *Operand) Bits() uint { return o.bits }

// Radius is r, an integer bound on every row's Euclidean norm, in units.
func (o *Operand) Radius() int64 { return o.radius }

// Narrow reports whether every entry fits 16 bits, by the bound of the rows: V is public, and
// of a Katz round's operand the bound is.
func (o *Operand) Narrow() bool { return o.radius <= MostNarrow }

// Narrowed is rows [from, to) in 16 bits, for an operand that is Narrow.
func (o *Operand) Narrowed(from, to int) []int16 {
	out := make([]int16, (to-from)*o.cols)
	pad(out, o.data[from*o.cols:to*o.cols], o.cols, o.cols)
	return out
}

// Data is the row-major matrix in units. It must not be changed.
func (o *Operand) Data() []int32 { return o.data }

// Float writes the matrix as it is multiplied, in real units, to dst.
func (o *Operand) Float(dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, len(o.data))
	}
	for i, x := range o.data {
		dst[i] = math.Ldexp(float64(x), -int(o.bits))
	}
	return dst
}

// CheckOverflow reports whether a row sum over up to n-1 neighbours, or the clip of
// one to norm c, could leave int64. Only public bounds enter.
func (o *Operand) CheckOverflow(c int64) error {
	hi, lo := bits.Mul64(uint64(max(o.rows-1, 1)), uint64(max(o.radius, 1)))
	if hi != 0 || lo > math.MaxInt64 {
		return fmt.Errorf("blockmatmul: %d vertices with row norms of %d units can overflow int64; use a coarser scale", o.rows, o.radius)
	}
	if c < 0 || c > math.MaxInt64/2 {
		return fmt.Errorf("blockmatmul: row clip %d is out of range", c)
	}
	return nil
}

// Product is Q, rows×k integers in the operand's units. It is private: no byte
// of it may leave the boundary before noise is added.
type Product struct {
	Rows, Cols int
	Data       []int64
}

// Multiplier is the seam between the Oja loop and whatever holds the rows of A:
// in one process, over NATS, or dense in a test. For the same operand every
// implementation returns the same integers.
type Multiplier interface {
	// Multiply returns Q with Q_i = clip_c(Σ_{j∈N(i)} V_j) for every vertex i;
	// c = 0 means no clip.
	Multiply(ctx context.Context, v *Operand, c int64) (*Product, error)
}

// ErrShape says that rows of A and an operand do not belong together.
var ErrShape = errors.New("blockmatmul: shapes do not match")

func ceilSqrt(x uint64) int64 {
	s := floorSqrt(x)
	if s*s < x {
		s++
	}
	return int64(s)
}

// NormCounts counts the rows by a bound of their norm: counts[i] rows have norm ≤
// min(i·width, Radius). V is public, so this is too; sensitivities are read off it.
// There are at most 2¹⁶+1 classes, so a bound is loose by at most 2⁻¹⁶ of the radius.
func (o *Operand) NormCounts() (width int64, counts []int64) {
	width = o.radius>>16 + 1
	counts = make([]int64, (o.radius+width-1)/width+1)
	class := make([]int32, o.rows)
	inPieces(o.rows, func(_, from, to int) {
		for i := from; i < to; i++ {
			var sum uint64
			for _, x := range o.data[i*o.cols : (i+1)*o.cols] {
				sum += uint64(int64(x) * int64(x))
			}
			class[i] = int32((ceilSqrt(sum) + width - 1) / width)
		}
	})
	for _, c := range class {
		counts[c]++
	}
	return width, counts
}
