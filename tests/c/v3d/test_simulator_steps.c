/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lookups whose lanes are an even distance apart, which the simulator moves as rows where it can:
 * every type at every kind of step, at the ends of a buffer and beyond, beside a model that goes
 * byte by byte.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "simulation.h"

static const struct type {
  const char *name;
  uint32_t config;
  unsigned words, bytes;
  bool is_signed;
} types[] = {
    {"u8", 0xfffffffd, 1, 1, false},   {"i8", 0xfffffff8, 1, 1, true},
    {"u16", 0xfffffffe, 1, 2, false},  {"i16", 0xfffffff9, 1, 2, true},
    {"u32", 0xffffffff, 1, 4, false},  {"vec2", 0xfffffffa, 2, 4, false},
    {"vec3", 0xfffffffb, 3, 4, false}, {"vec4", 0xfffffffc, 4, 4, false},
};
enum { N_TYPES = sizeof types / sizeof types[0], LANES = 16, LEFT_OUT = 5 };
/* Less than a line of the kept contents (1 KiB) apart, and more; downwards, too. */
static const int32_t steps[] = {0, 1, 2, 4, 6, 8, 12, 16, 20, 64, 100, 1024, 1060, -4, -16};
enum { N_STEPS = sizeof steps / sizeof steps[0] };

static uint8_t *bytes_of(simulation *s) {
  return (uint8_t *)s->data;
}

static void fill(simulation *s) {
  for (unsigned i = 0; i < DATA_BYTES; i++)
    bytes_of(s)[i] = (uint8_t)(i * 0x9e3779b1u >> 20);
  memset(s->out, 0, sizeof s->out);
}

/* What a lane of the load gets: little-endian, extended. */
static uint32_t model_load(simulation *s, const struct type *type, uint32_t offset) {
  uint32_t word = 0;
  for (unsigned i = 0; i < type->bytes; i++)
    word |= (uint32_t)bytes_of(s)[offset + i] << 8 * i;
  if (type->is_signed && word >> (8 * type->bytes - 1))
    word |= UINT32_MAX << 8 * type->bytes;
  return word;
}

/* Word `word` of lane in the data that the program stores. */
static uint32_t stored(unsigned word, unsigned lane) {
  return (lane + 1) * 0x00c30507u + word;
}

/*
 * A program that loads type at rf3 = base + step * eidx (rows 0.. of out are the words), and then
 * stores there. Without lane LEFT_OUT where not all.
 */
static void load(simulation *s, const struct type *type, uint32_t base, int32_t step, bool all,
                 bool loads) {
  char text[4096];
  size_t used = (size_t)snprintf(
      text, sizeof text,
      BEGIN
      "eidx rf2 ; nop ; ldunifrf.rf1\n.uniform 0x%lx\n"
      "nop ; nop ; ldunifrf.rf5\n.uniform 0x%lx\n"
      "sub.pushz -, rf2, %d ; smul24 rf4, rf2, rf5\n"
      "add rf3, rf1, rf4 ; nop ; ldunifrf.rf6\n.uniform 0x00c30507\n"
      "add rf7, rf2, 1 ; nop\n"
      "nop ; umul24 rf20, rf7, rf6\n"
      "add rf21, rf20, 1 ; nop\nadd rf22, rf20, 2 ; nop\nadd rf23, rf20, 3 ; nop\n",
      (unsigned long)base, (unsigned long)(uint32_t)step, LEFT_OUT);
  if (loads) {
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "mov%s tmuau, rf3 ; nop\n.uniform 0x%lx\n", all ? "" : ".ifna",
                             (unsigned long)type->config);
    for (unsigned i = 0; i < type->words; i++)
      used += (size_t)snprintf(text + used, sizeof text - used, "nop ; nop ; ldtmu.rf%u\n", 10 + i);
    for (unsigned i = 0; i < type->words; i++)
      used += (size_t)snprintf(text + used, sizeof text - used,
                               "mov tmud, rf%u ; nop\nmov tmua, rf60 ; nop\n"
                               "add rf60, rf60, rf61 ; nop\ntmuwt - ; nop\n",
                               10 + i);
  }
  for (unsigned i = 0; i < type->words; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "mov tmud, rf%u ; nop\n", 20 + i);
  snprintf(text + used, sizeof text - used,
           "mov%s tmuau, rf3 ; nop\n.uniform 0x%lx\ntmuwt - ; nop\n" END, all ? "" : ".ifna",
           (unsigned long)type->config);
  simulation_load(s, text);
}

/* Runs the job. Whether it did what the model says, which starts from the same memory. */
static void run_once(simulation *s, simulation *model, const struct type *type, uint32_t base,
                     int32_t step, bool all, bool last_wins) {
  unsigned wrong = 0;
  fill(s);
  fill(model);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  for (unsigned lane = 0; lane < LANES; lane++) {
    const uint32_t offset = base - DATA + lane * (uint32_t)step;
    for (unsigned word = 0; word < type->words; word++) {
      const bool taken = all || lane != LEFT_OUT;
      const uint32_t expected = taken ? model_load(model, type, offset + 4 * word) : 0xa5a5a5a5u;
      wrong += simulation_row(s, word)[lane] != expected;
    }
  }
  for (unsigned i = 0; i < LANES; i++) {
    const unsigned lane = last_wins ? i : LANES - 1 - i;
    const uint32_t offset = base - DATA + lane * (uint32_t)step;
    for (unsigned word = 0; word < type->words && (all || lane != LEFT_OUT); word++)
      for (unsigned byte = 0; byte < type->bytes; byte++)
        bytes_of(model)[offset + 4 * word + byte] = (uint8_t)(stored(word, lane) >> 8 * byte);
  }
  wrong += memcmp(s->data, model->data, sizeof s->data) != 0;
  if (wrong)
    fprintf(stderr, "%s, step %ld, all %d, last %d\n", type->name, (long)step, all, last_wins);
  CHECK_INT(wrong, 0);
}

/* Twice: an instruction looks first where it found its buffer last. */
static void run(simulation *s, simulation *model, const struct type *type, uint32_t base,
                int32_t step, bool all, bool last_wins) {
  load(s, type, base, step, all, true);
  run_once(s, model, type, base, step, all, last_wins);
  run_once(s, model, type, base, step, all, last_wins);
}

static void every_step(uint32_t last_wins) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.tmu_store_conflict_last_lane = last_wins;
  simulation *s = simulation_create(&profile), *model = simulation_create(&profile);
  unsigned n = 0;
  for (unsigned i = 0; i < N_TYPES * N_STEPS * 2; i++) {
    const struct type *type = &types[i / 2 / N_STEPS];
    const int32_t step = steps[i / 2 % N_STEPS];
    const uint32_t base = DATA + (step < 0 ? 1000 : 16 * 3);
    if (step % (int32_t)type->bytes)
      continue;
    run(s, model, type, base, step, i % 2, last_wins);
    n++;
  }
  CHECK(n > 150);
  simulation_destroy(s);
  simulation_destroy(model);
}

/* The last lane ends with the buffer; or is an element further, of which nothing is stored. */
static void at_the_end(void) {
  simulation *s = simulation_create(NULL), *model = simulation_create(NULL);
  for (unsigned i = 0; i < N_TYPES * N_STEPS; i++) {
    const struct type *type = &types[i / N_STEPS];
    const int32_t step = steps[i % N_STEPS];
    if (step <= 0 || step % (int32_t)type->bytes)
      continue;
    const uint32_t size = type->words * type->bytes;
    const uint32_t base = DATA + DATA_BYTES - size - (LANES - 1) * (uint32_t)step;
    run(s, model, type, base, step, true, true);
    for (unsigned k = 0; k < 4; k++) { /* each twice */
      fill(s);
      fill(model);
      load(s, type, base + type->bytes, step, true, k / 2);
      CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_ACCESS), DAEDALUS_V3D_BAD_ACCESS);
      const uint32_t over = DATA + DATA_BYTES - size;
      const unsigned first = (unsigned)((over - base - type->bytes) / (uint32_t)step + 1);
      CHECK_INT(s->report.lane, first);
      CHECK_INT(s->report.address, base + type->bytes + first * (uint32_t)step);
      CHECK(!memcmp(s->data, model->data, sizeof s->data));
    }
  }
  simulation_destroy(s);
  simulation_destroy(model);
}

/* Refused: the lane to blame is the first one. */
static void refused(void) {
  static const struct {
    uint32_t base;
    int32_t step;
    unsigned lane;
  } rows[] = {
      {DATA + 2, 4, 0},         /* misaligned */
      {DATA, 2, 1},             /* every other lane is */
      {DATA - 4, 4, 0},         /* lane 0 lies before the buffer */
      {DATA + 8, -4, 3},        /* lane 3 does */
      {DATA, 0x400000, 1},      /* far beyond */
      {DATA + 4, -0x400000, 1}, /* far before */
  };
  simulation *s = simulation_create(NULL);
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (unsigned k = 0; k < 4; k++) { /* each twice */
      load(s, &types[4], rows[i].base, rows[i].step, true, k / 2);
      CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_ACCESS), DAEDALUS_V3D_BAD_ACCESS);
      CHECK_INT(s->report.lane, rows[i].lane);
      CHECK_INT(s->report.address, rows[i].base + rows[i].lane * (uint32_t)rows[i].step);
    }
  simulation_destroy(s);
}

int main(void) {
  every_step(0);
  every_step(1);
  at_the_end();
  refused();
  return CHECK_RESULT();
}
