/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace for people. */
#include <inttypes.h>
#include <string.h>

#include "simulator/timing/trace_fields.h"

/* Disassembly without the columns: runs of blanks become one. */
static void print_instruction(uint64_t word, FILE *file) {
  char line[DAEDALUS_V3D_LINE];
  daedalus_v3d_disassemble(word, line);
  for (const char *c = line; *c; c++)
    if (!(*c == ' ' && (c[1] == ' ' || c[1] == ';' || !c[1])))
      fputc(*c, file);
}

static void print_cfg(const daedalus_v3d_job *job, FILE *file) {
  for (unsigned i = 0; i < 7; i++) {
    fprintf(file, "cfg[%u] = 0x%08" PRIx32 " ", i, job->cfg[i]);
    for (unsigned f = 0; f < V3D_CFG_FIELDS; f++) {
      const v3d_cfg_field *field = &daedalus_v3d_cfg_fields[f];
      const uint32_t value = daedalus_v3d_cfg_value(field, job->cfg);
      if (field->word != i || (!strcmp(field->name, "reserved") && !value))
        continue;
      fprintf(file, field->shift ? " %s 0x%08" PRIx32 : " %s %" PRIu32, field->name, value);
    }
    fputc('\n', file);
  }
}

static void print_uniforms(const daedalus_v3d_trace *trace, const daedalus_v3d_job *job,
                           FILE *file) {
  fprintf(file, "\n# uniforms: address, value, reads, first reader, what it is\n");
  for (uint32_t i = 0; i < trace->n_uniforms; i++) {
    const daedalus_v3d_trace_uniform *uniform = &trace->uniforms[i];
    const daedalus_v3d_trace_line *line = daedalus_v3d_trace_line_of(trace, uniform->pc);
    char text[400];
    daedalus_v3d_describe_uniform(trace, job, uniform, text, sizeof text);
    fprintf(file, "0x%08" PRIx32 " 0x%08" PRIx32 " %8" PRIu64 "  0x%08" PRIx32 " `",
            uniform->address, uniform->value, uniform->reads, uniform->pc);
    if (line)
      print_instruction(line->word, file);
    fprintf(file, "`  %s\n", text);
  }
}

static void print_program(const daedalus_v3d_trace *trace, FILE *file) {
  bool gap = false;
  fprintf(file,
          "\n# program: address, executed, clocks of all threads: stalled on the TMU, on uniforms,"
          " on the SFU; all of a QPU's threads waiting before\n");
  for (uint32_t i = 0; i < trace->n_lines; i++) {
    const daedalus_v3d_trace_line *line = &trace->lines[i];
    if (!line->executed) {
      gap = true;
      continue;
    }
    if (gap && i)
      fprintf(file, "...\n");
    gap = false;
    fprintf(file,
            "0x%08" PRIx32 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
            "  ",
            trace->address + 8 * i, line->executed, line->stall_tmu, line->stall_uniforms,
            line->stall_sfu, line->waiting);
    print_instruction(line->word, file);
    fputc('\n', file);
  }
}

static void print_ranges(const daedalus_v3d_timing *timing, FILE *file) {
  v3d_named_range ranges[V3D_NAMED_RANGES];
  daedalus_v3d_named_ranges(timing, ranges);
  fprintf(file, "\n# interval, by all settings that are open: least, by the settings, most\n");
  for (unsigned i = 0; i < V3D_NAMED_RANGES; i++)
    fprintf(file, "%-18s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", ranges[i].name,
            ranges[i].range.low, ranges[i].range.mid, ranges[i].range.high);
}

void daedalus_v3d_trace_print(const daedalus_v3d_trace *trace, const daedalus_v3d_job *job,
                              const daedalus_v3d_report *report, const daedalus_v3d_timing *timing,
                              FILE *file) {
  v3d_named_count counts[V3D_NAMED_COUNTS];
  fprintf(file, "# %s\n", report->message);
  print_cfg(job, file);
  fprintf(file, "\n# buffers: address, bytes\n");
  for (size_t i = 0; i < job->n_buffers; i++)
    fprintf(file, "0x%08" PRIx32 " %" PRIu32 "\n", job->buffers[i].address, job->buffers[i].size);
  fprintf(file, "\n# counts; active to idle are clocks of all QPUs\n");
  daedalus_v3d_named_counts(report, counts);
  for (unsigned i = 0; i < V3D_NAMED_COUNTS; i++)
    fprintf(file, "%-18s %" PRIu64 "\n", counts[i].name, counts[i].value);
  if (timing && timing->clocks.mid)
    print_ranges(timing, file);
  print_uniforms(trace, job, file);
  print_program(trace, file);
}
