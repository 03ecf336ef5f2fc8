/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that the device is asked to have, as text and as what they do.  docs/v3d-faults.md says
 * what clients see of each, and why hardware does that.
 *
 *   KIND@WHEN[:NAME=VALUE[,NAME=VALUE]...]
 *
 * WHEN is a number from 1, a range of them (3-5), * for all, or 1/P for one in P at random.  It
 * counts submissions (calls of SUBMIT_*, refused ones too, of all clients); no-memory counts the
 * calls that it makes fail.
 */
#ifndef DAEDALUS_V3D_DEVICE_FAULT_H
#define DAEDALUS_V3D_DEVICE_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dev_fault_kind {
  DEV_FAULT_NO_MEMORY, /* a call returns ENOMEM */
  DEV_FAULT_HANG,      /* a job makes no progress until the GPU is reset */
  DEV_FAULT_LOST,      /* the device is gone */
  DEV_FAULT_SLOW,      /* a job takes longer */
  DEV_FAULT_FLIP,      /* bits of what a job wrote are other ones */
  DEV_N_FAULTS
};

/* Calls that can be out of memory. */
enum dev_fault_call { DEV_FAULT_BUFFER, DEV_FAULT_SYNCOBJ, DEV_FAULT_SUBMIT, DEV_N_FAULT_CALLS };

struct dev_fault {
  char *text; /* as it was given */
  enum dev_fault_kind kind;
  uint64_t first, last; /* numbers that it strikes at */
  uint32_t one_in;      /* of those numbers, at random; 1: each */
  uint32_t seed;
  enum dev_fault_call call; /* no-memory */
  bool one_client;          /* lost: the others keep the device */
  bool reopens;             /* lost: opening it again works */
  uint32_t ms;              /* hang: 0 for the profile's reset_ms; slow: added */
  uint32_t factor;          /* slow: times what the job took */
  uint32_t bits;            /* flip */
  uint32_t batches;         /* hang: that a compute job gets done before */
  uint64_t n_struck;
};

struct dev_faults {
  size_t n;
  struct dev_fault *items;
};

/**
 * Adds a fault by its text. Returns 0, -ENOMEM, or -EINVAL with what is wrong in message. Pointers
 * to the faults that were there become invalid.
 */
int dev_faults_add(struct dev_faults *faults, const char *text, char *message, size_t size);

/* The same for several, separated by semicolons; empty ones are nothing. */
int dev_faults_add_list(struct dev_faults *faults, const char *text, char *message, size_t size);

void dev_faults_free(struct dev_faults *faults);

/* The first fault of a kind that strikes at number; NULL: none. Depends on nothing else. */
struct dev_fault *dev_fault_at(const struct dev_faults *faults, enum dev_fault_kind kind,
                               uint64_t number);

/* The same of no-memory, for a call. */
struct dev_fault *dev_fault_at_call(const struct dev_faults *faults, enum dev_fault_call call,
                                    uint64_t number);

/* A number that looks random and depends on seed and i alone. */
uint64_t dev_fault_random(uint64_t seed, uint64_t i);

#endif
