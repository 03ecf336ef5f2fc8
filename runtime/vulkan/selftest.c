/* SPDX-License-Identifier: BSD-2-Clause */
#include "vulkan/selftest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "vulkan/route.h"
#include "vulkan/sample.h"

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
static int make_honest(daedalus_vk_sample *sample, const daedalus_allocator *allocator,
                       uint16_t class_index) {
  const daedalus_kernel_desc *kernel = sample->kernel;
  const uint16_t full = (uint16_t)(kernel->n_classes - 1);
  const daedalus_variant *narrow = reference_of(kernel, class_index);
  const daedalus_variant *wide = reference_of(kernel, full);
  if (class_index == full || wide == NULL) {
    return 0;
  }
  daedalus_vk_sample a = {0}, b = {0};
  int error = narrow == NULL ? 0 : daedalus_rt_vk_sample_copy(&a, sample, allocator);
  if (error == 0 && narrow != NULL) {
    error = daedalus_rt_vk_sample_copy(&b, sample, allocator);
  }
  if (error == 0 && narrow != NULL) {
    daedalus_rt_vk_sample_run(&a, narrow);
    daedalus_rt_vk_sample_run(&b, wide);
  }
  for (size_t i = 0; error == 0 && i < sample->n_items; i++) {
    if (narrow == NULL || !daedalus_rt_vk_sample_equal(&a, &b, i)) {
      daedalus_rt_vk_sample_simplify(sample, i);
    }
  }
  daedalus_rt_vk_sample_free(&a, allocator);
  daedalus_rt_vk_sample_free(&b, allocator);
  return error;
}

/** The GPU's results.  @return 0, or an error when it did not compute them */
static int run_on_gpu(daedalus_gpu *gpu, daedalus_vk_sample *sample,
                      const daedalus_vk_pipeline *pipeline) {
  daedalus_batch *batch;
  int error = daedalus_batch_begin(gpu->ctx, &batch);
  if (error != 0) {
    return error;
  }
  const daedalus_work work = {.kernel = pipeline->kernel,
                              .buffers = sample->buffers,
                              .meta = sample->meta,
                              .n_items = sample->n_items};
  const daedalus_pick pick = {
      .variant = pipeline->variant, .reason = "self-test", .workgroup = pipeline->asked};
  error = daedalus_rt_append_all(batch, &work, &pick);
  if (error == 0) {
    error = daedalus_batch_submit(batch);
  }
  if (error == 0) {
    error = daedalus_batch_wait(batch, -1);
  }
  if (error == 0 && batch->rescued) {
    error = -EIO;
  }
  daedalus_batch_destroy(batch);
  return error;
}

static void judge(daedalus_gpu *gpu, daedalus_vk_pipeline *pipeline,
                  const daedalus_vk_sample *expected, const daedalus_vk_sample *actual,
                  const daedalus_variant *reference) {
  size_t n_wrong = 0, first = 0;
  for (size_t i = expected->n_items; i-- > 0;) {
    if (!daedalus_rt_vk_sample_equal(expected, actual, i)) {
      n_wrong++;
      first = i;
    }
  }
  if (n_wrong == 0) {
    pipeline->trust = DAEDALUS_VK_TRUSTED;
    return;
  }
  pipeline->trust = DAEDALUS_VK_REFUSED;
  snprintf(pipeline->why, sizeof(pipeline->why),
           "its self-test failed: %zu of %zu items (the first is %zu) differ from %s", n_wrong,
           expected->n_items, first, reference->name);
  daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_ERROR, "%s on %s is not used: %s", pipeline->variant->name,
                  gpu->device.physical->name, pipeline->why);
}

void daedalus_rt_vk_selftest(daedalus_gpu *gpu, daedalus_vk_pipeline *pipeline) {
  const daedalus_allocator *allocator = &gpu->ctx->allocator;
  const daedalus_gpu_code *code = pipeline->variant->gpu;
  const uint16_t class_index = pipeline->variant->class_index;
  const daedalus_variant *reference = NULL;
  for (uint16_t c = class_index; reference == NULL && c < pipeline->kernel->n_classes; c++) {
    reference = reference_of(pipeline->kernel, c);
  }
  if (reference == NULL) {
    pipeline->trust = DAEDALUS_VK_REFUSED;
    snprintf(pipeline->why, sizeof(pipeline->why),
             "there is no CPU variant to compare its self-test with");
    return;
  }
  int error = daedalus_rt_vk_pipeline_make(&gpu->pipelines, pipeline);
  if (error == -EIO && !gpu->device.lost) {
    pipeline->trust = DAEDALUS_VK_REFUSED;
    snprintf(pipeline->why, sizeof(pipeline->why), "%s failed: %s", gpu->device.failed_call,
             daedalus_rt_vk_result(gpu->device.failed_result));
    daedalus_rt_log(gpu->ctx, DAEDALUS_LOG_ERROR, "%s on %s is not used: %s",
                    pipeline->variant->name, gpu->device.physical->name, pipeline->why);
    return;
  }
  if (error != 0) {
    daedalus_rt_vk_report(gpu, error);
    return;
  }
  /* Two workgroups and a piece of a third. */
  const size_t a_workgroup = (size_t)pipeline->workgroup / code->invocations * code->items;
  daedalus_vk_sample expected = {0}, actual = {0};
  error = daedalus_rt_vk_sample_make(&expected, allocator, pipeline->kernel, class_index,
                                     code->align, 2 * a_workgroup + (a_workgroup + 2) / 3);
  if (error == 0) {
    error = make_honest(&expected, allocator, class_index);
  }
  if (error == 0) {
    error = daedalus_rt_vk_sample_copy(&actual, &expected, allocator);
  }
  if (error == 0) {
    daedalus_rt_vk_sample_run(&expected, reference);
    error = run_on_gpu(gpu, &actual, pipeline);
  }
  if (error == 0) {
    judge(gpu, pipeline, &expected, &actual, reference);
  }
  daedalus_rt_vk_sample_free(&expected, allocator);
  daedalus_rt_vk_sample_free(&actual, allocator);
}
