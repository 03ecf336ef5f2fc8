/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a route to the GPU offers to the rest of runtime/gpu: blocks of memory, programs made of
 * variants, and submissions of work, which take effect in the order in which they are submitted.
 *
 * A route's own structs begin with the ones here and are made by it.  Errors are negative: -ENOMEM
 * for want of memory of any kind, which may be there later; -EIO for all else, `failed_call` and
 * `failed_why` set for the one message about it, and `lost` if nothing can be expected any more.
 */
#ifndef DAEDALUS_GPU_BACKEND_H
#define DAEDALUS_GPU_BACKEND_H

#include <stdbool.h>

#include "base/context.h"

typedef struct daedalus_gpu_backend daedalus_gpu_backend;
typedef struct daedalus_gpu_pool daedalus_gpu_pool; /* pool.h */

enum { DAEDALUS_GPU_BUFFERS_MOST = 15 }; /* of a kernel: so many push constants Vulkan promises */

/* ----------------------------------------------------------------- memory */

typedef enum daedalus_gpu_place {
  DAEDALUS_GPU_SHARED, /* the CPU sees it */
  DAEDALUS_GPU_LOCAL,  /* the device's own, which the CPU may not see */
} daedalus_gpu_place;

/** A piece of memory that the GPU can use, with an allocation of its own. */
typedef struct daedalus_gpu_block {
  unsigned char *map; /* coherent; NULL where the CPU does not see it, or it was imported */
  uint64_t size;      /* as asked for */
  uint64_t id;        /* of the context's blocks; never used twice, as handles and addresses are */
  struct daedalus_gpu_block *next; /* whoever holds it makes lists of it */
  int size_class;                  /* of the pool */
} daedalus_gpu_block;

/* --------------------------------------------------------------- programs */

typedef enum daedalus_gpu_trust {
  DAEDALUS_GPU_UNTESTED,
  DAEDALUS_GPU_TRUSTED,
  DAEDALUS_GPU_REFUSED /* `why` tells the reason */
} daedalus_gpu_trust;

/** A variant as it runs on the device, for one size of workgroups. */
typedef struct daedalus_gpu_program {
  const daedalus_kernel_desc *kernel;
  const daedalus_variant *variant;
  uint32_t asked;    /* workgroup as it was asked for, 0 for the variant's own */
  size_t items_step; /* items of a workgroup, or of all threads: what a self-test has twice */
  /* Of a trip of a group of threads that share caches; divides items_step.  0: there are none */
  size_t items_group;
  size_t items_most; /* of a dispatch; at least DAEDALUS_GPU_ITEMS_UNIT */
  /* Estimates, for bound.h: of an item, at least 1, and of a dispatch besides its items */
  uint64_t item_clocks, job_clocks;
  daedalus_gpu_trust trust;
  char why[256];
  struct daedalus_gpu_program *next;
} daedalus_gpu_program;

/** Dispatches begin at multiples of so many items, so that their records do at multiples of 256. */
enum { DAEDALUS_GPU_ITEMS_UNIT = 64 };

/* ------------------------------------------------------------------- work */

/** A part of a block, and where in it a buffer of the caller lies. */
typedef struct daedalus_gpu_window {
  const daedalus_gpu_block *block;
  uint64_t offset, range; /* bytes; the offset is a multiple of 256, the range of 4 */
  uint32_t base;          /* bytes from the offset to the caller's element 0, modulo 2^32 */
  int32_t stride;         /* bytes */
} daedalus_gpu_window;

typedef struct daedalus_gpu_dispatch {
  daedalus_gpu_program *program;
  daedalus_gpu_window buffers[DAEDALUS_GPU_BUFFERS_MOST]; /* the kernel's; untouched ones: any */
  daedalus_gpu_window records;
  uint32_t first;      /* record to begin with, a multiple of DAEDALUS_GPU_ITEMS_UNIT */
  uint32_t n_items;    /* at least 1 */
  uint32_t index_most; /* the largest index of an item that a record may hold */
} daedalus_gpu_dispatch;

/** A list of operations, to be submitted and waited for together. */
typedef struct daedalus_gpu_submission {
  struct daedalus_gpu_submission *next; /* whoever holds it makes lists of it */
} daedalus_gpu_submission;

/** Bytes to copy; both offsets leave the same remainder by 16, and the 16 around may go, too. */
typedef struct daedalus_gpu_copy {
  const daedalus_gpu_block *from, *to;
  uint64_t from_offset, to_offset, size;
} daedalus_gpu_copy;

/* ------------------------------------------------------------------ route */

/** How the GPU is reached.  Each function is given what `create` made. */
struct daedalus_gpu_route {
  const char *name; /* as DAEDALUS_QPU_ROUTE has it */

  /** Whether a variant is one of this route's. */
  bool (*has)(const daedalus_variant *variant);

  /**
   * Loads what the route needs and looks which devices there are; uses none yet.
   * @param[out] why  on failure a sentence
   * @return 0, or -ENODEV with nothing made
   */
  int (*create)(daedalus_ctx *ctx, daedalus_gpu_backend **backend, char *why, size_t why_size);
  /** What is to be listed; both NULL where the route lists nothing. */
  size_t (*n_devices)(const daedalus_gpu_backend *backend);
  const daedalus_device_info *(*device_at)(const daedalus_gpu_backend *backend, size_t index);
  /** Takes a device: `asked` as daedalus/gpu.h says, NULL for the best.  @return 0 or -ENODEV */
  int (*open)(daedalus_gpu_backend *backend, const char *asked, char *why, size_t why_size);
  /** Frees all: blocks, programs and submissions were given back before.  Opened or not. */
  void (*destroy)(daedalus_gpu_backend *backend);
  /** Waits until nothing is in flight, if that can be waited for. */
  void (*idle)(daedalus_gpu_backend *backend);

  /** @param exported  whether `block_export` may be asked for.  -ENOTSUP: no memory is fit */
  int (*block_create)(daedalus_gpu_backend *backend, daedalus_gpu_place place, uint64_t size,
                      bool exported, daedalus_gpu_block **block);
  /** A dma-buf of `size` bytes or more; the descriptor stays the caller's.  -ENOTSUP: it cannot be
   * imported.  Without `failed_call` it was the host's memory that was wanting. */
  int (*block_import)(daedalus_gpu_backend *backend, int fd, uint64_t size,
                      daedalus_gpu_block **block);
  /** @return 0, -ENOTSUP or -EIO */
  int (*block_export)(daedalus_gpu_backend *backend, const daedalus_gpu_block *block, int *fd);
  /** NULL is fine.  What hangs is left to the kernel. */
  void (*block_destroy)(daedalus_gpu_backend *backend, daedalus_gpu_block *block);

  /** The kernel's variant with that workgroup, not yet on the device; or refused, `why` set. */
  int (*program_create)(daedalus_gpu_backend *backend, const daedalus_kernel_desc *kernel,
                        const daedalus_variant *variant, uint32_t workgroup,
                        daedalus_gpu_program **program);
  /** Puts it on the device unless it is there.  @return 0; -EINVAL where its packed code is none */
  int (*program_make)(daedalus_gpu_backend *backend, daedalus_gpu_program *program);
  void (*program_destroy)(daedalus_gpu_backend *backend, daedalus_gpu_program *program);

  /** An empty submission.  @param timed  `elapsed` will be asked for */
  int (*begin)(daedalus_gpu_backend *backend, bool timed, daedalus_gpu_submission **submission);
  /** -E2BIG: `too_large` says what is */
  int (*dispatch)(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                  const daedalus_gpu_dispatch *dispatch);
  /** What comes after sees what was done before, by earlier submissions, too. */
  int (*barrier)(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission);
  int (*copy)(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
              const daedalus_gpu_copy *copy);
  /** Takes a block over from whoever else uses its dma-buf, or hands it over to them. */
  int (*hand_over)(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                   const daedalus_gpu_block *block, bool acquire);
  /** Sets the first word of a block; up to 15 bytes behind it may change, too. */
  int (*mark)(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
              const daedalus_gpu_block *block, uint32_t value);
  /** After a failure a part of it may be in flight (`begun`): to be waited for all the same. */
  int (*submit)(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission);
  /** @return 0 (also when nothing of it was submitted), -ETIME not yet, or an error */
  int (*wait)(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
              uint64_t timeout_ns);
  /** Takes it back; it is done, or was never submitted. */
  void (*give)(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission);
  /** Nanoseconds from the beginning of one to the end of the other; both are done. */
  int (*elapsed)(daedalus_gpu_backend *backend, const daedalus_gpu_submission *first,
                 const daedalus_gpu_submission *last, uint64_t *ns);
  /** A sync file that signals when all that was submitted is done.  @return 0, -ENOTSUP, -EIO */
  int (*export_fence)(daedalus_gpu_backend *backend, int *fd);
};

/** The device in use; a route's own struct begins with it. */
struct daedalus_gpu_backend {
  const daedalus_gpu_route *route;
  daedalus_ctx *ctx;
  daedalus_gpu_pool *pool;   /* set before `open`, to take blocks from after it */
  uint64_t timeout_ns;       /* without progress: then the device hangs; set before `open` */
  daedalus_device_info info; /* set by `open`, like what follows */
  uint64_t range_most;       /* of a window */
  uint64_t block_unit;       /* what a block takes at least; a power of two */
  bool staged;               /* a daedalus_memory is DAEDALUS_GPU_LOCAL with a copy */
  bool exports_dmabuf;
  const char *too_large; /* what -E2BIG was about: "more memory than ..." */
  bool begun;            /* the last `submit` failed, with a dispatch of it in flight */
  bool lost;             /* it failed for good */
  bool hung; /* lost by time: what was submitted may still run, so that nothing may be destroyed */
  bool was_reset;    /* the last failed `wait` was about a job that the kernel ended; others run */
  bool copies_reset; /* and among what it ended were copies or marks */
  /* The last failure, for the one message about it; static texts. */
  const char *failed_call, *failed_why;
};

/** The words of a record, tables, and alignment: what both kinds of GPU code say alike. */
typedef struct daedalus_gpu_arguments {
  const uint16_t *record;
  size_t n_record;
  const uint32_t *constants;
  size_t n_constants;
  const uint8_t *align;
} daedalus_gpu_arguments;

static inline daedalus_gpu_arguments daedalus_gpu_arguments_of(const daedalus_variant *variant) {
  const daedalus_gpu_code *gpu = variant->gpu;
  const daedalus_qpu_code *qpu = variant->qpu;
  return gpu != NULL ? (daedalus_gpu_arguments){gpu->record, gpu->n_record, gpu->constants,
                                                gpu->n_constants, gpu->align}
                     : (daedalus_gpu_arguments){qpu->record, qpu->n_record, qpu->constants,
                                                qpu->n_constants, qpu->align};
}

/** CLOCK_MONOTONIC, in nanoseconds; the kernel's fences have the same time. */
uint64_t daedalus_rt_gpu_now(void);

/** The routes, of which a build may have stubs; a context is handed them when it is made. */
enum { DAEDALUS_GPU_ROUTES = 2 };
extern const daedalus_gpu_route daedalus_gpu_vulkan, daedalus_gpu_drm;

#endif /* DAEDALUS_GPU_BACKEND_H */
