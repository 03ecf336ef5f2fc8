/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads, stores and atomics of 16 lanes.  Nearly always all lanes lie in the buffer that this
 * instruction found last: that is checked for all lanes at once, and lane by lane only when it is
 * not so.  Most often they are besides an even distance apart: then the first and the last address
 * say all, and neighbouring words move as rows.
 */
#include "simulator/tmu_access.h"

#include <string.h>

#include "simulator/rows.h"

/* Host memory of the lanes: base + (address - first) in the usual case, else one by one. */
typedef struct places {
  uint8_t *base;
  uint32_t first;
  bool one_buffer;
  uint8_t *each[V3D_LANES]; /**< of the lanes that take part, where not one_buffer. */
} places;

static inline bool takes_part(const v3d_lookup *lookup, unsigned lane) {
  return lookup->lanes >> lane & 1;
}

static inline uint8_t *place_of(const places *at, const v3d_lookup *lookup, unsigned lane) {
  return at->one_buffer ? at->base + (lookup->addresses[lane] - at->first) : at->each[lane];
}

/* Alignment that addresses need, as a mask of bits that have to be 0. */
static uint32_t misalignment(const v3d_thread *thread, const v3d_lookup *lookup) {
  if (lookup->bytes == 2 && thread->machine->profile.tmu_unaligned_halves)
    return 0;
  return lookup->bytes - 1;
}

static unsigned refuse(v3d_thread *thread, v3d_op *op, const v3d_lookup *lookup, unsigned lane,
                       const char *verb) {
  const uint32_t address = lookup->addresses[lane];
  const unsigned size = lookup->words * lookup->bytes;
  char where[128];
  if (address & misalignment(thread, lookup))
    return daedalus_v3d_fault_at(thread, op, DAEDALUS_V3D_BAD_ACCESS, lane, address,
                                 "lane %u %s %u bytes at 0x%08lx, which is no multiple of %u", lane,
                                 verb, size, (unsigned long)address, lookup->bytes);
  daedalus_v3d_describe_address(&thread->machine->memory, address, where, sizeof where);
  return daedalus_v3d_fault_at(thread, op, DAEDALUS_V3D_BAD_ACCESS, lane, address,
                               "lane %u %s %u bytes at 0x%08lx, %s", lane, verb, size,
                               (unsigned long)address, where);
}

/* Lane by lane, for lookups that span buffers, and to find the lane to blame. */
static unsigned locate_each(v3d_thread *thread, v3d_op *op, const v3d_lookup *lookup,
                            const char *verb, places *at) {
  const uint32_t size = lookup->words * lookup->bytes, mask = misalignment(thread, lookup);
  at->one_buffer = false;
  for (unsigned lane = 0; lane < V3D_LANES; lane++) {
    if (!takes_part(lookup, lane))
      continue;
    const uint32_t address = lookup->addresses[lane];
    const daedalus_v3d_buffer *buffer =
        daedalus_v3d_memory_find(&thread->machine->memory, address, size, &op->buffer_hint);
    if (!buffer || (address & mask))
      return refuse(thread, op, lookup, lane, verb);
    at->each[lane] = (uint8_t *)buffer->data + (address - buffer->address);
  }
  return 0;
}

/* Whether all lanes take part, each step bytes after the one before (modulo 2^32). */
static inline bool is_even(const v3d_lookup *lookup, uint32_t step) {
  uint32_t expected[V3D_VECTOR_LANES];
  v3d_vector wrong = {0};
  if (lookup->lanes != V3D_ALL_LANES)
    return false;
  for (unsigned i = 0; i < V3D_VECTOR_LANES; i++)
    expected[i] = lookup->addresses[0] + i * step;
  v3d_vector next = daedalus_v3d_vector_of(expected, 0);
  for (unsigned i = 0; i < V3D_ROW_VECTORS; i++, next += V3D_VECTOR_LANES * step)
    wrong |= daedalus_v3d_vector_of(lookup->addresses, i) ^ next;
  return !daedalus_v3d_vector_any(wrong);
}

/* Whether no lane that takes part begins outside [first, first + room], or is misaligned. */
static inline bool is_inside(const v3d_lookup *lookup, uint32_t first, uint32_t room,
                             uint32_t mask) {
  v3d_vector wrong = {0};
  for (unsigned i = 0; i < V3D_ROW_VECTORS; i++) {
    const v3d_vector addresses = daedalus_v3d_vector_of(lookup->addresses, i);
    wrong |= ((v3d_vector)(addresses - first > room) | (addresses & mask)) &
             daedalus_v3d_vector_mask(lookup->lanes, i);
  }
  return !daedalus_v3d_vector_any(wrong);
}

/* Finds the memory of all lanes that take part, or refuses. verb is for the report. */
static inline unsigned locate(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup, const char *verb,
                              places *at) {
  const v3d_memory *memory = &thread->machine->memory;
  const uint32_t size = lookup->words * lookup->bytes;
  if (op->buffer_hint < memory->n_buffers) {
    const daedalus_v3d_buffer *buffer = &memory->buffers[op->buffer_hint];
    if (size <= buffer->size) {
      const uint32_t room = buffer->size - size, mask = misalignment(thread, lookup);
      const uint32_t begin = lookup->addresses[0] - buffer->address;
      const uint32_t step = lookup->addresses[1] - lookup->addresses[0];
      lookup->is_even = is_even(lookup, step) && begin + (uint64_t)(V3D_LANES - 1) * step <= room;
      lookup->step = step;
      if (lookup->is_even ? !((lookup->addresses[0] | step) & mask)
                          : is_inside(lookup, buffer->address, room, mask)) {
        at->base = buffer->data;
        at->first = buffer->address;
        at->one_buffer = true;
        return 0;
      }
    }
  }
  lookup->is_even = false;
  return locate_each(thread, op, lookup, verb, at);
}

static inline uint32_t load_scalar(const uint8_t *from, unsigned bytes, bool sign) {
  uint32_t word = 0;
  uint16_t half;
  switch (bytes) {
    case 1:
      return sign ? (uint32_t)(int32_t)(int8_t)*from : *from;
    case 2:
      memcpy(&half, from, sizeof half);
      return sign ? (uint32_t)(int32_t)(int16_t)half : half;
    default:
      memcpy(&word, from, sizeof word);
      return word;
  }
}

static inline void store_scalar(uint8_t *to, unsigned bytes, uint32_t word) {
  const uint16_t half = (uint16_t)word;
  switch (bytes) {
    case 1:
      *to = (uint8_t)word;
      break;
    case 2:
      memcpy(to, &half, sizeof half);
      break;
    default:
      memcpy(to, &word, sizeof word);
      break;
  }
}

/* The usual case, in which nothing is asked lane by lane. */
static inline bool is_all(const places *at, const v3d_lookup *lookup) {
  return at->one_buffer && lookup->lanes == V3D_ALL_LANES;
}

/* all: every lane takes part, and lies in at->base's buffer. */
static inline void load_words(const places *at, const v3d_lookup *lookup, unsigned bytes, bool sign,
                              bool all) {
  for (unsigned word = 0; word < lookup->words; word++) {
    uint32_t *restrict result = lookup->results[word];
    for (unsigned lane = 0; lane < V3D_LANES; lane++) {
      if (all)
        result[lane] =
            load_scalar(at->base + (lookup->addresses[lane] - at->first) + 4 * word, bytes, sign);
      else
        result[lane] = takes_part(lookup, lane)
                           ? load_scalar(place_of(at, lookup, lane) + 4 * word, bytes, sign)
                           : V3D_UNDEFINED;
    }
  }
}

/* The same of lanes an even distance apart; neighbouring words are a row. */
static inline void load_even(const uint8_t *from, const v3d_lookup *lookup, unsigned bytes,
                             bool sign) {
  for (unsigned word = 0; word < lookup->words; word++) {
    uint32_t *restrict result = lookup->results[word];
    const uint8_t *place = from + (size_t)4 * word;
    if (bytes == 4 && lookup->step == 4)
      memcpy(result, place, V3D_LANES * sizeof *result);
    else
      for (unsigned lane = 0; lane < V3D_LANES; lane++, place += lookup->step)
        result[lane] = load_scalar(place, bytes, sign);
  }
}

static inline void load(const places *at, const v3d_lookup *lookup, unsigned bytes, bool sign) {
  if (lookup->is_even)
    load_even(at->base + (lookup->addresses[0] - at->first), lookup, bytes, sign);
  else
    load_words(at, lookup, bytes, sign, true);
}

unsigned daedalus_v3d_tmu_load(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup) {
  places at;
  const unsigned event = locate(thread, op, lookup, "reads", &at);
  const bool sign = lookup->is_signed && thread->machine->profile.tmu_signed_extends;
  if (event)
    return event;
  if (!is_all(&at, lookup))
    load_words(&at, lookup, lookup->bytes, sign, false);
  else if (lookup->bytes == 4)
    load(&at, lookup, 4, false);
  else if (lookup->bytes == 2)
    load(&at, lookup, 2, sign);
  else
    load(&at, lookup, 1, sign);
  return 0;
}

/* Keeps what is about to be overwritten. Returns V3D_EVENT_* bits. */
static unsigned save(v3d_thread *thread, v3d_op *op, const v3d_lookup *lookup) {
  v3d_memory *memory = &thread->machine->memory;
  const uint32_t size = lookup->words * lookup->bytes;
  uint32_t last_line = UINT32_MAX;
  if (!memory->keep)
    return 0;
  if (lookup->is_even &&
      lookup->addresses[0] >> V3D_LINE_BITS ==
          (lookup->addresses[V3D_LANES - 1] + size - 1) >> V3D_LINE_BITS &&
      daedalus_v3d_memory_is_saved(memory, lookup->addresses[0] >> V3D_LINE_BITS))
    return 0;
  for (unsigned lane = 0; lane < V3D_LANES; lane++) {
    const uint32_t address = lookup->addresses[lane], line = address >> V3D_LINE_BITS;
    const bool straddles = (address + size - 1) >> V3D_LINE_BITS != line;
    if (!takes_part(lookup, lane) || (line == last_line && !straddles))
      continue;
    last_line = line;
    if (!straddles && daedalus_v3d_memory_is_saved(memory, line))
      continue;
    if (!daedalus_v3d_memory_save(memory, address, size))
      return daedalus_v3d_fault(thread, op, DAEDALUS_V3D_NO_MEMORY,
                                "there is no memory to keep what uniforms still see");
  }
  return 0;
}

/* Lanes that store to one address: whoever is last wins. all as for load_words(). */
static inline void store_words(const v3d_thread *thread, const places *at, const v3d_lookup *lookup,
                               unsigned bytes, bool all) {
  const unsigned flip = thread->machine->profile.tmu_store_conflict_last_lane ? 0 : V3D_LANES - 1;
  for (unsigned i = 0; i < V3D_LANES; i++) {
    const unsigned lane = i ^ flip;
    if (!all && !takes_part(lookup, lane))
      continue;
    uint8_t *to =
        all ? at->base + (lookup->addresses[lane] - at->first) : place_of(at, lookup, lane);
    for (unsigned word = 0; word < lookup->words; word++)
      store_scalar(to + 4 * word, bytes, thread->tmu.data[word][lane]);
  }
}

/*
 * Of lanes an even distance apart.  Vectors of neighbouring lanes overlap: as rows of one word each
 * they are stored from the last word when the last lane wins, as its own first word is then stored
 * after what lanes before it had there; from the first word when the first lane wins.
 */
static inline void store_even(const v3d_thread *thread, uint8_t *to, const v3d_lookup *lookup,
                              unsigned bytes) {
  const bool last_wins = thread->machine->profile.tmu_store_conflict_last_lane;
  const unsigned words = bytes == 4 ? lookup->words : 1;
  if (bytes == 4 && lookup->step == 4) {
    for (unsigned i = 0; i < words; i++) {
      const unsigned word = last_wins ? words - 1 - i : i;
      memcpy(to + (size_t)4 * word, thread->tmu.data[word], sizeof thread->tmu.data[word]);
    }
    return;
  }
  /* No two lanes share a byte. */
  for (unsigned lane = 0; lane < V3D_LANES; lane++, to += lookup->step)
    for (unsigned word = 0; word < words; word++)
      store_scalar(to + (size_t)4 * word, bytes, thread->tmu.data[word][lane]);
}

static inline void store(const v3d_thread *thread, const places *at, const v3d_lookup *lookup,
                         unsigned bytes) {
  const bool apart = lookup->step >= lookup->words * bytes;
  if (lookup->is_even && (apart || (bytes == 4 && lookup->step == 4)))
    store_even(thread, at->base + (lookup->addresses[0] - at->first), lookup, bytes);
  else
    store_words(thread, at, lookup, bytes, true);
}

unsigned daedalus_v3d_tmu_store(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup) {
  places at;
  unsigned event = locate(thread, op, lookup, "writes", &at);
  if (!event)
    event = save(thread, op, lookup);
  if (event)
    return event;
  if (!is_all(&at, lookup))
    store_words(thread, &at, lookup, lookup->bytes, false);
  else if (lookup->bytes == 4)
    store(thread, &at, lookup, 4);
  else if (lookup->bytes == 2)
    store(thread, &at, lookup, 2);
  else
    store(thread, &at, lookup, 1);
  return 0;
}

/* The value with its sign in bit 31, so that signed comparison works at any width. */
static int32_t as_signed(uint32_t value, unsigned bytes) {
  return (int32_t)(value << (32 - 8 * bytes));
}

static uint32_t combine(const v3d_thread *thread, const v3d_lookup *lookup, unsigned lane,
                        uint32_t old) {
  const unsigned bytes = lookup->bytes;
  const uint32_t mask = UINT32_MAX >> (32 - 8 * bytes);
  const uint32_t data = thread->tmu.data[0][lane] & mask;
  switch (lookup->operation) {
    case V3D_ATOMIC_ADD:
      return old + data;
    case V3D_ATOMIC_SUB:
      return old - data;
    case V3D_ATOMIC_XCHG:
      return data;
    case V3D_ATOMIC_CMPXCHG:
      return old == data ? thread->tmu.data[1][lane] : old;
    case V3D_ATOMIC_UMIN:
      return data < old ? data : old;
    case V3D_ATOMIC_UMAX:
      return data > old ? data : old;
    case V3D_ATOMIC_SMIN:
      return as_signed(data, bytes) < as_signed(old, bytes) ? data : old;
    case V3D_ATOMIC_SMAX:
      return as_signed(data, bytes) > as_signed(old, bytes) ? data : old;
    case V3D_ATOMIC_AND:
      return old & data;
    case V3D_ATOMIC_OR:
      return old | data;
    case V3D_ATOMIC_XOR:
      return old ^ data;
    case V3D_ATOMIC_INCREMENT:
      return old + 1;
    case V3D_ATOMIC_DECREMENT:
      return old - 1;
    default: /* V3D_ATOMIC_NOT */
      return ~old;
  }
}

unsigned daedalus_v3d_tmu_atomic(v3d_thread *thread, v3d_op *op, v3d_lookup *lookup) {
  places at;
  const bool sign = lookup->is_signed && thread->machine->profile.tmu_signed_extends;
  unsigned event = locate(thread, op, lookup, "changes", &at);
  if (!event)
    event = save(thread, op, lookup);
  if (event)
    return event;
  /* Lanes at one address take their turns in order. */
  for (unsigned lane = 0; lane < V3D_LANES; lane++) {
    uint32_t *result = &lookup->results[0][lane];
    *result = V3D_UNDEFINED;
    if (!takes_part(lookup, lane))
      continue;
    uint8_t *place = place_of(&at, lookup, lane);
    const uint32_t old = load_scalar(place, lookup->bytes, false);
    *result = load_scalar(place, lookup->bytes, sign);
    store_scalar(place, lookup->bytes, combine(thread, lookup, lane, old));
  }
  return 0;
}
