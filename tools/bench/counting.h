/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts a context's calls of Vulkan functions, by standing between it and the loader. */
#ifndef BENCH_COUNTING_H
#define BENCH_COUNTING_H

#include <daedalus/core.h>

typedef struct counted {
  unsigned long calls;     /* of functions of the device */
  unsigned long creations; /* of these, such as create or allocate something */
} counted;

/* For daedalus_config; NULL where there is no loader. */
daedalus_get_instance_proc_addr_fn counting_loader(void);

counted counted_so_far(void);

#endif
