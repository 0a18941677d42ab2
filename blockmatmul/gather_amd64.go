//go:build !purego

package blockmatmul

import "golang.org/x/sys/cpu"

// vector says whether the assembly kernels can run on this processor.
var vector = cpu.X86.HasAVX2

// See gather_amd64.s.
//
//go:noescape
func narrow4(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)

//go:noescape
func narrow8(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)

//go:noescape
func narrow16(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)

//go:noescape
func narrow32(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)

//go:noescape
func wide4(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)

//go:noescape
func wide8(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)

//go:noescape
func wide16(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)

// narrowStrip adds up rows in the widest strip of at most width columns that has a kernel
// and returns the strip's width. width is a multiple of 4, at least 4.
func narrowStrip(width int, dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int) int {
	switch {
	case width >= 32:
		narrow32(dst, v, ptr, col, rows, last, stride, dstride)
		return 32
	case width >= 16:
		narrow16(dst, v, ptr, col, rows, last, stride, dstride)
		return 16
	case width >= 8:
		narrow8(dst, v, ptr, col, rows, last, stride, dstride)
		return 8
	}
	narrow4(dst, v, ptr, col, rows, last, stride, dstride)
	return 4
}

// wideStrip is narrowStrip for entries of 32 bits.
func wideStrip(width int, dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int) int {
	switch {
	case width >= 16:
		wide16(dst, v, ptr, col, rows, last, stride, dstride)
		return 16
	case width >= 8:
		wide8(dst, v, ptr, col, rows, last, stride, dstride)
		return 8
	}
	wide4(dst, v, ptr, col, rows, last, stride, dstride)
	return 4
}
