/* SPDX-License-Identifier: BSD-2-Clause */
/* Which variant the CPU takes for a class where nobody chose one. */
#include <daedalus/table.h>

#include "check.h"
#include "cpu/cpu.h"

static void never(const daedalus_buffer *buffers, const void *meta, const uint32_t *items,
                  size_t n_items) {
  (void)buffers;
  (void)meta;
  (void)items;
  (void)n_items;
}

enum { ONE, TWO, BARE, FULL, N_CLASSES };

static const daedalus_class_desc classes[N_CLASSES] = {
    {.name = "one"}, {.name = "two"}, {.name = "bare"}, {.name = "full"}};
static const daedalus_variant variants[] = {
    {.name = "vector_one", .class_index = ONE, .rank = 400, .cpu = never},
    {.name = "vector_full", .class_index = FULL, .rank = 401, .cpu = never},
    {.name = "c_one", .class_index = ONE, .rank = 500, .cpu = never},
    {.name = "c_two", .class_index = TWO, .rank = 501, .cpu = never},
    {.name = "c_full", .class_index = FULL, .rank = 502, .cpu = never},
};
static const daedalus_kernel_desc kernel = {.id = "fake",
                                            .classes = classes,
                                            .n_classes = N_CLASSES,
                                            .variants = variants,
                                            .n_variants = sizeof(variants) / sizeof(variants[0])};

int main(void) {
  CHECK_STR(daedalus_rt_cpu_choose(&kernel, ONE)->name, "vector_one");
  /* A vector's for any items, rather than the class's own of scalar C. */
  CHECK_STR(daedalus_rt_cpu_choose(&kernel, TWO)->name, "vector_full");
  /* Of its own it has none: a class between may hold its items. */
  CHECK(daedalus_rt_cpu_choose(&kernel, BARE) == NULL);
  CHECK_STR(daedalus_rt_cpu_choose(&kernel, FULL)->name, "vector_full");
  return CHECK_RESULT();
}
