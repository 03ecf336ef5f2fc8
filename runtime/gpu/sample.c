/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/sample.h"

#include <errno.h>
#include <string.h>

#include "base/meta.h"

enum { CELLS_A_ROW = 5, UNIT = 256 };

typedef struct generator {
  uint64_t state;
} generator;

/* xorshift64*, whose upper half is good enough for test data */
static uint32_t draw(generator *g) {
  g->state ^= g->state >> 12;
  g->state ^= g->state << 25;
  g->state ^= g->state >> 27;
  return (uint32_t)(g->state * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

static int64_t between(generator *g, int64_t lo, int64_t hi) {
  const uint64_t span = (uint64_t)hi - (uint64_t)lo + 1;
  const uint64_t value = (uint64_t)draw(g) << 16 ^ draw(g);
  return (int64_t)((uint64_t)lo + value % span);
}

static size_t up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/** How an item lies in its cell of a plane: all in bytes, but `rows`, `above`. */
typedef struct cell {
  size_t left, width; /* of the origin; of the cell */
  size_t above, rows;
} cell;

static cell cell_of(const daedalus_buffer_desc *desc, size_t align) {
  const size_t size = daedalus_type_size(desc->type);
  const daedalus_rect *r = &desc->reads, *w = &desc->writes;
  const bool no_reads = r->row_end <= r->row_begin, no_writes = w->row_end <= w->row_begin;
  daedalus_rect all = no_reads ? *w : *r;
  if (!no_reads && !no_writes) {
    all.row_begin = w->row_begin < all.row_begin ? w->row_begin : all.row_begin;
    all.row_end = w->row_end > all.row_end ? w->row_end : all.row_end;
    all.col_begin = w->col_begin < all.col_begin ? w->col_begin : all.col_begin;
    all.col_end = w->col_end > all.col_end ? w->col_end : all.col_end;
  }
  const size_t before = all.col_begin < 0 ? (size_t)-(int64_t)all.col_begin : 0;
  const size_t behind = all.col_end > 0 ? (size_t)all.col_end : 0;
  cell c = {.left = up(before * size, align),
            .above = all.row_begin < 0 ? (size_t)-(int64_t)all.row_begin : 0};
  c.rows = c.above + (all.row_end > 0 ? (size_t)all.row_end : 0);
  c.width = up(c.left + behind * size, align);
  return c;
}

static void store(const daedalus_buffer_desc *desc, unsigned char *at, int64_t value) {
  /* Little-endian or big: the value's low bytes, as the type has them. */
  const uint8_t u8 = (uint8_t)value;
  const uint16_t u16 = (uint16_t)value;
  const uint32_t u32 = (uint32_t)value;
  switch (daedalus_type_size(desc->type)) {
    case 1:
      memcpy(at, &u8, sizeof(u8));
      break;
    case 2:
      memcpy(at, &u16, sizeof(u16));
      break;
    default:
      memcpy(at, &u32, sizeof(u32));
      break;
  }
}

static int64_t clamp(int64_t value, int64_t lo, int64_t hi) {
  return value < lo ? lo : value > hi ? hi : value;
}

/** Elements of a cell or a block: around a value, as often smooth as rough. */
static void fill(generator *g, const daedalus_buffer_desc *desc, unsigned char *at, size_t rows,
                 size_t row_bytes, size_t stride) {
  const size_t size = daedalus_type_size(desc->type);
  const int64_t base = between(g, desc->lo, desc->hi);
  const int64_t reach = (desc->hi - desc->lo) >> (draw(g) % 9);
  for (size_t row = 0; row < rows; row++) {
    for (size_t x = 0; x + size <= row_bytes; x += size) {
      const int64_t value = base + between(g, -reach, reach);
      store(desc, at + row * stride + x, clamp(value, desc->lo, desc->hi));
    }
  }
}

/** A few small values towards the front. */
static void fill_sparse(generator *g, const daedalus_buffer_desc *desc, unsigned char *at) {
  const size_t size = daedalus_type_size(desc->type), n = desc->item_stride;
  const size_t n_values = 1 + draw(g) % 6;
  for (size_t i = 0; i < n; i++) {
    store(desc, at + i * size, clamp(0, desc->lo, desc->hi));
  }
  for (size_t i = 0; i < n_values; i++) {
    const uint64_t u = draw(g) >> 16; /* the square of what is below one is nearer to zero */
    const size_t index = i == 0 ? 0 : (size_t)((u * u >> 16) * n >> 16);
    store(desc, at + index * size, clamp(between(g, -600, 600), desc->lo, desc->hi));
  }
}

static bool is_sparse(const daedalus_buffer_desc *desc) {
  return !desc->is_plane && desc->lo < 0;
}

/** Sizes and, once there is memory, places and contents. */
static void lay_out(daedalus_gpu_sample *sample, const uint8_t *align) {
  for (size_t b = 0; b < sample->kernel->n_buffers; b++) {
    const daedalus_buffer_desc *desc = &sample->kernel->buffers[b];
    const size_t size = daedalus_type_size(desc->type);
    const size_t unit = align[b] > size ? align[b] : size;
    if (!desc->is_plane) {
      sample->buffers[b] = (daedalus_buffer){0};
      sample->sizes[b] = up(sample->n_items * desc->item_stride * size, UNIT);
      continue;
    }
    const cell c = cell_of(desc, unit);
    /* A stride that is no power of two, and more than the cells need. */
    sample->buffers[b].stride = (ptrdiff_t)(c.width * CELLS_A_ROW + 3 * unit);
    const size_t n_rows = (sample->n_items + CELLS_A_ROW - 1) / CELLS_A_ROW;
    sample->sizes[b] = up((size_t)sample->buffers[b].stride * c.rows * n_rows, UNIT);
  }
}

static void draw_params(generator *g, const daedalus_gpu_sample *sample, uint16_t class_index,
                        unsigned char *item) {
  const daedalus_kernel_desc *kernel = sample->kernel;
  const daedalus_class_desc *class_desc = &kernel->classes[class_index];
  for (uint16_t p = 0; p < kernel->n_params; p++) {
    const daedalus_param_desc *param = &kernel->params[p];
    int64_t lo = param->lo, hi = param->hi;
    for (size_t i = 0; i < class_desc->n_conditions; i++) {
      const daedalus_condition *condition = &class_desc->conditions[i];
      if (condition->param == p) {
        lo = condition->lo > lo ? condition->lo : lo;
        hi = condition->hi < hi ? condition->hi : hi;
      }
    }
    const daedalus_buffer_desc like = {.type = param->type};
    const size_t size = daedalus_type_size(param->type);
    for (size_t k = 0; k < (param->count > 1 ? param->count : 1); k++) {
      store(&like, item + param->meta_offset + k * size, between(g, lo, hi));
    }
  }
}

static void draw_item(generator *g, daedalus_gpu_sample *sample, uint16_t class_index,
                      const uint8_t *align, size_t i) {
  const daedalus_kernel_desc *kernel = sample->kernel;
  unsigned char *item = sample->meta + i * kernel->meta_size;
  draw_params(g, sample, class_index, item);
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    const daedalus_buffer_desc *desc = &kernel->buffers[b];
    const size_t size = daedalus_type_size(desc->type);
    if (!desc->is_plane) {
      unsigned char *at = sample->data[b] + i * desc->item_stride * size;
      if (is_sparse(desc)) {
        fill_sparse(g, desc, at);
      } else {
        fill(g, desc, at, 1, desc->item_stride * size, 0);
      }
      continue;
    }
    const cell c = cell_of(desc, align[b] > size ? align[b] : size);
    const size_t stride = (size_t)sample->buffers[b].stride;
    const size_t corner = i / CELLS_A_ROW * c.rows * stride + i % CELLS_A_ROW * c.width;
    const uint32_t offset = (uint32_t)(corner + c.above * stride + c.left);
    memcpy(item + desc->meta_offset, &offset, sizeof(offset));
    fill(g, desc, sample->data[b] + corner, c.rows, c.width, stride);
  }
}

static int allocate(daedalus_gpu_sample *sample, const daedalus_allocator *allocator) {
  const daedalus_kernel_desc *kernel = sample->kernel;
  const size_t meta = up(sample->n_items * kernel->meta_size, UNIT);
  const size_t items = up(sample->n_items * sizeof(uint32_t), UNIT);
  size_t size = meta + items + UNIT;
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    size += sample->sizes[b];
  }
  sample->all = allocator->resize(allocator->user, NULL, size);
  if (sample->all == NULL) {
    return -ENOMEM;
  }
  memset(sample->all, 0, size);
  unsigned char *at = sample->all;
  at += (UNIT - (uintptr_t)at % UNIT) % UNIT;
  sample->meta = at;
  sample->items = (uint32_t *)(void *)(at + meta);
  at += meta + items;
  for (size_t b = 0; b < kernel->n_buffers; b++) {
    sample->data[b] = at;
    sample->buffers[b].data = at;
    at += sample->sizes[b];
  }
  for (size_t i = 0; i < sample->n_items; i++) {
    sample->items[i] = (uint32_t)i;
  }
  return 0;
}

int daedalus_rt_gpu_sample_make(daedalus_gpu_sample *sample, const daedalus_allocator *allocator,
                                const daedalus_kernel_desc *kernel, uint16_t class_index,
                                const uint8_t *align, size_t n_items) {
  *sample = (daedalus_gpu_sample){.kernel = kernel, .n_items = n_items};
  lay_out(sample, align);
  const int error = allocate(sample, allocator);
  generator g = {UINT64_C(0x9e3779b97f4a7c15) + class_index};
  for (size_t i = 0; error == 0 && i < n_items; i++) {
    draw_item(&g, sample, class_index, align, i);
  }
  return error;
}

void daedalus_rt_gpu_sample_free(daedalus_gpu_sample *sample, const daedalus_allocator *allocator) {
  allocator->release(allocator->user, sample->all);
  sample->all = NULL;
}

int daedalus_rt_gpu_sample_copy(daedalus_gpu_sample *copy, const daedalus_gpu_sample *sample,
                                const daedalus_allocator *allocator) {
  *copy = *sample;
  const int error = allocate(copy, allocator);
  if (error != 0) {
    return error;
  }
  memcpy(copy->meta, sample->meta, sample->n_items * sample->kernel->meta_size);
  for (size_t b = 0; b < sample->kernel->n_buffers; b++) {
    memcpy(copy->data[b], sample->data[b], sample->sizes[b]);
  }
  return 0;
}

void daedalus_rt_gpu_sample_simplify(daedalus_gpu_sample *sample, size_t item) {
  for (size_t b = 0; b < sample->kernel->n_buffers; b++) {
    const daedalus_buffer_desc *desc = &sample->kernel->buffers[b];
    if (is_sparse(desc)) {
      const size_t size = daedalus_type_size(desc->type);
      unsigned char *at = sample->data[b] + item * desc->item_stride * size;
      for (size_t i = 1; i < desc->item_stride; i++) {
        store(desc, at + i * size, clamp(0, desc->lo, desc->hi));
      }
    }
  }
}

void daedalus_rt_gpu_sample_run(daedalus_gpu_sample *sample, const daedalus_variant *variant) {
  variant->cpu(sample->buffers, sample->meta, sample->items, sample->n_items);
}

typedef struct comparison {
  const unsigned char *a, *b; /* the same place in both */
  bool equal;
} comparison;

static void compare_run(void *user, const daedalus_gpu_run *run) {
  comparison *c = user;
  uintptr_t at = run->address - (uintptr_t)c->a;
  for (size_t row = 0; row < run->rows; row++, at += (uintptr_t)run->stride) {
    c->equal = c->equal && memcmp(c->a + at, c->b + at, run->bytes) == 0;
  }
}

bool daedalus_rt_gpu_sample_equal(const daedalus_gpu_sample *a, const daedalus_gpu_sample *b,
                                  size_t item) {
  bool equal = true;
  for (size_t i = 0; i < a->kernel->n_buffers; i++) {
    const daedalus_gpu_part part = {.kernel = a->kernel,
                                    .desc = &a->kernel->buffers[i],
                                    .buffer = &a->buffers[i],
                                    .meta = a->meta,
                                    .items = a->items,
                                    .first = item,
                                    .end = item + 1};
    comparison c = {a->data[i], b->data[i], true};
    daedalus_rt_gpu_runs(&part, DAEDALUS_ACCESS_WRITE, compare_run, &c);
    equal = equal && c.equal;
  }
  return equal;
}
