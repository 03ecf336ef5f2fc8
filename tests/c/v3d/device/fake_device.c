/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_device.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "main.h"

static uint8_t *at(const daedalus_v3d_job *job, uint32_t address, uint64_t bytes) {
  for (size_t i = 0; i < job->n_buffers; i++) {
    const daedalus_v3d_buffer *buffer = &job->buffers[i];
    if (address >= buffer->address && address - buffer->address < buffer->size &&
        bytes <= buffer->size - (address - buffer->address))
      return (uint8_t *)buffer->data + (address - buffer->address);
  }
  return NULL;
}

static int add(const daedalus_v3d_job *job, const struct fake_shader *shader, char *message,
               size_t message_size) {
  const uint64_t bytes = (uint64_t)shader->n * sizeof(uint32_t);
  uint8_t *target = at(job, shader->target, bytes);
  const uint8_t *source = at(job, shader->source, bytes);
  if (target == NULL || source == NULL) {
    snprintf(message, message_size, "access outside every buffer: 0x%08x",
             target == NULL ? shader->target : shader->source);
    return -EFAULT;
  }
  for (uint32_t i = 0; i < shader->n; i++) {
    uint32_t word;
    memcpy(&word, source + 4 * (size_t)i, 4);
    word += shader->value;
    memcpy(target + 4 * (size_t)i, &word, 4);
  }
  return 0;
}

static void sleep_ms(uint32_t ms) {
  const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  nanosleep(&time, NULL);
}

static int hold(const daedalus_v3d_job *job, const struct fake_shader *shader, char *message,
                size_t message_size) {
  const uint32_t *word = (const uint32_t *)(void *)at(job, shader->target, sizeof *word);
  for (uint32_t ms = 0; word != NULL && ms < FAKE_MOST_S * 1000; ms++) {
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 0) {
      sleep_ms(shader->value);
      return 0;
    }
    sleep_ms(1);
  }
  snprintf(message, message_size, "held, and not let go");
  return -EIO;
}

static int run_csd(void *self, const daedalus_v3d_job *job, daedalus_v3d_counts *counts,
                   char *message, size_t message_size) {
  (void)self;
  (void)counts;
  struct fake_shader shader;
  const uint8_t *code = at(job, job->cfg[5] & ~7u, sizeof shader);
  if (code == NULL) {
    snprintf(message, message_size, "no code at 0x%08x", job->cfg[5]);
    return -EFAULT;
  }
  memcpy(&shader, code, sizeof shader);
  switch (shader.operation) {
    case FAKE_NOTHING:
    case FAKE_QPU_NOP:
      return 0;
    case FAKE_ADD:
      return add(job, &shader, message, message_size);
    case FAKE_CFG: {
      uint8_t *target = at(job, shader.target, sizeof job->cfg);
      if (target == NULL)
        return -EFAULT;
      memcpy(target, job->cfg, sizeof job->cfg);
      return 0;
    }
    case FAKE_SLEEP:
      sleep_ms(shader.value);
      return 0;
    case FAKE_HOLD:
      return hold(job, &shader, message, message_size);
    default:
      snprintf(message, message_size, "asked to fail (%u)", shader.value);
      return -EIO;
  }
}

/* Takes as many clocks as fake_device.h says. */
static int run_timed(void *self, const daedalus_v3d_job *job, const daedalus_v3d_buffer *scratch,
                     daedalus_v3d_report *report, daedalus_v3d_timing *timing) {
  (void)scratch;
  (void)timing;
  struct fake_shader shader = {0};
  const uint8_t *code = at(job, job->cfg[5] & ~7u, sizeof shader);
  if (code != NULL)
    memcpy(&shader, code, sizeof shader);
  *report = (daedalus_v3d_report){
      .times = {.clocks = FAKE_CLOCKS,
                .ns = shader.operation == FAKE_SLEEP ? shader.n * UINT64_C(1000) : 0,
                .active = FAKE_ACTIVE,
                .stall_tmu = FAKE_STALL_TMU,
                .stall_sfu = FAKE_STALL_SFU,
                .l2t_hits = FAKE_L2T_HITS}};
  return run_csd(self, job, &report->counts, report->message, sizeof report->message);
}

static int make_fake(const struct dev_options *options, daedalus_v3d_executor *executor) {
  (void)options;
  *executor = (daedalus_v3d_executor){.run_csd = run_csd, .run_timed = run_timed};
  return 0;
}

int main(int argc, char **argv) {
  return dev_main(argc, argv, make_fake);
}
