/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for submissions, and what their fences tell of time; the other half of submit.h. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gpu/drm/submit.h"
#include "../../../v3d/device/abi.h"

static const uint64_t idle_most = UINT64_C(2000000000); /* ns, that nothing is waited for longer */
static const uint64_t told_apart = UINT64_C(20000000);  /* ns, above which fences tell the time */

int daedalus_rt_drm_elapsed(daedalus_gpu_backend *backend, const daedalus_gpu_submission *first,
                            const daedalus_gpu_submission *last, uint64_t *ns) {
  (void)backend;
  const daedalus_drm_submission *a = (const daedalus_drm_submission *)first;
  const daedalus_drm_submission *b = (const daedalus_drm_submission *)last;
  if (a->stream == NULL || b->stream == NULL) {
    return -ENOTSUP;
  }
  uint64_t begin, end;
  memcpy(&begin, a->stream->map + a->times_at, sizeof(begin));
  memcpy(&end, b->stream->map + b->times_at + sizeof(begin), sizeof(end));
  *ns = end - begin;
  return 0;
}

/** When a syncobj's fence signaled, which it has; 0 where nobody tells. */
static uint64_t end_of(const daedalus_drm *drm, uint32_t sync) {
  int fd = -1;
  if (drm->fn.drmSyncobjExportSyncFile(drm->node.fd, sync, &fd) != 0) {
    return 0;
  }
  struct abi_sync_fence_info fence = {.status = 0};
  struct abi_sync_file_info info = {.n_fences = 1, .fences = (uintptr_t)&fence};
  const unsigned long request =
      ABI_REQUEST_OF(ABI_TYPE_SYNC_FILE, 1, ABI_SYNC_INFO, struct abi_sync_file_info);
  const bool told = drm->fn.drmIoctl(fd, request, &info) == 0 && info.n_fences == 1;
  close(fd);
  return told ? fence.timestamp_ns : 0;
}

/** When a submission began, or earlier; what was submitted behind it tells nothing of that. */
static uint64_t begin_of(const daedalus_drm *drm, const daedalus_drm_submission *submission) {
  const bool behind = submission->submitted_ns >= drm->ended_made_ns;
  return behind && drm->ended_ns > submission->submitted_ns ? drm->ended_ns
                                                            : submission->submitted_ns;
}

static void note_end(daedalus_drm *drm, const daedalus_drm_submission *submission, uint64_t ended) {
  if (submission->submitted_ns >= drm->ended_made_ns) {
    drm->ended_ns = ended;
    drm->ended_made_ns = submission->submitted_ns;
  }
}

/** Whether a submission, which is done, took so long that the kernel must have reset the GPU. */
static bool was_reset(daedalus_drm *drm, daedalus_drm_submission *submission) {
  const uint64_t began = begin_of(drm, submission);
  uint64_t ended = daedalus_rt_gpu_now();
  if (drm->reset_ns == 0 || ended - began < told_apart) {
    note_end(drm, submission, began);
    return false;
  }
  const uint64_t told = end_of(drm, submission->awaited);
  ended = told != 0 && told < ended ? told : ended;
  ended = ended > began ? ended : began;
  note_end(drm, submission, ended);
  if (ended - began < drm->reset_ns) {
    return false;
  }
  const uint64_t copied = submission->copied ? end_of(drm, submission->copies_sync) : began;
  submission->copies_reset = copied == 0 || (copied > began && copied - began >= drm->reset_ns);
  return true;
}

static int failed_by_reset(daedalus_drm *drm, const daedalus_drm_submission *submission) {
  drm->base.failed_call = "a compute job";
  drm->base.failed_why = "it took as long as only one does that the kernel ends by a reset";
  drm->base.was_reset = true;
  drm->base.copies_reset = submission->copies_reset;
  return -EIO;
}

/** Asks for anything: a wait that is under way when the device goes away ends as if all were well.
 */
static int still_there(daedalus_drm *drm) {
  struct abi_get_param get = {.param = 0};
  return daedalus_rt_drm_ioctl(drm, "DRM_IOCTL_V3D_GET_PARAM",
                               ABI_REQUEST(1, ABI_V3D_GET_PARAM, struct abi_get_param), &get);
}

int daedalus_rt_drm_wait(daedalus_gpu_backend *backend, daedalus_gpu_submission *base,
                         uint64_t timeout_ns) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  daedalus_drm_submission *submission = daedalus_drm_submission_of(base);
  if (!submission->submitted) {
    return submission->reset ? failed_by_reset(drm, submission) : 0;
  }
  const uint64_t most = INT64_MAX, now = timeout_ns == 0 ? 0 : daedalus_rt_gpu_now();
  const int64_t until = timeout_ns > most - now ? INT64_MAX : (int64_t)(now + timeout_ns);
  const int result = drm->fn.drmSyncobjWait(drm->node.fd, &submission->awaited, 1, until, 0, NULL);
  if (result == -ETIME) {
    return -ETIME;
  }
  if (result != 0) {
    return daedalus_rt_drm_failed(drm, "DRM_IOCTL_SYNCOBJ_WAIT", -result);
  }
  const int error = timeout_ns == 0 ? 0 : still_there(drm);
  if (error != 0) {
    return error;
  }
  submission->submitted = false;
  submission->reset = was_reset(drm, submission);
  return submission->reset ? failed_by_reset(drm, submission) : 0;
}

void daedalus_rt_drm_idle(daedalus_gpu_backend *backend) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  if (drm->newest_sync != 0) {
    drm->fn.drmSyncobjWait(drm->node.fd, &drm->newest_sync, 1,
                           (int64_t)(daedalus_rt_gpu_now() + idle_most), 0, NULL);
  }
}

int daedalus_rt_drm_export_fence(daedalus_gpu_backend *backend, int *fd) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  if (drm->newest_sync == 0) {
    return -ENOTSUP;
  }
  if (drm->fn.drmSyncobjExportSyncFile(drm->node.fd, drm->newest_sync, fd) != 0) {
    *fd = -1;
    return daedalus_rt_drm_failed(drm, "DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD", errno);
  }
  return 0;
}
