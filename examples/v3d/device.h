/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the example needs of a V3D 7.1: memory that both sides see, and compute jobs.  Two kinds:
 * the library's simulator, and a DRM node of the kernel's driver v3d (or of the simulated device,
 * which looks the same).
 */
#ifndef SGEMM_DEVICE_H
#define SGEMM_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <daedalus/v3d/estimate.h>

enum { MOST_BUFFERS = 8 };

/** Memory of the device: zero at first, mapped for the host until the device is closed. */
typedef struct device_buffer {
  void *data;
  uint32_t address; /**< the device's. */
  uint32_t size;    /**< bytes. */
} device_buffer;

/** What is known of a job's time. */
typedef struct device_time {
  bool modelled;              /**< timing is filled in; else wall_ns. */
  daedalus_v3d_timing timing; /**< by the timing model: an estimate. */
  double wall_ns;             /**< from submission to completion, by the host's clock. */
} device_time;

typedef struct device {
  void *state;
  /** False: complained on stderr, as the others do. */
  bool (*allocate)(void *state, uint32_t size, device_buffer *buffer);
  /** Runs one job to its end; it may use all buffers. cfg: struct drm_v3d_submit_csd's. */
  bool (*run)(void *state, const uint32_t cfg[7], device_time *time);
  void (*close)(void *state);
} device;

/** The simulator of a Raspberry Pi 5, strict; with times also by the timing model, which takes
 * about eight times as long. */
bool open_simulator(bool times, device *opened);

/** The first DRM render node of a V3D 7.1, revision 6 or later. */
bool open_drm(device *opened);

#endif
