/* SPDX-License-Identifier: BSD-2-Clause */
#include "alu_rows.h"

#define INF 0x7f800000u
#define NANQ 0xffc12345u

static const alu_row rows[] = {
    ROW(FTOIN, 0x3f000000, 9, 0, "z"),          /* 0.5 */
    ROW(FTOIN, 0x3fc00000, 9, 2, ""),           /* 1.5 */
    ROW(FTOIN, 0x40200000, 9, 2, ""),           /* 2.5 */
    ROW(FTOIN, 0xbfc00000, 9, 0xfffffffe, "n"), /* -1.5 */
    ROW(FTOIN, 0x80000000, 9, 0, "z"),
    ROW(FTOIN, 0x4effffff, 9, 0x7fffff80, ""),  /* the largest below 2^31 */
    ROW(FTOIN, 0x4f000000, 9, 0x7fffffff, ""),  /* 2^31 */
    ROW(FTOIN, 0xcf000000, 9, 0x80000000, "n"), /* -2^31 */
    ROW(FTOIN, 0xcf000001, 9, 0x80000000, "n"),
    ROW(FTOIN, INF, 9, 0x7fffffff, ""),
    ROW(FTOIN, NANQ, 9, 0, "z"),
    ROW(FTOIZ, 0x3fffffff, 9, 1, ""),
    ROW(FTOIZ, 0xbfffffff, 9, 0xffffffff, "n"),
    ROW(FTOIZ, 0xbf7fffff, 9, 0, "z"),
    ROW(FTOIZ, 0x00000001, 9, 0, "z"),
    ROW(FTOIZ, 0x4f000000, 9, 0x7fffffff, ""),
    ROW(FTOIZ, 0xff800000, 9, 0x80000000, "n"),
    ROW(FTOIZ, NANQ, 9, 0, "z"),
    ROW(FTOUZ, 0x3fffffff, 9, 1, ""),
    ROW(FTOUZ, 0xbf7fffff, 9, 0, "z"),
    ROW(FTOUZ, 0xbf800000, 9, 0, "z"), /* -1 */
    ROW(FTOUZ, 0xff800000, 9, 0, "z"),
    ROW(FTOUZ, 0x4effffff, 9, 0x7fffff80, ""),
    ROW(FTOUZ, 0x4f000000, 9, 0x80000000, "n"), /* 2^31 */
    ROW(FTOUZ, 0x4f7fffff, 9, 0xffffff00, "n"), /* the largest below 2^32 */
    ROW(FTOUZ, 0x4f800000, 9, 0xffffffff, "n"), /* 2^32 */
    ROW(FTOUZ, INF, 9, 0xffffffff, "n"),
    ROW(FTOUZ, NANQ, 9, 0, "z"),
    ROW(ITOF, 0, 9, 0, "z"),
    ROW(ITOF, 1, 9, 0x3f800000, ""),
    ROW(ITOF, 0xffffffff, 9, 0xbf800000, "n"),
    ROW(ITOF, 0x80000000, 9, 0xcf000000, "n"),
    ROW(ITOF, 0x7fffffff, 9, 0x4f000000, ""),
    ROW(ITOF, 0x01000001, 9, 0x4b800000, ""), /* 2^24 + 1: a tie, to even */
    ROW(ITOF, 0x01000003, 9, 0x4b800002, ""),
    ROW(UTOF, 0, 9, 0, "z"),
    ROW(UTOF, 0xffffffff, 9, 0x4f800000, ""),
    ROW(UTOF, 0x80000000, 9, 0x4f000000, ""),
    ROW(UTOF, 0x80000080, 9, 0x4f000000, ""), /* a tie, to even */
    ROW(UTOF, 0x80000081, 9, 0x4f000001, ""),
    ROW(UTOF, 0x01000001, 9, 0x4b800000, ""),

    ROW(FTOUNORM16, 0, 9, 0, "z"),
    ROW(FTOUNORM16, 0x3f800000, 9, 65535, ""),
    ROW(FTOUNORM16, 0x40000000, 9, 65535, ""),
    ROW(FTOUNORM16, 0xbf800000, 9, 0, "z"),
    ROW(FTOUNORM16, 0x3f000000, 9, 32768, ""), /* 32767.5: a tie, to even */
    ROW(FTOUNORM16, NANQ, 9, 0, "z"),
    ROW(FTOUNORM16, INF, 9, 65535, ""),
    ROW(FTOSNORM16, 0x3f800000, 9, 0x7fff, ""),
    ROW(FTOSNORM16, 0xbf800000, 9, 0x8001, ""),
    ROW(FTOSNORM16, 0xff800000, 9, 0x8001, ""),
    ROW(FTOSNORM16, 0x3f000000, 9, 16384, ""), /* 16383.5: a tie, to even */
    ROW(FTOSNORM16, 0xbf000000, 9, 0xc000, ""),
    ROW(FTOSNORM16, NANQ, 9, 0, "z"),
    ROW(VFTOUNORM8, 0x3c003800, 9, 0x00ff0080, ""), /* 1; 127.5: a tie, to even */
    ROW(VFTOUNORM8, 0xbc007e00, 9, 0, "z"),
    ROW(VFTOUNORM8, 0x7c000001, 9, 0x00ff0000, ""),
    ROW(VFTOSNORM8, 0x3c00bc00, 9, 0x007f0081, ""),
    ROW(VFTOSNORM8, 0x3800b800, 9, 0x004000c0, ""), /* 63.5, -63.5: ties, to even */
    ROW(VFTOSNORM8, 0xfc008000, 9, 0x00810000, ""),
    ROW(VFTOUNORM10LO, 0x3c003800, 9, 0x03ff0200, ""), /* 1023; 511.5 */
    ROW(VFTOUNORM10LO, 0xbc000000, 9, 0, "z"),
    ROW(VFTOUNORM10HI, 0x3c003c00, 9, 0x000303ff, ""), /* the high half has 2 bits */
    ROW(VFTOUNORM10HI, 0x38003800, 9, 0x00020200, ""), /* 1.5; 511.5 */
    ROW(FUNPACKUNORMLO, 0xaaaaffff, 9, 0x3f800000, ""),
    ROW(FUNPACKUNORMLO, 0xaaaa0000, 9, 0, "z"),
    ROW(FUNPACKUNORMLO, 0x00000001, 9, 0x37800080, ""), /* 1 / 65535 */
    ROW(FUNPACKUNORMHI, 0xffffaaaa, 9, 0x3f800000, ""),
    ROW(FUNPACKUNORMHI, 0x0000ffff, 9, 0, "z"),
    ROW(FUNPACKSNORMLO, 0xaaaa7fff, 9, 0x3f800000, ""),
    ROW(FUNPACKSNORMLO, 0xaaaa8001, 9, 0xbf800000, "n"),
    ROW(FUNPACKSNORMLO, 0xaaaa8000, 9, 0xbf800000, "n"), /* below -1: -1 */
    ROW(FUNPACKSNORMLO, 0xaaaa0000, 9, 0, "z"),
    ROW(FUNPACKSNORMHI, 0x7fffaaaa, 9, 0x3f800000, ""),
    ROW(FUNPACKSNORMHI, 0x8000aaaa, 9, 0xbf800000, "n"),
    ROW(FUNPACKSNORMHI, 0x0001aaaa, 9, 0x38000100, ""), /* 1 / 32767 */
};

ROWS(alu_rows_convert, rows);
