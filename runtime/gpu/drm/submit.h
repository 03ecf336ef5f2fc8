/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Submissions: compute jobs (SUBMIT_CSD), one a dispatch, in the order of the node's queue.
 *
 * The kernel runs one such job after the other, empties the caches before each, and has written all
 * of it to memory before its fence signals; a job waits for the last one that named one of its
 * buffers.  So no job sees less than what those before it wrote, and barriers are nothing to do.
 *
 * When a job makes no progress for 500 ms the kernel resets the GPU, and the job's fence signals as
 * if all were well.  What a submission may do is far below that, so one that took `reset_ns` by the
 * times of the fences is taken for one that was reset: its wait gives -EIO, with `failed_call` set.
 */
#ifndef DAEDALUS_DRM_SUBMIT_H
#define DAEDALUS_DRM_SUBMIT_H

#include "base/alloc.h"
#include "gpu/drm/program.h"

struct daedalus_drm_submission {
  daedalus_gpu_submission base;
  daedalus_vec jobs;            /* of submit.c */
  daedalus_vec words;           /* uint32_t, the streams of all */
  daedalus_gpu_block *stream;   /* NULL until it is submitted */
  daedalus_gpu_block *scratch;  /* NULL where none is needed yet */
  daedalus_gpu_block *outgrown; /* scratch of earlier jobs */
  uint32_t sync;                /* syncobj, of the last job */
  uint32_t copies_sync;         /* of the last one that copies; 0 where none ever did */
  uint32_t time_syncs[2];       /* of the timestamps before and behind all; 0 as above */
  bool timed;
  uint32_t times_at;        /* of the two in the stream, bytes */
  uint32_t awaited;         /* the one of these that the last job signals */
  bool submitted;           /* part of it at least, and not known to be done */
  bool reset, copies_reset; /* the kernel ended it; copies among it */
  bool copied;              /* some job of it copies */
  uint64_t submitted_ns;
};

static inline daedalus_drm_submission *daedalus_drm_submission_of(daedalus_gpu_submission *base) {
  return (daedalus_drm_submission *)base;
}

int daedalus_rt_drm_begin(daedalus_gpu_backend *backend, bool timed,
                          daedalus_gpu_submission **submission);
int daedalus_rt_drm_dispatch(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                             const daedalus_gpu_dispatch *dispatch);
int daedalus_rt_drm_submit(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission);
int daedalus_rt_drm_wait(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                         uint64_t timeout_ns);
void daedalus_rt_drm_give(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission);
int daedalus_rt_drm_elapsed(daedalus_gpu_backend *backend, const daedalus_gpu_submission *first,
                            const daedalus_gpu_submission *last, uint64_t *ns);
int daedalus_rt_drm_export_fence(daedalus_gpu_backend *backend, int *fd);
void daedalus_rt_drm_idle(daedalus_gpu_backend *backend);

/** Frees the submissions that are kept. */
void daedalus_rt_drm_submissions_close(daedalus_drm *drm);

/* copy.c */
int daedalus_rt_drm_copy(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                         const daedalus_gpu_copy *copy);
int daedalus_rt_drm_mark(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                         const daedalus_gpu_block *block, uint32_t value);

#endif /* DAEDALUS_DRM_SUBMIT_H */
