/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The floating-point modes of the calling thread. By hand where the control register is known:
 * <fenv.h> says nothing of flushing denormals, and needs another library.
 */
#include "simulator/alu.h"

#if defined(__SSE2__)
#include <xmmintrin.h>

/* Of MXCSR: all exceptions masked, everything else 0. */
#define MODES 0x1f80u

static uint64_t modes_now(void) {
  return _mm_getcsr();
}

static void set_modes(uint64_t modes) {
  _mm_setcsr((unsigned)modes);
}

#elif defined(__aarch64__)

/* Of FPCR. */
#define MODES 0u

static uint64_t modes_now(void) {
  uint64_t modes;
  __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
  return modes;
}

static void set_modes(uint64_t modes) {
  __asm__ volatile("msr fpcr, %0" : : "r"(modes));
}

#else
#error "The simulator runs on x86-64 and AArch64; another host needs its modes set here."
#endif

daedalus_v3d_float_modes daedalus_v3d_float_begin(void) {
  const daedalus_v3d_float_modes before = {modes_now()};
  set_modes(MODES);
  return before;
}

void daedalus_v3d_float_end(daedalus_v3d_float_modes before) {
  set_modes(before.bits);
}
