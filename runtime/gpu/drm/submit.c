/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/drm/submit.h"

#include <errno.h>
#include <string.h>

#include "gpu/drm/timestamp.h"
#include "gpu/pool.h"
#include "../../../v3d/device/abi.h"

enum {
  LANES = 16,                                   /* invocations of a workgroup, which is a thread */
  GROUPS_MOST = 16,                             /* of a supergroup */
  STREAM_ALIGN = 16,                            /* words between the streams of two jobs */
  READ_AHEAD = 64,                              /* words that there are behind the last stream */
  HANDLES_MOST = DAEDALUS_GPU_BUFFERS_MOST + 4, /* code, stream, records, scratch */
  BATCHES_AS_THEY_ARE = 6 /* from this revision of 7.1 on, cfg[4] is the number, not one less */
};

static const int32_t stride_most = 1 << 23; /* table.h, daedalus_qpu_code */
static const uint32_t index_most = UINT32_C(1) << 24;

typedef struct drm_job {
  uint32_t cfg[7];
  size_t stream_at;               /* words */
  uint32_t handles[HANDLES_MOST]; /* without the stream's */
  uint32_t n_handles;
  bool copies; /* or marks */
} drm_job;

static void give_block(daedalus_drm *drm, daedalus_gpu_block **block) {
  if (*block != NULL) {
    daedalus_rt_gpu_pool_give(drm->base.pool, *block);
    *block = NULL;
  }
}

static void destroy_submission(daedalus_drm *drm, daedalus_drm_submission *submission) {
  const daedalus_allocator *allocator = &drm->base.ctx->allocator;
  const uint32_t syncs[] = {submission->sync, submission->copies_sync, submission->time_syncs[0],
                            submission->time_syncs[1]};
  for (size_t i = 0; i < sizeof(syncs) / sizeof(syncs[0]); i++) {
    if (syncs[i] != 0) {
      drm->fn.drmSyncobjDestroy(drm->node.fd, syncs[i]);
    }
  }
  give_block(drm, &submission->stream);
  give_block(drm, &submission->scratch);
  daedalus_rt_vec_free(allocator, &submission->jobs);
  daedalus_rt_vec_free(allocator, &submission->words);
  allocator->release(allocator->user, submission);
}

void daedalus_rt_drm_submissions_close(daedalus_drm *drm) {
  while (drm->kept != NULL) {
    daedalus_drm_submission *submission = drm->kept;
    drm->kept = daedalus_drm_submission_of(submission->base.next);
    destroy_submission(drm, submission);
  }
}

static int make_sync(daedalus_drm *drm, uint32_t *sync) {
  if (drm->fn.drmSyncobjCreate(drm->node.fd, 0, sync) == 0) {
    return 0;
  }
  *sync = 0;
  return daedalus_rt_drm_failed(drm, "DRM_IOCTL_SYNCOBJ_CREATE", errno);
}

int daedalus_rt_drm_begin(daedalus_gpu_backend *backend, bool timed,
                          daedalus_gpu_submission **begun) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  daedalus_drm_submission *submission = drm->kept;
  *begun = NULL;
  if (submission != NULL) {
    drm->kept = daedalus_drm_submission_of(submission->base.next);
  } else {
    const daedalus_allocator *allocator = &backend->ctx->allocator;
    submission = allocator->resize(allocator->user, NULL, sizeof(*submission));
    if (submission == NULL) {
      return -ENOMEM;
    }
    *submission = (daedalus_drm_submission){0};
    const int error = make_sync(drm, &submission->sync);
    if (error != 0) {
      destroy_submission(drm, submission);
      return error;
    }
  }
  submission->base.next = NULL;
  submission->jobs.size = submission->words.size = 0;
  submission->timed = timed;
  int error = 0;
  for (size_t i = 0; timed && error == 0 && i < 2; i++) {
    error = submission->time_syncs[i] != 0 ? 0 : make_sync(drm, &submission->time_syncs[i]);
  }
  if (error != 0) {
    daedalus_rt_drm_give(backend, &submission->base);
    return error;
  }
  *begun = &submission->base;
  return 0;
}

void daedalus_rt_drm_give(daedalus_gpu_backend *backend, daedalus_gpu_submission *base) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  daedalus_drm_submission *submission = daedalus_drm_submission_of(base);
  while (submission->outgrown != NULL) {
    daedalus_gpu_block *block = submission->outgrown;
    submission->outgrown = block->next;
    daedalus_rt_gpu_pool_give(backend->pool, block);
  }
  submission->submitted = submission->reset = submission->copies_reset = false;
  base->next = (daedalus_gpu_submission *)drm->kept;
  drm->kept = submission;
}

static void add_handle(drm_job *job, const daedalus_gpu_block *block) {
  const uint32_t handle = daedalus_drm_block_of(block)->handle;
  for (uint32_t i = 0; i < job->n_handles; i++) {
    if (job->handles[i] == handle) {
      return; /* the kernel refuses one that it is given twice */
    }
  }
  job->handles[job->n_handles++] = handle;
}

/** Scratch memory for the threads of a job.  Those before, which run before, may have the same. */
static int need_scratch(daedalus_drm *drm, daedalus_drm_submission *submission, uint64_t size) {
  if (size == 0 || (submission->scratch != NULL && submission->scratch->size >= size)) {
    return 0;
  }
  daedalus_gpu_block *block;
  const int error = daedalus_rt_gpu_pool_take(drm->base.pool, size, &block);
  if (error != 0) {
    return error;
  }
  if (submission->scratch != NULL) {
    submission->scratch->next = submission->outgrown;
    submission->outgrown = submission->scratch;
  }
  submission->scratch = block;
  return 0;
}

/**
 * The words of cfg but for the stream's address.  Workgroups are threads; two supergroups hold all
 * of them if they can, as few run side by side.
 */
static void configure(const daedalus_drm *drm, const daedalus_drm_program *program,
                      uint32_t threads, drm_job *job) {
  const uint32_t half = threads <= GROUPS_MOST ? threads : (threads + 1) / 2;
  const uint32_t groups = half <= GROUPS_MOST                ? half
                          : (threads + 2) / 3 <= GROUPS_MOST ? (threads + 2) / 3
                                                             : GROUPS_MOST;
  const uint32_t code = daedalus_drm_block_of(program->block)->address;
  job->cfg[0] = threads << 16;
  job->cfg[1] = job->cfg[2] = 1u << 16;
  job->cfg[3] = (groups - 1) << 12 | (groups & 0xf) << 8 | LANES;
  job->cfg[4] = drm->node.revision >= BATCHES_AS_THEY_ARE ? threads : threads - 1;
  job->cfg[5] = code | (program->code->threads == 4);
}

/** What the code says that it can take.  @return whether the dispatch is such */
static bool within_limits(daedalus_drm *drm, const daedalus_drm_program *program,
                          const daedalus_gpu_dispatch *dispatch) {
  for (size_t b = 0; b < program->n_buffers; b++) {
    if (dispatch->buffers[b].stride > stride_most || dispatch->buffers[b].stride < -stride_most) {
      drm->base.too_large = "a stride is above 8 MiB, which QPU code cannot multiply with";
      return false;
    }
  }
  const uint64_t record = program->code->n_record * sizeof(uint32_t);
  const uint64_t behind = (uint64_t)program->threads_most * program->code->items * record;
  if (dispatch->records.block != NULL && daedalus_drm_block_of(dispatch->records.block)->address +
                                                 dispatch->records.offset +
                                                 dispatch->records.range + behind >
                                             UINT32_MAX) {
    drm->base.too_large = "the records lie too near to the end of the GPU's addresses";
    return false;
  }
  if (dispatch->index_most >= index_most || dispatch->n_items >= index_most) {
    drm->base.too_large = "more than 16777216 items are more than QPU code can count";
    return false;
  }
  return true;
}

int daedalus_rt_drm_dispatch(daedalus_gpu_backend *backend, daedalus_gpu_submission *base,
                             const daedalus_gpu_dispatch *dispatch) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  daedalus_drm_submission *submission = daedalus_drm_submission_of(base);
  const daedalus_drm_program *program = (const daedalus_drm_program *)dispatch->program;
  const daedalus_qpu_code *code = program->code;
  const daedalus_allocator *allocator = &backend->ctx->allocator;
  if (!within_limits(drm, program, dispatch)) {
    return -E2BIG;
  }
  const uint32_t batches = (dispatch->n_items + code->items - 1) / code->items;
  const uint32_t threads = batches < program->threads_most ? batches : program->threads_most;
  const size_t room = code->n_uniforms + STREAM_ALIGN;
  int error = need_scratch(drm, submission, (uint64_t)code->scratch_bytes * threads);
  if (error == 0 && dispatch->program == drm->copier && submission->copies_sync == 0) {
    error = make_sync(drm, &submission->copies_sync);
  }
  if (error == 0) {
    error = daedalus_rt_vec_reserve(allocator, &submission->jobs, 1, sizeof(drm_job));
  }
  if (error == 0) {
    error = daedalus_rt_vec_reserve(allocator, &submission->words, room, sizeof(uint32_t));
  }
  if (error != 0) {
    return error;
  }
  drm_job *job = (drm_job *)submission->jobs.data + submission->jobs.size++;
  *job = (drm_job){.stream_at = submission->words.size, .copies = dispatch->program == drm->copier};
  configure(drm, program, threads, job);
  add_handle(job, program->block);
  daedalus_drm_arguments arguments = {.dispatch = dispatch, .threads = threads};
  if (dispatch->records.block != NULL) {
    arguments.records = daedalus_drm_block_of(dispatch->records.block)->address +
                        (uint32_t)dispatch->records.offset +
                        dispatch->first * (uint32_t)(code->n_record * sizeof(uint32_t));
    add_handle(job, dispatch->records.block);
  }
  if (code->scratch_bytes != 0) {
    arguments.scratch = daedalus_drm_block_of(submission->scratch)->address;
    add_handle(job, submission->scratch);
  }
  for (size_t b = 0; b < program->n_buffers; b++) {
    add_handle(job, dispatch->buffers[b].block);
  }
  uint32_t *words = (uint32_t *)submission->words.data + submission->words.size;
  memset(words, 0, room * sizeof(*words));
  daedalus_rt_drm_uniforms(program, &arguments, words);
  submission->words.size += room / STREAM_ALIGN * STREAM_ALIGN;
  return 0;
}

/** Brings the streams to where the GPU reads them. */
static int fill_stream(daedalus_drm *drm, daedalus_drm_submission *submission) {
  submission->times_at = (uint32_t)((submission->words.size + READ_AHEAD) * sizeof(uint32_t));
  const uint64_t size = submission->times_at + 2 * sizeof(uint64_t);
  if (submission->stream != NULL && submission->stream->size < size) {
    give_block(drm, &submission->stream);
  }
  if (submission->stream == NULL) {
    const int error = daedalus_rt_gpu_pool_take(drm->base.pool, size, &submission->stream);
    if (error != 0) {
      submission->stream = NULL;
      return error;
    }
  }
  memcpy(submission->stream->map, submission->words.data,
         submission->words.size * sizeof(uint32_t));
  return 0;
}

/** Notes the time: 0 before all jobs, 1 behind them.  @return 0, also where nobody asks for it */
static int stamp(daedalus_drm *drm, daedalus_drm_submission *submission, int which) {
  if (!submission->timed) {
    return 0;
  }
  const uint32_t sync = submission->time_syncs[which];
  const int error = daedalus_rt_drm_timestamp(
      drm, submission->stream, submission->times_at + (uint32_t)(which * sizeof(uint64_t)),
      drm->newest_sync, sync);
  if (error == 0) {
    submission->submitted = true;
    submission->awaited = drm->newest_sync = sync;
  }
  return error;
}

static int submit_job(daedalus_drm *drm, daedalus_drm_submission *submission, const drm_job *job) {
  const daedalus_drm_block *stream = daedalus_drm_block_of(submission->stream);
  uint32_t handles[HANDLES_MOST + 1];
  memcpy(handles, job->handles, job->n_handles * sizeof(*handles));
  handles[job->n_handles] = stream->handle;
  struct abi_submit_csd submit = {
      .bo_handles = (uintptr_t)handles,
      .n_bo_handles = job->n_handles + 1,
      .in_sync = submission->timed ? submission->time_syncs[0] : 0,
      .out_sync = job->copies ? submission->copies_sync : submission->sync,
  };
  memcpy(submit.cfg, job->cfg, sizeof(submit.cfg));
  submit.cfg[6] = stream->address + (uint32_t)(job->stream_at * sizeof(uint32_t));
  const int error =
      daedalus_rt_drm_ioctl(drm, "DRM_IOCTL_V3D_SUBMIT_CSD",
                            ABI_REQUEST(0, ABI_V3D_SUBMIT_CSD, struct abi_submit_csd), &submit);
  if (error == 0) {
    submission->submitted = true;
    submission->copied = submission->copied || job->copies;
    drm->base.begun = drm->base.begun || !job->copies;
    drm->newest_sync = submit.out_sync;
    submission->awaited = submit.out_sync;
  }
  return error;
}

int daedalus_rt_drm_submit(daedalus_gpu_backend *backend, daedalus_gpu_submission *base) {
  daedalus_drm *drm = daedalus_drm_of(backend);
  daedalus_drm_submission *submission = daedalus_drm_submission_of(base);
  const drm_job *jobs = submission->jobs.data;
  backend->begun = submission->copied = false;
  if (submission->jobs.size == 0) {
    return 0;
  }
  int error = fill_stream(drm, submission);
  submission->submitted_ns = daedalus_rt_gpu_now();
  if (error == 0) {
    error = stamp(drm, submission, 0);
  }
  /* Each takes the fence of the one before out of its syncobj: the last one's is that of all. */
  for (size_t i = 0; error == 0 && i < submission->jobs.size; i++) {
    error = submit_job(drm, submission, &jobs[i]);
  }
  if (error == 0) {
    error = stamp(drm, submission, 1);
  }
  return error;
}
