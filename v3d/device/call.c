/* SPDX-License-Identifier: BSD-2-Clause */
#include "call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int dev_user_read(const struct dev_call *call, uint64_t address, void *to, size_t bytes) {
  if (bytes == 0)
    return 0;
  for (size_t i = 0; i < call->n_segments; i++) {
    const struct dev_segment *segment = &call->segments[i];
    if (address >= segment->address && address - segment->address < segment->bytes &&
        bytes <= segment->bytes - (address - segment->address)) {
      memcpy(to, segment->data + (address - segment->address), bytes);
      return 0;
    }
  }
  return -EFAULT;
}

int dev_user_array(const struct dev_call *call, uint64_t address, size_t n, size_t size,
                   void *array) {
  void *items = NULL;
  memcpy(array, &items, sizeof items);
  if (n == 0)
    return 0;
  /* What is longer than a message cannot have come along. */
  if (n > WIRE_MAX / size)
    return -EFAULT;
  items = malloc(n * size);
  if (items == NULL)
    return -ENOMEM;
  const int result = dev_user_read(call, address, items, n * size);
  if (result != 0) {
    free(items);
    return result;
  }
  memcpy(array, &items, sizeof items);
  return 0;
}

int dev_user_write(struct dev_call *call, uint64_t address, const void *from, size_t bytes) {
  if (bytes == 0)
    return 0;
  const size_t needed = sizeof(struct wire_segment) + wire_padded(bytes);
  if (call->output_bytes + needed > call->output_room) {
    const size_t room = (call->output_bytes + needed) * 2;
    uint8_t *output = realloc(call->output, room);
    if (output == NULL)
      return -ENOMEM;
    call->output = output;
    call->output_room = room;
  }
  const struct wire_segment segment = {.address = address, .bytes = (uint32_t)bytes};
  uint8_t *at = call->output + call->output_bytes;
  memset(at, 0, needed);
  memcpy(at, &segment, sizeof segment);
  memcpy(at + sizeof segment, from, bytes);
  call->output_bytes += needed;
  call->n_outputs++;
  return 0;
}

int dev_refuse(struct dev_call *call, int error, const char *format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  call->device->n_refused++;
  dev_report(call->device, "refused: %s", text);
  return error;
}
