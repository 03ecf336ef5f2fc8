/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the processor has is settled before main, also where a program needs nothing else of the
 * runtime, as the decoder entries do not. With the argument "baseline" the environment denies all.
 */
#include <daedalus/table.h>
#include <string.h>

#include "check.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

int main(int argc, char **argv) {
#if defined(__aarch64__) && defined(__linux__)
  const int has = (getauxval(AT_HWCAP) >> 20 & 1) != 0; /* HWCAP_ASIMDDP */
#elif defined(__aarch64__)
  const int has = (daedalus_cpu_features & DAEDALUS_NEEDS_DOTPROD) != 0; /* not known here */
#else
  const int has = 1; /* emulated */
#endif
  const int denied = argc > 1 && strcmp(argv[1], "baseline") == 0;
  CHECK_INT(daedalus_cpu_features, has && !denied ? DAEDALUS_NEEDS_DOTPROD : 0);
  return CHECK_RESULT();
}
