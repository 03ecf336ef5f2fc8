/* SPDX-License-Identifier: BSD-2-Clause */
/* sum.s with a wait in each batch, for tests of what takes long; slow.s is its text. */
#ifndef DAEDALUS_TESTS_DRM_SLOW_H
#define DAEDALUS_TESTS_DRM_SLOW_H

#include <daedalus/table.h>

/** @param rounds  of the wait, each of 20 clocks; all codes have the last one's */
daedalus_qpu_code slow_code(uint32_t rounds);

#endif /* DAEDALUS_TESTS_DRM_SLOW_H */
