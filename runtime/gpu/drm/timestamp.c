/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/drm/timestamp.h"

#include <errno.h>

#include "../../../v3d/device/abi.h"

enum { SUPPORTS_CPU_QUEUE = 12 }; /* of DRM_V3D_GET_PARAM */

bool daedalus_rt_drm_has_timestamps(daedalus_drm *drm) {
  struct abi_get_param get = {.param = SUPPORTS_CPU_QUEUE};
  const unsigned long request = ABI_REQUEST(1, ABI_V3D_GET_PARAM, struct abi_get_param);
  return drm->fn.drmIoctl(drm->node.fd, request, &get) == 0 && get.value != 0;
}

int daedalus_rt_drm_timestamp(daedalus_drm *drm, const daedalus_gpu_block *block, uint32_t offset,
                              uint32_t after, uint32_t sync) {
  /* The query's own syncobj gets its fence only when the job runs: nothing to wait for. */
  if (drm->query_sync == 0 && drm->fn.drmSyncobjCreate(drm->node.fd, 0, &drm->query_sync) != 0) {
    drm->query_sync = 0;
    return daedalus_rt_drm_failed(drm, "DRM_IOCTL_SYNCOBJ_CREATE", errno);
  }
  const struct abi_sem in = {.handle = after}, out = {.handle = sync};
  const uint32_t handle = daedalus_drm_block_of(block)->handle;
  struct abi_multi_sync syncs = {
      .base = {.id = ABI_EXT_MULTI_SYNC},
      .in_syncs = (uintptr_t)&in,
      .n_in_syncs = after != 0,
      .out_syncs = (uintptr_t)&out,
      .n_out_syncs = 1,
      .wait_stage = ABI_STAGE_CPU,
  };
  const struct abi_timestamp stamp = {
      .base = {.id = ABI_EXT_TIMESTAMP, .next = (uintptr_t)&syncs},
      .offsets = (uintptr_t)&offset,
      .syncs = (uintptr_t)&drm->query_sync,
      .count = 1,
  };
  struct abi_submit_cpu submit = {
      .bo_handles = (uintptr_t)&handle,
      .n_bo_handles = 1,
      .flags = ABI_SUBMIT_EXTENSION,
      .extensions = (uintptr_t)&stamp,
  };
  return daedalus_rt_drm_ioctl(drm, "DRM_IOCTL_V3D_SUBMIT_CPU",
                               ABI_REQUEST(0, ABI_V3D_SUBMIT_CPU, struct abi_submit_cpu), &submit);
}
