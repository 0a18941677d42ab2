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
// Registers: DI dst, SI v, DX ptr, CX col, R8 rows left, R9 last, R10 stride, R11 dstride,
// AX arc, BX end of the row, R12 and R13 byte offsets of the row to come and of this one.
// Y0 … Y3 hold the sums, Y4 … Y7 the entries that go to each, Y14 and Y15 sums on their way to dst.

#define AHEAD 32

// KERNEL is a whole kernel: per row clear, per arc load and sum, then store.
#define KERNEL(clear, sum, store) \
	MOVQ dst+0(FP), DI; \
	MOVQ v+8(FP), SI; \
	MOVQ ptr+16(FP), DX; \
	MOVQ col+24(FP), CX; \
	MOVQ rows+32(FP), R8; \
	MOVQ last+40(FP), R9; \
	MOVQ stride+48(FP), R10; \
	MOVQ dstride+56(FP), R11; \
	MOVQ (DX), AX; \
row: \
	MOVQ 8(DX), BX; \
	clear; \
	CMPQ AX, BX; \
	JGE  done; \
arc: \
	FETCH; \
	LOCATE; \
	sum; \
	INCQ AX; \
	CMPQ AX, BX; \
	JLT  arc; \
done: \
	store; \
	ADDQ R11, DI; \
	ADDQ $8, DX; \
	DECQ R8; \
	JNZ  row; \
	VZEROUPPER; \
	RET

// FETCH asks for the row of v that is needed AHEAD arcs later.
#define FETCH \
	LEAQ AHEAD(AX), R12; \
	CMPQ R12, R9; \
	CMOVQGT R9, R12; \
	MOVLQSX (CX)(R12*4), R12; \
	IMULQ R10, R12; \
	PREFETCHT0 (SI)(R12*1)

// LOCATE finds this arc's row of v.
#define LOCATE \
	MOVLQSX (CX)(AX*4), R13; \
	IMULQ R10, R13

// CLEAR1, 2 and 4 set that many registers of sums to 0.
#define CLEAR1 VPXOR Y0, Y0, Y0
#define CLEAR2 CLEAR1; VPXOR Y1, Y1, Y1
#define CLEAR4 CLEAR2; VPXOR Y2, Y2, Y2; VPXOR Y3, Y3, Y3

// LOAD16 widens the entries at byte `at` of the row, of 16 bits, into t: eight if it is a Y
// register, four if X. LOAD32 does so with four of 32 bits.
#define LOAD16(at, t) VPMOVSXWD at(SI)(R13*1), t
#define LOAD32(at, t) VPMOVSXDQ at(SI)(R13*1), t

// STORE4 stores the four int64 of y at byte `at` of dst; STORE4N the four int32 of x, widened;
// STORE8N the eight of y, whose lower half is x.
#define STORE4(y, at) VMOVDQU y, at(DI)
#define STORE4N(x, at) VPMOVSXDQ x, Y14; STORE4(Y14, at)
#define STORE8N(x, y, at) \
	VPMOVSXDQ x, Y14; \
	VEXTRACTI128 $1, y, X15; \
	VPMOVSXDQ X15, Y15; \
	STORE4(Y14, at); \
	STORE4(Y15, at+32)

// The steps of the kernels, by the number of registers of sums. An arc's loads come first,
// so that they wait together; add is VPADDD or VPADDQ.
#define LOAD16X2 LOAD16(0, Y4); LOAD16(16, Y5)
#define LOAD16X4 LOAD16X2; LOAD16(32, Y6); LOAD16(48, Y7)
#define LOAD32X2 LOAD32(0, Y4); LOAD32(16, Y5)
#define LOAD32X4 LOAD32X2; LOAD32(32, Y6); LOAD32(48, Y7)
#define SUM(add, t, s) add t, s, s
#define SUMX1(add) SUM(add, Y4, Y0)
#define SUMX2(add) SUMX1(add); SUM(add, Y5, Y1)
#define SUMX4(add) SUMX2(add); SUM(add, Y6, Y2); SUM(add, Y7, Y3)

#define STORE8NX2 STORE8N(X0, Y0, 0); STORE8N(X1, Y1, 64)
#define STORE8NX4 STORE8NX2; STORE8N(X2, Y2, 128); STORE8N(X3, Y3, 192)
#define STORE4X2 STORE4(Y0, 0); STORE4(Y1, 32)
#define STORE4X4 STORE4X2; STORE4(Y2, 64); STORE4(Y3, 96)

// func narrow4(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·narrow4(SB), NOSPLIT, $0-64
	KERNEL(CLEAR1, LOAD16(0, X4); SUM(VPADDD, X4, X0), STORE4N(X0, 0))

// func narrow8(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·narrow8(SB), NOSPLIT, $0-64
	KERNEL(CLEAR1, LOAD16(0, Y4); SUMX1(VPADDD), STORE8N(X0, Y0, 0))

// func narrow16(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·narrow16(SB), NOSPLIT, $0-64
	KERNEL(CLEAR2, LOAD16X2; SUMX2(VPADDD), STORE8NX2)

// func narrow32(dst *int64, v *int16, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·narrow32(SB), NOSPLIT, $0-64
	KERNEL(CLEAR4, LOAD16X4; SUMX4(VPADDD), STORE8NX4)

// func wide4(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·wide4(SB), NOSPLIT, $0-64
	KERNEL(CLEAR1, LOAD32(0, Y4); SUMX1(VPADDQ), STORE4(Y0, 0))

// func wide8(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·wide8(SB), NOSPLIT, $0-64
	KERNEL(CLEAR2, LOAD32X2; SUMX2(VPADDQ), STORE4X2)

// func wide16(dst *int64, v *int32, ptr *int64, col *int32, rows, last, stride, dstride int)
TEXT ·wide16(SB), NOSPLIT, $0-64
	KERNEL(CLEAR4, LOAD32X4; SUMX4(VPADDQ), STORE4X4)
