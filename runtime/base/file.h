/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that a caller names. */
#ifndef DAEDALUS_BASE_FILE_H
#define DAEDALUS_BASE_FILE_H

#include <stdio.h>

/**
 * Opens a regular file for reading.  Anything else, such as a FIFO that nobody writes to, could
 * block, and is refused.
 *
 * @param why  where NULL is returned: the reason, valid until the thread's next call of strerror()
 * @return the stream, which the caller closes, or NULL, errno set: EINVAL for no regular file
 */
FILE *daedalus_rt_open_regular(const char *path, const char **why);

#endif
