/* SPDX-License-Identifier: BSD-2-Clause */
#include <daedalus/fake.h>

#include "../variants.h"

void daedalus_fake_add__c_dc(const daedalus_buffer *buffers, const void *meta,
                             const uint32_t *items, size_t n_items) {
  const daedalus_fake_add_meta *metas = meta;
  for (size_t i = 0; i < n_items; i++) {
    const daedalus_fake_add_meta *m = &metas[items[i]];
    uint8_t *dst = (uint8_t *)buffers[0].data + m->dst_off;
    *dst = (uint8_t)(*dst + m->gain * ((const int16_t *)buffers[1].data)[(size_t)items[i] * 16]);
  }
}
