/* SPDX-License-Identifier: BSD-2-Clause */
/* Which invocations a dispatch starts, what they are told, and where they run. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "simulation.h"

/* Each invocation appends its rf2 and rf3 to out, by a counter in data[0]. */
static const char record_payload[] =
    "mov rf10, rf2 ; mov rf11, rf3 ; ldunifrf.rf12\n"
    ".uniform 0x00100000, 0xffffffc7, 0x00200000, 0xfffffffa\n"
    "mov tmuau, rf12 ; nop ; thrsw\n"
    "nop ; nop ; ldunifrf.rf13\n"
    "nop ; nop\n"
    "nop ; nop ; ldtmu.rf14\n"
    "shl rf14, rf14, 3 ; mov tmud, rf10\n"
    "add rf14, rf14, rf13 ; mov tmud, rf11\n"
    "mov tmuau, rf14 ; nop\n"
    "tmuwt - ; nop\n" END;

typedef struct shape {
  uint32_t groups[3], offsets[3];
  unsigned size, per;
  uint32_t cfg3, cfg4; /* 0: as simulation_shape() has it */
} shape;

static unsigned payload_bits(unsigned size) {
  unsigned bits = 6;
  while (1u << bits < size)
    bits++;
  return bits;
}

/* Every invocation of every group is there once; a group has one slot, of those that there are. */
static void check_payload(const simulation *s, const shape *a, unsigned n_groups, bool all_alive) {
  const unsigned bits = payload_bits(a->size), n = n_groups * a->size;
  unsigned *seen = calloc(n, sizeof *seen), *slots = calloc(n_groups, sizeof *slots);
  unsigned wrong = 0;
  CHECK_INT(s->data[0], n);
  for (unsigned i = 0; i < n; i++) {
    const uint32_t rf2 = s->out[2 * i], rf3 = s->out[2 * i + 1];
    const uint32_t local = rf2 >> (32 - bits), slot = rf2 >> 16 & ((1u << (16 - bits)) - 1);
    const uint32_t x = (rf3 & 0xffff) - a->offsets[0], y = (rf3 >> 16) - a->offsets[1];
    const uint32_t z = (rf2 & 0xffff) - a->offsets[2];
    const uint64_t group = x + a->groups[0] * (y + (uint64_t)a->groups[1] * z);
    if (x >= a->groups[0] || y >= a->groups[1] || group >= n_groups || local >= a->size) {
      wrong++;
      continue;
    }
    wrong += seen[group * a->size + local]++;
    wrong += slot >= n_groups || (slots[group] && slots[group] != slot + 1);
    slots[group] = slot + 1;
  }
  CHECK_INT(wrong, 0);
  if (all_alive) {
    /* Groups that are alive together have slots of their own. */
    unsigned used = 0;
    for (unsigned slot = 1; slot <= n_groups; slot++)
      for (unsigned group = 0; group < n_groups; group++)
        used += slots[group] == slot;
    CHECK_INT(used, n_groups);
    for (unsigned group = 1; group < n_groups; group++)
      for (unsigned other = 0; other < group; other++)
        CHECK(slots[group] != slots[other]);
  }
  free(seen);
  free(slots);
}

static void run_shape(const shape *a, unsigned n_groups) {
  for (unsigned four = 0; four < 2; four++) {
    simulation *s = simulation_create(NULL);
    simulation_shape(s, a->groups[0] * a->groups[1] * a->groups[2], a->size, a->per);
    for (unsigned i = 0; i < 3; i++)
      s->job.cfg[i] = a->groups[i] << 16 | a->offsets[i];
    if (a->cfg3) {
      s->job.cfg[3] = a->cfg3;
      s->job.cfg[4] = a->cfg4;
    }
    s->job.cfg[5] |= four;
    char text[4096];
    strcpy(text, record_payload);
    simulation_do(s, text);
    CHECK_INT(s->report.counts.batches, s->job.cfg[4]);
    check_payload(s, a, n_groups, s->job.cfg[4] <= (four ? 48 : 24));
    simulation_destroy(s);
  }
}

/* The shapes that Mesa was seen to choose: cfg[3] and cfg[4] as it writes them. */
static void shapes_of_mesa(void) {
  static const struct {
    shape shape;
    uint32_t cfg3, cfg4;
  } rows[] = {
      {{{5, 1, 1}, {0}, 1, 5, 0, 0}, 0x00000501, 1},
      {{{5, 1, 1}, {0}, 8, 2, 0, 0}, 0x00000208, 3},
      {{{5, 1, 1}, {0}, 24, 2, 0, 0}, 0x00002218, 8},
      {{{5, 1, 1}, {0}, 100, 4, 0, 0}, 0x00018464, 0x20},
      {{{5, 1, 1}, {0}, 256, 1, 0, 0}, 0x0000f100, 0x50},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    simulation *s = simulation_create(NULL);
    simulation_shape(s, 5, rows[i].shape.size, rows[i].shape.per);
    CHECK_INT(s->job.cfg[3], rows[i].cfg3);
    CHECK_INT(s->job.cfg[4], rows[i].cfg4);
    simulation_destroy(s);
    run_shape(&rows[i].shape, 5);
  }
}

static void more_shapes(void) {
  static const shape shapes[] = {
      {{3, 5, 7}, {0}, 16, 1, 0, 0},    {{3, 5, 7}, {11, 1000, 65000}, 8, 2, 0, 0},
      {{105, 1, 1}, {0}, 16, 16, 0, 0}, {{1, 1, 50}, {0}, 33, 1, 0, 0},
      {{2, 3, 4}, {0}, 65, 16, 0, 0},   {{2, 3, 4}, {0}, 128, 16, 0, 0},
      {{2, 3, 4}, {0}, 129, 16, 0, 0},  {{20, 1, 1}, {0}, 255, 16, 0, 0},
      {{1, 1, 1}, {0}, 1, 1, 0, 0},     {{1, 1000, 1}, {0, 7, 0}, 3, 16, 0, 0},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    const shape *a = &shapes[i];
    run_shape(a, a->groups[0] * a->groups[1] * a->groups[2]);
  }
}

/* py-videocore7: group counts are also the size, and the batches asked for go past them. */
static void shapes_of_videocore7(void) {
  static const struct {
    shape shape;
    unsigned n_groups;
  } rows[] = {
      {{{16, 1, 1}, {0}, 16, 16, 0xf010, 1}, 1},   {{{16, 1, 1}, {0}, 16, 16, 0xf010, 16}, 16},
      {{{16, 1, 1}, {0}, 16, 16, 0xf010, 32}, 32}, {{{4, 4, 1}, {0}, 16, 16, 0xf010, 48}, 48},
      {{{2, 2, 4}, {0}, 16, 24, 0x17810, 24}, 24}, {{{2, 8, 2}, {0}, 32, 24, 0x2f820, 32}, 16},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    run_shape(&rows[i].shape, rows[i].n_groups);
}

/*
 * Supergroups of 64 groups of one invocation, the first batch of each of which stays much longer:
 * more of them than the payload can number slots for must wait.
 */
static void slots_run_out(void) {
  simulation *s = simulation_create(NULL);
  enum { GROUPS = 64 * 60 };
  simulation_load(s,
                  "mov rf10, rf2 ; mov rf11, rf3 ; ldunifrf.rf12\n"
                  ".uniform 0x00100000, 63, 0xffffffc7, 0x00200000, 0xfffffffa\n"
                  "nop ; nop ; ldunifrf.rf15\n"
                  "mov tmuau, rf12 ; nop ; thrsw\n"
                  "nop ; nop ; ldunifrf.rf13\n"
                  "nop ; nop\n"
                  "nop ; nop ; ldtmu.rf14\n"
                  "shl rf14, rf14, 3 ; mov tmud, rf10\n"
                  "add rf14, rf14, rf13 ; mov tmud, rf11\n"
                  "mov tmuau, rf14 ; nop\n"
                  "tmuwt - ; nop\n"
                  "and rf16, rf11, rf15 ; nop\n" /* number in the supergroup */
                  "mov rf17, rf15 ; nop\n"
                  "mov.pushz -, rf16 ; nop\n" /* A in lane 0 of the first batch */
                  "again:\n"
                  "b.na0 end\nnop ; nop\nnop ; nop\nnop ; nop\n"
                  "nop ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                  "sub rf17, rf17, 1 ; nop\n"
                  "mov.pushz -, rf17 ; nop\n"
                  "b.na0 again\nnop ; nop\nnop ; nop\nxor.pushz -, rf17, rf17 ; nop\n"
                  "end:\n" END);
  s->job.cfg[0] = GROUPS << 16;
  s->job.cfg[3] = 1 | 3 << 12;
  s->job.cfg[4] = GROUPS / 16;
  s->job.cfg[5] |= 1;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  const shape a = {{GROUPS, 1, 1}, {0}, 1, 64, 0, 0};
  check_payload(s, &a, GROUPS, false);
  unsigned highest = 0;
  for (unsigned i = 0; i < GROUPS; i++) {
    const unsigned slot = s->out[2 * i] >> 16 & 1023;
    highest = slot > highest ? slot : highest;
  }
  CHECK_INT(highest, 1023);
  simulation_destroy(s);
}

/* tidx tells the threads that run together apart, and breadth comes first. */
static void thread_numbers(void) {
  static const char text[] =
      "shr rf10, rf2, 15 ; nop\n" /* unused: the payload is read before it is lost */
      "tidx rf11 ; mov rf12, rf3 ; ldunifrf.rf13\n"
      ".uniform 0x00200000\n"
      "nop ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
      "shl rf12, rf12, 2 ; nop\n"
      "add rf12, rf12, rf13 ; mov tmud, rf11\n"
      "mov tmua, rf12 ; nop\n"
      "tmuwt - ; nop\n" END;
  for (unsigned threads = 2; threads <= 4; threads += 2) {
    simulation *s = simulation_create(NULL);
    simulation_load(s, text);
    simulation_shape(s, 12 * threads, 16, 1);
    s->job.cfg[5] |= threads == 4;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    uint64_t seen = 0;
    unsigned qpus = 0;
    for (unsigned i = 0; i < 12 * threads; i++) {
      CHECK(s->out[i] < 48 && !(seen >> s->out[i] & 1));
      CHECK(threads == 4 || s->out[i] % 2 == 0);
      seen |= UINT64_C(1) << s->out[i];
      if (i < 12)
        qpus |= 1u << s->out[i] / 4;
    }
    CHECK_INT(qpus, 0xfff);
    simulation_destroy(s);
  }
}

/* The same job twice: memory, report and counts are equal. */
static void determinism(void) {
  simulation *runs[2];
  for (unsigned i = 0; i < 2; i++) {
    runs[i] = simulation_create(NULL);
    simulation_load(runs[i], record_payload);
    simulation_shape(runs[i], 60, 24, 2);
    CHECK_INT(simulation_run(runs[i], DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    /* A machine that has run something else before gives the same. */
    if (i) {
      memset(runs[i]->out, 0, sizeof runs[i]->out);
      memset(runs[i]->data, 0, sizeof runs[i]->data);
      CHECK_INT(simulation_run(runs[i], DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    }
  }
  CHECK(!memcmp(runs[0]->out, runs[1]->out, sizeof runs[0]->out));
  CHECK(!memcmp(&runs[0]->report.counts, &runs[1]->report.counts, sizeof runs[0]->report.counts));
  CHECK_STR(runs[0]->report.message, runs[1]->report.message);
  simulation_destroy(runs[0]);
  simulation_destroy(runs[1]);
}

/* New code at an old address is what runs. */
static void code_changes(void) {
  simulation *s = simulation_create(NULL);
  simulation_do(s, BEGIN "mov rf1, 5 ; nop\n" STORE("rf1") END);
  CHECK_INT(s->out[3], 5);
  simulation_do(s, BEGIN "mov rf1, 6 ; nop\n" STORE("rf1") END);
  CHECK_INT(s->out[3], 6);
  simulation_destroy(s);
}

static void bad_jobs(void) {
  static const struct {
    unsigned word;
    uint32_t value;
    const char *text;
  } rows[] = {{0, 0x00000005, "no workgroups"}, {4, 0, "no batches"}};
  simulation *s = simulation_create(NULL);
  simulation_load(s, END);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const uint32_t before = s->job.cfg[rows[i].word];
    s->job.cfg[rows[i].word] = rows[i].value;
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_JOB), DAEDALUS_V3D_BAD_JOB);
    CHECK(strstr(s->report.message, rows[i].text));
    s->job.cfg[rows[i].word] = before;
  }
  s->buffers[1].address = CODE + CODE_BYTES - 1;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_JOB), DAEDALUS_V3D_BAD_JOB);
  CHECK(strstr(s->report.message, "overlap"));
  s->buffers[1].address = UNIFORMS;
  s->buffers[3].address = 0xfffff000;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_JOB), DAEDALUS_V3D_BAD_JOB);
  CHECK(strstr(s->report.message, "exceeds"));
  s->buffers[3].address = OUT;
  s->buffers[2].data = NULL;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_JOB), DAEDALUS_V3D_BAD_JOB);
  simulation_destroy(s);
}

int main(void) {
  RUN(shapes_of_mesa);
  RUN(more_shapes);
  RUN(shapes_of_videocore7);
  RUN(slots_run_out);
  RUN(thread_numbers);
  RUN(determinism);
  RUN(code_changes);
  RUN(bad_jobs);
  return CHECK_RESULT();
}
