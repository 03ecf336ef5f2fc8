/* SPDX-License-Identifier: BSD-2-Clause */
/* The device in use: its node, its buffer objects, its failures. */
#ifndef DAEDALUS_DRM_DEVICE_H
#define DAEDALUS_DRM_DEVICE_H

#include "gpu/drm/node.h"
#include "gpu/backend.h"

/** A buffer object. */
typedef struct daedalus_drm_block {
  daedalus_gpu_block base;
  uint32_t handle;  /* of GEM; imports of one buffer have the same */
  uint32_t address; /* of the GPU */
  size_t map_size;
  struct daedalus_drm_block *after, *before; /* in daedalus_drm.blocks */
} daedalus_drm_block;

typedef struct daedalus_drm_program daedalus_drm_program;       /* program.h */
typedef struct daedalus_drm_submission daedalus_drm_submission; /* submit.h */

typedef struct daedalus_drm {
  daedalus_gpu_backend base;
  daedalus_drm_functions fn;
  daedalus_drm_node node;
  size_t page;                /* bytes, of the system */
  daedalus_drm_block *blocks; /* all that are alive */
  uint64_t last_id;
  daedalus_drm_submission *kept; /* for use again, the latest first */
  daedalus_gpu_program *copier;  /* NULL until something is to be copied */
  bool copier_tested;
  daedalus_gpu_block *marker; /* holds what blocks are marked with; NULL as above */
  uint32_t newest_sync;       /* the syncobj of what was submitted last; 0: nothing was */
  uint32_t query_sync;        /* that timestamps want besides; 0 until one is asked for */
  uint64_t reset_ns;          /* a submission that takes so long was reset; 0: none ever is */
  uint64_t ended_ns;          /* a submission's end, or less: the one behind it begins no earlier */
  uint64_t ended_made_ns;     /* when that one was submitted */
} daedalus_drm;

static inline daedalus_drm *daedalus_drm_of(daedalus_gpu_backend *backend) {
  return (daedalus_drm *)backend;
}

static inline const daedalus_drm_block *daedalus_drm_block_of(const daedalus_gpu_block *block) {
  return (const daedalus_drm_block *)block;
}

/**
 * Takes note of a failed call.
 * @param error  positive, as errno has it
 * @return -ENOMEM for want of memory or descriptors, else -EIO; a device that is gone is lost
 */
int daedalus_rt_drm_failed(daedalus_drm *drm, const char *call, int error);

/** An ioctl of the node.  @return 0 or an error of daedalus_rt_drm_failed() */
int daedalus_rt_drm_ioctl(daedalus_drm *drm, const char *call, unsigned long request, void *arg);

/* Blocks, for the route; see backend.h. */
int daedalus_rt_drm_block_create(daedalus_gpu_backend *backend, daedalus_gpu_place place,
                                 uint64_t size, bool exported, daedalus_gpu_block **block);
int daedalus_rt_drm_block_import(daedalus_gpu_backend *backend, int fd, uint64_t size,
                                 daedalus_gpu_block **block);
int daedalus_rt_drm_block_export(daedalus_gpu_backend *backend, const daedalus_gpu_block *block,
                                 int *fd);
void daedalus_rt_drm_block_destroy(daedalus_gpu_backend *backend, daedalus_gpu_block *block);

#endif /* DAEDALUS_DRM_DEVICE_H */
