/* SPDX-License-Identifier: BSD-2-Clause */
/* Z, N and C of 2 x f16 are set where they hold of both halves, by the default profile. */
#include "alu_rows.h"

/* High half, low half: of 1, 2, -1, infinity (7c00), NaN (7e00), 65504 (7bff), 2^-24 (0001). */
static const alu_row rows[] = {
    ROW(VFADD, 0x3c003c00, 0x3c00bc00, 0x40000000, ""),
    ROW(VFADD, 0x80008000, 0x00008000, 0x00008000, "z"),
    ROW(VFADD, 0x80008000, 0x80008000, 0x80008000, "zn"),
    ROW(VFADD, 0x7bff0001, 0x7bff0001, 0x7c000002, ""),
    ROW(VFADD, 0x7bff7bff, 0x4bff4c00, 0x7bff7c00, ""), /* + 15.99, + 16: half a unit, to even */
    ROW(VFADD, 0x3c003c01, 0x10001000, 0x3c003c02, ""), /* + 2^-11: half a unit, to even */
    ROW(VFADD, 0x7c007c01, 0xfc003c00, 0x7e007e00, ""),
    ROW(VFADD, 0x040003ff, 0x80010001, 0x03ff0400, ""),
    ROW(VFSUB, 0x3c003c00, 0x3c004000, 0x0000bc00, ""),
    ROW(VFSUB, 0x00000000, 0x3c003c00, 0xbc00bc00, "n"),
    ROW(VFSUB, 0x7c008000, 0x7c000000, 0x7e008000, ""),
    ROW(VFMUL, 0x40003c00, 0x4000bc00, 0x4400bc00, ""),
    ROW(VFMUL, 0x00010003, 0x38003800, 0x00000002, ""), /* halves of 1 and 3 units: ties */
    ROW(VFMUL, 0x7bff3c01, 0x40003c01, 0x7c003c02, ""),
    ROW(VFMUL, 0x00007c00, 0x7c00fc00, 0x7e00fc00, ""),
    ROW(VFMUL, 0x00008000, 0x3c003c00, 0x00008000, "z"),
    ROW(VFMIN, 0x3c00bc00, 0x4000c000, 0x3c00c000, ""),
    ROW(VFMIN, 0x00008000, 0x80000000, 0x80008000, "zn"),
    ROW(VFMIN, 0x7e003c00, 0x3c007c01, 0x3c003c00, ""),
    ROW(VFMIN, 0x7e00fc00, 0x7c017c00, 0x7e00fc00, ""),
    ROW(VFMAX, 0x3c00bc00, 0x4000c000, 0x4000bc00, ""),
    ROW(VFMAX, 0x00008000, 0x80000000, 0x00000000, "z"),
    ROW(VFMAX, 0x7e000001, 0xbc000002, 0xbc000002, ""),
    /* Equal in both; equal in one; less in both; less or equal; unordered. */
    ROW(VFCMP, 0x3c008000, 0x3c000000, 0x00008000, "zc"),
    ROW(VFCMP, 0x3c003c00, 0x40003c00, 0xbc000000, "c"),
    ROW(VFCMP, 0x3c000001, 0x40000002, 0xbc008001, "nc"),
    ROW(VFCMP, 0x40003c00, 0x3c003c00, 0x3c000000, ""),
    ROW(VFCMP, 0x7e003c00, 0x7e003c00, 0x7e000000, ""),
    ROW(VFPACK, 0x3f800000, 0xc0000000, 0xc0003c00, ""),
    ROW(VFPACK, 0x477fefff, 0x477ff000, 0x7c007bff, ""), /* below 65520, and 65520: to even */
    ROW(VFPACK, 0x33000000, 0x33000001, 0x00010000, ""), /* 2^-25: a tie; a little more */
    ROW(VFPACK, 0xff800000, 0xffc12345, 0x7e00fc00, ""),
    ROW(VFPACK, 0x80000000, 0x00000001, 0x00008000, "z"),
    ROW(VFPACK, 0x387fdfff, 0x387fe000, 0x040003ff, ""), /* below 1023.5 units, and that tie */
    ROW(VFMOV, 0x3c00bc00, 9, 0x3c00bc00, ""),
    ROW(VFMOV, 0x7c017c01, 9, 0x7c017c01, ""),
    ROW(VFMOV, 0x80008000, 9, 0x80008000, "zn"),
    ROW(VFABS, 0xbc00fe01, 9, 0x3c007e01, ""),
    ROW(VFABS, 0x80008000, 9, 0, "z"),
    ROW(VFNEG, 0x3c00bc00, 9, 0xbc003c00, ""),
    ROW(VFNEG, 0x00000000, 9, 0x80008000, "zn"),
    ROW(VFNAB, 0x3c00bc00, 9, 0xbc00bc00, "n"),
    ROW(VFNAB, 0x00000001, 9, 0x80008001, "n"),
};

ROWS(alu_rows_halves, rows);
