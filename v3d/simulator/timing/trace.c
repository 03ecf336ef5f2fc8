/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills in a trace. */
#include <daedalus/v3d/trace.h>

#include <stdlib.h>
#include <string.h>

#include "simulator/timing/model.h"

/** Words of the uniform stream that a trace keeps: more than a program has names for. */
enum { MOST_UNIFORMS = 4096 };

void daedalus_v3d_trace_free(daedalus_v3d_trace *trace) {
  free(trace->lines);
  free(trace->uniforms);
  *trace = (daedalus_v3d_trace){0};
}

bool daedalus_v3d_trace_begin(struct daedalus_v3d_machine *machine, daedalus_v3d_trace *trace) {
  const v3d_memory *memory = &machine->memory;
  uint32_t hint = 0;
  const daedalus_v3d_buffer *buffer =
      daedalus_v3d_memory_find(memory, machine->dispatch.code, 8, &hint);
  if (!buffer)
    return true; /* the job will end with a report */
  trace->address = (buffer->address + 7) & ~7u;
  trace->n_lines = (buffer->size - (trace->address - buffer->address)) / 8;
  trace->lines = calloc(trace->n_lines, sizeof *trace->lines);
  trace->uniforms = calloc(MOST_UNIFORMS, sizeof *trace->uniforms);
  if (trace->lines && trace->uniforms)
    return true;
  daedalus_v3d_trace_free(trace); /* a caller may still print it */
  return false;
}

daedalus_v3d_trace_line *daedalus_v3d_trace_line_of(const daedalus_v3d_trace *trace,
                                                    uint32_t address) {
  const uint32_t index = (address - trace->address) / 8;
  return address >= trace->address && index < trace->n_lines ? &trace->lines[index] : NULL;
}

void daedalus_v3d_trace_read(daedalus_v3d_trace *trace, const v3d_op *op, uint32_t address,
                             uint32_t value) {
  uint32_t i = trace->n_uniforms;
  /* Streams are read in order, and the last ones are looked at first. */
  while (i && trace->uniforms[i - 1].address != address)
    i--;
  if (!i) {
    if (trace->n_uniforms == MOST_UNIFORMS)
      return;
    i = ++trace->n_uniforms;
    trace->uniforms[i - 1] =
        (daedalus_v3d_trace_uniform){.address = address, .value = value, .pc = op->address};
  }
  trace->uniforms[i - 1].reads++;
}
