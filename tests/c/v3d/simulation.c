/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

simulation *simulation_create(const daedalus_v3d_profile *profile) {
  simulation *s = calloc(1, sizeof *s);
  if (!s || !(s->machine = daedalus_v3d_machine_create(profile))) {
    fprintf(stderr, "no memory\n");
    exit(1);
  }
  s->buffers[0] = (daedalus_v3d_buffer){CODE, CODE_BYTES, s->code};
  s->buffers[1] = (daedalus_v3d_buffer){UNIFORMS, UNIFORM_BYTES, s->uniforms};
  s->buffers[2] = (daedalus_v3d_buffer){DATA, DATA_BYTES, s->data};
  s->buffers[3] = (daedalus_v3d_buffer){OUT, OUT_BYTES, s->out};
  s->job.buffers = s->buffers;
  s->job.n_buffers = 4;
  s->job.cfg[5] = CODE;
  s->job.cfg[6] = UNIFORMS;
  simulation_shape(s, 1, 16, 1);
  return s;
}

void simulation_destroy(simulation *s) {
  daedalus_v3d_machine_destroy(s->machine);
  free(s);
}

void simulation_load(simulation *s, const char *text) {
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic first = {0};
  if (daedalus_v3d_assemble(text, strlen(text), &program, &first, 1)) {
    fprintf(stderr, "%u:%u: %s\nin\n%s\n", first.line, first.column, first.message, text);
    exit(1);
  }
  if (program.n_words > CODE_BYTES / 8 || program.n_uniforms > UNIFORM_BYTES / 4) {
    fprintf(stderr, "the program is too large for the test's buffers\n");
    exit(1);
  }
  memset(s->code, 0, sizeof s->code);
  if (program.n_words)
    memcpy(s->code, program.words, program.n_words * sizeof program.words[0]);
  if (program.n_uniforms)
    memcpy(s->uniforms, program.uniforms, program.n_uniforms * sizeof program.uniforms[0]);
  daedalus_v3d_program_free(&program);
}

void simulation_shape(simulation *s, unsigned n, unsigned size, unsigned per) {
  const unsigned batches = (per * size + 15) / 16, rest = n % per;
  s->job.cfg[0] = n << 16;
  s->job.cfg[1] = s->job.cfg[2] = 1u << 16;
  s->job.cfg[3] = (size & 0xff) | (per & 0xf) << 8 | (batches - 1) << 12;
  s->job.cfg[4] = n / per * batches + (rest * size + 15) / 16;
}

daedalus_v3d_outcome simulation_run(simulation *s, daedalus_v3d_outcome expected) {
  daedalus_v3d_machine_run(s->machine, &s->job, &s->report);
  if (s->report.outcome != expected)
    fprintf(stderr, "outcome %d, expected %d: %s\n", (int)s->report.outcome, (int)expected,
            s->report.message);
  return s->report.outcome;
}

const uint32_t *simulation_row(const simulation *s, unsigned n) {
  return &s->out[16 * n];
}

void simulation_do(simulation *s, const char *text) {
  simulation_load(s, text);
  if (simulation_run(s, DAEDALUS_V3D_DONE) != DAEDALUS_V3D_DONE) {
    fprintf(stderr, "in\n%s\n", text);
    exit(1);
  }
}
