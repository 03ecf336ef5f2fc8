/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/selftest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/job.h"
#include "gpu/sample.h"

/** A CPU variant of the class, portable C before others, or NULL. */
static const daedalus_variant *reference_of(const daedalus_kernel_desc *kernel,
                                            uint16_t class_index) {
  const daedalus_variant *found = NULL;
  for (size_t i = 0; i < kernel->n_variants; i++) {
    const daedalus_variant *v = &kernel->variants[i];
    if (v->class_index == class_index && v->cpu != NULL &&
        (v->needs & ~daedalus_cpu_features) == 0 &&
        (found == NULL || (strcmp(v->target, "c") == 0 && strcmp(found->target, "c") != 0))) {
      found = v;
    }
  }
  return found;
}

/*
 * Makes items of a class honest.  What a class lets be left out (coefficients
 * that are zero, say) is not in the table, but where the variants of the class
 * and of all items agree about an item, it does no harm.
 */
static int make_honest(daedalus_gpu_sample *sample, const daedalus_allocator *allocator,
                       uint16_t class_index) {
  const daedalus_kernel_desc *kernel = sample->kernel;
  const uint16_t full = (uint16_t)(kernel->n_classes - 1);
  const daedalus_variant *narrow = reference_of(kernel, class_index);
  const daedalus_variant *wide = reference_of(kernel, full);
  if (class_index == full || wide == NULL) {
    return 0;
  }
  daedalus_gpu_sample a = {0}, b = {0};
  int error = narrow == NULL ? 0 : daedalus_rt_gpu_sample_copy(&a, sample, allocator);
  if (error == 0 && narrow != NULL) {
    error = daedalus_rt_gpu_sample_copy(&b, sample, allocator);
  }
  if (error == 0 && narrow != NULL) {
    daedalus_rt_gpu_sample_run(&a, narrow);
    daedalus_rt_gpu_sample_run(&b, wide);
  }
  for (size_t i = 0; error == 0 && i < sample->n_items; i++) {
    if (narrow == NULL || !daedalus_rt_gpu_sample_equal(&a, &b, i)) {
      daedalus_rt_gpu_sample_simplify(sample, i);
    }
  }
  daedalus_rt_gpu_sample_free(&a, allocator);
  daedalus_rt_gpu_sample_free(&b, allocator);
  return error;
}

/** The GPU's results.  @return 0, or an error when it did not compute them */
static int run_on_gpu(daedalus_gpu *gpu, daedalus_gpu_sample *sample,
                      const daedalus_gpu_program *program) {
  daedalus_group group = {.kernel = program->kernel,
                          .variant = program->variant,
                          .n_items = sample->n_items,
                          .workgroup = program->asked};
  /* All that a batch would have copied of it lies in the sample as it is. */
  const daedalus_groups work = {.list = {.data = &group, .size = 1},
                                .buffers = {.data = sample->buffers},
                                .meta = {.data = sample->meta},
                                .items = {.data = sample->items}};
  daedalus_gpu_batch batch = {.work = &work};
  int error = daedalus_rt_gpu_submit(gpu->ctx, &batch, 0, 1);
  if (error == 0) {
    error = daedalus_rt_gpu_wait(&batch, -1);
  }
  daedalus_rt_gpu_forget(&batch);
  return error == 0 && batch.rescued ? -EIO : error;
}

/** For the reason in its `why`. */
static void refuse(daedalus_gpu *gpu, daedalus_gpu_program *program) {
  program->trust = DAEDALUS_GPU_REFUSED;
  daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_ERROR, "%s on %s is not used: %s", program->variant->name,
                  gpu->backend->info.name, program->why);
}

static void judge(daedalus_gpu *gpu, daedalus_gpu_program *program,
                  const daedalus_gpu_sample *expected, const daedalus_gpu_sample *actual,
                  const daedalus_variant *reference) {
  size_t n_wrong = 0, first = 0;
  for (size_t i = expected->n_items; i-- > 0;) {
    if (!daedalus_rt_gpu_sample_equal(expected, actual, i)) {
      n_wrong++;
      first = i;
    }
  }
  if (n_wrong == 0) {
    program->trust = DAEDALUS_GPU_TRUSTED;
    return;
  }
  snprintf(program->why, sizeof(program->why),
           "its self-test failed: %zu of %zu items (the first is %zu) differ from %s%s", n_wrong,
           expected->n_items, first, reference->name,
           program->variant->qpu != NULL && program->variant->qpu->forms != 0
               ? "; it has instruction forms of which no public source settles the result"
               : "");
  refuse(gpu, program);
}

void daedalus_rt_gpu_selftest(daedalus_gpu *gpu, daedalus_gpu_program *program) {
  const daedalus_allocator *allocator = &gpu->ctx->allocator;
  const uint16_t class_index = program->variant->class_index;
  const daedalus_variant *reference = NULL;
  for (uint16_t c = class_index; reference == NULL && c < program->kernel->n_classes; c++) {
    reference = reference_of(program->kernel, c);
  }
  if (reference == NULL) {
    program->trust = DAEDALUS_GPU_REFUSED;
    snprintf(program->why, sizeof(program->why),
             "there is no CPU variant to compare its self-test with");
    return;
  }
  int error = gpu->backend->route->program_make(gpu->backend, program);
  if (error == -EIO && !gpu->backend->lost) {
    snprintf(program->why, sizeof(program->why), "%s failed: %s", gpu->backend->failed_call,
             gpu->backend->failed_why);
    refuse(gpu, program);
    return;
  }
  if (error == -EINVAL) {
    snprintf(program->why, sizeof(program->why), "its packed code is damaged");
    refuse(gpu, program);
    return;
  }
  if (error != 0) {
    daedalus_rt_gpu_report(gpu, error);
    return;
  }
  /* The test waits for what is in flight anyway; this way a reset meanwhile is the test's own. */
  daedalus_rt_gpu_finish_conflicting(gpu, NULL, 0);
  if (gpu->backend->lost) {
    return;
  }
  const unsigned n_resets = gpu->n_resets;
  const size_t step = program->items_step; /* of these two, and a piece of a third */
  daedalus_gpu_sample expected = {0}, actual = {0};
  error = daedalus_rt_gpu_sample_make(&expected, allocator, program->kernel, class_index,
                                      daedalus_gpu_arguments_of(program->variant).align,
                                      2 * step + (step + 2) / 3);
  if (error == 0) {
    error = make_honest(&expected, allocator, class_index);
  }
  if (error == 0) {
    error = daedalus_rt_gpu_sample_copy(&actual, &expected, allocator);
  }
  if (error == 0) {
    daedalus_rt_gpu_sample_run(&expected, reference);
    error = run_on_gpu(gpu, &actual, program);
  }
  if (error == 0) {
    judge(gpu, program, &expected, &actual, reference);
  } else if (gpu->n_resets != n_resets && !gpu->backend->lost) {
    gpu->n_resets = n_resets; /* it will not come to that again */
    snprintf(program->why, sizeof(program->why), "its self-test ended in a reset of the GPU");
    refuse(gpu, program);
  }
  daedalus_rt_gpu_sample_free(&expected, allocator);
  daedalus_rt_gpu_sample_free(&actual, allocator);
}
