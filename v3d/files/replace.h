/* SPDX-License-Identifier: BSD-2-Clause */
/* How programs of the toolkit write what they were told to: as a whole, or not at all. */
#ifndef DAEDALUS_V3D_FILES_REPLACE_H
#define DAEDALUS_V3D_FILES_REPLACE_H

#include <stddef.h>
#include <sys/uio.h>

/**
 * Makes a file hold the n parts, one behind the other. They are written beside it and put in its
 * place, with the mode of what was there, which is there still when that fails. A symlink stays,
 * and its target is replaced; what is there and is no regular file is refused. Returns NULL, or
 * what is wrong: a text that stays until the thread's next call of this or of the C library.
 */
const char *daedalus_v3d_replace_file(const char *path, const struct iovec *parts, size_t n);

#endif
