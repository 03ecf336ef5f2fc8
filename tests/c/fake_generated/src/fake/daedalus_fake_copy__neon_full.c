/* SPDX-License-Identifier: BSD-2-Clause */
#include <arm_neon.h>

#include <daedalus/fake.h>

#include "../variants.h"

void daedalus_fake_copy__neon_full(const daedalus_buffer *buffers, const void *meta,
                                   const uint32_t *items, size_t n_items) {
  const daedalus_fake_copy_meta *metas = meta;
  for (size_t i = 0; i < n_items; i++) {
    const daedalus_fake_copy_meta *m = &metas[items[i]];
    for (int row = 0; row < m->rows; row++) {
      vst1_u8((uint8_t *)buffers[0].data + m->dst_off + row * buffers[0].stride,
              vld1_u8((const uint8_t *)buffers[1].data + m->src_off + row * buffers[1].stride));
    }
  }
}
