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

#include "drm/program.h"

int daedalus_rt_drm_begin(daedalus_gpu_backend *backend, bool timed,
                          daedalus_gpu_submission **submission);
int daedalus_rt_drm_dispatch(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                             const daedalus_gpu_dispatch *dispatch);
int daedalus_rt_drm_submit(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission);
int daedalus_rt_drm_wait(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission,
                         uint64_t timeout_ns);
void daedalus_rt_drm_give(daedalus_gpu_backend *backend, daedalus_gpu_submission *submission);
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
