/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs ALU instructions.  step() is the whole of it; each run function is step() with its traits
 * fixed, so that the compiler drops what an instruction does not need.  Compiled as the kernels are
 * (alu_semantics.h), once for each instruction set of the host: it moves what they compute.
 */
#include "simulator/alu_semantics.h"
#include "simulator/engine.h"
#include "simulator/rows.h"

/* Traits of an instruction: which parts of step() it needs. */
enum {
  HAS_ADD = 1u << 0,
  HAS_MUL = 1u << 1,
  /** Has a condition, changes flags, or depends on which lanes take part. */
  HAS_CONDITIONS = 1u << 2,
  HAS_SIGNALS = 1u << 3,
  /** Writes elsewhere than to registers. */
  HAS_MAGIC = 1u << 4,
  /** Unpacks operands or packs results. */
  HAS_MODIFIERS = 1u << 5,
  /** No result overlaps a source that is still to be read: no copies. */
  IN_PLACE = 1u << 6
};

_Static_assert((unsigned)V3D_EVENT_THRSW == DAEDALUS_V3D_SIGNAL_THRSW, "the signal is the event");

typedef uint32_t row[V3D_LANES];

static inline daedalus_v3d_lanes lanes_of(unsigned cond, const daedalus_v3d_lane_state *state) {
  switch (cond) {
    case DAEDALUS_V3D_COND_IFA:
      return state->flag_a;
    case DAEDALUS_V3D_COND_IFB:
      return state->flag_b;
    case DAEDALUS_V3D_COND_IFNA:
      return (daedalus_v3d_lanes)~state->flag_a;
    case DAEDALUS_V3D_COND_IFNB:
      return (daedalus_v3d_lanes)~state->flag_b;
    default:
      return V3D_ALL_LANES;
  }
}

/* The flags after an instruction that pushes or updates with flag. */
static inline void change_flags(daedalus_v3d_lane_state *state, unsigned flags,
                                daedalus_v3d_lanes flag) {
  daedalus_v3d_lanes a = state->flag_a;
  if (flags <= DAEDALUS_V3D_FLAGS_PUSHC) {
    state->flag_b = a;
    state->flag_a = flag;
    return;
  }
  switch ((flags - DAEDALUS_V3D_FLAGS_ANDZ) & 3) {
    case 0:
      state->flag_a = a & flag;
      break;
    case 1:
      state->flag_a = (daedalus_v3d_lanes)(a & ~flag);
      break;
    case 2: /* nor of the negated flag */
      state->flag_a = (daedalus_v3d_lanes) ~(a | (daedalus_v3d_lanes)~flag);
      break;
    default:
      state->flag_a = (daedalus_v3d_lanes) ~(a | flag);
      break;
  }
}

/* What one ALU leaves behind until the flags and destinations are written. */
typedef struct half_result {
  daedalus_v3d_lanes lanes, flag;
} half_result;

static inline void run_half_conditional(v3d_thread *thread, const v3d_half *half,
                                        const v3d_modifiers *more, uint32_t *restrict result,
                                        half_result *left) {
  daedalus_v3d_lane_state *state = &thread->state;
  const uint32_t *a = thread->rows[half->a], *b = thread->rows[half->b];
  left->lanes = lanes_of(half->cond, state);
  state->participating = left->lanes;
  half->execute(result, a, b, state);
  if (more->flag)
    left->flag = more->flag(result, a, b, state);
}

static void run_half_modified(v3d_thread *thread, const v3d_half *half, const v3d_modifiers *more,
                              uint32_t *restrict result, half_result *left) {
  alignas(64) row unpacked[2], wide;
  daedalus_v3d_lane_state *state = &thread->state;
  const daedalus_v3d_profile *profile = state->profile;
  const uint32_t *a = thread->rows[half->a], *b = thread->rows[half->b];
  if (more->unpack[0]) {
    more->unpack[0](unpacked[0], a, profile);
    a = unpacked[0];
  }
  if (more->unpack[1]) {
    more->unpack[1](unpacked[1], b, profile);
    b = unpacked[1];
  }
  left->lanes = lanes_of(half->cond, state);
  state->participating = left->lanes;
  if (!more->pack) {
    half->execute(result, a, b, state);
    if (more->flag)
      left->flag = more->flag(result, a, b, state);
    return;
  }
  half->execute(wide, a, b, state);
  if (more->flag)
    left->flag = more->flag(wide, a, b, state);
  more->pack(result, thread->rows[half->dest], wide, profile);
}

static inline void run_half(v3d_thread *thread, const v3d_half *half, const v3d_modifiers *more,
                            uint32_t *restrict result, half_result *left, unsigned traits) {
  if (traits & HAS_MODIFIERS)
    run_half_modified(thread, half, more, result, left);
  else if (traits & HAS_CONDITIONS)
    run_half_conditional(thread, half, more, result, left);
  else
    half->execute(result, thread->rows[half->a], thread->rows[half->b], &thread->state);
}

/* Writes value to what is no register. */
static unsigned write_magic(v3d_thread *thread, v3d_op *op, unsigned kind, const uint32_t *value,
                            daedalus_v3d_lanes lanes) {
  alignas(64) row spread;
  uint32_t word;
  switch (kind) {
    case V3D_TO_REP:
      daedalus_v3d_row_fill(spread, value[0]);
      daedalus_v3d_row_merge(thread->rows[0], spread, lanes);
      return 0;
    case V3D_TO_QUAD:
      for (unsigned i = 0; i < V3D_LANES; i++)
        spread[i] = value[i & ~3u];
      daedalus_v3d_row_merge(thread->rows[0], spread, lanes);
      return 0;
    case V3D_TO_UNIFA:
      if (lanes & 1)
        thread->unifa = value[0] & ~3u;
      return 0;
    case V3D_TO_TMU_DATA:
      return daedalus_v3d_tmu_push(thread, op, value);
    case V3D_TO_TMU_ADDRESS_UNIFORM:
      if (!daedalus_v3d_next_uniform(thread, op, &word))
        return V3D_EVENT_FAULT;
      thread->tmu.config = word;
      return daedalus_v3d_tmu_lookup(thread, op, value, lanes);
    case V3D_TO_TMU_ADDRESS:
      return daedalus_v3d_tmu_lookup(thread, op, value, lanes);
    case V3D_TO_TMU_CONFIG:
      if (lanes & 1)
        thread->tmu.config = value[0];
      return 0;
    case V3D_TO_SYNC:
      return daedalus_v3d_sync(thread, op, value);
    default: /* V3D_TO_SYNC_UNIFORM: the bytes of a word stand for the lanes of a vector. */
      if (!daedalus_v3d_next_uniform(thread, op, &word))
        return V3D_EVENT_FAULT;
      for (unsigned i = 0; i < V3D_LANES; i++)
        spread[i] = word >> 8 * (i & 3) & 0xff;
      return daedalus_v3d_sync(thread, op, spread);
  }
}

static unsigned write_signal(v3d_thread *thread, v3d_op *op, const uint32_t *value) {
  if (op->signal_kind != V3D_TO_ROW)
    return write_magic(thread, op, op->signal_kind, value, V3D_ALL_LANES);
  daedalus_v3d_row_copy(thread->rows[op->signal_dest], value);
  return 0;
}

/* All sources have been read. thrsw is the loop's business. */
static unsigned run_signals(v3d_thread *thread, v3d_op *op) {
  alignas(64) row value;
  unsigned signals = op->signals, event = signals & DAEDALUS_V3D_SIGNAL_THRSW;
  uint32_t word;
  if (signals & (DAEDALUS_V3D_SIGNAL_LDUNIF | DAEDALUS_V3D_SIGNAL_LDUNIFRF)) {
    if (!daedalus_v3d_next_uniform(thread, op, &word))
      return V3D_EVENT_FAULT;
    if (signals & DAEDALUS_V3D_SIGNAL_LDUNIF) {
      daedalus_v3d_row_fill(thread->rows[0], word);
    } else {
      daedalus_v3d_row_fill(value, word);
      event |= write_signal(thread, op, value);
    }
  }
  if (signals & (DAEDALUS_V3D_SIGNAL_LDUNIFA | DAEDALUS_V3D_SIGNAL_LDUNIFARF)) {
    if (!daedalus_v3d_next_unifa(thread, op, &word))
      return V3D_EVENT_FAULT;
    if (signals & DAEDALUS_V3D_SIGNAL_LDUNIFA) {
      daedalus_v3d_row_fill(thread->rows[0], word);
    } else {
      daedalus_v3d_row_fill(value, word);
      event |= write_signal(thread, op, value);
    }
  }
  if (signals & DAEDALUS_V3D_SIGNAL_LDTMU) {
    const uint32_t *result = daedalus_v3d_tmu_pop(thread, op);
    if (!result)
      return V3D_EVENT_FAULT;
    event |= write_signal(thread, op, result);
  }
  return event;
}

static unsigned load_config(v3d_thread *thread, v3d_op *op) {
  return daedalus_v3d_next_uniform(thread, op, &thread->tmu.config) ? 0 : V3D_EVENT_FAULT;
}

static inline unsigned write_half(v3d_thread *thread, v3d_op *op, const v3d_half *half,
                                  const uint32_t *result, const half_result *left,
                                  unsigned traits) {
  if ((traits & HAS_MAGIC) && half->kind != V3D_TO_ROW)
    return write_magic(thread, op, half->kind, result, left->lanes);
  if ((traits & HAS_CONDITIONS) && left->lanes != V3D_ALL_LANES)
    daedalus_v3d_row_merge(thread->rows[half->dest], result, left->lanes);
  else
    daedalus_v3d_row_copy(thread->rows[half->dest], result);
  return 0;
}

static inline void write_flags(v3d_thread *thread, const v3d_op *op, const half_result *add,
                               const half_result *mul, unsigned traits) {
  if (traits & HAS_ADD) {
    if (op->add_more.flag)
      change_flags(&thread->state, op->add.flags, add->flag);
    else if (op->add.is_flpop)
      thread->state.flag_a = thread->state.popped_a;
  }
  if ((traits & HAS_MUL) && op->mul_more.flag)
    change_flags(&thread->state, op->mul.flags, mul->flag);
}

static inline unsigned step(v3d_thread *thread, v3d_op *op, unsigned traits) {
  uint32_t *added = thread->results[0], *multiplied = thread->results[1];
  half_result add = {V3D_ALL_LANES, 0}, mul = {V3D_ALL_LANES, 0};
  unsigned event = 0;
  const bool mul_first = (traits & HAS_CONDITIONS) && op->mul_first;
  if ((traits & HAS_MUL) && mul_first)
    run_half(thread, &op->mul, &op->mul_more, multiplied, &mul, traits);
  if (traits & HAS_ADD)
    run_half(thread, &op->add, &op->add_more,
             traits & IN_PLACE ? thread->rows[op->add.dest] : added, &add, traits);
  if ((traits & HAS_MUL) && !mul_first)
    run_half(thread, &op->mul, &op->mul_more,
             traits & IN_PLACE ? thread->rows[op->mul.dest] : multiplied, &mul, traits);
  if (traits & HAS_CONDITIONS)
    write_flags(thread, op, &add, &mul, traits);
  if (traits & HAS_SIGNALS) {
    event = run_signals(thread, op);
    if (op->signals & DAEDALUS_V3D_SIGNAL_WRTMUC)
      event |= load_config(thread, op);
    if (event & V3D_EVENT_FAULT)
      return event;
  }
  if (traits & IN_PLACE)
    return event;
  if (traits & HAS_ADD)
    event |= write_half(thread, op, &op->add, added, &add, traits);
  if ((traits & HAS_MUL) && !((traits & HAS_MAGIC) && (event & V3D_EVENT_FAULT)))
    event |= write_half(thread, op, &op->mul, multiplied, &mul, traits);
  return event;
}

#define RUNNER(traits)                                           \
  static unsigned run_##traits(v3d_thread *thread, v3d_op *op) { \
    return step(thread, op, traits);                             \
  }
#define TRAITS_0(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define TRAITS_8(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define TRAITS_16(X) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#define TRAITS_24(X) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
/* Modifiers hide what conditions cost: those with the former are made for the latter too. */
#define TRAITS_MODIFIED(X) X(37) X(38) X(39) X(45) X(46) X(47) X(53) X(54) X(55) X(61) X(62) X(63)
#define TRAITS_IN_PLACE(X) X(65) X(66) X(67)
#define EACH_TRAITS(X) \
  TRAITS_0(X) TRAITS_8(X) TRAITS_16(X) TRAITS_24(X) TRAITS_MODIFIED(X) TRAITS_IN_PLACE(X)

EACH_TRAITS(RUNNER)

static bool reads(const v3d_half *half, unsigned row_number) {
  return half->execute && (half->a == row_number || half->b == row_number);
}

static bool modifies(const v3d_modifiers *more) {
  return more->unpack[0] || more->unpack[1] || more->pack;
}

static bool is_conditional(const v3d_half *half, const v3d_modifiers *more) {
  return more->flag || half->cond || half->is_flpop;
}

v3d_run_fn *DAEDALUS_V3D_KERNEL(compiled_runner_of)(const v3d_op *op, bool lane_operations) {
  static v3d_run_fn *const runners[] = {
#define ENTRY(traits) [traits] = run_##traits,
      EACH_TRAITS(ENTRY)
#undef ENTRY
  };
  unsigned traits = (op->add.execute ? HAS_ADD : 0) | (op->mul.execute ? HAS_MUL : 0);
  if (lane_operations || op->mul_first || is_conditional(&op->add, &op->add_more) ||
      is_conditional(&op->mul, &op->mul_more))
    traits |= HAS_CONDITIONS;
  if (modifies(&op->add_more) || modifies(&op->mul_more))
    traits |= HAS_MODIFIERS | HAS_CONDITIONS;
  if (op->signals)
    traits |= HAS_SIGNALS;
  if (op->add.kind != V3D_TO_ROW || op->mul.kind != V3D_TO_ROW)
    traits |= HAS_MAGIC;
  if (traits && traits < HAS_CONDITIONS && !reads(&op->add, op->add.dest) &&
      !reads(&op->mul, op->add.dest) && !reads(&op->mul, op->mul.dest) &&
      !(traits == (HAS_ADD | HAS_MUL) && op->add.dest == op->mul.dest))
    traits |= IN_PLACE;
  return runners[traits];
}
