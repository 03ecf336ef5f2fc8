/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces: counts and stalls of instructions, uniforms by name, text and JSON. */
#include <stdlib.h>

#include <daedalus/v3d/trace.h>

#include "check.h"
#include "simulation.h"

#define PROGRAM                          \
  ".uniform 0x00100040, 0xfffffffd, 5\n" \
  "eidx rf1 ; nop ; ldunif\n"            \
  "add tmuau, rf0, rf1\n"                \
  "ldunifrf.rf2\n"                       \
  "again:\n"                             \
  "sub.pushz rf2, rf2, 1\n"              \
  "b.anyna again\n"                      \
  "nop\nnop\nrot rf3, rf1, 1\n"          \
  "ldtmu.rf4\n"                          \
  "rot rf3, rf4, 1\n"                    \
  "add rf3, rf3, rf4\n"                  \
  "nop ; nop ; thrsw\nnop\nnop\n"

/* Reads what print() wrote into text. */
static void print_to(char *text, size_t size,
                     void (*print)(const daedalus_v3d_trace *, const daedalus_v3d_job *,
                                   const daedalus_v3d_report *, const daedalus_v3d_timing *,
                                   FILE *),
                     const simulation *s, const daedalus_v3d_timing *timing) {
  FILE *file = tmpfile();
  CHECK(file != NULL);
  text[0] = 0;
  if (!file)
    return;
  print(s->job.trace, &s->job, &s->report, timing, file);
  rewind(file);
  text[fread(text, 1, size - 1, file)] = 0;
  fclose(file);
}

static void check_lines(const daedalus_v3d_trace *trace, const simulation *s) {
  CHECK_INT(trace->address, CODE);
  CHECK_INT(trace->n_lines, CODE_BYTES / 8);
  const daedalus_v3d_trace_line *lines = trace->lines;
  uint64_t executed = 0, tmu = 0, uniforms = 0, sfu = 0;
  for (uint32_t i = 0; i < trace->n_lines; i++) {
    executed += lines[i].executed;
    tmu += lines[i].stall_tmu;
    uniforms += lines[i].stall_uniforms;
    sfu += lines[i].stall_sfu;
  }
  CHECK_INT(executed, s->report.counts.instructions);
  CHECK_INT(tmu, s->report.times.stall_tmu);
  CHECK_INT(uniforms, s->report.times.stall_uniforms);
  CHECK_INT(sfu, s->report.times.stall_sfu);
  CHECK_INT(lines[0].executed, 2);
  CHECK_INT(lines[3].executed, 2 * 5); /* two batches, five times round */
  CHECK_INT(lines[7].executed, 2 * 5);
  CHECK_INT(lines[8].executed, 2);
  CHECK(lines[8].stall_tmu > 0); /* ldtmu */
  CHECK(lines[0].stall_uniforms > 0);
  CHECK_INT(lines[10].stall_sfu, 2 * DAEDALUS_V3D_SLOT_CLOCKS);
  CHECK_INT(lines[14].executed, 0);
}

static void traces(void) {
  simulation *s = simulation_create(NULL);
  daedalus_v3d_trace trace = {0};
  simulation_load(s, PROGRAM);
  simulation_shape(s, 2, 16, 1);
  s->job.cfg[5] |= 2;
  s->job.trace = &trace;
  for (int i = 0; i < 2; i++) { /* the second time over the first */
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    check_lines(&trace, s);
  }
  CHECK_INT(trace.n_uniforms, 3);
  CHECK_INT(trace.uniforms[0].value, 0x00100040);
  CHECK_INT(trace.uniforms[1].reads, 2);
  CHECK_INT(trace.uniforms[2].pc, CODE + 16);

  static char text[65536];
  print_to(text, sizeof text, daedalus_v3d_trace_print, s, NULL);
  CHECK(strstr(text, "workgroups_x 2 ") != NULL);
  CHECK(strstr(text, "single_segment 1 ") != NULL);
  CHECK(strstr(text, "`eidx rf1; nop; ldunif`  buffer 0x00100000 + 64\n") != NULL);
  CHECK(strstr(text, "read or write of u8\n") != NULL);
  CHECK(strstr(text, "rot rf3, rf4, 1; nop\n") != NULL);
  print_to(text, sizeof text, daedalus_v3d_trace_print_json, s, NULL);
  CHECK(text[0] == '{' && strstr(text, "\"workgroups_per_supergroup\": 1, ") != NULL);
  CHECK(strstr(text, "\"meaning\": \"read or write of u8\"") != NULL);
  CHECK(strstr(text, "\"word\": \"0x") != NULL);
  CHECK(strstr(text, "interval") == NULL);
  const daedalus_v3d_timing timing = {
      .issue = {1, 2, 3}, .clocks = {4, 5, 6}, .dispatch_ns = {7, 8, 9}, .by = {{.ns = 77}}};
  print_to(text, sizeof text, daedalus_v3d_trace_print_json, s, &timing);
  CHECK(strstr(text, ", \"interval\": {\"issue\": {\"low\": 1, \"mid\": 2, \"high\": 3}, ") !=
        NULL);
  CHECK(strstr(text, "\"alternatives\": {\"fast\": {\"issue\": 0, ") != NULL);
  CHECK(strstr(text, ", \"ns\": 77, ") != NULL);
  print_to(text, sizeof text, daedalus_v3d_trace_print, s, &timing);
  CHECK(strstr(text, "\ndispatch_ns        7 8 9\n") != NULL);
  const daedalus_v3d_timing none = {0};
  print_to(text, sizeof text, daedalus_v3d_trace_print_json, s, &none);
  CHECK(strstr(text, ", \"interval\": null, ") != NULL);
  daedalus_v3d_trace_free(&trace);
  CHECK(!trace.lines && !trace.n_uniforms);
  simulation_destroy(s);
}

/* A job that ends with a report has a trace up to there; one that makes no sense has none. */
static void failures(void) {
  simulation *s = simulation_create(NULL);
  daedalus_v3d_trace trace = {0};
  s->job.trace = &trace;
  simulation_load(s, "add rf1, rf1, rf1\nldtmu.rf1\n");
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_FIFO), DAEDALUS_V3D_BAD_FIFO);
  CHECK_INT(trace.lines[0].executed, 1);
  s->job.cfg[5] = 0x40000000;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_FETCH), DAEDALUS_V3D_BAD_FETCH);
  CHECK(!trace.lines);
  static char text[16384];
  print_to(text, sizeof text, daedalus_v3d_trace_print, s, NULL);
  CHECK(strstr(text, "the instruction lies in no buffer") != NULL);
  print_to(text, sizeof text, daedalus_v3d_trace_print_json, s, NULL);
  CHECK(strstr(text, "\"program\": []") != NULL);
  /* A job that makes no sense has no trace, and not the one of the job before either. */
  s->job.cfg[5] = CODE;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_FIFO), DAEDALUS_V3D_BAD_FIFO);
  CHECK(trace.lines && trace.n_lines);
  const uint32_t batches = s->job.cfg[4];
  s->job.cfg[4] = 0;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_JOB), DAEDALUS_V3D_BAD_JOB);
  CHECK(!trace.lines && !trace.n_lines && !trace.uniforms && !trace.n_uniforms);
  s->job.cfg[4] = batches;
  daedalus_v3d_trace_free(&trace);
  simulation_destroy(s);
}

int main(void) {
  RUN(traces);
  RUN(failures);
  return CHECK_RESULT();
}
