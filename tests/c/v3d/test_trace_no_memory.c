/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace that finds no memory; the linker puts __wrap_calloc in calloc's place. */
#include <stdlib.h>

#include <daedalus/v3d/trace.h>

#include "check.h"
#include "simulation.h"

/* Calls until one fails, once; 0: none does. */
static unsigned fails_in;

void *__real_calloc(size_t n, size_t size); /* NOLINT: the linker's names */
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) {
  if (fails_in && !--fails_in)
    return NULL;
  return __real_calloc(n, size);
}

static void no_memory(void) {
  simulation *s = simulation_create(NULL);
  daedalus_v3d_trace trace = {0};
  s->job.trace = &trace;
  simulation_load(s, "add rf1, rf1, rf1\n" END);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  CHECK(trace.lines != NULL);
  /* The lines, then the uniforms; what the timing model needs itself is there already. */
  for (unsigned which = 1; which <= 2; which++) {
    fails_in = which;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_NO_MEMORY), DAEDALUS_V3D_NO_MEMORY);
    CHECK_INT(fails_in, 0);
    CHECK_STR(s->report.message, "there is no memory for the timing model");
    CHECK(!trace.lines && !trace.uniforms && !trace.n_lines && !trace.n_uniforms);
    CHECK_INT(s->report.counts.batches, 0);
  }
  /* The machine lives on. */
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  CHECK_INT(trace.lines[0].executed, 1);
  daedalus_v3d_trace_free(&trace);
  simulation_destroy(s);
}

int main(void) {
  RUN(no_memory);
  return CHECK_RESULT();
}
