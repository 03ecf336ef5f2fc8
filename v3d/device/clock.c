/* SPDX-License-Identifier: BSD-2-Clause */
#include <time.h>

#include "device.h"

uint64_t dev_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t dev_clock_ns(const struct dev_device *device) {
  return (device->clock_stopped_ns != 0 ? device->clock_stopped_ns : dev_now_ns()) -
         (uint64_t)device->clock_behind_ns;
}

uint64_t dev_clock_begun(const struct dev_device *device) {
  return device->clock_stopped_ns == 0 ? 0 : dev_now_ns();
}

void dev_clock_stop(struct dev_device *device) {
  /* A job that nothing resets may never end, and waits would not either. */
  if (device->stretches && device->profile.reset_ms != 0)
    device->clock_stopped_ns = dev_now_ns();
}

void dev_clock_go(struct dev_device *device, uint64_t modelled_ns) {
  if (device->clock_stopped_ns == 0)
    return;
  const uint64_t took_ns = dev_now_ns() - device->clock_stopped_ns;
  device->clock_behind_ns += (int64_t)(took_ns - modelled_ns);
  device->clock_stopped_ns = 0;
}

uint64_t dev_clock_when(const struct dev_device *device, uint64_t clock_ns) {
  if (device->clock_stopped_ns != 0 || clock_ns > INT64_MAX)
    return UINT64_MAX;
  return clock_ns + (uint64_t)device->clock_behind_ns;
}
