/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated kernel driver, as its own files see it.
 *
 * One thread, that of the server's loop, owns everything in this header; a worker thread of a
 * queue touches the one job that it was handed until it hands it back.  Objects are counted by
 * references: a handle of a client, a job that uses the object and an exported descriptor are one
 * each.  Functions return 0 or a negative errno unless they say otherwise.
 */
#ifndef DAEDALUS_V3D_DEVICE_DEVICE_H
#define DAEDALUS_V3D_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "executor.h"
#include "handles.h"
#include "memory.h"
#include "protocol.h"

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
  const char *name;     /* of the queue, for who asks; static */
  uint64_t signaled_ns; /* CLOCK_MONOTONIC */
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

/* -- Syncobjs: boxes for a fence, or timelines of them. -- */

struct dev_point {
  uint64_t value;
  struct dev_fence *fence; /* signaled when this and all points before are */
};

struct dev_syncobj {
  unsigned refs;
  uint32_t number; /* while it is exported, else 0; one of the references is the export's */
  struct dev_fence *fence; /* NULL: nothing was submitted yet. Of a timeline: its last point's */
  /* Of a timeline; else n_points is 0. Ascending, without those signaled but for the last. */
  struct dev_point *points;
  size_t n_points, points_room;
  uint64_t reached; /* the highest point that is signaled */
};

void dev_syncobj_unref(struct dev_syncobj *syncobj);
/* Puts a reference to fence, or NULL, in place of what is there, timelines included. */
void dev_syncobj_replace(struct dev_syncobj *syncobj, struct dev_fence *fence);
/* Appends a point to the timeline, which begins with it if need be. -ENOMEM. */
int dev_syncobj_add_point(struct dev_syncobj *syncobj, struct dev_fence *fence, uint64_t value);
/**
 * Makes *fence a reference to that of a point, or with 0 to the last. -EINVAL: there is none yet;
 * -ENOMEM.
 */
int dev_syncobj_find(struct dev_syncobj *syncobj, uint64_t point, struct dev_fence **fence);
/* Forgets points that are signaled, which moves reached. */
void dev_syncobj_advance(struct dev_syncobj *syncobj);

/* -- Sync files: descriptors that become readable when a fence is signaled. -- */

struct dev_sync_file {
  struct dev_sync_file *next;
  struct dev_fence *fence;
  int fd;             /* the writing end of a pipe, whose reading end the clients have */
  uint64_t inode;     /* of the pipe */
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

/* -- Buffers -- */

struct dev_bo {
  unsigned refs;
  bool exported; /* one of the references is the export's */
  struct dev_device *device;
  struct dev_range range;
  struct dev_fence *last; /* of the last job that named the buffer */
  uint64_t mark;          /* serial of the submission that looked it up last */
};

void dev_bo_unref(struct dev_bo *bo);

/* The buffers that a job may reach, alive as long as the view; sorted by address. */
struct dev_view {
  unsigned refs;
  size_t n;
  daedalus_v3d_buffer *buffers;
  struct dev_bo **bos;
};

void dev_view_unref(struct dev_view *view);
/* Host memory of [address, address + bytes) if that lies in one buffer, else NULL. */
uint8_t *dev_view_at(const struct dev_view *view, uint32_t address, uint64_t bytes);

/* -- Clients: what the kernel calls a DRM file. -- */

enum dev_queue_kind { DEV_QUEUE_CL, DEV_QUEUE_CSD, DEV_QUEUE_CPU, DEV_N_QUEUES };

struct dev_client {
  uint32_t id;
  struct dev_device *device;
  struct dev_client *next;
  struct dev_handles bos;               /* struct dev_bo */
  struct dev_handles syncobjs;          /* struct dev_syncobj */
  struct dev_view *view;                /* of bos; NULL: to be made again */
  struct dev_fence *last[DEV_N_QUEUES]; /* jobs of a client and queue run in order */
};

/* *fd becomes the descriptor of a node, opened with an access mode; the caller's. */
int dev_client_open(struct dev_device *device, int mode, int *fd);
struct dev_client *dev_client_of(struct dev_device *device, uint32_t id);
void dev_clients_close(struct dev_device *device);
/* Closes the clients of which no descriptor is left. */
void dev_clients_sweep(struct dev_device *device);
/* A new reference to the view of all buffers that the client has now; NULL: no memory. */
struct dev_view *dev_client_view(struct dev_client *client);

/* -- Descriptors: what of the device's a client holds, or has handed on. -- */

/**
 * A new descriptor that stands for an object, opened with an access mode, closed on exec; the
 * caller's. Returns a negative errno on failure.
 */
int dev_descriptor_open(const struct dev_device *device, struct wire_position position, int mode);
/* Whether any description of that object is open: in a process, mapped, or on its way. */
bool dev_descriptor_held(const struct dev_device *device, struct wire_position position);
/* What a descriptor stands for; WIRE_NOTHING: it is not one of the device's. */
struct wire_position dev_descriptor_object(const struct dev_device *device, int fd);

/* Objects that descriptors keep alive. */
struct dev_export {
  struct dev_export *next;
  struct wire_position position;
  struct dev_bo *bo; /* one of the two */
  struct dev_syncobj *syncobj;
};

/* Keeps an object until the last descriptor of it is closed. -ENOMEM. */
int dev_export_bo(struct dev_bo *bo);
int dev_export_syncobj(struct dev_device *device, struct dev_syncobj *syncobj);
const struct dev_export *dev_export_find(const struct dev_device *device,
                                         struct wire_position position); /* NULL: none */

/* Frees what no descriptor holds any more, clients included. */
void dev_sweep(struct dev_device *device);
/* To be called before one more export or sync file: sweeps when there are many. */
void dev_sweep_if_many(struct dev_device *device);
void dev_exports_destroy(struct dev_device *device);

/* -- Jobs -- */

struct dev_query {
  uint32_t offset; /* bytes in the timestamp buffer */
  struct dev_syncobj *syncobj;
};

struct dev_cpu_work {
  uint32_t type; /* an extension number of abi.h */
  uint32_t n;
  struct dev_query *queries; /* n */
  /* copies of timestamps */
  bool wide, partial, availability;
  uint32_t offset, stride;
  /* indirect dispatch */
  uint32_t wg_size, wg_uniform_offsets[3];
  struct dev_bo *uniforms;
  struct dev_job *csd; /* counted by nobody: it waits for this job */
};

struct dev_job {
  enum dev_queue_kind queue;
  struct dev_device *device;
  struct dev_job *next;
  uint64_t serial;
  struct dev_fence *done;
  struct dev_fence **waits;
  size_t n_waits;
  struct dev_view *view;
  struct dev_bo **bos; /* named by the submission */
  size_t n_bos;
  uint32_t cfg[7];             /* CSD */
  uint32_t rcl_start, rcl_end; /* CL */
  uint64_t moves;              /* CL: bytes, as seen at submission */
  struct dev_cpu_work cpu;
  bool skip;  /* there is nothing to run: an indirect dispatch of no groups */
  int result; /* of the run */
  daedalus_v3d_counts counts;
  uint64_t wall_ns, cpu_ns; /* that the run took */
  char message[1024];
};

struct dev_job *dev_job_create(struct dev_client *client, enum dev_queue_kind queue);
void dev_job_destroy(struct dev_job *job);
int dev_job_wait_for(struct dev_job *job, struct dev_fence *fence); /* NULL: nothing */
/* Hands over a job; from now on the device destroys it. */
void dev_job_push(struct dev_client *client, struct dev_job *job);

/* One worker thread; job is its mailbox in both directions, under lock. */
struct dev_worker {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  struct dev_device *device;
  struct dev_job *job, *finished;
  bool started, stop;
};

struct dev_queue {
  struct dev_job *first, **last; /* waiting, in the order of submission */
  struct dev_job *running;
  struct dev_worker worker; /* unused for DEV_QUEUE_CPU, whose jobs run in the loop */
};

int dev_queues_start(struct dev_device *device);
/* Stops the running jobs, which are reported if that failed them, and drops the others. */
void dev_queues_stop(struct dev_device *device);
/* Takes back finished jobs and starts those that can run now. */
void dev_queues_progress(struct dev_device *device);
int dev_cpu_run(struct dev_job *job);

/* -- Waiting clients -- */

struct dev_wait_entry {
  struct dev_syncobj *syncobj; /* NULL: fence alone counts */
  uint64_t point;              /* of the syncobj's timeline, or 0 */
  struct dev_fence *fence;     /* NULL: not submitted yet */
};

struct dev_call;

struct dev_wait {
  struct dev_wait *next;
  uint64_t deadline_ns; /* CLOCK_MONOTONIC; UINT64_MAX: none */
  bool all;
  bool available; /* a fence that is there counts, signaled or not */
  int result;     /* once it is over */
  size_t n;
  struct dev_wait_entry *entries;
  /* A transfer's: what gets the fence of the only entry. */
  struct dev_syncobj *target;
  uint64_t target_point;
  /* How the answer gets into the call's argument; first: index of the first signaled. Returns
     the result of the call, given that of the wait. */
  int (*finish)(struct dev_wait *wait, int result, uint32_t first, uint64_t now_ns);
  struct dev_call *call; /* answered by device->answer */
};

uint64_t dev_now_ns(void);
/* Begins a wait; takes the entries over. Returns DEV_PENDING or what the call returns at once. */
int dev_wait_begin(struct dev_wait *wait, struct dev_call *call);
/* Answers the waits that are over. Returns whether there was one. */
bool dev_waits_progress(struct dev_device *device);
void dev_waits_cancel(struct dev_device *device, const struct dev_call *call);
uint64_t dev_waits_deadline(const struct dev_device *device); /* UINT64_MAX: none */

/* -- The device -- */

struct dev_device {
  daedalus_v3d_profile profile;
  daedalus_v3d_executor executor;
  struct dev_memory memory;
  struct dev_queue queues[DEV_N_QUEUES];
  int done_event; /* eventfd: a worker has finished a job */
  struct dev_client *clients;
  struct dev_client *calling; /* whose ioctl is being done: not swept, even when just closed */
  uint32_t next_client;
  struct dev_export *exports;
  size_t n_exports, sweep_at; /* so many exports and sync files are reason to look which are held */
  uint32_t next_export;
  struct dev_sync_file *sync_files;
  size_t n_sync_files, n_unwritten;
  struct dev_wait *waits;
  uint64_t serial; /* of submissions */
  FILE *log;       /* or NULL */
  FILE *jobs;      /* a line for each job that ended, or NULL */
  bool timelines;  /* timeline syncobjs are offered, which the hardware's driver does not */
  bool strict;     /* jobs are checked against all rules */
  bool quiet;      /* reports go to the log alone */
  uint64_t n_failed, n_refused, n_jobs;
  /* Sends the reply of a call that was pending. */
  void (*answer)(struct dev_call *call, int result);
};

int dev_device_init(struct dev_device *device, const daedalus_v3d_executor *executor,
                    const daedalus_v3d_profile *profile, uint64_t memory_limit);
void dev_device_destroy(struct dev_device *device);
/* Runs what can run and answers waits that are over; after every call and every event. */
void dev_device_progress(struct dev_device *device);

/* Jobs that failed, and requests that this device does not carry: to stderr and the log. */
void dev_report(struct dev_device *device, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
