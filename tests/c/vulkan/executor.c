/* SPDX-License-Identifier: BSD-2-Clause */
#include "executor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/meta.h"

enum { MAX_META = 256 };

static void fault(executor *e, const char *format, ...) {
  va_list arguments;
  e->faults++;
  fputs("dispatch: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

/* Whose module it is; the CPU variant that does its class. */
static const daedalus_variant *find(const executor *e, const stub_dispatch *d,
                                    const daedalus_kernel_desc **kernel) {
  for (size_t k = 0; k < e->table->n_kernels; k++) {
    *kernel = &e->table->kernels[k];
    for (size_t v = 0; v < (*kernel)->n_variants; v++) {
      const daedalus_variant *variant = &(*kernel)->variants[v];
      if (variant->gpu != NULL && variant->gpu->n_words == d->n_words &&
          memcmp(variant->gpu->spirv, d->code, d->n_words * sizeof(uint32_t)) == 0) {
        return variant;
      }
    }
  }
  return NULL;
}

static const daedalus_variant *on_cpu(const daedalus_kernel_desc *kernel, uint16_t class_index) {
  for (size_t v = 0; v < kernel->n_variants; v++) {
    if (kernel->variants[v].cpu != NULL && kernel->variants[v].class_index == class_index) {
      return &kernel->variants[v];
    }
  }
  return NULL;
}

static uint32_t pushed(const stub_dispatch *d, size_t word) {
  uint32_t value = 0;
  memcpy(&value, d->push + 4 * word, sizeof(value));
  return value;
}

/* That an item's rectangle lies in what is bound. */
static bool inside(const daedalus_kernel_desc *kernel, size_t b, const stub_dispatch *d,
                   const unsigned char *meta, uint32_t index, int64_t base, int64_t stride) {
  const daedalus_buffer_desc *desc = &kernel->buffers[b];
  const int64_t size = (int64_t)daedalus_type_size(desc->type);
  const int64_t origin = base + (desc->is_plane ? (int64_t)daedalus_meta_offset(desc, meta)
                                                : (int64_t)index * desc->item_stride * size);
  const daedalus_rect *rects[] = {&desc->reads, &desc->writes};
  for (int r = 0; r < 2; r++) {
    int64_t row_end = rects[r]->row_end;
    if (desc->rows_param != 0) {
      const daedalus_param_desc *rows = &kernel->params[desc->rows_param - 1];
      row_end -= rows->hi - daedalus_meta_param(rows, meta);
    }
    for (int64_t row = rects[r]->row_begin; row < row_end; row++) {
      const int64_t from = origin + row * stride + rects[r]->col_begin * size;
      const int64_t to = origin + row * stride + rects[r]->col_end * size;
      if (from < to && (from < 0 || to > (int64_t)d->bindings[b].size)) {
        return false;
      }
    }
  }
  return true;
}

/* That buffers and offsets are as aligned as the variant wants them. */
static bool aligned(const daedalus_kernel_desc *kernel, const daedalus_gpu_code *code, size_t b,
                    const unsigned char *meta, uint32_t base, uint32_t stride) {
  uint32_t bits = base | stride;
  if (kernel->buffers[b].is_plane) {
    bits |= daedalus_meta_offset(&kernel->buffers[b], meta);
  }
  return (bits & (code->align[b] - 1u)) == 0;
}

static void run_item(executor *e, const daedalus_kernel_desc *kernel,
                     const daedalus_variant *variant, const stub_dispatch *d,
                     const uint32_t *record) {
  const daedalus_gpu_code *code = variant->gpu;
  daedalus_buffer buffers[STUB_MAX_BINDINGS];
  uint32_t words[MAX_META / 4] = {0};
  uint32_t index = 0;
  for (size_t w = 0; w < code->n_record; w++) {
    if (code->record[w] == DAEDALUS_RECORD_INDEX) {
      index = record[w];
    } else {
      words[code->record[w]] = record[w];
    }
  }
  const unsigned char *meta = (const unsigned char *)words;
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    const uint32_t base = pushed(d, 2 + 2 * b), stride = pushed(d, 3 + 2 * b);
    if (!inside(kernel, b, d, meta, index, (int32_t)base, (int32_t)stride)) {
      fault(e, "%s: %s: an item lies outside of the %zu bytes that are bound", variant->name,
            kernel->buffers[b].name, d->bindings[b].size);
      return;
    }
    if (!aligned(kernel, code, b, meta, base, stride)) {
      fault(e, "%s: %s: an item is not aligned to %u", variant->name, kernel->buffers[b].name,
            code->align[b]);
    }
    const daedalus_buffer_desc *desc = &kernel->buffers[b];
    const int64_t item = desc->is_plane ? 0
                                        : (int64_t)index * desc->item_stride *
                                              (int64_t)daedalus_type_size(desc->type);
    buffers[b] =
        (daedalus_buffer){(char *)d->bindings[b].data + (int32_t)base + item, (int32_t)stride};
  }
  on_cpu(kernel, variant->class_index)->cpu(buffers, words, &(uint32_t){0}, 1);
  const bool counted = e->spoil >= 0 && e->spoil-- == 0;
  if (counted || e->spoil_all) {
    for (size_t b = 0; b < kernel->n_buffers; b++) {
      const daedalus_buffer_desc *desc = &kernel->buffers[b];
      if ((desc->access & DAEDALUS_ACCESS_WRITE) != 0) {
        unsigned char *at = (unsigned char *)buffers[b].data +
                            (desc->is_plane ? daedalus_meta_offset(desc, meta) : 0) +
                            desc->writes.row_begin * buffers[b].stride +
                            desc->writes.col_begin * (ptrdiff_t)daedalus_type_size(desc->type);
        *at ^= 1;
        break;
      }
    }
  }
  e->items++;
}

void executor_run(void *user, const stub_dispatch *d) {
  executor *e = user;
  const daedalus_kernel_desc *kernel = NULL;
  const daedalus_variant *variant = find(e, d, &kernel);
  e->dispatches++;
  if (variant == NULL || on_cpu(kernel, variant->class_index) == NULL) {
    fault(e, "a module of %zu words that is none of the table's", d->n_words);
    return;
  }
  const daedalus_gpu_code *code = variant->gpu;
  const size_t records = kernel->n_buffers;
  const uint32_t first = pushed(d, 0), n_items = pushed(d, 1);
  if (d->push_bytes != 4 * (2 + 2 * kernel->n_buffers)) {
    fault(e, "%s: %u bytes are pushed", variant->name, d->push_bytes);
  }
  if (d->workgroup < code->workgroup_min || d->workgroup % code->invocations != 0) {
    fault(e, "%s: workgroups of %u", variant->name, d->workgroup);
    return;
  }
  const uint64_t last = (uint64_t)first + n_items;
  if (d->bindings[records].size / 4 / code->n_record < last) {
    fault(e, "%s: %zu bytes of records for %llu items", variant->name, d->bindings[records].size,
          (unsigned long long)last);
    return;
  }
  const size_t constants = records + 1;
  if (code->n_constants != 0 &&
      (d->bindings[constants].size < 4 * code->n_constants ||
       memcmp(d->bindings[constants].data, code->constants, 4 * code->n_constants) != 0)) {
    fault(e, "%s: its constants are not bound", variant->name);
  }
  if (d->groups[1] != 1 || d->groups[2] != 1) {
    fault(e, "%s: %u x %u x %u workgroups", variant->name, d->groups[0], d->groups[1],
          d->groups[2]);
  }
  const uint64_t reach = (uint64_t)d->groups[0] * (d->workgroup / code->invocations) * code->items;
  const uint32_t *list = d->bindings[records].data;
  for (uint64_t i = 0; i < n_items && i < reach; i++) {
    run_item(e, kernel, variant, d, list + (first + i) * code->n_record);
  }
}
