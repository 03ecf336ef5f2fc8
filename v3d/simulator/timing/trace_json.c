/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace for programs: one JSON object. */
#include <inttypes.h>

#include "simulator/timing/trace_fields.h"

static void print_string(const char *text, FILE *file) {
  fputc('"', file);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fprintf(file, "\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      fprintf(file, "\\u%04x", (unsigned)*text);
    else
      fputc(*text, file);
  }
  fputc('"', file);
}

static void print_cfg(const daedalus_v3d_job *job, FILE *file) {
  fprintf(file, ", \"cfg\": [");
  for (unsigned i = 0; i < 7; i++)
    fprintf(file, "%s%" PRIu32, i ? ", " : "", job->cfg[i]);
  fprintf(file, "], \"dispatch\": {");
  for (unsigned i = 0; i < V3D_CFG_FIELDS; i++)
    fprintf(file, "%s\"%s\": %" PRIu32, i ? ", " : "", daedalus_v3d_cfg_fields[i].name,
            daedalus_v3d_cfg_value(&daedalus_v3d_cfg_fields[i], job->cfg));
  fprintf(file, "}, \"buffers\": [");
  for (size_t i = 0; i < job->n_buffers; i++)
    fprintf(file, "%s{\"address\": %" PRIu32 ", \"bytes\": %" PRIu32 "}", i ? ", " : "",
            job->buffers[i].address, job->buffers[i].size);
  fprintf(file, "]");
}

static void print_uniforms(const daedalus_v3d_trace *trace, const daedalus_v3d_job *job,
                           FILE *file) {
  fprintf(file, ", \"uniforms\": [");
  for (uint32_t i = 0; i < trace->n_uniforms; i++) {
    const daedalus_v3d_trace_uniform *uniform = &trace->uniforms[i];
    char text[400];
    daedalus_v3d_describe_uniform(trace, job, uniform, text, sizeof text);
    fprintf(file,
            "%s{\"address\": %" PRIu32 ", \"value\": %" PRIu32 ", \"pc\": %" PRIu32
            ", \"reads\": %" PRIu64 ", \"meaning\": ",
            i ? ", " : "", uniform->address, uniform->value, uniform->pc, uniform->reads);
    print_string(text, file);
    fprintf(file, "}");
  }
  fprintf(file, "]");
}

static void print_program(const daedalus_v3d_trace *trace, FILE *file) {
  const char *between = "";
  fprintf(file, ", \"program\": [");
  for (uint32_t i = 0; i < trace->n_lines; i++) {
    const daedalus_v3d_trace_line *line = &trace->lines[i];
    char text[DAEDALUS_V3D_LINE];
    if (!line->executed)
      continue;
    daedalus_v3d_disassemble(line->word, text);
    /* A word has more bits than a number of JSON. */
    fprintf(file,
            "%s{\"address\": %" PRIu32 ", \"word\": \"0x%016" PRIx64 "\", \"text\": ", between,
            trace->address + 8 * i, line->word);
    print_string(text, file);
    fprintf(file,
            ", \"executed\": %" PRIu64 ", \"stall_tmu\": %" PRIu64 ", \"stall_uniforms\": %" PRIu64
            ", \"stall_sfu\": %" PRIu64 ", \"waiting\": %" PRIu64 "}",
            line->executed, line->stall_tmu, line->stall_uniforms, line->stall_sfu, line->waiting);
    between = ", ";
  }
  fprintf(file, "]");
}

void daedalus_v3d_times_print_json(const daedalus_v3d_report *report, FILE *file) {
  v3d_named_count counts[V3D_NAMED_COUNTS];
  daedalus_v3d_named_counts(report, counts);
  for (unsigned i = 0; i < V3D_NAMED_COUNTS; i++)
    fprintf(file, "%s\"%s\": %" PRIu64, i ? ", " : "", counts[i].name, counts[i].value);
}

static void print_alternatives(const daedalus_v3d_timing *timing, FILE *file) {
  size_t n;
  const daedalus_v3d_alternative *all = daedalus_v3d_alternatives(&n);
  fprintf(file, ", \"alternatives\": {");
  for (size_t i = 0; i < n; i++) {
    const daedalus_v3d_taken *by = &timing->by[i];
    fprintf(file,
            "%s\"%s\": {\"issue\": %" PRIu64 ", \"tmu\": %" PRIu64 ", \"memory\": %" PRIu64
            ", \"clocks\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"dispatch_ns\": %" PRIu64 "}",
            i ? ", " : "", all[i].name, by->issue, by->tmu, by->memory, by->clocks, by->ns,
            by->dispatch_ns);
  }
  fprintf(file, "}");
}

void daedalus_v3d_timing_print_json(const daedalus_v3d_timing *timing, FILE *file) {
  v3d_named_range ranges[V3D_NAMED_RANGES];
  if (!timing->clocks.mid) {
    fprintf(file, "null");
    return;
  }
  daedalus_v3d_named_ranges(timing, ranges);
  for (unsigned i = 0; i < V3D_NAMED_RANGES; i++) {
    const daedalus_v3d_range *range = &ranges[i].range;
    fprintf(file, "%s\"%s\": {\"low\": %" PRIu64 ", \"mid\": %" PRIu64 ", \"high\": %" PRIu64 "}",
            i ? ", " : "{", ranges[i].name, range->low, range->mid, range->high);
  }
  print_alternatives(timing, file);
  fprintf(file, "}");
}

void daedalus_v3d_trace_print_json(const daedalus_v3d_trace *trace, const daedalus_v3d_job *job,
                                   const daedalus_v3d_report *report,
                                   const daedalus_v3d_timing *timing, FILE *file) {
  fprintf(file, "{\"outcome\": %d, \"message\": ", (int)report->outcome);
  print_string(report->message, file);
  print_cfg(job, file);
  fprintf(file, ", \"counts\": {");
  daedalus_v3d_times_print_json(report, file);
  fprintf(file, "}");
  if (timing) {
    fprintf(file, ", \"interval\": ");
    daedalus_v3d_timing_print_json(timing, file);
  }
  print_uniforms(trace, job, file);
  print_program(trace, file);
  fprintf(file, "}\n");
}
