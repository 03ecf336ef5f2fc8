/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fuzz target: random programs and dispatches never crash the simulator, and two runs of one job
 * end alike.  With clang: -fsanitize=fuzzer,address,undefined over this file and the library; a
 * program with its own main (DAEDALUS_FUZZ_MAIN) takes a count and a seed instead, for compilers
 * without libFuzzer.
 *
 * The input is a header (shape of the dispatch, uniforms) and then 12 bytes an instruction, most of
 * which become a legal one: a random word rarely is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/simulate.h>

enum { CODE = 0x1000, CODE_WORDS = 64, MEMORY = 0x2000, MEMORY_WORDS = 512, RECORD = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes of the input in order; zeros once they have run out. */
typedef struct source {
  const uint8_t *data;
  size_t left;
} source;

static unsigned next(source *in) {
  if (!in->left)
    return 0;
  in->left--;
  return *in->data++;
}

static uint32_t next_word(source *in) {
  uint32_t word = 0;
  for (unsigned i = 0; i < 4; i++)
    word |= (uint32_t)next(in) << 8 * i;
  return word;
}

static daedalus_v3d_dest some_dest(unsigned byte, bool general) {
  static const uint8_t magic[] = {
      DAEDALUS_V3D_WADDR_NOP,   DAEDALUS_V3D_WADDR_TMUD,  DAEDALUS_V3D_WADDR_TMUA,
      DAEDALUS_V3D_WADDR_TMUA,  DAEDALUS_V3D_WADDR_TMUC,  DAEDALUS_V3D_WADDR_TMUAU,
      DAEDALUS_V3D_WADDR_UNIFA, DAEDALUS_V3D_WADDR_SYNCB, DAEDALUS_V3D_WADDR_SYNC,
      DAEDALUS_V3D_WADDR_SYNCU, DAEDALUS_V3D_WADDR_REP,   DAEDALUS_V3D_WADDR_QUAD,
      DAEDALUS_V3D_WADDR_TMUS,  DAEDALUS_V3D_WADDR_TMUOFF};
  if (general && byte >= 0x80)
    return (daedalus_v3d_dest){1, magic[byte % sizeof magic]};
  return (daedalus_v3d_dest){0, byte & 31};
}

static void some_alu(source *in, bool mul, daedalus_v3d_alu *alu) {
  const unsigned op = next(in) % DAEDALUS_V3D_N_OPS;
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
  const unsigned dest = next(in), a = next(in), b = next(in);
  if (!(mul ? operation->on_mul : operation->on_add) || op == DAEDALUS_V3D_OP_NOP)
    return;
  alu->op = (uint8_t)op;
  if (!(operation->traits & DAEDALUS_V3D_TRAIT_NO_DEST))
    alu->dest = some_dest(dest, true);
  if (operation->sources > 0)
    alu->src[0].index = a & 31;
  if (operation->sources > 1)
    alu->src[1].index = b & 31;
  if (operation->sources > 0 && a >= 0xe0)
    alu->src[0].small = 1;
}

static uint64_t some_branch(source *in, unsigned index) {
  daedalus_v3d_instruction instruction = {.is_branch = 1};
  daedalus_v3d_branch *branch = &instruction.branch;
  const unsigned bits = next(in), more = next(in);
  uint64_t word = 0;
  branch->cond = bits & 7;
  branch->msfign = (bits >> 3) % 3;
  branch->set_link = bits >> 7;
  branch->target = more & 3;
  branch->uniforms = more >> 2 & 1;
  branch->uniform_dest = branch->uniforms ? more >> 3 & 3 : 0;
  if (branch->target == DAEDALUS_V3D_BRANCH_REGISTER ||
      branch->uniform_dest == DAEDALUS_V3D_BRANCH_REGISTER)
    branch->reg = next(in) & 31;
  const uint32_t to = next(in) % (CODE_WORDS + 2);
  if (branch->target == DAEDALUS_V3D_BRANCH_ABSOLUTE)
    branch->offset = CODE + 8 * to;
  else if (branch->target == DAEDALUS_V3D_BRANCH_RELATIVE)
    branch->offset = 8 * (to - index - 4);
  return daedalus_v3d_pack(&instruction, &word) ? 0 : word;
}

static uint64_t some_word(source *in, unsigned index) {
  static const uint16_t signals[] = {DAEDALUS_V3D_SIGNAL_THRSW,
                                     DAEDALUS_V3D_SIGNAL_LDUNIF,
                                     DAEDALUS_V3D_SIGNAL_LDUNIFRF,
                                     DAEDALUS_V3D_SIGNAL_LDUNIFA,
                                     DAEDALUS_V3D_SIGNAL_LDUNIFARF,
                                     DAEDALUS_V3D_SIGNAL_LDTMU,
                                     DAEDALUS_V3D_SIGNAL_WRTMUC,
                                     DAEDALUS_V3D_SIGNAL_THRSW | DAEDALUS_V3D_SIGNAL_LDTMU,
                                     DAEDALUS_V3D_SIGNAL_LDTMU | DAEDALUS_V3D_SIGNAL_WRTMUC,
                                     DAEDALUS_V3D_SIGNAL_THRSW | DAEDALUS_V3D_SIGNAL_LDUNIF,
                                     DAEDALUS_V3D_SIGNAL_LDTMU | DAEDALUS_V3D_SIGNAL_LDUNIF};
  const unsigned kind = next(in);
  if (kind < 8)
    return next_word(in) | (uint64_t)next_word(in) << 32;
  if (kind < 24)
    return some_branch(in, index);
  daedalus_v3d_instruction instruction = daedalus_v3d_nop();
  uint64_t word;
  some_alu(in, false, &instruction.add);
  some_alu(in, true, &instruction.mul);
  const unsigned extra = next(in), which = next(in);
  if (extra < 0x60) {
    instruction.signals = signals[which % (sizeof signals / sizeof signals[0])];
    if (instruction.signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS)
      instruction.signal_dest = some_dest(next(in), true);
  } else if (extra < 0xa0) {
    instruction.add.flags = which % DAEDALUS_V3D_N_FLAGS;
    instruction.mul.cond = which / 16 % DAEDALUS_V3D_N_CONDS;
  } else {
    instruction.add.cond = which % DAEDALUS_V3D_N_CONDS;
    instruction.mul.flags = which / 16 % 4;
  }
  if (!daedalus_v3d_pack(&instruction, &word))
    return word;
  /* The ALUs may be at fault, or what goes with them. */
  instruction.signals = 0;
  instruction.signal_dest = (daedalus_v3d_dest){0};
  instruction.add.flags = instruction.add.cond = instruction.mul.flags = instruction.mul.cond = 0;
  return daedalus_v3d_pack(&instruction, &word) ? UINT64_C(0x38003186bb03f000) : word;
}

/* A job and its memory. */
typedef struct job_memory {
  uint64_t code[CODE_WORDS];
  uint32_t words[MEMORY_WORDS];
} job_memory;

static void some_job(source *in, daedalus_v3d_job *job, job_memory *memory) {
  memset(memory, 0, sizeof *memory);
  for (unsigned i = 0; i < 3; i++)
    job->cfg[i] = (next(in) % 5 + 1) << 16 | next(in) % 3;
  const unsigned strange = next(in);
  job->cfg[3] = strange < 32 ? next_word(in) : (next(in) | next(in) % 3 << 12);
  job->cfg[4] = strange < 16 ? next_word(in) : next(in) % 40 + 1;
  job->cfg[5] = CODE | (next(in) & 3);
  job->cfg[6] = MEMORY + (next(in) & 0xfc);
  job->strict = next(in) & 1;
  for (unsigned i = 0; i < 64; i++) /* Mostly addresses, and small numbers. */
    memory->words[i] = i & 1 ? next(in) : MEMORY + 4 * next(in);
  unsigned n = 0;
  for (; n < CODE_WORDS && in->left; n++)
    memory->code[n] = some_word(in, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static daedalus_v3d_machine *machine;
  if (!machine) {
    daedalus_v3d_profile profile = daedalus_v3d_profile_default();
    profile.max_slots = 2000;
    profile.max_job_slots = 20000;
    profile.quad_mode = 1;
    machine = daedalus_v3d_machine_create(&profile);
  }
  job_memory first, second;
  daedalus_v3d_report reports[2];
  for (unsigned i = 0; i < 2; i++) {
    job_memory *memory = i ? &second : &first;
    source in = {data, size};
    const daedalus_v3d_buffer buffers[] = {{CODE, sizeof memory->code, memory->code},
                                           {MEMORY, sizeof memory->words, memory->words}};
    daedalus_v3d_job job = {.buffers = buffers, .n_buffers = 2};
    some_job(&in, &job, memory);
    daedalus_v3d_machine_run(machine, &job, &reports[i]);
  }
  if (reports[0].outcome != reports[1].outcome || strcmp(reports[0].message, reports[1].message) ||
      memcmp(&first, &second, sizeof first)) {
    fprintf(stderr, "two runs differ:\n%s\n%s\n", reports[0].message, reports[1].message);
    abort();
  }
  return 0;
}

#ifdef DAEDALUS_FUZZ_MAIN
static uint64_t random_bits(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

int main(int argc, char **argv) {
  const unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 0) : 2000;
  uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  uint8_t data[128 + RECORD * CODE_WORDS];
  printf("%lu programs, seed %llu\n", n, (unsigned long long)state);
  for (unsigned long i = 0; i < n; i++) {
    const size_t size = 128 + random_bits(&state) % (sizeof data - 128);
    for (size_t k = 0; k < size; k++)
      data[k] = (uint8_t)random_bits(&state);
    LLVMFuzzerTestOneInput(data, size);
  }
  return 0;
}
#endif
