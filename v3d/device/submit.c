/* SPDX-License-Identifier: BSD-2-Clause */
#include "submit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cl.h"
#include "perfmon.h"

void dev_syncs_drop(struct dev_syncs *syncs) {
  for (size_t i = 0; i < syncs->n_in; i++)
    dev_fence_unref(syncs->in[i]);
  for (size_t i = 0; i < syncs->n_out; i++)
    dev_syncobj_unref(syncs->out[i]);
  free(syncs->in);
  free(syncs->out);
}

static int read_in_syncs(struct dev_call *call, uint64_t address, uint32_t n,
                         struct dev_syncs *syncs) {
  struct abi_sem *sems;
  int result = dev_user_array(call, address, n, sizeof *sems, &sems);
  if (result != 0)
    return result;
  syncs->in = calloc((size_t)n + 1, sizeof(struct dev_fence *));
  if (syncs->in == NULL)
    result = -ENOMEM;
  for (uint32_t i = 0; result == 0 && i < n; i++) {
    const struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, sems[i].handle);
    if (syncobj == NULL)
      continue; /* as the kernel does */
    syncs->in[syncs->n_in++] = dev_fence_ref(syncobj->fence);
  }
  free(sems);
  return result;
}

static int read_out_syncs(struct dev_call *call, uint64_t address, uint32_t n,
                          struct dev_syncs *syncs) {
  struct abi_sem *sems;
  int result = dev_user_array(call, address, n, sizeof *sems, &sems);
  if (result != 0)
    return result;
  syncs->out = calloc((size_t)n + 1, sizeof(struct dev_syncobj *));
  if (syncs->out == NULL)
    result = -ENOMEM;
  for (uint32_t i = 0; result == 0 && i < n; i++) {
    struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, sems[i].handle);
    if (syncobj == NULL) {
      result = -EINVAL;
      break;
    }
    syncobj->refs++;
    syncs->out[syncs->n_out++] = syncobj;
  }
  free(sems);
  return result;
}

static int read_multi_sync(struct dev_call *call, uint64_t address, struct dev_syncs *syncs) {
  struct abi_multi_sync multi;
  int result = dev_user_read(call, address, &multi, sizeof multi);
  if (result != 0)
    return result;
  if (syncs->given || multi.pad != 0)
    return -EINVAL;
  syncs->given = true;
  syncs->wait_stage = multi.wait_stage;
  result = read_in_syncs(call, multi.in_syncs, multi.n_in_syncs, syncs);
  return result != 0 ? result : read_out_syncs(call, multi.out_syncs, multi.n_out_syncs, syncs);
}

int dev_submit_extensions(struct dev_call *call, uint64_t first, struct dev_syncs *syncs,
                          dev_extension_fn other, void *self) {
  enum { MAX_EXTENSIONS = 16 };
  struct abi_extension extension;
  int n = 0;
  for (uint64_t at = first; at != 0; at = extension.next) {
    int result = dev_user_read(call, at, &extension, sizeof extension);
    if (result != 0)
      return result;
    if (++n > MAX_EXTENSIONS)
      return -EINVAL;
    if (extension.id == ABI_EXT_MULTI_SYNC)
      result = read_multi_sync(call, at, syncs);
    else if (other != NULL)
      result = other(call, extension.id, at, self);
    else
      result = -EINVAL;
    if (result != 0)
      return result;
  }
  return 0;
}

static int add_bos(struct dev_call *call, struct dev_job *job, const uint32_t *list, uint32_t n) {
  job->bos = calloc((size_t)n + 1, sizeof(struct dev_bo *));
  int result = job->bos == NULL ? -ENOMEM : 0;
  const uint64_t mark = ++call->device->serial;
  for (uint32_t i = 0; result == 0 && i < n; i++) {
    struct dev_bo *bo = dev_handles_get(&call->client->bos, list[i]);
    if (bo == NULL)
      result = -ENOENT;
    else if (bo->mark == mark) /* the kernel locks each once */
      result = -EALREADY;
    if (result != 0)
      break;
    bo->mark = mark;
    bo->refs++;
    job->bos[job->n_bos++] = bo;
    result = dev_job_wait_for(job, bo->last);
  }
  return result;
}

int dev_submit_bos(struct dev_call *call, struct dev_job *job, uint64_t handles, uint32_t n) {
  uint32_t *list;
  if (n == 0)
    return -EINVAL;
  int result = dev_user_array(call, handles, n, sizeof *list, &list);
  if (result != 0)
    return result;
  result = add_bos(call, job, list, n);
  free(list);
  return result;
}

/* Adds the fence of a syncobj to what the job waits for; an unknown handle is nothing. */
static int wait_for_handle(struct dev_call *call, struct dev_job *job, uint32_t handle) {
  const struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, handle);
  if (syncobj == NULL)
    return 0;
  return syncobj->fence == NULL ? -EINVAL : dev_job_wait_for(job, syncobj->fence);
}

int dev_submit_waits(struct dev_job *job, const struct dev_syncs *syncs, uint32_t stages) {
  if (!syncs->given || syncs->wait_stage > 31 || !(stages >> syncs->wait_stage & 1))
    return 0;
  for (size_t i = 0; i < syncs->n_in; i++) {
    const int result = syncs->in[i] == NULL ? -EINVAL : dev_job_wait_for(job, syncs->in[i]);
    if (result != 0)
      return result;
  }
  return 0;
}

void dev_submit_signals(struct dev_call *call, const struct dev_syncs *syncs, uint32_t out_sync,
                        struct dev_fence *fence) {
  if (syncs->given) {
    for (size_t i = 0; i < syncs->n_out; i++)
      dev_fence_replace(&syncs->out[i]->fence, fence);
    return;
  }
  struct dev_syncobj *syncobj = dev_handles_get(&call->client->syncobjs, out_sync);
  if (syncobj != NULL)
    dev_fence_replace(&syncobj->fence, fence);
}

static int check_extension_flag(uint32_t flags, uint32_t known) {
  return flags & ~(known | ABI_SUBMIT_EXTENSION) ? -EINVAL : 0;
}

static int set_perfmon(struct dev_call *call, struct dev_job *job, uint32_t id) {
  job->perfmon = id == 0 ? NULL : dev_perfmon_get(call->client, id);
  return id != 0 && job->perfmon == NULL ? -ENOENT : 0;
}

struct dev_job *dev_submit_csd_job(struct dev_call *call, const struct abi_submit_csd *args,
                                   int *error) {
  struct dev_job *job = NULL;
  *error = args->pad != 0 ? -EINVAL : check_extension_flag(args->flags, 0);
  if (*error == 0) {
    job = dev_job_create(call->client, DEV_QUEUE_CSD);
    *error = job == NULL ? -ENOMEM : set_perfmon(call, job, args->perfmon_id);
  }
  if (*error == 0)
    *error = dev_submit_bos(call, job, args->bo_handles, args->n_bo_handles);
  if (*error != 0) {
    dev_job_destroy(job);
    return NULL;
  }
  memcpy(job->cfg, args->cfg, sizeof job->cfg);
  return job;
}

/* Queues the job where result is 0, else frees it (NULL: there is none). Drops the syncs. */
static int end_submission(struct dev_call *call, struct dev_job *job, struct dev_syncs *syncs,
                          uint32_t out_sync, int result) {
  if (result == 0) {
    dev_submit_signals(call, syncs, out_sync, job->done);
    dev_job_push(call->client, job);
  } else {
    dev_job_destroy(job);
  }
  dev_syncs_drop(syncs);
  return result;
}

int dev_ioctl_submit_csd(struct dev_call *call) {
  const struct abi_submit_csd *args = (const struct abi_submit_csd *)call->arg;
  struct dev_syncs syncs = {0};
  int result = 0;
  if (args->flags & ABI_SUBMIT_EXTENSION)
    result = dev_submit_extensions(call, args->extensions, &syncs, NULL, NULL);
  struct dev_job *job = result == 0 ? dev_submit_csd_job(call, args, &result) : NULL;
  if (job != NULL)
    result = syncs.given ? dev_submit_waits(job, &syncs, 1 << ABI_STAGE_CSD)
                         : wait_for_handle(call, job, args->in_sync);
  return end_submission(call, job, &syncs, args->out_sync, result);
}

/*
 * The job fails in its turn, with that message. The call itself succeeds, as the kernel's does: a
 * driver whose submission fails may leave its program waiting for ever.
 */
static void refuse_job(struct dev_job *job, const char *call, const char *message) {
  job->refused = true;
  job->result = -EOPNOTSUPP;
  snprintf(job->message, sizeof job->message, "%s: %s", call, message);
}

/* Everything of a command list submission but its syncs. */
static int fill_cl(struct dev_call *call, struct dev_job *job, const struct abi_submit_cl *args) {
  int result = dev_submit_bos(call, job, args->bo_handles, args->n_bo_handles);
  char message[512];
  if (result != 0)
    return result;
  if (args->bcl_start != args->bcl_end)
    result =
        dev_cl_check_binning(job->view, args->bcl_start, args->bcl_end, message, sizeof message);
  if (result == 0)
    result = dev_cl_run(job->view, args->rcl_start, args->rcl_end, false, &job->moves, message,
                        sizeof message);
  if (result == -EOPNOTSUPP)
    refuse_job(job, "SUBMIT_CL", message);
  else if (result != 0) /* it fails when it runs, unless the list is mended before, as on a Pi */
    job->moves = UINT64_MAX;
  job->bcl_start = args->bcl_start;
  job->bcl_end = args->bcl_end;
  job->rcl_start = args->rcl_start;
  job->rcl_end = args->rcl_end;
  return 0;
}

int dev_ioctl_submit_cl(struct dev_call *call) {
  const struct abi_submit_cl *args = (const struct abi_submit_cl *)call->arg;
  struct dev_syncs syncs = {0};
  const bool bins = args->bcl_start != args->bcl_end;
  int result = args->pad != 0 ? -EINVAL : check_extension_flag(args->flags, ABI_SUBMIT_FLUSH_CACHE);
  if (result == 0 && args->flags & ABI_SUBMIT_EXTENSION)
    result = dev_submit_extensions(call, args->extensions, &syncs, NULL, NULL);
  struct dev_job *job = NULL;
  if (result == 0) {
    job = dev_job_create(call->client, DEV_QUEUE_CL);
    result = job == NULL ? -ENOMEM : set_perfmon(call, job, args->perfmon_id);
  }
  if (result == 0)
    result = fill_cl(call, job, args);
  if (result == 0 && syncs.given) {
    result =
        dev_submit_waits(job, &syncs, (bins ? 1u << ABI_STAGE_BIN : 0) | 1u << ABI_STAGE_RENDER);
  } else if (result == 0) {
    result = wait_for_handle(call, job, args->in_sync_rcl);
    if (result == 0 && bins)
      result = wait_for_handle(call, job, args->in_sync_bcl);
  }
  return end_submission(call, job, &syncs, args->out_sync, result);
}

/* Everything of a submission to the texture formatting unit but its syncs. */
static int fill_tfu(struct dev_call *call, struct dev_job *job, const struct abi_submit_tfu *args) {
  uint32_t n = 0;
  while (n < sizeof args->bo_handles / sizeof *args->bo_handles && args->bo_handles[n] != 0)
    n++;
  refuse_job(job, "SUBMIT_TFU",
             "the texture formatting unit is not simulated (images are not carried; buffers are "
             "copied by command lists)");
  return add_bos(call, job, args->bo_handles, n);
}

int dev_ioctl_submit_tfu(struct dev_call *call) {
  const struct abi_submit_tfu *args = (const struct abi_submit_tfu *)call->arg;
  struct dev_syncs syncs = {0};
  int result = check_extension_flag(args->flags, 0);
  if (result == 0 && args->flags & ABI_SUBMIT_EXTENSION)
    result = dev_submit_extensions(call, args->extensions, &syncs, NULL, NULL);
  struct dev_job *job = result == 0 ? dev_job_create(call->client, DEV_QUEUE_TFU) : NULL;
  if (result == 0)
    result = job == NULL ? -ENOMEM : fill_tfu(call, job, args);
  if (result == 0)
    result = syncs.given ? dev_submit_waits(job, &syncs, 1u << ABI_STAGE_TFU)
                         : wait_for_handle(call, job, args->in_sync);
  return end_submission(call, job, &syncs, args->out_sync, result);
}
