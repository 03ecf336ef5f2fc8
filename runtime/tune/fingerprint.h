/* SPDX-License-Identifier: BSD-2-Clause */
/* What a result holds for: the machine, its drivers and clocks, the compiler, the generated code.
 */
#ifndef DAEDALUS_TUNE_FINGERPRINT_H
#define DAEDALUS_TUNE_FINGERPRINT_H

#include "tune/journal.h"
#include "tune/setup.h"

enum { PART_BYTES = 256, FINGERPRINT_PARTS = 7 };

/* One line of printable text each; "-" for one that says nothing. */
typedef struct tune_fingerprint {
  char soc[PART_BYTES], revision[PART_BYTES], kernel[PART_BYTES], driver[PART_BYTES],
      compiler[PART_BYTES], generator[PART_BYTES], clocks[PART_BYTES];
  char id[ID_BYTES];
} tune_fingerprint;

/* What there is to run on, as a child process found it, and what it says of its drivers. */
typedef struct tune_devices {
  tune_place place;
  char driver[PART_BYTES];
} tune_devices;

/* Opens each route to the GPU in a child process. */
tune_devices fingerprint_devices(const tune_setup *setup);

/* @param compiler, generator  NULL: this program's own, the table's own */
tune_fingerprint fingerprint_take(const tune_setup *setup, const char *driver, const char *compiler,
                                  const char *generator);
/* Its line of the journal, closed. */
json_line fingerprint_line(const tune_fingerprint *fingerprint);

#endif
