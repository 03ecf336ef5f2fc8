/* SPDX-License-Identifier: BSD-2-Clause */
/* Which ioctl is what. */
#include <errno.h>

#include "fault_jobs.h"

/*
 * What this driver has not, as the kernel says of it: the timelines of syncobjs, and the client's
 * capabilities, which are of displays.
 */
static int not_supported(struct dev_call *call) {
  (void)call;
  return -EOPNOTSUPP;
}

static const struct {
  uint8_t nr;
  int (*function)(struct dev_call *call);
} ioctls[] = {
    {ABI_VERSION, dev_ioctl_version},
    {ABI_GEM_CLOSE, dev_ioctl_gem_close},
    {ABI_GET_CAP, dev_ioctl_get_cap},
    {ABI_SET_CLIENT_CAP, not_supported},
    {ABI_PRIME_HANDLE_TO_FD, dev_ioctl_prime_handle_to_fd},
    {ABI_PRIME_FD_TO_HANDLE, dev_ioctl_prime_fd_to_handle},
    {ABI_V3D_SUBMIT_CL, dev_ioctl_submit_cl},
    {ABI_V3D_WAIT_BO, dev_ioctl_wait_bo},
    {ABI_V3D_CREATE_BO, dev_ioctl_create_bo},
    {ABI_V3D_MMAP_BO, dev_ioctl_mmap_bo},
    {ABI_V3D_GET_PARAM, dev_ioctl_get_param},
    {ABI_V3D_GET_BO_OFFSET, dev_ioctl_get_bo_offset},
    {ABI_V3D_SUBMIT_TFU, dev_ioctl_submit_tfu},
    {ABI_V3D_SUBMIT_CSD, dev_ioctl_submit_csd},
    {ABI_V3D_PERFMON_CREATE, dev_ioctl_perfmon_create},
    {ABI_V3D_PERFMON_DESTROY, dev_ioctl_perfmon_destroy},
    {ABI_V3D_PERFMON_GET_VALUES, dev_ioctl_perfmon_get_values},
    {ABI_V3D_SUBMIT_CPU, dev_ioctl_submit_cpu},
    {ABI_V3D_PERFMON_GET_COUNTER, dev_ioctl_perfmon_get_counter},
    {ABI_SYNCOBJ_CREATE, dev_ioctl_syncobj_create},
    {ABI_SYNCOBJ_DESTROY, dev_ioctl_syncobj_destroy},
    {ABI_SYNCOBJ_HANDLE_TO_FD, dev_ioctl_syncobj_handle_to_fd},
    {ABI_SYNCOBJ_FD_TO_HANDLE, dev_ioctl_syncobj_fd_to_handle},
    {ABI_SYNCOBJ_WAIT, dev_ioctl_syncobj_wait},
    {ABI_SYNCOBJ_RESET, dev_ioctl_syncobj_reset},
    {ABI_SYNCOBJ_SIGNAL, dev_ioctl_syncobj_signal},
    {ABI_SYNCOBJ_TIMELINE_WAIT, not_supported},
    {ABI_SYNCOBJ_QUERY, not_supported},
    {ABI_SYNCOBJ_TRANSFER, not_supported},
    {ABI_SYNCOBJ_TIMELINE_SIGNAL, not_supported},
    {ABI_SYNCOBJ_EVENTFD, not_supported},
};

int dev_ioctl(struct dev_call *call) {
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
  for (size_t i = 0; i < sizeof ioctls / sizeof *ioctls; i++)
    if (ioctls[i].nr == ABI_NR(call->code))
      return ioctls[i].function(call);
  return dev_refuse(call, -EINVAL, "ioctl 0x%02x is not one of a v3d device that is simulated",
                    ABI_NR(call->code));
}
