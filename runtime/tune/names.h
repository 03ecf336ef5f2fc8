/* SPDX-License-Identifier: BSD-2-Clause */
/* Short names of kernels. */
#ifndef DAEDALUS_TUNE_NAMES_H
#define DAEDALUS_TUNE_NAMES_H

#include "tune/point.h"

/*
 * The kernel of an id, of an alias, or of a short name: whole words of a name which every other
 * name with these words extends, so that "mc" is vp9_mc_8h and "lpf4" the alias vp9_lpf4.
 * @return NULL with `why` where there is none
 */
const daedalus_kernel_desc *names_kernel(const daedalus_kernel_table *table, const char *text,
                                         char why[WHY_BYTES]);

#endif
