/* SPDX-License-Identifier: BSD-2-Clause */
/* daedalus-tune: measures variants of the library's table; docs/tuning-engine.md. */
#include "tune/engine.h"

/* Of the manifest, put in by the build. */
extern const tune_hash daedalus_tune_hashes[];

int main(int argc, char **argv) {
  const tune_world world = {.table = &daedalus_kernels, .hashes = daedalus_tune_hashes};
  return tune_main(argc, argv, &world);
}
