/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A point: what may be measured by itself.  Its text:
 *   kernel/class/variant/compiler/route/workgroup
 * with "-" for none.  The class is that of the items; compiler is set for CPU variants, route and
 * workgroup for others.
 */
#ifndef DAEDALUS_TUNE_POINT_H
#define DAEDALUS_TUNE_POINT_H

#include <daedalus/table.h>

enum { POINT_BYTES = 512, WHY_BYTES = 512 };

typedef struct tune_point {
  const daedalus_kernel_desc *kernel;
  const daedalus_variant *variant;
  uint16_t class_index;
  const char *compiler; /* "gcc", "clang" or "-" */
  const char *route;    /* "vulkan", "drm" or "-" */
  uint32_t workgroup;
  char text[POINT_BYTES];
} tune_point;

typedef struct tune_points {
  tune_point *list;
  size_t n, capacity;
} tune_points;

/* The compiler that compiled this program: "gcc" or "clang". */
const char *point_own_compiler(void);
/* "vulkan", "drm" or, of a CPU variant, "-". */
const char *point_route_of(const daedalus_variant *variant);

tune_point point_make(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                      uint16_t class_index, const char *compiler, uint32_t workgroup);
/* @return false with `why`, WHY_BYTES, where the text is no point of the table and the compiler */
bool point_parse(const daedalus_kernel_table *table, const char *compiler, const char *text,
                 tune_point *point, char *why);

void points_add(tune_points *points, const tune_point *point);
void points_free(tune_points *points);

/* What is there to run on, for the list of all points. */
typedef struct tune_place {
  bool vulkan, drm;
  uint32_t max_workgroup, max_shared_bytes; /* of the device by Vulkan */
} tune_place;

enum { WORKGROUPS_MOST = 5 };
/* The sizes of workgroups that are measured, which the code and the device can have.  @return how
 * many */
size_t point_workgroups(const daedalus_gpu_code *code, uint32_t max_workgroup,
                        uint32_t max_shared_bytes, uint32_t sizes[WORKGROUPS_MOST]);

/*
 * All points of kernels whose ids contain `kernel` (NULL: of all) that can run here: each variant
 * on items of its own class, with each size of workgroups that it and the device can have.
 */
void points_of_table(const daedalus_kernel_table *table, const char *kernel, const char *compiler,
                     const tune_place *place, tune_points *points);

#endif
