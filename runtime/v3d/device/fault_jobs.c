/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults as they strike calls and jobs. */
#include "fault_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void lose(struct dev_call *call, struct dev_fault *fault) {
  struct dev_device *device = call->device;
  fault->n_struck++;
  device->lost |= !fault->one_client && !fault->reopens;
  for (struct dev_client *client = device->clients; client != NULL; client = client->next)
    client->lost |= !fault->one_client || client == call->client;
  dev_queues_lose(device, fault, fault->one_client ? call->client->id : 0);
  dev_report(device, "fault %s: %s is lost", fault->text,
             fault->one_client ? "the device of one client" : "the device");
}

/* What of the counted calls this one is; DEV_N_FAULT_CALLS: none. */
static enum dev_fault_call kind_of(uint32_t code) {
  switch (ABI_NR(code)) {
    case ABI_V3D_CREATE_BO:
      return DEV_FAULT_BUFFER;
    case ABI_SYNCOBJ_CREATE:
      return DEV_FAULT_SYNCOBJ;
    case ABI_V3D_SUBMIT_CL:
    case ABI_V3D_SUBMIT_TFU:
    case ABI_V3D_SUBMIT_CSD:
    case ABI_V3D_SUBMIT_CPU:
      return DEV_FAULT_SUBMIT;
    default:
      return DEV_N_FAULT_CALLS;
  }
}

int dev_fault_ioctl(struct dev_call *call) {
  struct dev_device *device = call->device;
  if (call->client->lost)
    return -ENODEV;
  const enum dev_fault_call kind = kind_of(call->code);
  if (kind == DEV_N_FAULT_CALLS)
    return 0;
  const uint64_t number = ++device->n_calls[kind];
  struct dev_fault *fault =
      kind == DEV_FAULT_SUBMIT ? dev_fault_at(&device->faults, DEV_FAULT_LOST, number) : NULL;
  if (fault != NULL) {
    lose(call, fault);
    return -ENODEV;
  }
  fault = dev_fault_at_call(&device->faults, kind, number);
  if (fault == NULL)
    return 0;
  fault->n_struck++;
  return -ENOMEM;
}

void dev_fault_job(struct dev_job *job) {
  const struct dev_faults *faults = &job->device->faults;
  job->submission = job->device->n_calls[DEV_FAULT_SUBMIT];
  if (job->queue == DEV_QUEUE_CPU) /* the kernel's own: the GPU has no part in it */
    return;
  job->hang = dev_fault_at(faults, DEV_FAULT_HANG, job->submission);
  job->slow = dev_fault_at(faults, DEV_FAULT_SLOW, job->submission);
  job->flip = dev_fault_at(faults, DEV_FAULT_FLIP, job->submission);
}

uint64_t dev_fault_hang(struct dev_job *job, uint64_t now_ns) {
  const uint32_t ms = job->hang->ms != 0 ? job->hang->ms : job->device->profile.reset_ms;
  job->hang->n_struck++;
  job->result = -ETIMEDOUT;
  snprintf(job->message, sizeof job->message,
           "it hung, and the GPU was reset after %u ms without progress (fault %s)", ms,
           job->hang->text);
  return ms == 0 ? UINT64_MAX : now_ns + ms * UINT64_C(1000000);
}

uint64_t dev_fault_slow(struct dev_job *job, uint64_t now_ns) {
  const struct dev_fault *fault = job->slow;
  job->slow->n_struck++;
  if (fault->ms != 0)
    return now_ns + fault->ms * UINT64_C(1000000);
  const uint64_t times = fault->factor - 1, most = UINT64_C(3600000000000); /* an hour */
  return now_ns + (job->wall_ns > most / times ? most : job->wall_ns * times);
}

/* The buffers that a job names, as they were before it. */
struct dev_snapshot {
  size_t n;
  uint8_t *copies[]; /* of job->bos */
};

/* By reading: memory that nobody has touched does not come into being by that. */
static bool read_memory(const struct dev_memory *memory, uint64_t at, uint8_t *to, size_t bytes) {
  return pread(memory->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

void dev_fault_keep(struct dev_job *job) {
  struct dev_snapshot *before = calloc(1, sizeof *before + job->n_bos * sizeof before->copies[0]);
  job->before = before;
  for (size_t i = 0; before != NULL && i < job->n_bos; i++) {
    const struct dev_range range = job->bos[i]->range;
    uint8_t *copy = malloc(range.bytes);
    if (copy == NULL || !read_memory(&job->device->memory, range.address, copy, range.bytes)) {
      free(copy);
      return; /* buffers from here on stay as they are */
    }
    before->copies[before->n++] = copy;
  }
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

/* Counts bytes of a buffer that are not as before; with a choice, flips bits of them. */
static uint64_t walk(struct dev_job *job, size_t index, struct choice *choice) {
  enum { CHUNK = 4096 };
  uint8_t now[CHUNK];
  const struct dev_memory *memory = &job->device->memory;
  const struct dev_range range = job->bos[index]->range;
  const uint8_t *before = job->before->copies[index];
  uint64_t n = 0;
  for (uint32_t at = 0; at < range.bytes; at += CHUNK) {
    if (!read_memory(memory, (uint64_t)range.address + at, now, CHUNK))
      break;
    if (memcmp(now, before + at, CHUNK) == 0)
      continue;
    for (uint32_t i = 0; i < CHUNK; i++) {
      if (now[i] == before[at + i])
        continue;
      n++;
      if (choice != NULL && choice->left > 0)
        memory->base[(size_t)range.address + at + i] = choose(choice, now[i]);
    }
  }
  return n;
}

void dev_fault_flip(struct dev_job *job) {
  uint64_t bytes = 0;
  if (job->before == NULL)
    return;
  for (size_t i = 0; i < job->before->n; i++)
    bytes += walk(job, i, NULL);
  struct choice choice = {.seed = job->flip->seed ^ job->submission << 32,
                          .wanted = job->flip->bits,
                          .left = 8 * bytes};
  if (choice.wanted > choice.left)
    choice.wanted = choice.left;
  job->n_flipped = choice.wanted;
  for (size_t i = 0; i < job->before->n && bytes > 0; i++)
    walk(job, i, &choice);
}

void dev_fault_forget(struct dev_job *job) {
  for (size_t i = 0; job->before != NULL && i < job->before->n; i++)
    free(job->before->copies[i]);
  free(job->before);
  job->before = NULL;
}

uint64_t dev_faults_report(struct dev_device *device) {
  uint64_t n_idle = 0;
  for (size_t i = 0; i < device->faults.n; i++) {
    const struct dev_fault *fault = &device->faults.items[i];
    if (fault->n_struck == 0)
      n_idle++;
    dev_report(device, "fault %s struck %llu time%s", fault->text,
               (unsigned long long)fault->n_struck, fault->n_struck == 1 ? "" : "s");
  }
  return n_idle;
}
