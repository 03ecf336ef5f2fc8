/* SPDX-License-Identifier: BSD-2-Clause */
/* Says how a job ended, in words that need nothing else at hand. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "simulator/engine.h"

/* Disassembly without the columns: runs of blanks become one. */
static void one_line(uint64_t word, char *text) {
  char line[DAEDALUS_V3D_LINE];
  size_t n = 0;
  daedalus_v3d_disassemble(word, line);
  for (const char *c = line; *c; c++) {
    if (*c == ' ' && (c[1] == ' ' || c[1] == ';' || !c[1]))
      continue;
    text[n++] = *c;
  }
  text[n] = 0;
}

static void write_report(v3d_thread *thread, const v3d_op *op, daedalus_v3d_outcome outcome,
                         const char *format, va_list arguments) {
  daedalus_v3d_report *report = thread->machine->report;
  char line[DAEDALUS_V3D_LINE];
  report->outcome = outcome;
  report->qpu = thread->qpu;
  report->thread = thread->number;
  report->batch = thread->batch;
  report->pc = op->address;
  report->word = op->word;
  one_line(op->word, line);
  int length = snprintf(report->message, sizeof report->message,
                        "QPU %u thread %u (batch %lu) at 0x%08lx, `%s`: ", thread->qpu,
                        thread->number, (unsigned long)thread->batch, (unsigned long)op->address,
                        outcome == DAEDALUS_V3D_BAD_FETCH && !op->word ? "no instruction" : line);
  size_t used = length < 0 ? 0 : (size_t)length;
  if (used < sizeof report->message)
    vsnprintf(report->message + used, sizeof report->message - used, format, arguments);
}

unsigned daedalus_v3d_fault(v3d_thread *thread, const v3d_op *op, daedalus_v3d_outcome outcome,
                            const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_report(thread, op, outcome, format, arguments);
  va_end(arguments);
  return V3D_EVENT_FAULT;
}

unsigned daedalus_v3d_fault_at(v3d_thread *thread, const v3d_op *op, daedalus_v3d_outcome outcome,
                               unsigned lane, uint32_t address, const char *format, ...) {
  va_list arguments;
  thread->machine->report->lane = lane;
  thread->machine->report->address = address;
  va_start(arguments, format);
  write_report(thread, op, outcome, format, arguments);
  va_end(arguments);
  return V3D_EVENT_FAULT;
}

void daedalus_v3d_end_job(struct daedalus_v3d_machine *machine, daedalus_v3d_outcome outcome,
                          const char *format, ...) {
  daedalus_v3d_report *report = machine->report;
  va_list arguments;
  report->outcome = outcome;
  va_start(arguments, format);
  vsnprintf(report->message, sizeof report->message, format, arguments);
  va_end(arguments);
}

void daedalus_v3d_describe_address(const v3d_memory *memory, uint32_t address, char *text,
                                   size_t size) {
  const size_t next = daedalus_v3d_memory_search(memory, address);
  const daedalus_v3d_buffer *after = next < memory->n_buffers ? &memory->buffers[next] : NULL;
  const daedalus_v3d_buffer *before = next ? &memory->buffers[next - 1] : NULL;
  if (after && after->address <= address) {
    snprintf(text, size, "%lu bytes before the end of the buffer 0x%08lx..0x%08lx",
             (unsigned long)(after->size - (address - after->address)),
             (unsigned long)after->address,
             (unsigned long)((uint64_t)after->address + after->size - 1));
    return;
  }
  const uint64_t behind =
      before ? address - ((uint64_t)before->address + before->size) : UINT64_MAX;
  const uint64_t ahead = after ? (uint64_t)after->address - address : UINT64_MAX;
  const daedalus_v3d_buffer *nearest = behind <= ahead ? before : after;
  if (!nearest) {
    snprintf(text, size, "and the job has no buffers");
    return;
  }
  const uint64_t end = (uint64_t)nearest->address + nearest->size;
  snprintf(text, size, "%llu bytes %s the nearest buffer 0x%08lx..0x%08lx",
           (unsigned long long)(nearest == before ? behind : ahead),
           nearest == before ? "past the end of" : "before", (unsigned long)nearest->address,
           (unsigned long)(end ? end - 1 : 0));
}
