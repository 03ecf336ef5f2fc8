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
#include "fault.h"
#include "handles.h"
#include "memory.h"
#include "protocol.h"
#include "sync.h"

/* -- Buffers -- */

struct dev_bo {
  unsigned refs;
  bool exported; /* one of the references is the export's */
  struct dev_device *device;
  struct dev_range range;
  struct dev_fence *last; /* of the last job that named the buffer */
  uint64_t mark;          /* serial of the submission that looked it up last */
};

/* A new buffer with one reference. -EINVAL, -ENOMEM, -ENOSPC. */
int dev_bo_create(struct dev_device *device, uint64_t bytes, struct dev_bo **bo);
void dev_bo_unref(struct dev_bo *bo);
/* A descriptor with an access mode that keeps the buffer alive, or a negative errno. */
int dev_bo_descriptor(struct dev_bo *bo, int mode);

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

enum dev_queue_kind { DEV_QUEUE_CL, DEV_QUEUE_TFU, DEV_QUEUE_CSD, DEV_QUEUE_CPU, DEV_N_QUEUES };

struct dev_client {
  uint32_t id;
  bool lost;     /* the device is gone for it: every call is ENODEV */
  bool unserved; /* work of its is not simulated: no wait ends well */
  struct dev_device *device;
  struct dev_client *next;
  struct dev_handles bos;               /* struct dev_bo */
  struct dev_handles syncobjs;          /* struct dev_syncobj */
  struct dev_handles perfmons;          /* struct dev_perfmon */
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
/* Whether this system can do that: it takes /proc and locks of open file descriptions. */
int dev_descriptors_check(const struct dev_device *device);
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
/* To be called before one more export or sync file is made: sweeps when there are many. */
void dev_sweep_if_many(struct dev_device *device);
void dev_exports_sweep(struct dev_device *device);
void dev_exports_destroy(struct dev_device *device);

/* -- Jobs -- */

struct dev_perfmon;

struct dev_query {
  uint32_t offset;               /* bytes in the timestamp buffer */
  struct dev_perfmon **perfmons; /* of a performance query; NULL where one is unknown */
  uint32_t n_perfmons;
  struct dev_syncobj *syncobj;
};

struct dev_cpu_work {
  uint32_t type; /* an extension number of abi.h */
  uint32_t n;
  struct dev_query *queries; /* n */
  /* copies of timestamps */
  bool wide, partial, availability;
  uint32_t offset, stride;
  uint32_t n_counters; /* of each performance query */
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
  uint64_t submission; /* number of the call that brought it */
  uint32_t client;     /* id: it may be closed by now */
  struct dev_fence *done;
  struct dev_fence **waits;
  size_t n_waits;
  struct dev_view *view;
  struct dev_bo **bos; /* named by the submission */
  size_t n_bos;
  uint32_t cfg[7];             /* CSD */
  uint32_t bcl_start, bcl_end; /* CL; equal: there is no binning */
  uint32_t rcl_start, rcl_end; /* CL */
  uint64_t moves;              /* CL: bytes, as seen at submission */
  struct dev_cpu_work cpu;
  struct dev_perfmon *perfmon; /* or NULL */
  bool skip;                   /* there is nothing to run: an indirect dispatch of no groups */
  bool refused; /* it is not simulated, as message says: it fails without being run */
  /* Faults of the device that strike it, or NULL. */
  struct dev_fault *hang, *slow, *flip, *lost;
  bool hung;                   /* that one did: it may also have failed by itself before */
  bool slowed;                 /* likewise: a job that was not run is not slow */
  struct dev_snapshot *before; /* to see what is written; NULL: not kept */
  uint64_t n_flipped;          /* bits */
  int result;                  /* of the run */
  daedalus_v3d_counts counts;
  uint64_t wall_ns, cpu_ns;      /* that the run took */
  struct dev_modelled *modelled; /* timed.h; NULL: the job was not timed */
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

/* What a queue has to know of its jobs: kinds.c has them, and queues are given them. */
struct dev_kind {
  const char *name, *fence_name; /* for reports, and as the kernel calls the queue */
  bool has_worker;               /* else all jobs run in the loop */
  bool can_stop;                 /* the executor can be told to end what runs */
  bool (*runs_in_loop)(const struct dev_job *job);
  int (*run)(struct dev_job *job); /* NULL: all its jobs are refused */
};

extern const struct dev_kind dev_kinds[DEV_N_QUEUES];

struct dev_queue {
  const struct dev_kind *kind;
  struct dev_job *first, **last; /* waiting, in the order of submission */
  struct dev_job *running;
  struct dev_job *held; /* has run, or never will; ends at held_until_ns (CLOCK_MONOTONIC) */
  uint64_t held_until_ns;
  bool stopped;             /* the executor was told to end what runs */
  struct dev_worker worker; /* unused for DEV_QUEUE_CPU, whose jobs run in the loop */
};

/* kinds: DEV_N_QUEUES of them. */
int dev_queues_start(struct dev_device *device, const struct dev_kind *kinds);
/* Stops the running jobs, which are reported if that failed them, and drops the others. */
void dev_queues_stop(struct dev_device *device);
/* Takes back finished jobs and starts those that can run now. */
void dev_queues_progress(struct dev_device *device);
/* When the first held job ends; UINT64_MAX: there is none. */
uint64_t dev_queues_deadline(const struct dev_device *device);
/* The jobs of a client (0: of all) end soon, with ENODEV and without being run. */
void dev_queues_lose(struct dev_device *device, struct dev_fault *fault, uint32_t client);
int dev_cpu_run(struct dev_job *job);
/* bytes at an offset of a buffer, or NULL with a message. */
uint8_t *dev_job_bo_at(struct dev_job *job, const struct dev_bo *bo, uint64_t offset,
                       uint64_t bytes);

/* -- Waiting clients -- */

struct dev_wait_entry {
  struct dev_syncobj *syncobj; /* NULL: fence alone counts */
  struct dev_fence *fence;     /* NULL: not submitted yet */
};

struct dev_call;

struct dev_wait {
  struct dev_wait *next;
  uint64_t deadline_ns; /* of the waits' clock; UINT64_MAX: none */
  uint64_t begun_ns;    /* dev_clock_begun of when the deadline was reckoned */
  uint32_t client;      /* id; 0: the descriptor is no node's */
  bool all;
  bool relative;    /* its timeout counts from the call, and so what is left from the next one */
  bool interrupted; /* and answered: kept for its time, until the call's next one */
  /* Of an interrupted relative one: what it has left, and CLOCK_MONOTONIC when it was. */
  uint64_t left_ns, interrupted_ns;
  int result; /* once it is over */
  size_t n;
  struct dev_wait_entry *entries;
  /* How the answer gets into the call's argument; first: index of the first signaled. Returns
     the result of the call, given that of the wait and what the waits' clock shows. */
  int (*finish)(struct dev_wait *wait, int result, uint32_t first, uint64_t clock_ns);
  struct dev_call *call; /* answered by device->answer */
};

/**
 * Makes the entries of a wait for what syncobjs hold.
 * -ENOENT: there is no such syncobj; -EINVAL: one has no fence yet, but with for_submit that is
 * waited for; -ENOMEM.
 */
int dev_wait_for_syncobjs(struct dev_wait *wait, struct dev_call *call, const uint32_t *handles,
                          uint32_t n, bool for_submit);
/*
 * Begins a wait; takes the entries over. Returns DEV_PENDING or what the call returns at once.
 * When work of its client is not simulated the result is ENODEV in place of 0, no sooner: drivers
 * free what a wait was for when that fails, and a thread of theirs may be about to submit it.
 */
int dev_wait_begin(struct dev_wait *wait, struct dev_call *call);
/* Answers the waits that are over. Returns whether there was one. */
bool dev_waits_progress(struct dev_device *device);
void dev_waits_cancel(struct dev_device *device, const struct dev_call *call);
/* The time after timeout_ns more; UINT64_MAX where there is no such time. */
uint64_t dev_wait_deadline(uint64_t now_ns, uint64_t timeout_ns);
/* A signal ended the wait of a call that is pending. Returns the result of the call. */
int dev_wait_interrupt(struct dev_call *call);
/*
 * A call comes.  If it is the one again that was interrupted, as its answer left the argument, its
 * wait goes on: an absolute one until the same time, a relative one from now with what it had left.
 * Whatever comes, what was kept for that is dropped.
 */
void dev_wait_go_on(struct dev_call *call);
/* CLOCK_MONOTONIC at which one gives up, as things stand; UINT64_MAX: none */
uint64_t dev_waits_deadline(const struct dev_device *device);

/*
 * -- The clock of waits --
 *
 * CLOCK_MONOTONIC, but for compute jobs of a timed device: while one runs the clock stands still,
 * and at its end it has moved on by what the job takes by the model.  So a timeout is one of the
 * device's time, however slow the simulator is.
 */
uint64_t dev_clock_ns(const struct dev_device *device);
/* CLOCK_MONOTONIC where that clock stands still, so that dev_waits_go has a part to add; else 0. */
uint64_t dev_clock_begun(const struct dev_device *device);
/* A compute job begins to run; it has ended, and takes so long by the model: dev_waits_go's. */
void dev_clock_stop(struct dev_device *device);
void dev_clock_go(struct dev_device *device, uint64_t modelled_ns);
/* Has the clock go on. Waits that began while it stood still have missed a part of that job. */
void dev_waits_go(struct dev_device *device, uint64_t modelled_ns);
/* CLOCK_MONOTONIC at which that clock will show clock_ns; UINT64_MAX: that cannot be told yet. */
uint64_t dev_clock_when(const struct dev_device *device, uint64_t clock_ns);

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
  struct dev_sync_file *sync_files, **last_sync_file;
  size_t n_sync_files, n_unwritten;
  struct dev_wait *waits;
  uint64_t serial;           /* of submissions */
  FILE *log;                 /* or NULL */
  FILE *jobs;                /* a line for each job that ended, or NULL */
  bool strict;               /* jobs are checked against all rules */
  bool timed;                /* by the timing model, which timestamps show then: timed.h */
  bool intervals;            /* and by the alternatives to its settings */
  uint64_t gpu_ns;           /* modelled time */
  bool stretches;            /* waits, see the clock of waits; only a timed device */
  uint64_t clock_stopped_ns; /* CLOCK_MONOTONIC; 0: it goes */
  int64_t clock_behind_ns;   /* of CLOCK_MONOTONIC */
  bool quiet;                /* reports go to the log alone */
  uint64_t n_failed;         /* jobs, without those that a fault struck */
  uint64_t n_refused, n_jobs;
  struct dev_faults faults;            /* that it is asked to have; owned */
  uint64_t n_calls[DEV_N_FAULT_CALLS]; /* of those that faults count */
  bool lost;                           /* opening fails */
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
