//go:build !purego

#include "textflag.h"

// Sums of gathered rows. Row i of dst becomes the sum of the rows of v whose numbers
// stand in col[ptr[i]:ptr[i+1]], for i = 0 … rows−1 (rows ≥ 1). A kernel handles one strip
// of columns: v points at the strip's first entry in row 0, dst at its first sum; stride and
// dstride are the distances of two rows in bytes.
//
// A sum costs little; the wait for a row of v that lies anywhere in memory costs all. So
// the row that is needed AHEAD arcs later is asked for at each arc; last, the index of col's
// last entry, bounds that look-ahead.
//
// Narrow kernels sum int16 in int32 lanes: exact for rows of at most 2¹⁶ arcs (doc.go).
// Wide kernels sum int32 in int64 lanes. Both store int64.
//
// DI dst, SI v, DX ptr, CX col, R8 rows left, R9 last, R10 stride, R11 dstride, AX arc,
// BX end of the row, R12 and R13 byte offsets of rows.

#define AHEAD 32

#define ENTER \
	MOVQ dst+0(FP), DI; \
	MOVQ v+8(FP), SI; \
	MOVQ ptr+16(FP), DX; \
	MOVQ col+24(FP), CX; \
	MOVQ rows+32(FP), R8; \
	MOVQ last+40(FP), R9; \
	MOVQ stride+48(FP), R10; \
	MOVQ dstride+56(FP), R11; \
	MOVQ (DX), AX

#define FETCH \
	LEAQ AHEAD(AX), R12; \
	CMPQ R12, R9; \
	CMOVQGT R9, R12; \
	MOVLQSX (CX)(R12*4), R12; \
	IMULQ R10, R12; \
	PREFETCHT0 (SI)(R12*1)

#define LOCATE \
	MOVLQSX (CX)(AX*4), R13; \
	IMULQ R10, R13

#define NEXTROW \
	ADDQ R11, DI; \
	ADDQ $8, DX; \
	DECQ R8

// STORE8 widens the eight int32 sums of ya (whose lower half is xa) and stores them.
#define STORE8(xa, ya, at) \
	VPMOVSXDQ xa, Y14; \
	VEXTRACTI128 $1, ya, X15; \
	VPMOVSXDQ X15, Y15; \
	VMOVDQU Y14, at(DI); \
	VMOVDQU Y15, (at+32)(DI)

// func narrow4(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·narrow4(SB), NOSPLIT, $0-64
	ENTER
row:
	MOVQ 8(DX), BX
	VPXOR X0, X0, X0
	CMPQ AX, BX
	JGE  store
arc:
	FETCH
	LOCATE
	VPMOVSXWD (SI)(R13*1), X2
	VPADDD X2, X0, X0
	INCQ AX
	CMPQ AX, BX
	JLT  arc
store:
	VPMOVSXDQ X0, Y14
	VMOVDQU Y14, (DI)
	NEXTROW
	JNZ row
	VZEROUPPER
	RET

// func narrow8(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·narrow8(SB), NOSPLIT, $0-64
	ENTER
row:
	MOVQ 8(DX), BX
	VPXOR Y0, Y0, Y0
	CMPQ AX, BX
	JGE  store
arc:
	FETCH
	LOCATE
	VPMOVSXWD (SI)(R13*1), Y2
	VPADDD Y2, Y0, Y0
	INCQ AX
	CMPQ AX, BX
	JLT  arc
store:
	STORE8(X0, Y0, 0)
	NEXTROW
	JNZ row
	VZEROUPPER
	RET

// func narrow16(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·narrow16(SB), NOSPLIT, $0-64
	ENTER
row:
	MOVQ 8(DX), BX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	CMPQ AX, BX
	JGE  store
arc:
	FETCH
	LOCATE
	VPMOVSXWD (SI)(R13*1), Y2
	VPMOVSXWD 16(SI)(R13*1), Y3
	VPADDD Y2, Y0, Y0
	VPADDD Y3, Y1, Y1
	INCQ AX
	CMPQ AX, BX
	JLT  arc
store:
	STORE8(X0, Y0, 0)
	STORE8(X1, Y1, 64)
	NEXTROW
	JNZ row
	VZEROUPPER
	RET

// func narrow32(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·narrow32(SB), NOSPLIT, $0-64
	ENTER
row:
	MOVQ 8(DX), BX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	CMPQ AX, BX
	JGE  store
arc:
	FETCH
	LOCATE
	VPMOVSXWD (SI)(R13*1), Y4
	VPMOVSXWD 16(SI)(R13*1), Y5
	VPMOVSXWD 32(SI)(R13*1), Y6
	VPMOVSXWD 48(SI)(R13*1), Y7
	VPADDD Y4, Y0, Y0
	VPADDD Y5, Y1, Y1
	VPADDD Y6, Y2, Y2
	VPADDD Y7, Y3, Y3
	INCQ AX
	CMPQ AX, BX
	JLT  arc
store:
	STORE8(X0, Y0, 0)
	STORE8(X1, Y1, 64)
	STORE8(X2, Y2, 128)
	STORE8(X3, Y3, 192)
	NEXTROW
	JNZ row
	VZEROUPPER
	RET

// func wide4(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·wide4(SB), NOSPLIT, $0-64
	ENTER
row:
	MOVQ 8(DX), BX
	VPXOR Y0, Y0, Y0
	CMPQ AX, BX
	JGE  store
arc:
	FETCH
	LOCATE
	VPMOVSXDQ (SI)(R13*1), Y2
	VPADDQ Y2, Y0, Y0
	INCQ AX
	CMPQ AX, BX
	JLT  arc
store:
	VMOVDQU Y0, (DI)
	NEXTROW
	JNZ row
	VZEROUPPER
	RET

// func wide16(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·wide16(SB), NOSPLIT, $0-64
	ENTER
row:
	MOVQ 8(DX), BX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	CMPQ AX, BX
	JGE  store
arc:
	FETCH
	LOCATE
	VPMOVSXDQ (SI)(R13*1), Y4
	VPMOVSXDQ 16(SI)(R13*1), Y5
	VPMOVSXDQ 32(SI)(R13*1), Y6
	VPMOVSXDQ 48(SI)(R13*1), Y7
	VPADDQ Y4, Y0, Y0
	VPADDQ Y5, Y1, Y1
	VPADDQ Y6, Y2, Y2
	VPADDQ Y7, Y3, Y3
	INCQ AX
	CMPQ AX, BX
	JLT  arc
store:
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	NEXTROW
	JNZ row
	VZEROUPPER
	RET

// func wide8(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·wide8(SB), NOSPLIT, $0-64
	ENTER
row:
	MOVQ 8(DX), BX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	CMPQ AX, BX
	JGE  store
arc:
	FETCH
	LOCATE
	VPMOVSXDQ (SI)(R13*1), Y4
	VPMOVSXDQ 16(SI)(R13*1), Y5
	VPADDQ Y4, Y0, Y0
	VPADDQ Y5, Y1, Y1
	INCQ AX
	CMPQ AX, BX
	JLT  arc
store:
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	NEXTROW
	JNZ row
	VZEROUPPER
	RET
