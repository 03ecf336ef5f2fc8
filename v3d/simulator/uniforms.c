/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two streams of uniforms.  They go through a cache of their own, which the job's stores do not
 * reach: they see memory as it was when the job began (profile.uniforms_see_stores: as it is).
 */
#include "simulator/engine.h"
#include "simulator/timing/model.h"

/* The word at address; name is the stream's, for reports. */
static bool read_word(v3d_thread *thread, const v3d_op *op, uint32_t address, uint32_t *hint,
                      const char *name, uint32_t *value) {
  struct daedalus_v3d_machine *machine = thread->machine;
  bool stale;
  if (!daedalus_v3d_memory_image(&machine->memory, address, sizeof *value, hint, value, &stale)) {
    char where[128];
    daedalus_v3d_describe_address(&machine->memory, address, where, sizeof where);
    daedalus_v3d_fault_at(thread, op, DAEDALUS_V3D_BAD_FETCH, 0, address,
                          "the %s is read at 0x%08x, %s", name, address, where);
    return false;
  }
  machine->report->counts.uniforms++;
  if (machine->timing)
    daedalus_v3d_time_uniform(thread, op, address, *value);
  if (stale && machine->strict) {
    machine->report->rule = DAEDALUS_V3D_RULE_STALE_UNIFORM;
    daedalus_v3d_fault_at(thread, op, DAEDALUS_V3D_BROKEN_RULE, 0, address,
                          "the %s is read at 0x%08x, a word that this job has changed: %s", name,
                          address, daedalus_v3d_rule_text(DAEDALUS_V3D_RULE_STALE_UNIFORM));
    return false;
  }
  return true;
}

bool daedalus_v3d_next_uniform(v3d_thread *thread, const v3d_op *op, uint32_t *value) {
  if (!read_word(thread, op, thread->uniforms, &thread->uniform_hint, "uniform stream", value))
    return false;
  thread->uniforms += (uint32_t)sizeof *value;
  return true;
}

bool daedalus_v3d_next_unifa(v3d_thread *thread, const v3d_op *op, uint32_t *value) {
  if (!read_word(thread, op, thread->unifa, &thread->unifa_hint, "unifa stream", value))
    return false;
  thread->unifa += (uint32_t)sizeof *value;
  return true;
}
