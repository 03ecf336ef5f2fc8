/* SPDX-License-Identifier: BSD-2-Clause */
/* Which ioctl is what. */
#include <errno.h>

#include "fault_jobs.h"

/*
 * What this driver has not, as the kernel says of it: the timelines of syncobjs, and the client's
 * capabilities, which are of displays.
 */
int dev_ioctl_not_supported(struct dev_call *call) {
  (void)call;
  return -EOPNOTSUPP;
}

static int (*const functions[256])(struct dev_call *call) = {
#define ROW(id, number, name) [ABI_##id] = dev_ioctl_##name,
    ABI_IOCTLS(ROW)
#undef ROW
};

int dev_ioctl(struct dev_call *call) {
  dev_wait_go_on(call);
  if (ABI_TYPE_OF(call->code) == ABI_TYPE_SYNC_FILE)
    return dev_ioctl_of_sync_file(call);
  if (ABI_TYPE_OF(call->code) == ABI_TYPE_DMA_BUF)
    return dev_ioctl_of_dma_buf(call);
  if (ABI_TYPE_OF(call->code) == ABI_TYPE_DMA_HEAP)
    return dev_ioctl_of_dma_heap(call);
  if (ABI_TYPE_OF(call->code) != ABI_TYPE || call->client == NULL)
    return -ENOTTY;
  const int error = dev_fault_ioctl(call);
  if (error != 0)
    return error;
  if (functions[ABI_NR(call->code)] != NULL)
    return functions[ABI_NR(call->code)](call);
  return dev_refuse(call, -EINVAL, "ioctl 0x%02x is not one of a v3d device that is simulated",
                    ABI_NR(call->code));
}
