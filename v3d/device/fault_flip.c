/* SPDX-License-Identifier: BSD-2-Clause */
/* Wrong bits in what a job writes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault_jobs.h"

/* A buffer as it was, and as the job leaves it. */
struct copy {
  struct dev_range range;
  uint8_t *before, *after;
};

struct dev_snapshot {
  struct dev_view *view; /* the job's own, while it runs on the other one */
  struct dev_view other; /* the same with copies of the buffers that are named */
  size_t n;
  struct copy copies[]; /* of job->bos */
};

/* By reading: memory that nobody has touched does not come into being by that. */
static bool make_copy(const struct dev_memory *memory, struct dev_range range, struct copy *copy) {
  uint8_t *bytes = malloc(2 * (size_t)range.bytes);
  if (bytes == NULL ||
      pread(memory->fd, bytes, range.bytes, (off_t)range.address) != (ssize_t)range.bytes) {
    free(bytes);
    return false;
  }
  *copy = (struct copy){.range = range, .before = bytes, .after = bytes + range.bytes};
  memcpy(copy->after, copy->before, range.bytes);
  return true;
}

void dev_fault_keep(struct dev_job *job) {
  struct dev_snapshot *kept = calloc(1, sizeof *kept + job->n_bos * sizeof kept->copies[0]);
  const struct dev_view *view = job->view;
  job->before = kept;
  if (kept == NULL)
    return;
  for (; kept->n < job->n_bos; kept->n++)
    if (!make_copy(&job->device->memory, job->bos[kept->n]->range, &kept->copies[kept->n]))
      return;
  kept->other.n = view->n; /* not its references, which are of the other thread */
  kept->other.bos = view->bos;
  kept->other.buffers = malloc((view->n + 1) * sizeof *kept->other.buffers);
  if (kept->other.buffers == NULL)
    return;
  for (size_t i = 0; i < view->n; i++) {
    kept->other.buffers[i] = view->buffers[i];
    for (size_t k = 0; k < kept->n; k++)
      if (kept->copies[k].range.address == view->buffers[i].address)
        kept->other.buffers[i].data = kept->copies[k].after;
  }
  kept->view = job->view;
  job->view = &kept->other;
}

/* Bits that are to be chosen, each with the same chance, of those that are still to come. */
struct choice {
  uint64_t seed, i, wanted, left;
};

static uint8_t choose(struct choice *choice, uint8_t byte) {
  for (unsigned bit = 0; bit < 8; bit++, choice->left--) {
    if (dev_fault_random(choice->seed, choice->i++) % choice->left >= choice->wanted)
      continue;
    choice->wanted--;
    byte ^= (uint8_t)(1u << bit);
  }
  return byte;
}

/* Counts the bytes that were changed; with memory and a choice, puts them there, bits flipped. */
static uint64_t walk(const struct copy *copy, uint8_t *memory, struct choice *choice) {
  enum { CHUNK = 4096 };
  uint64_t n = 0;
  for (uint32_t at = 0; at < copy->range.bytes; at += CHUNK) {
    if (memcmp(copy->before + at, copy->after + at, CHUNK) == 0)
      continue;
    for (uint32_t i = at; i < at + CHUNK; i++) {
      if (copy->before[i] == copy->after[i])
        continue;
      n++;
      if (memory != NULL)
        memory[(size_t)copy->range.address + i] = choose(choice, copy->after[i]);
    }
  }
  return n;
}

void dev_fault_flip(struct dev_job *job) {
  const struct dev_snapshot *kept = job->before;
  uint64_t bytes = 0;
  if (kept == NULL || kept->view == NULL)
    return;
  job->view = kept->view;
  for (size_t i = 0; i < kept->n; i++)
    bytes += walk(&kept->copies[i], NULL, NULL);
  struct choice choice = {.seed = job->flip->seed ^ job->submission << 32,
                          .wanted = job->flip->bits,
                          .left = 8 * bytes};
  if (choice.wanted > choice.left)
    choice.wanted = choice.left;
  job->n_flipped = choice.wanted;
  for (size_t i = 0; i < kept->n; i++)
    walk(&kept->copies[i], job->device->memory.base, &choice);
}

void dev_fault_forget(struct dev_job *job) {
  struct dev_snapshot *kept = job->before;
  if (kept == NULL)
    return;
  for (size_t i = 0; i < kept->n; i++)
    free(kept->copies[i].before);
  free(kept->other.buffers);
  free(kept);
  job->before = NULL;
}
