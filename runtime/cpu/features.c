/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this processor has beyond the target that the library is compiled for.
 */
#include <daedalus/table.h>
#include <stdlib.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

uint32_t daedalus_cpu_features;

static uint32_t detected(void) {
#if defined(__aarch64__) && defined(__linux__)
  const unsigned long asimddp = 1UL << 20; /* HWCAP_ASIMDDP in the kernel's asm/hwcap.h */
  return (getauxval(AT_HWCAP) & asimddp) != 0 ? DAEDALUS_NEEDS_DOTPROD : 0;
#elif defined(__aarch64__) && !defined(__ARM_FEATURE_DOTPROD)
  return 0;
#else
  return DAEDALUS_NEEDS_DOTPROD; /* the compiler says so, or it is emulated */
#endif
}

/* Before main, so that every thread finds it settled. */
__attribute__((constructor)) static void look(void) {
  const char *none = getenv("DAEDALUS_BASELINE");
  daedalus_cpu_features = none != NULL && none[0] == '1' ? 0 : detected();
}
