/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command lists.  Of the 3D engine only what moves memory is there: render lists that do nothing,
 * copy rows or fill them with the clear colour, and binning lists that draw nothing.
 */
#ifndef DAEDALUS_V3D_DEVICE_CL_H
#define DAEDALUS_V3D_DEVICE_CL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dev_view;

/**
 * Walks the render list at [start, end); carries it out if execute, otherwise only checks that it
 * could be. *moves (unless NULL) is the number of bytes written. Returns 0, -EOPNOTSUPP with what
 * is not simulated in message, or -EINVAL with what is wrong to the hardware as well; then what
 * stands before that has been carried out.
 */
int dev_cl_run(const struct dev_view *view, uint32_t start, uint32_t end, bool execute,
               uint64_t *moves, char *message, size_t message_size);

/* Whether the binning list at [start, end) draws nothing: as dev_cl_run. */
int dev_cl_check_binning(const struct dev_view *view, uint32_t start, uint32_t end, char *message,
                         size_t message_size);

#endif
