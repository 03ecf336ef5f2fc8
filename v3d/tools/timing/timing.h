/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs of published measurements, run by the timing model. */
#ifndef DAEDALUS_TOOLS_V3D_TIMING_H
#define DAEDALUS_TOOLS_V3D_TIMING_H

#include <daedalus/v3d/simulate.h>

/** What one dispatch is given. Device memory is one buffer from WORK_ADDRESS on, zeroed. */
typedef struct work {
  const char *program; /**< file in the folder of programs, without .qpu. */
  uint32_t uniforms[16];
  unsigned groups, group_size, groups_per_supergroup;
  size_t bytes;               /**< of the work buffer. */
  void (*fill)(void *memory); /**< NULL: it is zero. */
  bool launched;              /**< what the kernel adds counts too. */
} work;

enum { WORK_ADDRESS = 0x10000000 };

/** Whether a figure took part in choosing the settings. */
typedef enum role { CALIBRATED, LEFT_OUT } role;

/** A published figure. */
typedef struct figure {
  const char *name, *unit; /**< ns or us: the figure is a time. */
  double published;
  role role;
  unsigned clock_mhz; /**< of the board that was measured; 0: the profile's. */
  /**
   * Fills in *w. Returns how many units the work has at one a nanosecond; of a time, by how much
   * nanoseconds are divided.
   */
  double (*make)(work *w, const uint32_t *parameters);
  uint32_t parameters[4];
} figure;

extern const figure figures[];
extern const unsigned n_figures;

#endif
