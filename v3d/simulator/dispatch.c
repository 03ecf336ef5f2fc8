/* SPDX-License-Identifier: BSD-2-Clause */
/* The compute shader dispatcher: cfg, supergroups, batches, and the payload that a thread gets. */
#include <string.h>

#include "simulator/engine.h"

static uint64_t divide_up(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

const char *daedalus_v3d_dispatch_of(const uint32_t cfg[7], v3d_dispatch *dispatch) {
  uint64_t groups = 1;
  for (unsigned i = 0; i < 3; i++) {
    dispatch->groups[i] = cfg[i] >> 16;
    dispatch->offsets[i] = cfg[i] & 0xffff;
    groups *= dispatch->groups[i];
  }
  if (!groups)
    return "there are no workgroups: bits 31:16 of cfg[0], cfg[1] or cfg[2] are 0";
  dispatch->n_batches = cfg[4];
  if (!dispatch->n_batches)
    return "there are no batches: cfg[4] is 0";
  const uint32_t size = cfg[3] & 0xff, per_supergroup = cfg[3] >> 8 & 0xf;
  dispatch->group_size = size ? size : 256;
  dispatch->batches_per_supergroup = (cfg[3] >> 12 & 0xff) + 1;
  dispatch->groups_per_supergroup = per_supergroup ? per_supergroup : 16;
  /* Where the fields contradict each other the batches are believed: py-videocore7 lets the number
   * of workgroups spill over, and its tests pass on hardware with ids that go by batches. */
  if (divide_up((uint64_t)dispatch->groups_per_supergroup * dispatch->group_size, V3D_LANES) !=
      dispatch->batches_per_supergroup) {
    const uint32_t fit = dispatch->batches_per_supergroup * V3D_LANES / dispatch->group_size;
    dispatch->groups_per_supergroup = fit ? fit : 1;
  }
  /* A dispatch ends by its batches: more of them than groups need go on with the next ids. */
  const uint64_t supergroups = groups / dispatch->groups_per_supergroup;
  const uint64_t rest = groups % dispatch->groups_per_supergroup;
  const uint64_t needed = dispatch->batches_per_supergroup * supergroups +
                          divide_up(rest * dispatch->group_size, V3D_LANES);
  dispatch->n_groups = dispatch->n_batches > needed ? UINT64_MAX : groups;
  dispatch->four_threads = cfg[5] & 1;
  dispatch->single_segment = cfg[5] >> 1 & 1;
  dispatch->code = cfg[5] & ~7u;
  dispatch->uniforms = cfg[6] & ~3u;
  return NULL;
}

/* Bits that the payload has for the invocation's index in its group; 16 minus it for the slot. */
static unsigned index_bits(const v3d_dispatch *dispatch) {
  return dispatch->group_size <= 64 ? 6 : dispatch->group_size <= 128 ? 7 : 8;
}

/* A supergroup for the next batch, which begins one; NULL while it has to wait for a slot. */
static v3d_supergroup *new_supergroup(struct daedalus_v3d_machine *machine, uint64_t index) {
  const v3d_dispatch *dispatch = &machine->dispatch;
  const uint64_t left = dispatch->n_batches - index * (uint64_t)dispatch->batches_per_supergroup;
  const uint32_t most = machine->timing ? machine->profile.supergroups_in_flight : V3D_MAX_SLOTS;
  uint32_t slot = 0;
  while (slot < most && machine->supergroups[slot].alive)
    slot++;
  /* The payload has to be able to number the groups' shared memory. */
  if (slot == most ||
      (slot && (slot + 1) * dispatch->groups_per_supergroup > 1u << (16 - index_bits(dispatch))))
    return NULL;
  machine->supergroups[slot] = (v3d_supergroup){
      .alive = true,
      .index = index,
      .slot = slot,
      .n_batches = left < dispatch->batches_per_supergroup ? (uint32_t)left
                                                           : dispatch->batches_per_supergroup};
  machine->objects[slot] = (v3d_sync_object){0};
  return &machine->supergroups[slot];
}

/* rf2, rf3 and the multisample flags. batch is the number of this one in its supergroup. */
static void write_payload(v3d_thread *thread, const v3d_dispatch *dispatch, uint32_t batch) {
  const v3d_supergroup *supergroup = thread->supergroup;
  const unsigned bits = index_bits(dispatch);
  const uint32_t first = batch * V3D_LANES, per_supergroup = dispatch->groups_per_supergroup;
  uint32_t group = first / dispatch->group_size, local = first % dispatch->group_size;
  uint32_t x = 0, y = 0, z = 0, slot = 0;
  bool active = false;
  thread->state.active = 0;
  for (unsigned lane = 0; lane < V3D_LANES; lane++) {
    if (lane == 0 || local == dispatch->group_size) {
      if (lane) {
        local = 0;
        group++;
      }
      const uint64_t id = supergroup->index * per_supergroup + group;
      const uint64_t row = id / dispatch->groups[0];
      x = (uint32_t)(id % dispatch->groups[0]) + dispatch->offsets[0];
      y = (uint32_t)(row % dispatch->groups[1]) + dispatch->offsets[1];
      z = (uint32_t)(row / dispatch->groups[1]) + dispatch->offsets[2];
      slot = (supergroup->slot * per_supergroup + group) & ((1u << (16 - bits)) - 1);
      active = group < per_supergroup && id < dispatch->n_groups;
    }
    thread->rows[3][lane] = (x & 0xffff) | y << 16;
    thread->rows[2][lane] = (z & 0xffff) | (local << (16 - bits) | slot) << 16;
    thread->state.msf[lane] = active ? thread->machine->profile.msf_of_active_lane : 0;
    thread->state.active |= (daedalus_v3d_lanes)(active << lane);
    local++;
  }
}

/* Lanes of the vector that barrierid delivers and the synchroniser takes. */
static void write_barrier_config(v3d_thread *thread) {
  uint32_t *config = thread->state.barrier_config;
  memset(config, 0, sizeof thread->state.barrier_config);
  config[V3D_SYNC_QUORUM] = thread->supergroup->n_batches;
  config[V3D_SYNC_OBJECT] = thread->supergroup->slot;
  config[V3D_SYNC_OPERATION] = V3D_SYNC_SET_QUORUM_WAIT_INC_CHECK;
}

/*
 * A batch of the QPU has started (1) or ended (-1): progress, by which the kernel measures whether
 * the GPU hangs.  A QPU takes at least a slot for an instruction, and from one such moment to the
 * next the same QPUs have batches; so when these have executed more instructions than each can in
 * reset_ms, at least that time has passed.  (A timed job knows better: timing/thread_order.c.)
 */
static void note_batch(struct daedalus_v3d_machine *machine, unsigned qpu, int change) {
  const daedalus_v3d_profile *profile = &machine->profile;
  const bool was_busy = machine->batches_of[qpu] != 0;
  machine->batches_of[qpu] = (uint8_t)(machine->batches_of[qpu] + change);
  const bool is_busy = machine->batches_of[qpu] != 0;
  machine->n_busy += (unsigned)is_busy - (unsigned)was_busy;
  if (profile->reset_ms && !machine->timing)
    machine->reset_left = (uint64_t)profile->reset_ms * profile->clock_mhz * 1000 /
                          DAEDALUS_V3D_SLOT_CLOCKS * machine->n_busy;
}

/* What starting a batch counts for in max_job_slots: about the time it takes here. */
enum { BATCH_SLOTS = 16 };

bool daedalus_v3d_start_batch(struct daedalus_v3d_machine *machine, v3d_thread *thread) {
  const v3d_dispatch *dispatch = &machine->dispatch;
  const uint32_t batch = machine->next_batch, per_supergroup = dispatch->batches_per_supergroup;
  if (batch == dispatch->n_batches)
    return false;
  if (batch % per_supergroup == 0)
    machine->newest = new_supergroup(machine, batch / per_supergroup);
  if (!machine->newest)
    return false;
  machine->next_batch++;
  machine->slots_left -= machine->slots_left < BATCH_SLOTS ? machine->slots_left : BATCH_SLOTS;
  machine->report->counts.batches++;
  note_batch(machine, thread->qpu, 1);
  thread->supergroup = machine->newest;
  thread->supergroup->n_started++;
  thread->batch = batch;
  thread->executed = 0;
  thread->branch_at = thread->switch_at = UINT64_MAX;
  thread->last_thrsw = UINT64_MAX - 1;
  thread->in_last_segment = dispatch->single_segment;
  thread->wait = V3D_WAITS_NOT;
  thread->uniforms = dispatch->uniforms;
  thread->unifa = 0;
  thread->status = V3D_READY;
  /* Nothing of the batch before shows: results depend on the job alone. */
  memset(thread->rows, V3D_UNDEFINED & 0xff, DAEDALUS_V3D_REGISTERS * sizeof thread->rows[0]);
  /* Results of 16 bits, to write addresses too, keep the other half of what is there. */
  memset(thread->rows[V3D_ROW_NOWHERE], V3D_UNDEFINED & 0xff, sizeof thread->rows[0]);
  memset(thread->state.rtop, 0, sizeof thread->state.rtop);
  thread->state.flag_a = thread->state.flag_b = 0;
  thread->state.participating = V3D_ALL_LANES;
  thread->state.link = 0;
  thread->state.nnmode = (uint8_t)machine->profile.nnmode_at_start;
  write_payload(thread, dispatch, batch % per_supergroup);
  write_barrier_config(thread);
  daedalus_v3d_tmu_begin(&thread->tmu, machine->mode.threads);
  daedalus_v3d_hazards_begin(&thread->hazards, &machine->mode);
  thread->next = NULL;
  return true;
}

unsigned daedalus_v3d_end_batch(v3d_thread *thread, const v3d_op *op) {
  v3d_supergroup *supergroup = thread->supergroup;
  note_batch(thread->machine, thread->qpu, -1);
  thread->status = V3D_IDLE;
  if (++supergroup->n_ended == supergroup->n_batches)
    supergroup->alive = false;
  return daedalus_v3d_sync_ended(thread, op);
}
