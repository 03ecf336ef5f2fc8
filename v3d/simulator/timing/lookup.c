/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory in time.  A slice's TMU takes the lookups of its QPUs one after the other, a word of a
 * lane at a time; what its cache does not have comes from the L2T cache, or from memory.  Writes go
 * through to the L2T, which writes lines to memory when it needs their place.
 *
 * A lookup is timed when it is issued, also where its TMU begins it later.  So the L2T's port and
 * memory are asked in another order than that of time; their calendars give each request the first
 * free time after its own nevertheless.  Which lines the L2T holds follows the order of issue.
 */
#include "simulator/tmu_access.h"
#include "simulator/timing/model.h"

enum { LINE = DAEDALUS_V3D_CACHE_LINE, MOST_LINES = 2 * V3D_LANES };

static uint64_t later(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* The distinct lines that a lookup touches. */
static unsigned lines_of(const v3d_lookup *lookup, uint32_t lines[MOST_LINES]) {
  const uint32_t last_byte = lookup->words * lookup->bytes - 1;
  unsigned n = 0;
  /* Lanes that are no line apart leave none out. */
  if (lookup->is_even && lookup->step <= LINE) {
    const uint32_t last = (lookup->addresses[V3D_LANES - 1] + last_byte) / LINE;
    for (uint32_t line = lookup->addresses[0] / LINE; line <= last; line++)
      lines[n++] = line;
    return n;
  }
  for (unsigned lane = 0; lane < V3D_LANES; lane++) {
    if (!(lookup->lanes >> lane & 1))
      continue;
    const uint32_t first = lookup->addresses[lane] / LINE;
    const uint32_t last = (lookup->addresses[lane] + last_byte) / LINE;
    for (uint32_t line = first; line <= last; line++) {
      unsigned i = n;
      while (i && lines[i - 1] != line)
        i--;
      if (!i)
        lines[n++] = line;
    }
  }
  return n;
}

/* Memory is busy with a line from `from` on. Returns when it is done. */
static uint64_t use_memory(v3d_timing *timing, uint64_t from) {
  const uint64_t start =
      daedalus_v3d_calendar_take(&timing->memory, from * V3D_CLOCK_PARTS, timing->memory_line);
  timing->times.memory_bytes += LINE;
  return (start + timing->memory_line) / V3D_CLOCK_PARTS;
}

/* A line of the L2T that is asked for at `from`: when it has come, or will be there. */
static uint64_t use_l2t(v3d_timing *timing, uint32_t line, uint64_t from, bool write,
                        uint64_t *hits, uint64_t *misses) {
  const daedalus_v3d_profile *profile = &timing->machine->profile;
  const uint64_t start =
      daedalus_v3d_calendar_take(&timing->l2t_port, from, profile->l2t_line_clocks);
  bool hit, evicted;
  v3d_cache_line *entry = daedalus_v3d_cache_access(&timing->l2t, line, &hit, &evicted);
  uint64_t ready = start;
  ++*(hit ? hits : misses);
  if (evicted) {
    timing->times.l2t_evictions++;
    use_memory(timing, start);
  }
  if (!hit && (!write || !entry))
    ready = use_memory(timing, start) + timing->memory_clocks;
  if (entry && !hit)
    entry->ready = ready;
  if (entry && write)
    entry->dirty = true;
  if (entry && !write)
    ready = later(ready, entry->ready);
  return ready + profile->l2t_clocks;
}

static uint64_t use_l2t_by_tmu(v3d_timing *timing, uint32_t line, uint64_t from, bool write) {
  return use_l2t(timing, line, from, write, &timing->times.l2t_hits, &timing->times.l2t_misses);
}

/* When the lines are in the TMU's cache. */
static uint64_t read_lines(v3d_timing *timing, v3d_slice_time *slice, const uint32_t *lines,
                           unsigned n, uint64_t from) {
  const uint64_t fill = timing->machine->profile.tmu_fill_clocks;
  uint64_t all = from;
  for (unsigned i = 0; i < n; i++) {
    bool hit, evicted;
    v3d_cache_line *entry = daedalus_v3d_cache_access(&slice->tmu, lines[i], &hit, &evicted);
    uint64_t ready;
    if (hit) {
      timing->times.tmu_hits++;
      ready = entry->ready;
    } else {
      timing->times.tmu_misses++;
      ready = later(use_l2t_by_tmu(timing, lines[i], from, false), slice->fill_free) + fill;
      slice->fill_free = ready;
      if (entry)
        entry->ready = ready;
    }
    all = later(all, ready);
  }
  return all;
}

static void begin_request(v3d_requests *requests) {
  requests->words -= requests->sizes[requests->first];
  requests->first = (requests->first + 1) % V3D_TMU_ENTRIES;
  requests->n--;
}

/* The input queue has to have room for words; the QPU waits where it has not. */
static void wait_for_room(v3d_qpu_time *qpu, unsigned words) {
  v3d_requests *requests = &qpu->requests;
  while (requests->n && (requests->starts[requests->first] <= qpu->time ||
                         requests->words + words > V3D_TMU_ENTRIES)) {
    const uint64_t start = requests->starts[requests->first];
    if (start > qpu->time) {
      qpu->stall_tmu += start - qpu->time;
      qpu->time = start;
    }
    begin_request(requests);
  }
}

static void add_request(v3d_qpu_time *qpu, unsigned words, uint64_t start) {
  v3d_requests *requests = &qpu->requests;
  const unsigned last = (requests->first + requests->n++) % V3D_TMU_ENTRIES;
  requests->starts[last] = start;
  requests->sizes[last] = (uint8_t)words;
  requests->words += words;
}

static unsigned count(daedalus_v3d_lanes lanes) {
  return (unsigned)__builtin_popcount(lanes);
}

/* Words that the TMU moves: one for each of a lane's, unless lanes share them. */
static unsigned words_of(const v3d_lookup *lookup, bool merged) {
  uint32_t seen[4 * V3D_LANES];
  unsigned n = 0;
  if (!merged)
    return count(lookup->lanes) * lookup->words;
  for (unsigned lane = 0; lane < V3D_LANES; lane++)
    for (unsigned k = 0; k < lookup->words && (lookup->lanes >> lane & 1); k++) {
      const uint32_t word = lookup->addresses[lane] / 4 + k;
      unsigned i = n;
      while (i && seen[i - 1] != word)
        i--;
      if (!i)
        seen[n++] = word;
    }
  return n;
}

/* A write that lets the thread go on: it arrives later. */
static void write_lines(v3d_thread *thread, const uint32_t *lines, unsigned n, uint64_t from) {
  v3d_timing *timing = thread->machine->timing;
  v3d_thread_time *time = daedalus_v3d_time_of(thread);
  for (unsigned i = 0; i < n; i++) {
    const uint64_t done = use_l2t_by_tmu(timing, lines[i], from, true);
    time->writes_done = later(time->writes_done, done);
  }
  timing->last_write = later(timing->last_write, time->writes_done);
}

/* Atomics are done at the L2T, lane by lane. */
static uint64_t atomic(v3d_timing *timing, const uint32_t *lines, unsigned n, unsigned lanes,
                       uint64_t from) {
  uint64_t ready = from;
  for (unsigned i = 0; i < n; i++)
    ready = later(ready, use_l2t_by_tmu(timing, lines[i], from, false));
  for (unsigned i = 0; i < n; i++)
    use_l2t_by_tmu(timing, lines[i], from, true);
  const uint64_t each = timing->machine->profile.l2t_line_clocks;
  daedalus_v3d_calendar_take(&timing->l2t_port, from, lanes * each);
  return ready + lanes * each;
}

void daedalus_v3d_time_lookup(v3d_thread *thread, const v3d_lookup *lookup, unsigned n_data,
                              unsigned n_results) {
  v3d_timing *timing = thread->machine->timing;
  v3d_qpu_time *qpu = daedalus_v3d_qpu_of(thread);
  v3d_slice_time *slice = daedalus_v3d_slice_of(thread);
  const daedalus_v3d_profile *profile = &thread->machine->profile;
  const unsigned lanes = count(lookup->lanes), asked = thread->tmu.n_results - n_results;
  uint32_t lines[MOST_LINES];
  wait_for_room(qpu, n_data + 1);
  const uint64_t start = later(qpu->time, slice->tmu_free);
  const unsigned n = lines_of(lookup, lines);
  /* What moves no data takes the time of its lines alone. */
  const uint64_t words =
      n_data || asked
          ? ((uint64_t)words_of(lookup, profile->tmu_merges_words) * profile->tmu_word_eighths +
             7) /
                8
          : 0;
  const uint64_t busy = later(words, (uint64_t)n * profile->tmu_line_clocks);
  add_request(qpu, n_data + 1, start);
  slice->tmu_free = start + (busy ? busy : 1);
  slice->tmu_busy += slice->tmu_free - start;
  const bool is_atomic = lookup->operation != V3D_LOOKUP_REGULAR && asked;
  if (n_data && !is_atomic) {
    write_lines(thread, lines, n, slice->tmu_free);
    return;
  }
  uint64_t ready = slice->tmu_free;
  if (is_atomic)
    ready = later(ready, atomic(timing, lines, n, lanes, start));
  else if (lookup->operation == V3D_LOOKUP_REGULAR || lookup->operation == V3D_LOOKUP_PREFETCH)
    ready = later(ready, read_lines(timing, slice, lines, n, start));
  if (!asked)
    return;
  slice->last_result = later(slice->last_result, ready);
  v3d_thread_time *time = daedalus_v3d_time_of(thread);
  for (unsigned i = 0; i < asked; i++)
    time->results[(thread->tmu.first + n_results + i) % V3D_TMU_ENTRIES] =
        slice->last_result + profile->tmu_hit_clocks;
}

/* op waited for its uniform after what it does had been timed: its results are as much later. */
static void delay_results(v3d_thread *thread, const v3d_op *op, uint64_t clocks) {
  v3d_thread_time *own = daedalus_v3d_time_of(thread);
  if (op->timing & V3D_TIMING_SFU) {
    own->sfu_ready += clocks;
    daedalus_v3d_qpu_of(thread)->sfu_free += clocks;
  }
  if (op->timing & V3D_TIMING_SPREAD)
    own->spread_ready += clocks;
}

void daedalus_v3d_time_uniform(v3d_thread *thread, const v3d_op *op, uint32_t address,
                               uint32_t value) {
  v3d_timing *timing = thread->machine->timing;
  if (timing->trace)
    daedalus_v3d_trace_read(timing->trace, op, address, value);
  v3d_qpu_time *qpu = daedalus_v3d_qpu_of(thread);
  v3d_slice_time *slice = daedalus_v3d_slice_of(thread);
  const uint64_t issued = qpu->time;
  bool hit, evicted;
  v3d_cache_line *entry =
      daedalus_v3d_cache_access(&slice->uniforms, address / LINE, &hit, &evicted);
  if (!hit) {
    timing->times.uniform_misses++;
    /* Uniforms are read ahead of other QPUs' time, which the calendars of L2T and memory allow. */
    const uint64_t ready =
        use_l2t(timing, address / LINE, issued, false, &timing->times.l2t_uniform_hits,
                &timing->times.l2t_uniform_misses);
    if (entry)
      entry->ready = ready;
    qpu->time = ready;
  } else if (entry->ready > issued) {
    qpu->time = entry->ready;
  }
  if (qpu->time == issued)
    return;
  qpu->stall_uniforms += qpu->time - issued;
  delay_results(thread, op, qpu->time - issued);
}
