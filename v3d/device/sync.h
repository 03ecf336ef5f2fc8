/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences, and what holds them.  Of the loop's thread, as all in device.h. */
#ifndef DAEDALUS_V3D_DEVICE_SYNC_H
#define DAEDALUS_V3D_DEVICE_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dev_device;

uint64_t dev_now_ns(void); /* CLOCK_MONOTONIC */

/* -- Fences: become signaled once, when the job that they stand for has ended. -- */

/* That a fence waits for another one. */
struct dev_fence_link {
  struct dev_fence *part;              /* counted */
  struct dev_fence *whole;             /* not counted: it owns the link */
  struct dev_fence_link *next, **slot; /* among the watchers of part; slot NULL: not there */
};

struct dev_fence {
  unsigned refs;
  bool signaled;
  bool is_job;
  const char *name;     /* for who asks: of the job's queue; static */
  uint64_t signaled_ns; /* CLOCK_MONOTONIC */
  uint64_t clock_ns;    /* of jobs', where waits are stretched: what their clock showed then */
  struct dev_fence_link *watchers;
  size_t n_parts, n_open; /* of a merged fence: all of them, and those not signaled */
  struct dev_fence_link *parts;
  struct dev_fence *next; /* in lists of fence.c */
};

struct dev_fence *dev_fence_create(bool signaled); /* NULL: no memory */
/* One that is signaled when all parts are. NULL: no memory. */
struct dev_fence *dev_fence_merge(struct dev_fence *const *parts, size_t n);
void dev_fence_signal(struct dev_fence *fence);
struct dev_fence *dev_fence_ref(struct dev_fence *fence);
void dev_fence_unref(struct dev_fence *fence); /* NULL is nothing, as for all of these */
/* Puts a reference to fence (or NULL) into *slot, in place of what is there. */
void dev_fence_replace(struct dev_fence **slot, struct dev_fence *fence);

/* -- Syncobjs: boxes for a fence. -- */

struct dev_syncobj {
  unsigned refs;
  uint32_t number;         /* while it is exported, else 0; one of the references is the export's */
  struct dev_fence *fence; /* NULL: nothing was submitted yet. */
};

void dev_syncobj_unref(struct dev_syncobj *syncobj);

/* -- Sync files: descriptors that become readable when a fence is signaled. -- */

struct dev_sync_file {
  struct dev_sync_file *next;
  struct dev_fence *fence;
  int fd;         /* the writing end of a pipe, whose reading end the clients have */
  uint64_t inode; /* of the pipe */
  bool written;
  char name[32];
};

/* *fd becomes the descriptor of a new sync file, the caller's. -ENOMEM, -EMFILE. */
int dev_sync_file_create(struct dev_device *device, struct dev_fence *fence, const char *name,
                         int *fd);
/* NULL: the descriptor is not that of a sync file. */
struct dev_sync_file *dev_sync_file_of(const struct dev_device *device, int fd);
void dev_sync_files_progress(struct dev_device *device);
void dev_sync_files_sweep(struct dev_device *device);
void dev_sync_files_destroy(struct dev_device *device);

#endif
