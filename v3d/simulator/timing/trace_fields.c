/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulator/timing/trace_fields.h"

#include <string.h>

const v3d_cfg_field daedalus_v3d_cfg_fields[V3D_CFG_FIELDS] = {
    {"workgroups_x", 0, 16, 16, 0, 0, 0},          {"workgroup_offset_x", 0, 0, 16, 0, 0, 0},
    {"workgroups_y", 1, 16, 16, 0, 0, 0},          {"workgroup_offset_y", 1, 0, 16, 0, 0, 0},
    {"workgroups_z", 2, 16, 16, 0, 0, 0},          {"workgroup_offset_z", 2, 0, 16, 0, 0, 0},
    {"workgroup_size", 3, 0, 8, 0, 256, 0},        {"workgroups_per_supergroup", 3, 8, 4, 0, 16, 0},
    {"batches_per_supergroup", 3, 12, 8, 1, 0, 0}, {"max_supergroup_id", 3, 20, 6, 0, 0, 0},
    {"overlap_with_previous", 3, 26, 1, 0, 0, 0},  {"batches", 4, 0, 32, 0, 0, 0},
    {"shader_address", 5, 3, 29, 0, 0, 3},         {"propagate_nans", 5, 2, 1, 0, 0, 0},
    {"single_segment", 5, 1, 1, 0, 0, 0},          {"four_threads", 5, 0, 1, 0, 0, 0},
    {"uniforms_address", 6, 2, 30, 0, 0, 2},       {"reserved", 6, 0, 2, 0, 0, 0},
};

uint32_t daedalus_v3d_cfg_value(const v3d_cfg_field *field, const uint32_t cfg[7]) {
  const uint64_t mask = (UINT64_C(1) << field->bits) - 1;
  const uint32_t value = (uint32_t)(cfg[field->word] >> field->first & mask) + field->add;
  return value || !field->zero ? value << field->shift : field->zero;
}

void daedalus_v3d_named_counts(const daedalus_v3d_report *report,
                               v3d_named_count counts[V3D_NAMED_COUNTS]) {
  const daedalus_v3d_times *t = &report->times;
  const daedalus_v3d_counts *c = &report->counts;
  const v3d_named_count all[V3D_NAMED_COUNTS] = {
      {"clocks", t->clocks},
      {"ns", t->ns},
      {"active", t->active},
      {"stall_tmu", t->stall_tmu},
      {"stall_uniforms", t->stall_uniforms},
      {"stall_sfu", t->stall_sfu},
      {"stall_other", t->stall_other},
      {"waiting", t->waiting},
      {"idle", t->idle},
      {"tmu_busy", t->tmu_busy},
      {"tmu_hits", t->tmu_hits},
      {"tmu_misses", t->tmu_misses},
      {"l2t_hits", t->l2t_hits},
      {"l2t_misses", t->l2t_misses},
      {"l2t_uniform_hits", t->l2t_uniform_hits},
      {"l2t_uniform_misses", t->l2t_uniform_misses},
      {"l2t_evictions", t->l2t_evictions},
      {"l2t_dirty", t->l2t_dirty},
      {"uniform_misses", t->uniform_misses},
      {"most_active", t->most_active},
      {"most_tmu_busy", t->most_tmu_busy},
      {"memory_busy", t->memory_busy},
      {"longest_pause", t->longest_pause},
      {"memory_bytes", t->memory_bytes},
      {"instructions", c->instructions},
      {"thread_switches", c->thread_switches},
      {"tmu_reads", c->tmu_reads},
      {"tmu_writes", c->tmu_writes},
      {"uniforms_read", c->uniforms},
  };
  memcpy(counts, all, sizeof all);
}

void daedalus_v3d_named_ranges(const daedalus_v3d_timing *timing,
                               v3d_named_range ranges[V3D_NAMED_RANGES]) {
  const v3d_named_range all[V3D_NAMED_RANGES] = {
      {"issue", timing->issue},
      {"clocks", timing->clocks},
      {"ns", timing->ns},
      {"dispatch_ns", timing->dispatch_ns},
  };
  memcpy(ranges, all, sizeof all);
}

/* The lookups that a config word stands for, lowest byte first. */
static void describe_config(uint32_t word, char *text, size_t size) {
  static const char *const types[8] = {"i8", "i16", "vec2", "vec3", "vec4", "u8", "u16", "u32"};
  static const char *const operations[16] = {"add or prefetch",
                                             "sub or clear",
                                             "xchg or flush",
                                             "cmpxchg or flush",
                                             "umin or clear all",
                                             "umax",
                                             "smin",
                                             "smax",
                                             "and or increment",
                                             "or or decrement",
                                             "xor or not",
                                             "reserved",
                                             "reserved",
                                             "reserved",
                                             "reserved",
                                             "read or write"};
  size_t used = 0;
  do {
    const int n =
        snprintf(text + used, size - used, "%s%s of %s%s", used ? ", then " : "",
                 operations[word >> 3 & 0xf], types[word & 7], word & 0x80 ? "" : " a quad");
    used += n > 0 ? (size_t)n : 0;
    word = word >> 8 | 0xff000000u;
  } while (word != UINT32_MAX && used < size);
}

/* Whether a buffer holds the address; its start into *start. */
static int find_buffer(const daedalus_v3d_job *job, uint32_t address, uint32_t *start) {
  for (size_t i = 0; i < job->n_buffers; i++)
    if (address >= job->buffers[i].address &&
        address - job->buffers[i].address < job->buffers[i].size) {
      *start = job->buffers[i].address;
      return 1;
    }
  return 0;
}

void daedalus_v3d_describe_uniform(const daedalus_v3d_trace *trace, const daedalus_v3d_job *job,
                                   const daedalus_v3d_trace_uniform *uniform, char *text,
                                   size_t size) {
  const daedalus_v3d_trace_line *line = daedalus_v3d_trace_line_of(trace, uniform->pc);
  daedalus_v3d_instruction in;
  uint32_t start;
  text[0] = 0;
  if (!line || daedalus_v3d_unpack(line->word, &in))
    return;
  const bool is_config = (in.signals & DAEDALUS_V3D_SIGNAL_WRTMUC) ||
                         (in.add.dest.magic && in.add.dest.waddr == DAEDALUS_V3D_WADDR_TMUAU) ||
                         (in.mul.dest.magic && in.mul.dest.waddr == DAEDALUS_V3D_WADDR_TMUAU);
  if (in.is_branch)
    snprintf(text, size, "where the uniform stream goes on: %+ld bytes",
             (long)(int32_t)uniform->value);
  else if (is_config)
    describe_config(uniform->value, text, size);
  else if (uniform->value >= 4096 && find_buffer(job, uniform->value, &start))
    snprintf(text, size, "buffer 0x%08lx + %lu", (unsigned long)start,
             (unsigned long)(uniform->value - start));
  else
    snprintf(text, size, "%ld", (long)(int32_t)uniform->value);
}
