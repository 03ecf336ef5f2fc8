/* SPDX-License-Identifier: BSD-2-Clause */
#include "hazards/hazards.h"

#define EFFECT(name) DAEDALUS_V3D_EFFECT_##name
#define EVENT(name) DAEDALUS_V3D_EVENT_##name
#define RULE(name) ((daedalus_v3d_rules)1 << DAEDALUS_V3D_RULE_##name)

/** What the destinations of one instruction add up to. */
typedef struct tally {
  daedalus_v3d_effects *effects;
  unsigned uniforms;    /**< words consumed. */
  unsigned tmu_writes;  /**< all TMU registers, tmuc among them. */
  unsigned peripherals; /**< the other uses that exclude each other. */
} tally;

/** Who writes a destination. */
typedef enum writer { ALU, SIGNAL } writer;

static void add_register_write(tally *tally, unsigned index, writer writer, bool whole) {
  daedalus_v3d_effects *effects = tally->effects;
  const uint64_t bit = UINT64_C(1) << index;
  if (effects->writes & bit)
    effects->rules |= RULE(WRITTEN_TWICE);
  effects->writes |= bit;
  effects->kinds |= writer == ALU ? EFFECT(ALU_WRITES) : EFFECT(SIGNAL_WRITES);
  if (index == 0)
    effects->kinds |= EFFECT(WRITES_RF0) | (whole ? EFFECT(DEFINES_RF0) : 0);
}

/** unifa, sync and TLB addresses; true if waddr is one of them. */
static bool add_other_magic(tally *tally, unsigned waddr) {
  daedalus_v3d_effects *effects = tally->effects;
  switch (waddr) {
    case DAEDALUS_V3D_WADDR_UNIFA:
      if (effects->events & EVENT(UNIFA))
        effects->rules |= RULE(WRITTEN_TWICE);
      effects->events |= EVENT(UNIFA);
      return true;
    case DAEDALUS_V3D_WADDR_SYNCU:
      tally->uniforms++;
      break;
    case DAEDALUS_V3D_WADDR_SYNCB:
      effects->kinds |= EFFECT(BARRIER);
      break;
    case DAEDALUS_V3D_WADDR_SYNC:
      break;
    case DAEDALUS_V3D_WADDR_TLBU:
      tally->uniforms++;
      effects->rules |= RULE(GRAPHICS);
      return true;
    case DAEDALUS_V3D_WADDR_TLB:
      effects->rules |= RULE(GRAPHICS);
      return true;
    case DAEDALUS_V3D_WADDR_VPMU:
      tally->uniforms++;
      tally->peripherals++;
      effects->rules |= RULE(GRAPHICS);
      return true;
    case DAEDALUS_V3D_WADDR_VPM:
      tally->peripherals++;
      effects->rules |= RULE(GRAPHICS);
      return true;
    default:
      return false;
  }
  tally->peripherals++;
  effects->kinds |= EFFECT(SYNC);
  return true;
}

static void add_tmu_write(tally *tally, unsigned waddr) {
  daedalus_v3d_effects *effects = tally->effects;
  tally->tmu_writes++;
  switch (waddr) {
    case DAEDALUS_V3D_WADDR_TMUD:
    case DAEDALUS_V3D_WADDR_TMUDREF:
    case DAEDALUS_V3D_WADDR_TMUOFF:
      effects->kinds |= EFFECT(TMU_DATA);
      break;
    case DAEDALUS_V3D_WADDR_TMUC:
      effects->kinds |= EFFECT(TMU_CONFIG);
      break;
    case DAEDALUS_V3D_WADDR_TMUA:
      effects->kinds |= EFFECT(LOOKUP);
      break;
    case DAEDALUS_V3D_WADDR_TMUAU:
      effects->kinds |= EFFECT(LOOKUP) | EFFECT(UNIFORM_CONFIG);
      tally->uniforms++;
      break;
    default:
      effects->rules |= RULE(TEXTURE);
  }
}

static void add_write(tally *tally, daedalus_v3d_dest dest, writer writer, bool whole) {
  if (!dest.magic)
    add_register_write(tally, dest.waddr & 63, writer, whole);
  else if (dest.waddr == DAEDALUS_V3D_WADDR_REP || dest.waddr == DAEDALUS_V3D_WADDR_QUAD)
    add_register_write(tally, 0, writer, whole);
  else if (dest.waddr != DAEDALUS_V3D_WADDR_NOP && !add_other_magic(tally, dest.waddr))
    add_tmu_write(tally, dest.waddr);
}

static void add_read(daedalus_v3d_effects *effects, unsigned index) {
  effects->reads |= UINT64_C(1) << (index & 63);
  if (index == 0)
    effects->kinds |= EFFECT(READS_RF0);
}

static uint32_t flag_effects(const daedalus_v3d_alu *alu, const daedalus_v3d_operation *operation) {
  uint32_t kinds = 0;
  if (alu->cond == DAEDALUS_V3D_COND_IFA || alu->cond == DAEDALUS_V3D_COND_IFNA)
    kinds |= EFFECT(READS_A);
  else if (alu->cond != DAEDALUS_V3D_COND_NONE)
    kinds |= EFFECT(READS_B);
  if (alu->flags >= DAEDALUS_V3D_FLAGS_ANDZ)
    kinds |= EFFECT(READS_A) | EFFECT(SETS_A);
  else if (alu->flags != DAEDALUS_V3D_FLAGS_NONE)
    kinds |= EFFECT(PUSHES);
  if (operation->traits & DAEDALUS_V3D_TRAIT_READS_FLAGS)
    kinds |= alu->op == DAEDALUS_V3D_OP_VFLB || alu->op == DAEDALUS_V3D_OP_VFLNB ||
                     alu->op == DAEDALUS_V3D_OP_FLBPUSH
                 ? EFFECT(READS_B)
                 : EFFECT(READS_A);
  if (operation->traits & DAEDALUS_V3D_TRAIT_WRITES_FLAGS)
    kinds |= EFFECT(SETS_A);
  return kinds;
}

static uint32_t operation_effects(unsigned op) {
  switch (op) {
    case DAEDALUS_V3D_OP_MULTOP:
      return EFFECT(MULTOP);
    case DAEDALUS_V3D_OP_UMUL24:
      return EFFECT(UMUL24);
    case DAEDALUS_V3D_OP_V8DOT:
      return EFFECT(V8DOT);
    case DAEDALUS_V3D_OP_TMUWT:
      return EFFECT(TMUWT);
    case DAEDALUS_V3D_OP_SETNNMODE_UU:
    case DAEDALUS_V3D_OP_SETNNMODE_SU:
    case DAEDALUS_V3D_OP_SETNNMODE_US:
    case DAEDALUS_V3D_OP_SETNNMODE_SS:
      return EFFECT(NNMODE);
    default:
      return 0;
  }
}

static void add_operation(tally *tally, const daedalus_v3d_alu *alu) {
  daedalus_v3d_effects *effects = tally->effects;
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(alu->op);
  const bool sfu = (operation->traits & DAEDALUS_V3D_TRAIT_SFU) != 0;
  effects->kinds |= operation_effects(alu->op) | flag_effects(alu, operation);
  for (unsigned i = 0; i < operation->sources; i++)
    if (!alu->src[i].small)
      add_read(effects, alu->src[i].index);
  if (operation->traits & (DAEDALUS_V3D_TRAIT_GRAPHICS | DAEDALUS_V3D_TRAIT_VPM))
    effects->rules |= RULE(GRAPHICS);
  if (operation->traits & DAEDALUS_V3D_TRAIT_VPM)
    tally->peripherals++;
  if (sfu) {
    tally->peripherals++;
    effects->kinds |= EFFECT(SFU);
  }
  if (alu->op == DAEDALUS_V3D_OP_NOP || operation->traits & DAEDALUS_V3D_TRAIT_NO_DEST)
    return;
  if (sfu && alu->dest.magic && alu->dest.waddr != DAEDALUS_V3D_WADDR_NOP)
    effects->rules |= RULE(SFU_DEST);
  if (alu->cond != DAEDALUS_V3D_COND_NONE && alu->dest.magic &&
      (alu->dest.waddr == DAEDALUS_V3D_WADDR_REP || alu->dest.waddr == DAEDALUS_V3D_WADDR_QUAD))
    effects->rules |= RULE(REP_PREDICATED);
  add_write(tally, alu->dest, ALU,
            alu->cond == DAEDALUS_V3D_COND_NONE && alu->pack == DAEDALUS_V3D_PACK_NONE);
}

static void add_signals(tally *tally, const daedalus_v3d_instruction *instruction) {
  daedalus_v3d_effects *effects = tally->effects;
  const unsigned signals = instruction->signals;
  const unsigned rf0_loads =
      DAEDALUS_V3D_SIGNAL_LDUNIF | DAEDALUS_V3D_SIGNAL_LDUNIFA | DAEDALUS_V3D_SIGNAL_LDVARY;
  const bool addressed = (signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS) != 0;
  if (signals & DAEDALUS_V3D_SIGNAL_THRSW)
    effects->events |= EVENT(THRSW);
  if (signals & DAEDALUS_V3D_SIGNAL_LDVARY)
    effects->events |= EVENT(LDVARY);
  if (signals & DAEDALUS_V3D_SIGNAL_LDTMU)
    effects->kinds |= EFFECT(LDTMU);
  if (signals & (DAEDALUS_V3D_SIGNAL_LDUNIFA | DAEDALUS_V3D_SIGNAL_LDUNIFARF))
    effects->kinds |= EFFECT(LDUNIFA);
  if (signals & DAEDALUS_V3D_SIGNAL_UCB)
    effects->rules |= RULE(UCB);
  if (signals &
      (DAEDALUS_V3D_SIGNAL_LDVARY | DAEDALUS_V3D_SIGNAL_LDTLB | DAEDALUS_V3D_SIGNAL_LDTLBU))
    effects->rules |= RULE(GRAPHICS);
  if (signals & (DAEDALUS_V3D_SIGNAL_LDTLB | DAEDALUS_V3D_SIGNAL_LDTLBU))
    tally->peripherals++;
  if (signals & DAEDALUS_V3D_SIGNAL_WRTMUC)
    effects->kinds |= EFFECT(UNIFORM_CONFIG);
  tally->uniforms += (signals & DAEDALUS_V3D_SIGNAL_LDUNIF) != 0;
  tally->uniforms += (signals & DAEDALUS_V3D_SIGNAL_LDUNIFRF) != 0;
  tally->uniforms += (signals & DAEDALUS_V3D_SIGNAL_LDTLBU) != 0;
  tally->uniforms += (signals & DAEDALUS_V3D_SIGNAL_WRTMUC) != 0;
  if (signals & (DAEDALUS_V3D_SIGNAL_LDUNIF | DAEDALUS_V3D_SIGNAL_LDUNIFA))
    add_register_write(tally, 0, SIGNAL, true);
  if (addressed)
    add_write(tally, instruction->signal_dest, SIGNAL, true);
  if (signals & rf0_loads && addressed && !instruction->signal_dest.magic)
    effects->kinds |= EFFECT(RF0_SHARED);
}

static void add_branch(tally *tally, const daedalus_v3d_branch *branch) {
  daedalus_v3d_effects *effects = tally->effects;
  effects->events |= EVENT(BRANCH);
  if (branch->cond != DAEDALUS_V3D_BRANCH_ALWAYS)
    effects->kinds |= EFFECT(READS_A);
  if (branch->target == DAEDALUS_V3D_BRANCH_REGISTER ||
      (branch->uniforms && branch->uniform_dest == DAEDALUS_V3D_BRANCH_REGISTER))
    add_read(effects, branch->reg);
  if (branch->uniforms && (branch->uniform_dest == DAEDALUS_V3D_BRANCH_ABSOLUTE ||
                           branch->uniform_dest == DAEDALUS_V3D_BRANCH_RELATIVE))
    tally->uniforms++;
}

void daedalus_v3d_effects_of(const daedalus_v3d_instruction *instruction,
                             daedalus_v3d_effects *effects) {
  tally tally = {.effects = effects};
  *effects = (daedalus_v3d_effects){0};
  if (instruction->is_branch) {
    add_branch(&tally, &instruction->branch);
  } else {
    add_operation(&tally, &instruction->add);
    add_operation(&tally, &instruction->mul);
    add_signals(&tally, instruction);
  }
  const uint64_t touched = effects->reads | effects->writes;
  const bool wrtmuc = (instruction->signals & DAEDALUS_V3D_SIGNAL_WRTMUC) != 0;
  /* wrtmuc is one of those that exclude each other, but goes with one TMU write that is not tmuc.
   */
  const bool excused = wrtmuc && tally.tmu_writes == 1 && !(effects->kinds & EFFECT(TMU_CONFIG));
  if (tally.peripherals + tally.tmu_writes + (wrtmuc && !excused) > 1)
    effects->rules |= RULE(PERIPHERALS);
  if (tally.uniforms)
    effects->kinds |= EFFECT(UNIFORM);
  if (tally.uniforms + ((effects->kinds & EFFECT(LDUNIFA)) != 0) > 1)
    effects->rules |= RULE(UNIFORM_TWICE);
  if (touched >> 32)
    effects->kinds |= EFFECT(HIGH_REGISTER);
  if (touched >> 2 & 3)
    effects->kinds |= EFFECT(RF2_RF3);
}
