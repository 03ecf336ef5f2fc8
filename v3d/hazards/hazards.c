/* SPDX-License-Identifier: BSD-2-Clause */
#include "hazards/hazards.h"

#define EFFECT(name) DAEDALUS_V3D_EFFECT_##name
#define EVENT(name) DAEDALUS_V3D_EVENT_##name
#define RULE(name) ((daedalus_v3d_rules)1 << DAEDALUS_V3D_RULE_##name)

/** The event of an instruction `ago` (1 to 3) instructions before this one, in a history. */
#define AGO(event, ago) ((uint32_t)DAEDALUS_V3D_EVENT_##event << ((ago) - 1))
/** The event in any of the last two, or three, instructions. */
#define WITHIN_2(event) (AGO(event, 1) | AGO(event, 2))
#define WITHIN_3(event) (WITHIN_2(event) | AGO(event, 3))

enum {
  FLAG_A = 1,
  FLAG_B = 2,
  MAX_LOOKUPS = 8,
  /** Data words are counted up to here. */
  MAX_SEQUENCE = 16,
  /** Every event's bits of one, two and three instructions ago once moved: none is older. */
  HISTORY_MOVED = 0x66666666
};

#define STRICT_SET_STRICT(name) RULE(name)
#define STRICT_SET_TOLERANT(name) 0
#define STRICT_SET(id, level, text) | STRICT_SET_##level(id)
/** The rules of STRICT checking alone. */
static const daedalus_v3d_rules strict_only = 0 DAEDALUS_V3D_RULES(STRICT_SET);

/** Operations of a config byte (bits 6:3). Without data some mean another thing. */
enum {
  OP_CMPXCHG = 3,
  OP_LAST_OF_CACHE = 4, /**< without data. */
  OP_INC = 8,           /**< without data, and so on. */
  OP_NOT = 10,
  OP_LAST_ATOMIC = 10,
  OP_REGULAR = 15
};

static unsigned config_op(unsigned config) {
  return config >> 3 & 15;
}

/** Words of an element of the config's type (bits 2:0). */
static unsigned config_width(unsigned config) {
  const unsigned type = config & 7;
  return type >= 2 && type <= 4 ? type : 1;
}

unsigned daedalus_v3d_lookup_results(unsigned config, bool data) {
  const unsigned op = config_op(config);
  if (op == OP_REGULAR)
    return data ? 0 : config_width(config);
  /* An atomic operation returns the old value; without an operand there are three. */
  return data || (op >= OP_INC && op <= OP_NOT);
}

/** Rules of a config byte and the number of data words before it. */
static daedalus_v3d_rules check_config(unsigned config, unsigned data) {
  const unsigned op = config_op(config), width = config_width(config);
  if (op == OP_REGULAR)
    return !data || data == width ? 0 : data < width ? RULE(STORE_SHORT) : RULE(LOOKUP_DATA);
  if (op > OP_LAST_ATOMIC || (!data && op > OP_LAST_OF_CACHE && op < OP_INC))
    return RULE(LOOKUP_CONFIG);
  if (!data)
    return op >= OP_INC && width > 1 ? RULE(LOOKUP_CONFIG) : 0;
  if (op == OP_CMPXCHG)
    return data != 2 ? RULE(LOOKUP_DATA) : 0;
  return (width > 1 ? RULE(LOOKUP_CONFIG) : 0) | (data != 1 ? RULE(LOOKUP_DATA) : 0);
}

void daedalus_v3d_hazards_begin(daedalus_v3d_hazards *hazards,
                                const daedalus_v3d_program_mode *mode) {
  *hazards = (daedalus_v3d_hazards){
      .strict = mode->strictness == DAEDALUS_V3D_STRICT,
      .fifo = mode->threads == 4 ? 4 : 8,
      .last = mode->single_segment,
      .flags_lost = mode->flags_lost,
  };
}

/** Rules of slots and of distances; moves the history on. */
static daedalus_v3d_rules step_windows(daedalus_v3d_hazards *h, const daedalus_v3d_effects *e) {
  const uint32_t history = h->history, kinds = e->kinds;
  uint32_t events = e->events;
  daedalus_v3d_rules rules = 0;
  if (history & WITHIN_3(BRANCH)) {
    if (events & EVENT(BRANCH))
      rules |= RULE(BRANCH_IN_BRANCH);
    else if (kinds & EFFECT(UNIFORM))
      rules |= RULE(UNIFORM_IN_BRANCH);
    if (events & EVENT(THRSW))
      rules |= RULE(THRSW_IN_BRANCH);
    if (events & EVENT(UNIFA))
      rules |= RULE(UNIFA_IN_BRANCH);
  }
  if (history & WITHIN_2(THRSW)) {
    if (events & EVENT(BRANCH))
      rules |= RULE(BRANCH_IN_THRSW);
    if (kinds & EFFECT(SFU))
      rules |= RULE(SFU_IN_THRSW);
  }
  if (history & WITHIN_3(UNIFA)) {
    if (events & EVENT(BRANCH))
      rules |= RULE(UNIFA_BRANCH);
    if (kinds & EFFECT(LDUNIFA))
      rules |= RULE(UNIFA_TOO_EARLY);
  }
  if (history & AGO(LDVARY, 1) && kinds & EFFECT(WRITES_RF0))
    rules |= RULE(LDVARY_RF0);
  if (events & EVENT(THRSW)) {
    if (history & AGO(THRSW, 1)) {
      if (h->last)
        rules |= RULE(LAST_THRSW_TWICE);
      h->last = 1;
      events ^= EVENT(THRSW) | EVENT(MARK);
    } else {
      if (history & AGO(MARK, 1))
        rules |= RULE(THRSW_TRIPLE);
      else if (history & AGO(THRSW, 2))
        rules |= RULE(THRSW_TOO_CLOSE);
      if (h->last)
        events |= EVENT(END);
    }
  }
  h->history = (history << 1 & HISTORY_MOVED) | events;
  return rules;
}

/** Rules of flags, rtop, v8dot's mode, rf0 and unifa. */
static daedalus_v3d_rules step_state(daedalus_v3d_hazards *h, const daedalus_v3d_effects *e) {
  const uint32_t kinds = e->kinds;
  daedalus_v3d_rules rules = 0;
  if ((kinds & EFFECT(READS_A) && !(h->flags & FLAG_A)) ||
      (kinds & EFFECT(READS_B) && !(h->flags & FLAG_B)))
    rules |= RULE(FLAGS_UNSET);
  if (kinds & EFFECT(PUSHES))
    h->flags = h->flags & FLAG_A ? FLAG_A | FLAG_B : FLAG_A;
  if (kinds & EFFECT(SETS_A))
    h->flags |= FLAG_A;
  if (kinds & EFFECT(MULTOP)) {
    if (h->rtop)
      rules |= RULE(RTOP_OVERWRITTEN);
    h->rtop = 1;
  }
  if (kinds & EFFECT(UMUL24))
    h->rtop = 0;
  if (kinds & EFFECT(NNMODE))
    h->nnmode = 1;
  if (kinds & EFFECT(V8DOT) && !h->nnmode)
    rules |= RULE(NNMODE_UNSET);
  if (kinds & EFFECT(HIGH_REGISTER) && h->fifo == 4)
    rules |= RULE(HIGH_REGISTER);
  if (kinds & EFFECT(READS_RF0) && h->rf0_lost)
    rules |= RULE(RF0_LOST);
  if (kinds & (EFFECT(WRITES_RF0) | EFFECT(RF0_SHARED)))
    h->rf0_shared = (kinds & EFFECT(RF0_SHARED)) != 0;
  if (kinds & EFFECT(DEFINES_RF0))
    h->rf0_lost = 0;
  /* A load in the instruction that writes unifa still goes by the old one. */
  if (kinds & EFFECT(LDUNIFA) && !h->unifa)
    rules |= RULE(UNIFA_UNSET);
  if (e->events & EVENT(UNIFA))
    h->unifa = 1;
  return rules;
}

static daedalus_v3d_rules pop_result(daedalus_v3d_hazards *h) {
  h->prompt = 0;
  if (!h->results)
    return RULE(LDTMU_EMPTY);
  h->results--;
  h->reads = (uint8_t)(h->reads - (h->result_ends & 1));
  h->result_ends >>= 1;
  return 0;
}

/** A lookup starts; popped says that a word was popped in the same instruction and may stall it. */
static daedalus_v3d_rules start_lookup(daedalus_v3d_hazards *h, unsigned config, bool popped) {
  const unsigned known = config < DAEDALUS_V3D_CONFIG_UNKNOWN ? config : 0xff;
  const unsigned results = daedalus_v3d_lookup_results(known, h->sequence != 0);
  daedalus_v3d_rules rules = check_config(known, h->sequence);
  h->sequence = 0;
  if (results && h->results + results + popped > h->fifo)
    rules |= RULE(OUTPUT_FIFO);
  /* One that overflows is as if it were not. */
  if (results && h->results + results <= h->fifo) {
    h->results = (uint8_t)(h->results + results);
    h->result_ends |= (uint16_t)(1u << (h->results - 1));
    h->reads++;
  } else if (!results && h->writes <= MAX_LOOKUPS) {
    h->writes++;
  }
  if (h->reads + h->writes > MAX_LOOKUPS)
    rules |= RULE(LOOKUPS);
  return rules;
}

/** Rules of the TMU and of barriers. */
static daedalus_v3d_rules step_tmu(daedalus_v3d_hazards *h, uint32_t kinds, unsigned config) {
  daedalus_v3d_rules rules = 0;
  bool popped = false;
  if (kinds & EFFECT(BARRIER) && (h->results || h->writes))
    rules |= RULE(BARRIER_OUTSTANDING);
  if (h->sync && kinds & (EFFECT(SYNC) | EFFECT(LOOKUP)))
    rules |= RULE(SYNC_NO_SWITCH);
  if (kinds & EFFECT(SYNC))
    h->sync = 1;
  if (kinds & EFFECT(LDTMU)) {
    popped = h->results && !h->prompt;
    rules |= pop_result(h);
  }
  if (kinds & EFFECT(TMUWT))
    h->writes = 0;
  if (kinds & EFFECT(TMU_DATA)) {
    if (h->sequence < MAX_SEQUENCE)
      h->sequence++;
    /* The address takes a word too. */
    if (h->sequence == h->fifo)
      rules |= RULE(INPUT_FIFO);
    else if (h->sequence > h->fifo)
      rules |= RULE(INPUT_OVERFLOW);
  }
  if (kinds & EFFECT(LOOKUP))
    rules |= start_lookup(h, config, popped);
  return rules;
}

/** The thread is left after this instruction, the second slot of a thrsw. */
static daedalus_v3d_rules leave(daedalus_v3d_hazards *h, uint32_t kinds) {
  daedalus_v3d_rules rules = 0;
  if (h->rtop)
    rules |= RULE(RTOP_LOST);
  if (h->sequence)
    rules |= RULE(SEQUENCE_SPLIT);
  if (h->rf0_shared && kinds & EFFECT(SIGNAL_WRITES))
    h->rf0_lost = 1;
  if (h->flags_lost)
    h->flags = 0;
  h->rtop = 0;
  h->sync = 0;
  h->rf0_shared = 0;
  h->prompt = h->results != 0;
  return rules;
}

/** Rules of the ending thrsw and its two slots; history is that before this instruction. */
static daedalus_v3d_rules step_end(daedalus_v3d_hazards *h, const daedalus_v3d_effects *e,
                                   uint32_t history) {
  const uint32_t kinds = e->kinds;
  const bool first = (h->history & EVENT(END)) != 0;
  const bool slot = (history & WITHIN_2(END)) != 0;
  daedalus_v3d_rules rules = 0;
  if (first && kinds & EFFECT(ALU_WRITES))
    rules |= RULE(END_WRITES);
  if (slot && kinds & EFFECT(UNIFORM))
    rules |= RULE(END_UNIFORM);
  if (first || slot) {
    if (kinds & EFFECT(RF2_RF3))
      rules |= RULE(END_RF2_RF3);
    if (e->events & EVENT(LDVARY))
      rules |= RULE(END_LDVARY);
  }
  if (history & AGO(END, 2)) {
    if (h->sequence)
      rules |= RULE(SEQUENCE_UNFINISHED);
    if (h->results)
      rules |= RULE(RESULTS_LEFT);
    h->ended = 1;
  }
  return rules;
}

daedalus_v3d_rules daedalus_v3d_hazards_step(daedalus_v3d_hazards *hazards,
                                             const daedalus_v3d_effects *effects, unsigned config) {
  const uint32_t kinds = effects->kinds, history = hazards->history;
  const uint32_t tmu =
      EFFECT(LDTMU) | EFFECT(TMUWT) | EFFECT(TMU_DATA) | EFFECT(LOOKUP) | EFFECT(BARRIER);
  /* What step_state() and step_tmu() do not look at: most instructions do nothing else. */
  const uint32_t unasked = EFFECT(ALU_WRITES) | EFFECT(SIGNAL_WRITES) | EFFECT(RF2_RF3);
  daedalus_v3d_rules rules = effects->rules;
  if ((kinds & ~unasked) | effects->events) {
    rules |= step_state(hazards, effects);
    if (kinds & tmu)
      rules |= step_tmu(hazards, kinds, config);
  }
  if (history | effects->events) {
    rules |= step_windows(hazards, effects);
    if (history & (AGO(THRSW, 2))) {
      /* The switch may not fall into the three instructions after a write of unifa. */
      if ((history & WITHIN_2(UNIFA)) || effects->events & EVENT(UNIFA))
        rules |= RULE(UNIFA_SWITCH);
      if (!(history & AGO(END, 2)))
        rules |= leave(hazards, kinds);
    }
    if ((history & WITHIN_2(END)) || hazards->history & EVENT(END))
      rules |= step_end(hazards, effects, history);
  }
  return hazards->strict ? rules : rules & ~strict_only;
}
