/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "tune/base.h"

enum { FIELDS = 6, WORKGROUP_LEAST = 16, WORKGROUP_MOST = 256 };

const char *point_own_compiler(void) {
#ifdef __clang__
  return "clang";
#else
  return "gcc";
#endif
}

const char *point_route_of(const daedalus_variant *variant) {
  return variant->gpu != NULL ? "vulkan" : variant->qpu != NULL ? "drm" : "-";
}

tune_point point_make(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                      uint16_t class_index, const char *compiler, uint32_t workgroup) {
  tune_point p = {.kernel = kernel,
                  .variant = variant,
                  .class_index = class_index,
                  .compiler = variant->cpu != NULL ? compiler : "-",
                  .route = point_route_of(variant),
                  .workgroup = workgroup};
  const int n = snprintf(p.text, sizeof(p.text), "%s/%s/%s/%s/%s/%u", kernel->id,
                         kernel->classes[class_index].name, variant->name, p.compiler, p.route,
                         (unsigned)workgroup);
  if (n < 0 || (size_t)n >= sizeof(p.text)) {
    die("a name is too long", variant->name);
  }
  return p;
}

/* ------------------------------------------------------------------------------- texts */

/* Parts a copy of the text by "/".  @return how many fields there are */
static size_t fields_of(char *text, char **fields) {
  size_t n = 0;
  for (char *at = text; at != NULL; n++) {
    char *end = strchr(at, '/');
    if (end != NULL) {
      *end++ = '\0';
    }
    if (n < FIELDS) {
      fields[n] = at;
    }
    at = end;
  }
  return n;
}

static const daedalus_kernel_desc *find_kernel(const daedalus_kernel_table *table,
                                               const char *name) {
  for (size_t k = 0; k < table->n_kernels; k++) {
    if (strcmp(table->kernels[k].id, name) == 0) {
      return &table->kernels[k];
    }
  }
  return NULL;
}

static bool find_parts(const daedalus_kernel_desc *kernel, char *const *fields, size_t *class_index,
                       size_t *variant, char *why) {
  *class_index = *variant = 0;
  while (*class_index < kernel->n_classes &&
         strcmp(kernel->classes[*class_index].name, fields[1]) != 0) {
    ++*class_index;
  }
  while (*variant < kernel->n_variants && strcmp(kernel->variants[*variant].name, fields[2]) != 0) {
    ++*variant;
  }
  if (*class_index == kernel->n_classes) {
    snprintf(why, WHY_BYTES, "%s has no class %.100s", kernel->id, fields[1]);
    return false;
  }
  if (*variant == kernel->n_variants) {
    snprintf(why, WHY_BYTES, "%s has no variant %.200s in this program", kernel->id, fields[2]);
    return false;
  }
  return true;
}

bool point_parse(const daedalus_kernel_table *table, const char *compiler, const char *text,
                 tune_point *point, char *why) {
  char copy[POINT_BYTES], *fields[FIELDS];
  if (strlen(text) >= sizeof(copy)) {
    snprintf(why, WHY_BYTES, "it is too long");
    return false;
  }
  strcpy(copy, text);
  if (fields_of(copy, fields) != FIELDS) {
    snprintf(why, WHY_BYTES, "it is not kernel/class/variant/compiler/route/workgroup");
    return false;
  }
  const daedalus_kernel_desc *kernel = find_kernel(table, fields[0]);
  if (kernel == NULL) {
    snprintf(why, WHY_BYTES, "there is no kernel %.100s in this program", fields[0]);
    return false;
  }
  size_t class_index, variant;
  if (!find_parts(kernel, fields, &class_index, &variant, why)) {
    return false;
  }
  char *end;
  const unsigned long workgroup = strtoul(fields[5], &end, 10);
  if (*fields[5] < '0' || *fields[5] > '9' || *end != '\0' || workgroup > UINT16_MAX) {
    snprintf(why, WHY_BYTES, "workgroup %.40s is no number of invocations", fields[5]);
    return false;
  }
  *point = point_make(kernel, &kernel->variants[variant], (uint16_t)class_index, compiler,
                      (uint32_t)workgroup);
  if (strcmp(point->text, text) != 0) {
    snprintf(why, WHY_BYTES, "here that variant is %.400s", point->text);
    return false;
  }
  return true;
}

/* -------------------------------------------------------------------------------- lists */

void points_add(tune_points *points, const tune_point *point) {
  if (points->n == points->capacity) {
    points->capacity = points->capacity != 0 ? 2 * points->capacity : 64;
    points->list = enlarge(points->list, points->capacity * sizeof(*points->list));
  }
  points->list[points->n++] = *point;
}

void points_free(tune_points *points) {
  free(points->list);
  *points = (tune_points){0};
}

size_t point_workgroups(const daedalus_gpu_code *code, uint32_t max_workgroup,
                        uint32_t max_shared_bytes, uint32_t sizes[WORKGROUPS_MOST]) {
  size_t n = 0;
  for (uint32_t size = WORKGROUP_LEAST; size <= WORKGROUP_MOST; size *= 2) {
    const uint64_t shared = (uint64_t)size / code->invocations * code->shared_bytes;
    if (size >= code->workgroup_min && size % code->invocations == 0 && size <= max_workgroup &&
        shared <= max_shared_bytes) {
      sizes[n++] = size;
    }
  }
  return n;
}

static void add_variant(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                        const char *compiler, const tune_place *place, tune_points *points) {
  if (variant->gpu != NULL) {
    uint32_t sizes[WORKGROUPS_MOST];
    const size_t n =
        point_workgroups(variant->gpu, place->max_workgroup, place->max_shared_bytes, sizes);
    for (size_t i = 0; place->vulkan && i < n; i++) {
      const tune_point p = point_make(kernel, variant, variant->class_index, "-", sizes[i]);
      points_add(points, &p);
    }
    return;
  }
  if (variant->cpu != NULL ? (variant->needs & ~daedalus_cpu_features) == 0 : place->drm) {
    const tune_point p = point_make(kernel, variant, variant->class_index, compiler, 0);
    points_add(points, &p);
  }
}

void points_of_table(const daedalus_kernel_table *table, const char *kernel, const char *compiler,
                     const tune_place *place, tune_points *points) {
  for (size_t k = 0; k < table->n_kernels; k++) {
    const daedalus_kernel_desc *desc = &table->kernels[k];
    if (kernel != NULL && strstr(desc->id, kernel) == NULL) {
      continue;
    }
    for (size_t v = 0; v < desc->n_variants; v++) {
      add_variant(desc, &desc->variants[v], compiler, place, points);
    }
    /* What the runtime takes for a class, where that is a variant for any items. */
    for (uint16_t c = 0; c < desc->n_classes; c++) {
      const daedalus_variant *taken = daedalus_rt_cpu_choose(desc, c);
      if (taken != NULL && taken->class_index != c) {
        const tune_point p = point_make(desc, taken, c, compiler, 0);
        points_add(points, &p);
      }
    }
  }
}
