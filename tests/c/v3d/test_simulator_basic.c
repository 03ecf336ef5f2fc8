/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that Mesa compiled, from one end to the other. */
#include <string.h>

#include "check.h"
#include "simulation.h"

/* b[i] = a[i] * 3 + i, workgroups of 16, four threads: words as the stock driver emits them. */
static const uint64_t words[] = {
    0x38403186bb03f000, 0x38402184b503f0c0, 0x384021853803f100, 0x39e021877c03f144,
    0x384021867d03f080, 0x382021883803f1c6, 0x39e021897c03f202, 0x3840318c3803f009,
    0x3882b186bb03f000, 0x2be03186bb283000, 0x0fe012c6bb283000, 0x3820218c3803f2c8,
    0x382032c6bb303000, 0x3800318c3803f009, 0x3800218dbb03f00f, 0x38203186bb03f000,
    0x38003186bb03f000, 0x38003186bb03f000,
};

enum { GROUPS = 100, N = 16 * GROUPS };

static void mesa_example(bool strict) {
  simulation *s = simulation_create(NULL);
  static const uint32_t uniforms[] = {0x0000ffff, 0, 0x0000001a, DATA, OUT};
  memcpy(s->code, words, sizeof words);
  memcpy(s->uniforms, uniforms, sizeof uniforms);
  for (uint32_t i = 0; i < N; i++)
    s->data[i] = i * 0x01234567u;
  simulation_shape(s, GROUPS, 16, 1);
  s->job.cfg[5] |= 1;
  s->job.strict = strict;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  unsigned wrong = 0;
  for (uint32_t i = 0; i < N; i++)
    wrong += s->out[i] != s->data[i] * 3 + i;
  CHECK_INT(wrong, 0);
  CHECK_INT(s->out[N], 0);
  CHECK_INT(s->report.counts.instructions, GROUPS * 18);
  CHECK_INT(s->report.counts.batches, GROUPS);
  CHECK_INT(s->report.counts.tmu_reads, GROUPS);
  CHECK_INT(s->report.counts.tmu_writes, GROUPS);
  CHECK_INT(s->report.counts.uniforms, GROUPS * 5);
  CHECK_INT(s->report.counts.thread_switches, GROUPS * 3);
  simulation_destroy(s);
}

static void tolerant(void) {
  mesa_example(false);
}

static void strict(void) {
  mesa_example(true);
}

int main(void) {
  RUN(tolerant);
  RUN(strict);
  return CHECK_RESULT();
}
