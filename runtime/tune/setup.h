/* SPDX-License-Identifier: BSD-2-Clause */
/* What all of the tuner is given: a table, data, and how to measure. */
#ifndef DAEDALUS_TUNE_SETUP_H
#define DAEDALUS_TUNE_SETUP_H

#include "tune/items.h"
#include "tune/point.h"

/* A variant's input_hash, of the manifest. */
typedef struct tune_hash {
  const char *variant, *hash;
} tune_hash;

/* What is measured, and where: the library's, or a test's. */
typedef struct tune_world {
  const daedalus_kernel_table *table;
  const tune_hash *hashes;                                   /* NULL-terminated */
  daedalus_get_instance_proc_addr_fn get_instance_proc_addr; /* NULL: the system's Vulkan */
} tune_world;

typedef enum tune_verdict {
  TUNE_OK,
  TUNE_WRONG,
  TUNE_FAILED,
  TUNE_TIMEOUT,
  TUNE_SPILLS,
  TUNE_REFUSED,
  TUNE_LOST,
  TUNE_THROTTLED,
  TUNE_UNAVAILABLE /* a core, memory, the device or its self-test was not to be had this time */
} tune_verdict;

typedef struct tune_setup {
  const tune_world *world;
  const sample_file *files; /* the first one's items are timed */
  size_t n_files;
  uint64_t *seeds; /* of the files */
  size_t items;
  unsigned samples;     /* at least */
  double precision;     /* of the median, a share of it */
  double point_seconds; /* after which a point that has enough samples is not made more precise */
  double timeout;       /* seconds that one step may take */
  double cool_down;     /* seconds to wait after a throttled round */
  int core;             /* that CPU variants, and the caller of the GPU's, run on; -1: any */
  const char *sysfs;
  const char *progress; /* file of samples of points that have no result yet; NULL: none is kept */
} tune_setup;

#endif
