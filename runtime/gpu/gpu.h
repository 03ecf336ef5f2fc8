/* SPDX-License-Identifier: BSD-2-Clause */
/* The GPU of a context: everything below the route, put together. */
#ifndef DAEDALUS_GPU_GPU_H
#define DAEDALUS_GPU_GPU_H

#include "gpu/backend.h"
#include "gpu/dmabuf.h"
#include "gpu/extent.h"
#include "gpu/pool.h"
#include "gpu/route.h"

struct daedalus_gpu {
  daedalus_ctx *ctx;
  daedalus_gpu_backend *listed;  /* of the route whose devices are listed; NULL until they are */
  bool tried;                    /* opening; it is tried once */
  daedalus_gpu_backend *backend; /* in use; NULL until it is opened */
  daedalus_gpu_pool pool;
  daedalus_gpu_program *programs;
  uint64_t progress_ns;      /* when a submission was last seen to end, or made for an idle GPU */
  unsigned n_resets;         /* after which the device went on to be used */
  daedalus_memory *memories; /* all that are not destroyed */
  daedalus_gpu_dmabuf *dmabufs;                 /* that they lie in */
  uint64_t n_jobs;                              /* that were put together */
  daedalus_gpu_job *in_flight, *in_flight_last; /* in the order of submission */
};

struct daedalus_memory {
  daedalus_gpu *gpu;
  daedalus_gpu_block *block;   /* what the GPU uses */
  daedalus_gpu_block *staging; /* what the CPU uses, where that is another one */
  unsigned char *data;         /* `size` bytes */
  uintptr_t base; /* where they count as lying when uses are compared; one for all of a dma-buf */
  daedalus_gpu_dmabuf *dmabuf; /* what it was imported from or exported as; NULL: not known */
  size_t size;
  size_t map_size; /* what is to be unmapped; 0: nothing */
  int fd;          /* of an imported dma-buf, for telling it when the CPU uses it; -1 */
  bool imported;
  bool released;    /* others use it, too: acquired by each submission that does, and released */
  uint64_t used_by; /* the last job that does, of gpu->n_jobs */
  bool readable;    /* the CPU can use `data` */
  bool staged;
  daedalus_gpu_extent newer; /* staged: what the GPU wrote and the CPU has not fetched */
  daedalus_memory *next, *previous;
};

/** The context's GPU, opened the first time.  @return 0 or -ENODEV, logged the first time */
int daedalus_rt_gpu_get(daedalus_ctx *ctx, daedalus_gpu **gpu);

/**
 * The entry of a variant: there already, or new and either untested or, where the device lacks what
 * the variant needs, refused with the limit's name.
 * @return NULL when there is no memory for it
 */
daedalus_gpu_program *daedalus_rt_gpu_program_find(daedalus_gpu *gpu,
                                                   const daedalus_kernel_desc *kernel,
                                                   const daedalus_variant *variant,
                                                   uint32_t workgroup);

/** The one message about a failure, and about what follows from it. */
void daedalus_rt_gpu_report(daedalus_gpu *gpu, int error);

/** The memory that holds all of the extent, or NULL. */
daedalus_memory *daedalus_rt_gpu_memory_at(const daedalus_gpu *gpu, daedalus_gpu_extent extent);

/**
 * Copies between a staged memory's two halves and waits for it.  Where that
 * fails, out of memory at the second try too, the device counts as lost, since
 * from then on nobody could tell which half is the right one.
 * @param to_device  the direction
 * @return 0, or -ECANCELED: the device is lost, which is logged; jobs in flight are the caller's
 */
int daedalus_rt_gpu_memory_copy(daedalus_memory *memory, daedalus_gpu_extent extent,
                                bool to_device);

/** What is asked of a dma-buf before (`begin`) and after the CPU uses it; others are left alone. */
void daedalus_rt_gpu_memory_cpu(const daedalus_memory *memory, bool begin);

/**
 * Waits for what still uses memory in place on a device that does not let be
 * waited for any more, as it is lost: by the fences of its dma-buf.
 * Without that, and on a card, where the CPU has a copy, it does nothing.
 */
void daedalus_rt_gpu_memory_settle(daedalus_memory *memory);

/** Whether a submission in flight ended that was not known to: then the device is alive. */
bool daedalus_rt_gpu_any_progress(daedalus_gpu *gpu);

#endif /* DAEDALUS_GPU_GPU_H */
