/* SPDX-License-Identifier: BSD-2-Clause */
#include <daedalus/fake.h>

#include "../variants.h"

void daedalus_fake_add__c_full(const daedalus_buffer *buffers, const void *meta,
                               const uint32_t *items, size_t n_items) {
  const daedalus_fake_add_meta *metas = meta;
  for (size_t i = 0; i < n_items; i++) {
    const daedalus_fake_add_meta *m = &metas[items[i]];
    const int16_t *src = (const int16_t *)buffers[1].data + (size_t)items[i] * 16;
    uint8_t *dst = (uint8_t *)buffers[0].data + m->dst_off;
    for (int k = 0; k < m->count; k++) {
      uint8_t *at = dst + (k / 4) * buffers[0].stride + k % 4;
      *at = (uint8_t)(*at + m->gain * src[k]);
    }
  }
}
