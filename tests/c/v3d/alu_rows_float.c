/* SPDX-License-Identifier: BSD-2-Clause */
#include "alu_rows.h"

#define SIGN 0x80000000u
#define ONE 0x3f800000u
#define TWO 0x40000000u
#define HALF 0x3f000000u
#define INF 0x7f800000u
#define NANS 0x7f800001u   /* a signalling one */
#define NANQ 0xffc12345u   /* a quiet one with sign and payload */
#define NANC 0x7fc00000u   /* that of results */
#define LEAST 0x00000001u  /* the least denormal */
#define NORMAL 0x00800000u /* the least normal number */
#define MOST 0x7f7fffffu   /* the largest number */
#define MINUS(x) ((x) | SIGN)

static const alu_row rows[] = {
    ROW(FADD, ONE, ONE, TWO, ""),
    ROW(FADD, 0, 0, 0, "z"),
    ROW(FADD, SIGN, SIGN, SIGN, "zn"),
    ROW(FADD, SIGN, 0, 0, "z"),
    ROW(FADD, ONE, MINUS(ONE), 0, "z"),
    ROW(FADD, LEAST, LEAST, 2, ""),
    ROW(FADD, 0x007fffff, LEAST, NORMAL, ""),
    ROW(FADD, NORMAL, MINUS(LEAST), 0x007fffff, ""),
    ROW(FADD, MOST, MOST, INF, ""),
    ROW(FADD, MOST, 0x73000000, INF, ""),  /* half a unit: a tie, to even */
    ROW(FADD, MOST, 0x72ffffff, MOST, ""), /* a little less */
    ROW(FADD, INF, MINUS(INF), NANC, ""),
    ROW(FADD, INF, ONE, INF, ""),
    ROW(FADD, NANQ, ONE, NANC, ""),
    ROW(FADD, ONE, NANS, NANC, ""),
    ROW(FADD, ONE, 0x33800000, ONE, ""),         /* 1 + 2^-24: a tie, to even */
    ROW(FADD, ONE, 0x33800001, ONE + 1, ""),     /* a little more */
    ROW(FADD, ONE + 1, 0x33800000, ONE + 2, ""), /* the tie above an odd one */
    ROW(FADD, MINUS(ONE), MINUS(0x33800000), MINUS(ONE), "n"),
    ROW(FADDNF, ONE, ONE, TWO, ""),
    ROW(FADDNF, LEAST, LEAST, 2, ""),
    ROW(FADDNF, INF, MINUS(INF), NANC, ""),
    ROW(FSUB, ONE, ONE, 0, "z"),
    ROW(FSUB, SIGN, 0, SIGN, "zn"),
    ROW(FSUB, 0, SIGN, 0, "z"),
    ROW(FSUB, ONE, TWO, MINUS(ONE), "n"),
    ROW(FSUB, INF, INF, NANC, ""),
    ROW(FSUB, 0, NANQ, NANC, ""),
    ROW(FSUB, NORMAL, LEAST, 0x007fffff, ""),
    ROW(FMUL, ONE, TWO, TWO, ""),
    ROW(FMUL, 0, MINUS(ONE), SIGN, "zn"),
    ROW(FMUL, SIGN, MINUS(ONE), 0, "z"),
    ROW(FMUL, 0, INF, NANC, ""),
    ROW(FMUL, MOST, TWO, INF, ""),
    ROW(FMUL, MINUS(MOST), TWO, MINUS(INF), "n"),
    ROW(FMUL, LEAST, HALF, 0, "z"), /* a tie, to even */
    ROW(FMUL, 3, HALF, 2, ""),      /* 1.5 units: a tie, to even */
    ROW(FMUL, NORMAL, HALF, 0x00400000, ""),
    ROW(FMUL, 0x3f800001, 0x3f800001, 0x3f800002, ""), /* not fused, rounded once */
    ROW(FMUL, NANS, 0, NANC, ""),

    ROW(FMIN, ONE, TWO, ONE, ""),
    ROW(FMIN, 0, SIGN, SIGN, "zn"),
    ROW(FMIN, SIGN, 0, SIGN, "zn"),
    ROW(FMIN, MINUS(ONE), MINUS(TWO), MINUS(TWO), "n"),
    ROW(FMIN, INF, MINUS(INF), MINUS(INF), "n"),
    ROW(FMIN, LEAST, 2, LEAST, ""),
    ROW(FMIN, NANQ, ONE, ONE, ""),
    ROW(FMIN, ONE, NANS, ONE, ""),
    ROW(FMIN, NANQ, NANS, NANC, ""),
    ROW(FMAX, ONE, TWO, TWO, ""),
    ROW(FMAX, 0, SIGN, 0, "z"),
    ROW(FMAX, SIGN, 0, 0, "z"),
    ROW(FMAX, MINUS(ONE), MINUS(TWO), MINUS(ONE), "n"),
    ROW(FMAX, INF, MINUS(INF), INF, ""),
    ROW(FMAX, MINUS(LEAST), MINUS(2), MINUS(LEAST), "n"),
    ROW(FMAX, NANQ, MINUS(ONE), MINUS(ONE), "n"),
    ROW(FMAX, NANS, NANQ, NANC, ""),

    /* The result is the difference, the flags compare the operands. */
    ROW(FCMP, ONE, ONE, 0, "zc"),
    ROW(FCMP, ONE, TWO, MINUS(ONE), "nc"),
    ROW(FCMP, TWO, ONE, ONE, ""),
    ROW(FCMP, SIGN, 0, SIGN, "zc"),
    ROW(FCMP, 0, SIGN, 0, "zc"),
    ROW(FCMP, INF, INF, NANC, "zc"),
    ROW(FCMP, MINUS(INF), INF, MINUS(INF), "nc"),
    ROW(FCMP, NANQ, NANQ, NANC, ""),
    ROW(FCMP, ONE, NANS, NANC, ""),
    ROW(FCMP, LEAST, 2, MINUS(LEAST), "nc"),

    /* Bits only. */
    ROW(FMOV, ONE, 9, ONE, ""),
    ROW(FMOV, SIGN, 9, SIGN, "zn"),
    ROW(FMOV, NANS, 9, NANS, ""),
    ROW(FMOV, MINUS(LEAST), 9, MINUS(LEAST), "n"),

    ROW(FROUND, 0x3f000000, 9, 0, "z"), /* 0.5 */
    ROW(FROUND, 0x3f000001, 9, ONE, ""),
    ROW(FROUND, 0x3fc00000, 9, TWO, ""),    /* 1.5 */
    ROW(FROUND, 0x40200000, 9, TWO, ""),    /* 2.5 */
    ROW(FROUND, 0xbf000000, 9, SIGN, "zn"), /* -0.5 */
    ROW(FROUND, 0xc0200000, 9, MINUS(TWO), "n"),
    ROW(FROUND, 0x4affffff, 9, 0x4b000000, ""), /* 2^23 - 0.5 */
    ROW(FROUND, 0x4b000001, 9, 0x4b000001, ""), /* 2^23 + 1 */
    ROW(FROUND, LEAST, 9, 0, "z"),
    ROW(FROUND, MOST, 9, MOST, ""),
    ROW(FROUND, MINUS(INF), 9, MINUS(INF), "n"),
    ROW(FROUND, NANQ, 9, NANC, ""),
    ROW(FTRUNC, 0x3fffffff, 9, ONE, ""),
    ROW(FTRUNC, 0xbfffffff, 9, MINUS(ONE), "n"),
    ROW(FTRUNC, 0xbf7fffff, 9, SIGN, "zn"),
    ROW(FTRUNC, 0x4affffff, 9, 0x4afffffe, ""),
    ROW(FTRUNC, SIGN, 9, SIGN, "zn"),
    ROW(FTRUNC, MOST, 9, MOST, ""),
    ROW(FTRUNC, INF, 9, INF, ""),
    ROW(FTRUNC, NANS, 9, NANC, ""),
    ROW(FFLOOR, 0x3fffffff, 9, ONE, ""),
    ROW(FFLOOR, 0xbf000000, 9, MINUS(ONE), "n"),
    ROW(FFLOOR, MINUS(LEAST), 9, MINUS(ONE), "n"),
    ROW(FFLOOR, MINUS(ONE), 9, MINUS(ONE), "n"),
    ROW(FFLOOR, SIGN, 9, SIGN, "zn"),
    ROW(FFLOOR, 0x3f7fffff, 9, 0, "z"),
    ROW(FFLOOR, 0xcaffffff, 9, 0xcb000000, "n"),
    ROW(FFLOOR, MINUS(INF), 9, MINUS(INF), "n"),
    ROW(FFLOOR, NANQ, 9, NANC, ""),
    ROW(FCEIL, LEAST, 9, ONE, ""),
    ROW(FCEIL, 0xbf000000, 9, SIGN, "zn"),
    ROW(FCEIL, 0xbfc00000, 9, MINUS(ONE), "n"),
    ROW(FCEIL, ONE, 9, ONE, ""),
    ROW(FCEIL, 0, 9, 0, "z"),
    ROW(FCEIL, 0x4affffff, 9, 0x4b000000, ""),
    ROW(FCEIL, INF, 9, INF, ""),
    ROW(FCEIL, NANQ, 9, NANC, ""),

    ROW(RECIP, TWO, 9, HALF, ""),
    ROW(RECIP, 0x40400000, 9, 0x3eaaaaab, ""), /* 1/3 */
    ROW(RECIP, MINUS(TWO), 9, MINUS(HALF), "n"),
    ROW(RECIP, 0, 9, INF, ""),
    ROW(RECIP, SIGN, 9, MINUS(INF), "n"),
    ROW(RECIP, INF, 9, 0, "z"),
    ROW(RECIP, MINUS(INF), 9, SIGN, "zn"),
    ROW(RECIP, MOST, 9, 0x00200000, ""),
    ROW(RECIP, LEAST, 9, INF, ""),
    ROW(RECIP, 0x00400000, 9, 0x7f000000, ""), /* 2^-127 */
    ROW(RECIP, NANQ, 9, NANC, ""),
    ROW(RSQRT, 0x40800000, 9, HALF, ""),
    ROW(RSQRT, TWO, 9, 0x3f3504f3, ""),
    ROW(RSQRT, 0, 9, INF, ""),
    ROW(RSQRT, SIGN, 9, MINUS(INF), "n"),
    ROW(RSQRT, INF, 9, 0, "z"),
    ROW(RSQRT, MINUS(ONE), 9, NANC, ""),
    ROW(RSQRT, 2, 9, 0x64800000, ""), /* 2^-148 */
    ROW(RSQRT, NANS, 9, NANC, ""),
    ROW(RSQRT2, 0x40800000, 9, HALF, ""),
    ROW(RSQRT2, MINUS(INF), 9, NANC, ""),
    ROW(EXP, 0, 9, ONE, ""),
    ROW(EXP, SIGN, 9, ONE, ""),
    ROW(EXP, ONE, 9, TWO, ""),
    ROW(EXP, HALF, 9, 0x3fb504f3, ""),
    ROW(EXP, 0xc2fc0000, 9, NORMAL, ""),     /* -126 */
    ROW(EXP, 0xc3150000, 9, LEAST, ""),      /* -149 */
    ROW(EXP, 0xc3160000, 9, 0, "z"),         /* -150: a tie, to even */
    ROW(EXP, 0x42fe0000, 9, 0x7f000000, ""), /* 127 */
    ROW(EXP, 0x43000000, 9, INF, ""),        /* 128 */
    ROW(EXP, INF, 9, INF, ""),
    ROW(EXP, MINUS(INF), 9, 0, "z"),
    ROW(EXP, NANQ, 9, NANC, ""),
    ROW(LOG, ONE, 9, 0, "z"),
    ROW(LOG, TWO, 9, ONE, ""),
    ROW(LOG, HALF, 9, MINUS(ONE), "n"),
    ROW(LOG, LEAST, 9, 0xc3150000, "n"),
    ROW(LOG, 0x40400000, 9, 0x3fcae00d, ""), /* log2 3 = 1.5849625 */
    ROW(LOG, 0, 9, MINUS(INF), "n"),
    ROW(LOG, SIGN, 9, MINUS(INF), "n"),
    ROW(LOG, MINUS(ONE), 9, NANC, ""),
    ROW(LOG, INF, 9, INF, ""),
    ROW(LOG, NANQ, 9, NANC, ""),
    ROW(SIN, 0, 9, 0, "z"),
    ROW(SIN, SIGN, 9, SIGN, "zn"),
    ROW(SIN, HALF, 9, ONE, ""),
    ROW(SIN, MINUS(HALF), 9, MINUS(ONE), "n"),
    ROW(SIN, 0x3e800000, 9, 0x3f3504f3, ""), /* 1/4 */
    ROW(SIN, ONE, 9, 0, "z"),
    ROW(SIN, MINUS(ONE), 9, SIGN, "zn"),
    ROW(SIN, 0x3fc00000, 9, MINUS(ONE), "n"), /* 3/2 */
    ROW(SIN, LEAST, 9, 3, ""),
    ROW(SIN, MOST, 9, 0, "z"),
    ROW(SIN, INF, 9, NANC, ""),
    ROW(SIN, NANS, 9, NANC, ""),
};

ROWS(alu_rows_float, rows);
