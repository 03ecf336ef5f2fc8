/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>

#include "device.h"

void dev_report(struct dev_device *device, const char *format, ...) {
  FILE *const outputs[] = {device->quiet ? NULL : stderr, device->log};
  for (int i = 0; i < 2; i++) {
    if (outputs[i] == NULL)
      continue;
    va_list values;
    va_start(values, format);
    fputs("daedalus-v3d-device: ", outputs[i]);
    vfprintf(outputs[i], format, values);
    fputc('\n', outputs[i]);
    fflush(outputs[i]);
    va_end(values);
  }
}
