/* SPDX-License-Identifier: BSD-2-Clause */
#include "simulator.h"

#if CHECK_SIMULATOR

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/simulate.h>

#include "gpu/packed.h"

enum { PAGE = 4096, NOWHERE = 64 * PAGE, WORD = 4, LANES = 16, PATTERN = 0x5c, SCRATCH = 0xa5 };
enum {
  N_OWN = 5,
  MAX_MAPPED = MAX_BUFFERS + N_OWN
}; /* records, constants, scratch, stream, code */

/* Memory of the device; what the program may not change is compared afterwards. */
typedef struct mapping {
  daedalus_v3d_buffer buffer;
  uint8_t *before; /* NULL where it may change */
} mapping;

typedef struct device {
  mapping list[MAX_MAPPED]; /* by address */
  size_t n;
  uint32_t next; /* address that nothing is mapped at, or behind */
} device;

static uint32_t whole(uint64_t n, uint32_t unit) {
  return (uint32_t)((n + unit - 1) / unit * unit);
}

/* Maps memory that is a copy of `from`, or filled with a byte; its address, or 0 for no bytes. */
static uint32_t map(device *d, const void *from, size_t size, int fill, bool constant) {
  if (size == 0) {
    return 0;
  }
  if (size > UINT32_MAX / 2 - d->next || d->n == MAX_MAPPED) {
    die("the simulator's memory does not hold the job", "");
  }
  mapping *m = &d->list[d->n++];
  *m = (mapping){.buffer = {d->next, (uint32_t)size, allocate(size)}};
  if (from != NULL) {
    memcpy(m->buffer.data, from, size);
  } else {
    memset(m->buffer.data, fill, size);
  }
  if (constant) {
    m->before = allocate(size);
    memcpy(m->before, m->buffer.data, size);
  }
  d->next = whole((uint64_t)d->next + size, PAGE) + PAGE;
  return m->buffer.address;
}

static void unmap(device *d) {
  for (size_t i = 0; i < d->n; i++) {
    free(d->list[i].buffer.data);
    free(d->list[i].before);
  }
}

/* Bytes before an image in its memory: elements may lie anywhere that the variant allows. */
static size_t lead(const daedalus_qpu_code *code, size_t b) {
  return code->align[b] % WORD;
}

static uint32_t map_image(device *d, const image *i, size_t before) {
  if (i->size == 0) { /* nothing is there, nor anywhere that an item may reach */
    d->next += 2 * NOWHERE;
    return d->next - NOWHERE;
  }
  const uint32_t address = map(d, NULL, whole(before + i->size, WORD), PATTERN, false);
  memcpy((uint8_t *)d->list[d->n - 1].buffer.data + before, i->bytes, i->size);
  return address + (uint32_t)before;
}

static bool is_pattern(const uint8_t *bytes, size_t n) {
  for (size_t k = 0; k < n; k++) {
    if (bytes[k] != PATTERN) {
      return false;
    }
  }
  return true;
}

/* Takes an image back; whether what fills it up is as it was. */
static bool take_image(const daedalus_v3d_buffer *buffer, image *i, size_t before) {
  const uint8_t *bytes = buffer->data;
  memcpy(i->bytes, bytes + before, i->size);
  return is_pattern(bytes, before) &&
         is_pattern(bytes + before + i->size, buffer->size - before - i->size);
}

static uint32_t *records(const daedalus_qpu_code *code, uint32_t meta_size, const uint8_t *meta,
                         const uint32_t *items, size_t n) {
  uint32_t *made = allocate(n * code->n_record * sizeof *made);
  for (size_t k = 0; k < n; k++) {
    for (size_t w = 0; w < code->n_record; w++) {
      uint32_t *word = &made[k * code->n_record + w];
      *word = items[k];
      if (code->record[w] != DAEDALUS_RECORD_INDEX) {
        memcpy(word, meta + (size_t)items[k] * meta_size + (size_t)code->record[w] * WORD, WORD);
      }
    }
  }
  return made;
}

/* What the runtime fills the uniform stream with. */
typedef struct values {
  uint32_t records, items, threads, scratch, constants;
  uint32_t base[MAX_BUFFERS], stride[MAX_BUFFERS];
} values;

static uint32_t value_of(const daedalus_qpu_uniform *u, const values *v) {
  switch ((daedalus_qpu_uniform_kind)u->kind) {
    case DAEDALUS_QPU_RECORDS:
      return v->records;
    case DAEDALUS_QPU_ITEMS:
      return v->items;
    case DAEDALUS_QPU_THREADS:
      return v->threads;
    case DAEDALUS_QPU_BASE:
      return v->base[u->index];
    case DAEDALUS_QPU_STRIDE:
      return v->stride[u->index];
    case DAEDALUS_QPU_SCRATCH:
      return v->scratch;
    case DAEDALUS_QPU_TABLE:
      return v->constants + u->value;
    case DAEDALUS_QPU_CONSTANT:
    case DAEDALUS_QPU_N_UNIFORM_KINDS:
      break;
  }
  return u->value;
}

/* A board on which everything is the other way that no public source settles, but for what a
 * program that contains these forms counts on. */
static daedalus_v3d_profile other_profile(uint32_t forms) {
  daedalus_v3d_profile p = daedalus_v3d_profile_default();
  p.carry_of_max = !p.carry_of_max;
  p.carry_elsewhere = !p.carry_elsewhere;
  p.faddnf_flushes = !p.faddnf_flushes;
  p.negative_zero_is_zero = !p.negative_zero_is_zero;
  p.negative_zero_is_negative = !p.negative_zero_is_negative;
  p.fmin_nan = !p.fmin_nan;
  p.float_to_int_saturates = !p.float_to_int_saturates;
  p.f16_denormals = !p.f16_denormals;
  p.flags_of_halves = 1;
  p.sfu_significand_bits = 12;
  p.clz_of_zero = 0;
  p.nnmode_first_letter_is_a = !p.nnmode_first_letter_is_a;
  p.nnmode_at_start = 3;
  p.nnmode_same_instruction = !p.nnmode_same_instruction;
  p.flags_stay = (forms & DAEDALUS_QPU_FORM_FLAGS_SWITCH) != 0;
  p.register_branch_lane = LANES - 1;
  p.link_when_not_taken = !p.link_when_not_taken;
  p.register_stream_ignores_bit_2 = !p.register_stream_ignores_bit_2;
  p.flpop_restores = !p.flpop_restores;
  p.tmu_signed_extends = !p.tmu_signed_extends;
  p.tmu_store_conflict_last_lane = !p.tmu_store_conflict_last_lane;
  p.tmu_short_stores = !p.tmu_short_stores;
  p.quad_mode = 1;
  p.uniforms_see_stores = !p.uniforms_see_stores;
  p.ended_batches_arrive = !p.ended_batches_arrive;
  return p;
}

static daedalus_v3d_machine *machine_of(simulator_way way, uint32_t forms) {
  static daedalus_v3d_machine *machines[3];
  const bool counts_on_flags = (forms & DAEDALUS_QPU_FORM_FLAGS_SWITCH) != 0;
  daedalus_v3d_machine **machine = &machines[way.other ? 1 + counts_on_flags : 0];
  if (*machine == NULL) {
    const daedalus_v3d_profile profile = other_profile(forms);
    *machine = daedalus_v3d_machine_create(way.other ? &profile : NULL);
    if (*machine == NULL) {
      die("no simulator", "");
    }
  }
  return *machine;
}

/* Workgroups of a supergroup, of which two or three are all that a board runs at once. */
static uint32_t supergroup_most(const daedalus_qpu_code *code) {
  return code->threads == 4 ? 16 : 12;
}

static bool dispatch(device *d, const daedalus_variant *variant, simulator_way way,
                     uint32_t threads, uint32_t code, uint32_t stream) {
  daedalus_v3d_buffer buffers[MAX_MAPPED];
  for (size_t i = 0; i < d->n; i++) {
    buffers[i] = d->list[i].buffer;
  }
  const uint32_t most = supergroup_most(variant->qpu);
  const uint32_t group = threads < most ? threads : most;
  const daedalus_v3d_job job = {
      .cfg = {threads << 16, 1u << 16, 1u << 16, LANES | (group & 0xf) << 8 | (group - 1) << 12,
              threads, code | (variant->qpu->threads == 4), stream},
      .buffers = buffers,
      .n_buffers = d->n,
      .strict = true};
  daedalus_v3d_report report;
  if (daedalus_v3d_machine_run(machine_of(way, variant->qpu->forms), &job, &report) !=
      DAEDALUS_V3D_DONE) {
    fprintf(stderr, "check: %s on the simulator: %s\n", variant->name, report.message);
    return false;
  }
  for (size_t i = 0; i < d->n; i++) {
    const mapping *m = &d->list[i];
    if (m->before != NULL && memcmp(m->before, m->buffer.data, m->buffer.size) != 0) {
      fprintf(stderr, "check: %s changed records, constants, uniforms or code\n", variant->name);
      return false;
    }
  }
  return true;
}

/* One job. */
static bool run_job(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                    simulator_way way, image *images, const void *meta, const uint32_t *items,
                    size_t n) {
  const daedalus_qpu_code *code = variant->qpu;
  const uint32_t batches = (uint32_t)((n + code->items - 1) / code->items);
  const uint32_t threads = batches < way.threads ? batches : way.threads;
  device d = {.next = PAGE};
  values v = {.items = (uint32_t)n, .threads = threads};
  size_t place[MAX_BUFFERS];
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    place[b] = d.n;
    v.base[b] = map_image(&d, &images[b], lead(code, b)) + (uint32_t)images[b].origin;
    v.stride[b] = (uint32_t)images[b].stride;
  }
  uint32_t *made = records(code, kernel->meta_size, meta, items, n);
  v.records = map(&d, made, n * code->n_record * sizeof *made, 0, true);
  free(made);
  v.constants = map(&d, code->constants, code->n_constants * WORD, 0, true);
  v.scratch = map(&d, NULL, (size_t)code->scratch_bytes * threads, SCRATCH, false);
  uint32_t *stream = allocate(code->n_uniforms * sizeof *stream);
  for (size_t u = 0; u < code->n_uniforms; u++) {
    stream[u] = value_of(&code->uniforms[u], &v);
  }
  const uint32_t at = map(&d, stream, code->n_uniforms * sizeof *stream, 0, true);
  free(stream);
  uint8_t *instructions = allocate(code->n_words * sizeof *code->words);
  if (daedalus_rt_instructions(&daedalus_rt_libc_allocator, code, instructions) != 0) {
    die("its instructions cannot be unpacked:", variant->name);
  }
  const uint32_t words = map(&d, instructions, code->n_words * sizeof *code->words, 0, true);
  free(instructions);
  bool good = dispatch(&d, variant, way, threads, words, at);
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    if (images[b].size != 0 && !take_image(&d.list[place[b]].buffer, &images[b], lead(code, b))) {
      fprintf(stderr, "check: %s wrote around %s\n", variant->name, kernel->buffers[b].name);
      good = false;
    }
  }
  unmap(&d);
  return good;
}

uint64_t simulator_run(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                       simulator_way way, image *images, const void *meta, const uint32_t *items,
                       size_t n) {
  size_t done = 0, next = 1;
  for (size_t part = n - n / 2; done < n; part = next++) {
    part = part < n - done ? part : n - done;
    if (!run_job(kernel, variant, way, images, meta, items + done, part)) {
      return GPU_FAILED;
    }
    done += part;
  }
  return DONE;
}

#else

uint64_t simulator_run(const daedalus_kernel_desc *kernel, const daedalus_variant *variant,
                       simulator_way way, image *images, const void *meta, const uint32_t *items,
                       size_t n) {
  (void)kernel;
  (void)variant;
  (void)way;
  (void)images;
  (void)meta;
  (void)items;
  (void)n;
  return UNKNOWN;
}

#endif
