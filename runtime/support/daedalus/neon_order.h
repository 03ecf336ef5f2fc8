/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/neon_order.h - for code in an order that registers hold: GCC is to leave it so. It would
 * order it anew before it gives registers out, by latencies alone, and then lack some. It holds
 * for the functions behind it.
 */
#ifndef DAEDALUS_NEON_ORDER_H
#define DAEDALUS_NEON_ORDER_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-schedule-insns")
#endif

#endif /* DAEDALUS_NEON_ORDER_H */
