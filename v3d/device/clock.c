/* SPDX-License-Identifier: BSD-2-Clause */
#include <time.h>

#include "device.h"

uint64_t dev_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
