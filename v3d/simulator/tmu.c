/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texture and memory unit as compute jobs use it: queues, and what a lookup is.  A lookup does
 * all its work when it is issued; tmu_access.c moves the data.
 */
#include <string.h>

#include "simulator/tmu_access.h"
#include "simulator/timing/model.h"

/* The low byte of the configuration: bit 7 per pixel, 6:3 operation, 2:0 type. */
enum { PER_PIXEL = 0x80, OP_SHIFT = 3, OP_MASK = 0xf, TYPE_MASK = 7 };
/* Without data, operations up to this one act on caches, and those up to SILENT_MAX on nothing. */
enum { CACHE_MAX = 4, SILENT_MAX = 7, LAST_ATOMIC = 10 };

void daedalus_v3d_tmu_begin(v3d_tmu *tmu, unsigned threads) {
  tmu->config = UINT32_MAX;
  tmu->n_data = 0;
  tmu->first = 0;
  tmu->n_results = 0;
  tmu->limit = V3D_TMU_ENTRIES / threads;
}

unsigned daedalus_v3d_tmu_push(v3d_thread *thread, v3d_op *op, const uint32_t *data) {
  v3d_tmu *tmu = &thread->tmu;
  if (tmu->n_data == tmu->limit)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_FIFO,
                              "more than %u data words wait for one lookup: the input queue of "
                              "this thread holds no more",
                              (unsigned)tmu->limit);
  memcpy(tmu->data[tmu->n_data++], data, sizeof tmu->data[0]);
  return 0;
}

const uint32_t *daedalus_v3d_tmu_pop(v3d_thread *thread, v3d_op *op) {
  v3d_tmu *tmu = &thread->tmu;
  if (!tmu->n_results) {
    daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_FIFO,
                       "ldtmu, but no lookup has left a result to wait for");
    return NULL;
  }
  const uint32_t *result = tmu->results[tmu->first];
  tmu->first = (tmu->first + 1) % V3D_TMU_ENTRIES;
  tmu->n_results--;
  return result;
}

/* Room for n results; false when the output queue overflows, which hardware does not survive. */
static bool reserve_results(v3d_thread *thread, v3d_op *op, unsigned n, v3d_lookup *lookup) {
  v3d_tmu *tmu = &thread->tmu;
  if (tmu->n_results + n > tmu->limit) {
    daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_FIFO,
                       "%u results are outstanding and %u more are asked for: the output queue "
                       "of this thread holds %u",
                       (unsigned)tmu->n_results, n, (unsigned)tmu->limit);
    return false;
  }
  for (unsigned i = 0; i < n; i++)
    lookup->results[i] = tmu->results[(tmu->first + tmu->n_results + i) % V3D_TMU_ENTRIES];
  tmu->n_results += n;
  return true;
}

/*
 * The addresses of a lookup per quad. False: refused.
 *
 * Mesa asks for it in every load of shaders with subgroup operations, each lane with an address of
 * its own, and its results are right on hardware: what is per quad is then which lanes are looked
 * up, not where. The address of a quad's lane 0 for all four is the other reading.
 */
static bool per_quad(v3d_thread *thread, v3d_op *op, const uint32_t *addresses,
                     daedalus_v3d_lanes lanes, uint32_t spread[V3D_LANES]) {
  const uint32_t mode = thread->machine->profile.quad_mode;
  if (mode == 2) {
    memcpy(spread, addresses, V3D_LANES * sizeof *spread);
    return true;
  }
  if (mode == 0) {
    daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                       "a lookup per quad (bit 7 of its configuration is 0): what it does is not "
                       "known; the profile's quad_mode = 1 or 2 takes a guess");
    return false;
  }
  for (unsigned i = 0; i < V3D_LANES; i++) {
    const unsigned quad = lanes >> (i & ~3u) & 0xf;
    if (quad && quad != 0xf) {
      daedalus_v3d_fault_at(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION, i, addresses[i],
                            "a lookup per quad with only some lanes of a quad active");
      return false;
    }
    spread[i] = addresses[i & ~3u];
  }
  return true;
}

/* The number of data words that a lookup takes. */
static unsigned data_words(unsigned operation, unsigned words) {
  if (operation == V3D_LOOKUP_REGULAR)
    return words;
  return operation == V3D_ATOMIC_CMPXCHG ? 2 : 1;
}

static unsigned write_or_atomic(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup) {
  daedalus_v3d_counts *counts = &thread->machine->report->counts;
  const unsigned n_data = thread->tmu.n_data;
  const unsigned wanted = data_words(lookup->operation, lookup->words);
  thread->tmu.n_data = 0;
  if (n_data != wanted) {
    /* Tests on hardware store one word by a type of two, and go on (profile.tmu_short_stores). */
    if (n_data > wanted || lookup->operation != V3D_LOOKUP_REGULAR ||
        !thread->machine->profile.tmu_short_stores)
      return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_FIFO,
                                "the lookup takes %u data words, and %u have been written", wanted,
                                n_data);
    lookup->words = n_data;
  }
  if (lookup->operation == V3D_LOOKUP_REGULAR) {
    counts->tmu_writes++;
    return daedalus_v3d_tmu_store(thread, op, lookup);
  }
  /* Mesa asks for vec2 when it exchanges conditionally: the type then counts the data words. */
  if (lookup->words > 1 && lookup->operation != V3D_ATOMIC_CMPXCHG)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                              "an atomic operation on a vector");
  lookup->words = 1;
  counts->tmu_reads++;
  if (!reserve_results(thread, op, 1, lookup))
    return V3D_EVENT_FAULT;
  return daedalus_v3d_tmu_atomic(thread, op, lookup);
}

static unsigned read(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup) {
  if (lookup->operation <= CACHE_MAX)
    return 0; /* Caches are not simulated: there is nothing to fetch ahead or to clear. */
  if (lookup->operation <= SILENT_MAX)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                              "operation %u of the TMU needs data, and none has been written",
                              lookup->operation);
  thread->machine->report->counts.tmu_reads++;
  if (lookup->operation == V3D_LOOKUP_REGULAR) {
    if (!reserve_results(thread, op, lookup->words, lookup))
      return V3D_EVENT_FAULT;
    return daedalus_v3d_tmu_load(thread, op, lookup);
  }
  if (lookup->words > 1)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                              "an atomic operation on a vector");
  /* and, or, xor without an operand are increment, decrement, not. */
  lookup->operation += V3D_ATOMIC_INCREMENT - V3D_ATOMIC_AND;
  if (!reserve_results(thread, op, 1, lookup))
    return V3D_EVENT_FAULT;
  return daedalus_v3d_tmu_atomic(thread, op, lookup);
}

unsigned daedalus_v3d_tmu_lookup(v3d_thread *thread, v3d_op *op, const uint32_t *addresses,
                                 daedalus_v3d_lanes lanes) {
  /* Bytes of a lane's scalar, by type; 0: a vector of 32-bit words. */
  static const uint8_t bytes[8] = {1, 2, 0, 0, 0, 1, 2, 4};
  alignas(64) uint32_t spread[V3D_LANES];
  v3d_tmu *tmu = &thread->tmu;
  const unsigned config = tmu->config & 0xff, type = config & TYPE_MASK;
  tmu->config = tmu->config >> 8 | 0xff000000u;
  v3d_lookup lookup = {
      .operation = config >> OP_SHIFT & OP_MASK,
      .words = bytes[type] ? 1 : type,
      .bytes = bytes[type] ? bytes[type] : 4,
      .is_signed = type < 2,
      .lanes = lanes & thread->state.active,
      .addresses = addresses,
  };
  if (lookup.operation > LAST_ATOMIC && lookup.operation != V3D_LOOKUP_REGULAR)
    return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_BAD_INSTRUCTION,
                              "operation %u of the TMU is reserved", lookup.operation);
  if (!(config & PER_PIXEL)) {
    if (!per_quad(thread, op, addresses, lookup.lanes, spread))
      return V3D_EVENT_FAULT;
    lookup.addresses = spread;
  }
  const unsigned n_data = tmu->n_data, n_results = tmu->n_results;
  const unsigned event = n_data ? write_or_atomic(thread, op, &lookup) : read(thread, op, &lookup);
  if (thread->machine->timing && !event)
    daedalus_v3d_time_lookup(thread, &lookup, n_data, n_results);
  return event;
}
