/* SPDX-License-Identifier: BSD-2-Clause */
/* What text and JSON of a trace both name. */
#ifndef DAEDALUS_V3D_TIMING_TRACE_FIELDS_H
#define DAEDALUS_V3D_TIMING_TRACE_FIELDS_H

#include <daedalus/v3d/trace.h>

/** A field of cfg[]. */
typedef struct v3d_cfg_field {
  const char *name;
  unsigned word;        /**< of cfg[]. */
  unsigned first, bits; /**< the lowest bit, and how many. */
  unsigned add;         /**< what the field's value counts for more. */
  unsigned zero;        /**< what 0 stands for, if not 0. */
  unsigned shift;       /**< addresses: the field's value is shifted left. */
} v3d_cfg_field;

enum { V3D_CFG_FIELDS = 18 };
extern const v3d_cfg_field daedalus_v3d_cfg_fields[V3D_CFG_FIELDS];

/** What the field says, 0 and "minus 1" resolved. */
uint32_t daedalus_v3d_cfg_value(const v3d_cfg_field *field, const uint32_t cfg[7]);

/** A member of daedalus_v3d_times or daedalus_v3d_counts by name. */
typedef struct v3d_named_count {
  const char *name;
  uint64_t value;
} v3d_named_count;

enum { V3D_NAMED_COUNTS = 29 };
void daedalus_v3d_named_counts(const daedalus_v3d_report *report,
                               v3d_named_count counts[V3D_NAMED_COUNTS]);

/** A range of daedalus_v3d_timing by name. */
typedef struct v3d_named_range {
  const char *name;
  daedalus_v3d_range range;
} v3d_named_range;

enum { V3D_NAMED_RANGES = 4 };
void daedalus_v3d_named_ranges(const daedalus_v3d_timing *timing,
                               v3d_named_range ranges[V3D_NAMED_RANGES]);

/** The line of the instruction at address, NULL where it lies in another buffer. */
daedalus_v3d_trace_line *daedalus_v3d_trace_line_of(const daedalus_v3d_trace *trace,
                                                    uint32_t address);

/** What took the uniform, and what the value means to it, as text. */
void daedalus_v3d_describe_uniform(const daedalus_v3d_trace *trace, const daedalus_v3d_job *job,
                                   const daedalus_v3d_trace_uniform *uniform, char *text,
                                   size_t size);

#endif
