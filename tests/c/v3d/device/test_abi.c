/* SPDX-License-Identifier: BSD-2-Clause */
/* abi.h against the system's headers, of which older ones lack the newest things. */
#include "abi.h"

#include <stddef.h>

#include <drm/v3d_drm.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/sync_file.h>

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(struct theirs), #ours)
#define SAME_PLACE(ours, a, theirs, b) \
  _Static_assert(offsetof(struct ours, a) == offsetof(struct theirs, b), #ours "." #a)
#define SAME_NR(ours, theirs) _Static_assert(ABI_NR(theirs) == ours, #ours)

SAME_SIZE(abi_version, drm_version);
SAME_PLACE(abi_version, name, drm_version, name);
SAME_PLACE(abi_version, description, drm_version, desc);
SAME_NR(ABI_VERSION, DRM_IOCTL_VERSION);
SAME_NR(ABI_GEM_CLOSE, DRM_IOCTL_GEM_CLOSE);
SAME_NR(ABI_GET_CAP, DRM_IOCTL_GET_CAP);
SAME_NR(ABI_SET_CLIENT_CAP, DRM_IOCTL_SET_CLIENT_CAP);
SAME_SIZE(abi_prime_handle, drm_prime_handle);
SAME_NR(ABI_PRIME_HANDLE_TO_FD, DRM_IOCTL_PRIME_HANDLE_TO_FD);
SAME_NR(ABI_PRIME_FD_TO_HANDLE, DRM_IOCTL_PRIME_FD_TO_HANDLE);
SAME_SIZE(abi_syncobj_create, drm_syncobj_create);
SAME_NR(ABI_SYNCOBJ_CREATE, DRM_IOCTL_SYNCOBJ_CREATE);
SAME_NR(ABI_SYNCOBJ_DESTROY, DRM_IOCTL_SYNCOBJ_DESTROY);
SAME_SIZE(abi_syncobj_handle, drm_syncobj_handle);
SAME_NR(ABI_SYNCOBJ_HANDLE_TO_FD, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD);
SAME_NR(ABI_SYNCOBJ_FD_TO_HANDLE, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE);
/* Since Linux 6.6 a deadline follows. */
_Static_assert(sizeof(struct abi_syncobj_wait) <= sizeof(struct drm_syncobj_wait), "wait");
SAME_PLACE(abi_syncobj_wait, timeout_ns, drm_syncobj_wait, timeout_nsec);
SAME_PLACE(abi_syncobj_wait, pad, drm_syncobj_wait, pad);
SAME_PLACE(abi_syncobj_wait, n_handles, drm_syncobj_wait, count_handles);
SAME_PLACE(abi_syncobj_wait, first_signaled, drm_syncobj_wait, first_signaled);
SAME_NR(ABI_SYNCOBJ_WAIT, DRM_IOCTL_SYNCOBJ_WAIT);
SAME_SIZE(abi_syncobj_array, drm_syncobj_array);
SAME_NR(ABI_SYNCOBJ_RESET, DRM_IOCTL_SYNCOBJ_RESET);
SAME_NR(ABI_SYNCOBJ_SIGNAL, DRM_IOCTL_SYNCOBJ_SIGNAL);
SAME_NR(ABI_SYNCOBJ_TIMELINE_WAIT, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT);
SAME_NR(ABI_SYNCOBJ_QUERY, DRM_IOCTL_SYNCOBJ_QUERY);
SAME_NR(ABI_SYNCOBJ_TRANSFER, DRM_IOCTL_SYNCOBJ_TRANSFER);
SAME_NR(ABI_SYNCOBJ_TIMELINE_SIGNAL, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL);
_Static_assert(ABI_CAP_SYNCOBJ == DRM_CAP_SYNCOBJ, "cap");
_Static_assert(ABI_CAP_SYNCOBJ_TIMELINE == DRM_CAP_SYNCOBJ_TIMELINE, "cap");
_Static_assert(ABI_CAP_PRIME == DRM_CAP_PRIME, "cap");
_Static_assert(ABI_CAP_TIMESTAMP_MONOTONIC == DRM_CAP_TIMESTAMP_MONOTONIC, "cap");

SAME_SIZE(abi_submit_cl, drm_v3d_submit_cl);
SAME_PLACE(abi_submit_cl, bo_handles, drm_v3d_submit_cl, bo_handles);
SAME_PLACE(abi_submit_cl, extensions, drm_v3d_submit_cl, extensions);
SAME_PLACE(abi_submit_tfu, bo_handles, drm_v3d_submit_tfu, bo_handles);
SAME_PLACE(abi_submit_tfu, in_sync, drm_v3d_submit_tfu, in_sync);
SAME_PLACE(abi_submit_tfu, flags, drm_v3d_submit_tfu, flags);
SAME_PLACE(abi_submit_tfu, extensions, drm_v3d_submit_tfu, extensions);

SAME_SIZE(abi_submit_csd, drm_v3d_submit_csd);
SAME_PLACE(abi_submit_csd, bo_handles, drm_v3d_submit_csd, bo_handles);
SAME_PLACE(abi_submit_csd, in_sync, drm_v3d_submit_csd, in_sync);
SAME_PLACE(abi_submit_csd, extensions, drm_v3d_submit_csd, extensions);
SAME_SIZE(abi_create_bo, drm_v3d_create_bo);
SAME_SIZE(abi_mmap_bo, drm_v3d_mmap_bo);
SAME_SIZE(abi_get_param, drm_v3d_get_param);
SAME_SIZE(abi_get_bo_offset, drm_v3d_get_bo_offset);
SAME_SIZE(abi_wait_bo, drm_v3d_wait_bo);
SAME_SIZE(abi_extension, drm_v3d_extension);
SAME_SIZE(abi_sem, drm_v3d_sem);
SAME_SIZE(abi_multi_sync, drm_v3d_multi_sync);
SAME_PLACE(abi_multi_sync, wait_stage, drm_v3d_multi_sync, wait_stage);
_Static_assert(ABI_REQUEST(1, ABI_V3D_SUBMIT_CL, struct abi_submit_cl) == DRM_IOCTL_V3D_SUBMIT_CL,
               "SUBMIT_CL");
_Static_assert(ABI_REQUEST(0, ABI_V3D_SUBMIT_CSD, struct abi_submit_csd) ==
                   DRM_IOCTL_V3D_SUBMIT_CSD,
               "SUBMIT_CSD");
_Static_assert(ABI_REQUEST(1, ABI_V3D_CREATE_BO, struct abi_create_bo) == DRM_IOCTL_V3D_CREATE_BO,
               "CREATE_BO");
_Static_assert(ABI_REQUEST(1, ABI_V3D_WAIT_BO, struct abi_wait_bo) == DRM_IOCTL_V3D_WAIT_BO,
               "WAIT_BO");
_Static_assert(ABI_REQUEST(1, ABI_V3D_MMAP_BO, struct abi_mmap_bo) == DRM_IOCTL_V3D_MMAP_BO,
               "MMAP_BO");
_Static_assert(ABI_REQUEST(1, ABI_V3D_GET_PARAM, struct abi_get_param) == DRM_IOCTL_V3D_GET_PARAM,
               "GET_PARAM");
_Static_assert((int)ABI_EXT_MULTI_SYNC == DRM_V3D_EXT_ID_MULTI_SYNC, "extension");
_Static_assert((int)ABI_STAGE_CSD == V3D_CSD, "stage");
#ifdef DRM_V3D_EXT_ID_CPU_INDIRECT_CSD
SAME_SIZE(abi_submit_cpu, drm_v3d_submit_cpu);
SAME_SIZE(abi_indirect_csd, drm_v3d_indirect_csd);
SAME_SIZE(abi_timestamp, drm_v3d_timestamp_query);
SAME_SIZE(abi_reset_timestamp, drm_v3d_reset_timestamp_query);
SAME_SIZE(abi_copy_timestamp, drm_v3d_copy_timestamp_query);
SAME_PLACE(abi_submit_cpu, extensions, drm_v3d_submit_cpu, extensions);
SAME_PLACE(abi_indirect_csd, submit, drm_v3d_indirect_csd, submit);
SAME_PLACE(abi_indirect_csd, indirect, drm_v3d_indirect_csd, indirect);
SAME_PLACE(abi_indirect_csd, wg_uniform_offsets, drm_v3d_indirect_csd, wg_uniform_offsets);
SAME_PLACE(abi_timestamp, count, drm_v3d_timestamp_query, count);
SAME_PLACE(abi_reset_timestamp, offset, drm_v3d_reset_timestamp_query, offset);
SAME_PLACE(abi_reset_timestamp, count, drm_v3d_reset_timestamp_query, count);
SAME_PLACE(abi_copy_timestamp, availability_bit, drm_v3d_copy_timestamp_query, availability_bit);
SAME_PLACE(abi_copy_timestamp, stride, drm_v3d_copy_timestamp_query, stride);
SAME_PLACE(abi_copy_timestamp, offsets, drm_v3d_copy_timestamp_query, offsets);
SAME_PLACE(abi_copy_timestamp, syncs, drm_v3d_copy_timestamp_query, syncs);
_Static_assert((int)ABI_EXT_INDIRECT_CSD == DRM_V3D_EXT_ID_CPU_INDIRECT_CSD, "extension");
_Static_assert((int)ABI_EXT_TIMESTAMP == DRM_V3D_EXT_ID_CPU_TIMESTAMP_QUERY, "extension");
_Static_assert((int)ABI_EXT_RESET_TIMESTAMP == DRM_V3D_EXT_ID_CPU_RESET_TIMESTAMP_QUERY, "ext");
_Static_assert((int)ABI_EXT_COPY_TIMESTAMP == DRM_V3D_EXT_ID_CPU_COPY_TIMESTAMP_QUERY, "ext");
_Static_assert((int)ABI_STAGE_CPU == V3D_CPU, "stage");
#endif
#ifdef DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE
_Static_assert((int)ABI_SYNCOBJ_WAIT_DEADLINE == DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE, "flag");
#endif
_Static_assert((int)ABI_SYNCOBJ_FD_SYNC_FILE == DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE &&
                   (int)ABI_SYNCOBJ_FD_SYNC_FILE == DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
               "flag");
_Static_assert((int)ABI_PRIME_IMPORT == DRM_PRIME_CAP_IMPORT &&
                   (int)ABI_PRIME_EXPORT == DRM_PRIME_CAP_EXPORT,
               "cap");

#define SAME_CODE(kind, nr, type, theirs)                                                   \
  _Static_assert(ABI_REQUEST_OF(kind, ((theirs) >> 31) & 1, nr, struct type) == (theirs) && \
                     sizeof(struct type) > 0,                                               \
                 #type)
SAME_CODE(ABI_TYPE_SYNC_FILE, ABI_SYNC_MERGE, abi_sync_merge, SYNC_IOC_MERGE);
SAME_PLACE(abi_sync_merge, other, sync_merge_data, fd2);
SAME_PLACE(abi_sync_merge, fd, sync_merge_data, fence);
SAME_CODE(ABI_TYPE_SYNC_FILE, ABI_SYNC_INFO, abi_sync_file_info, SYNC_IOC_FILE_INFO);
SAME_PLACE(abi_sync_file_info, status, sync_file_info, status);
SAME_PLACE(abi_sync_file_info, n_fences, sync_file_info, num_fences);
SAME_PLACE(abi_sync_file_info, fences, sync_file_info, sync_fence_info);
SAME_SIZE(abi_sync_fence_info, sync_fence_info);
SAME_PLACE(abi_sync_fence_info, driver, sync_fence_info, driver_name);
SAME_PLACE(abi_sync_fence_info, timestamp_ns, sync_fence_info, timestamp_ns);
#ifdef SYNC_IOC_SET_DEADLINE
SAME_CODE(ABI_TYPE_SYNC_FILE, ABI_SYNC_SET_DEADLINE, abi_sync_deadline, SYNC_IOC_SET_DEADLINE);
#endif
SAME_CODE(ABI_TYPE_DMA_HEAP, ABI_DMA_HEAP_ALLOC, abi_dma_heap_alloc, DMA_HEAP_IOCTL_ALLOC);
SAME_PLACE(abi_dma_heap_alloc, fd_flags, dma_heap_allocation_data, fd_flags);
SAME_CODE(ABI_TYPE_DMA_BUF, ABI_DMA_BUF_SYNC, abi_dma_buf_sync, DMA_BUF_IOCTL_SYNC);
_Static_assert((int)ABI_DMA_BUF_READ == DMA_BUF_SYNC_READ &&
                   (int)ABI_DMA_BUF_WRITE == DMA_BUF_SYNC_WRITE &&
                   (int)ABI_DMA_BUF_END == DMA_BUF_SYNC_END,
               "flags");
#ifdef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
SAME_CODE(ABI_TYPE_DMA_BUF, ABI_DMA_BUF_EXPORT_SYNC_FILE, abi_dma_buf_sync_file,
          DMA_BUF_IOCTL_EXPORT_SYNC_FILE);
SAME_CODE(ABI_TYPE_DMA_BUF, ABI_DMA_BUF_IMPORT_SYNC_FILE, abi_dma_buf_sync_file,
          DMA_BUF_IOCTL_IMPORT_SYNC_FILE);
SAME_PLACE(abi_dma_buf_sync_file, fd, dma_buf_export_sync_file, fd);
#endif

SAME_CODE(ABI_TYPE, ABI_V3D_PERFMON_CREATE, abi_perfmon_create, DRM_IOCTL_V3D_PERFMON_CREATE);
SAME_PLACE(abi_perfmon_create, counters, drm_v3d_perfmon_create, counters);
SAME_CODE(ABI_TYPE, ABI_V3D_PERFMON_DESTROY, abi_perfmon_destroy, DRM_IOCTL_V3D_PERFMON_DESTROY);
SAME_CODE(ABI_TYPE, ABI_V3D_PERFMON_GET_VALUES, abi_perfmon_values,
          DRM_IOCTL_V3D_PERFMON_GET_VALUES);
SAME_PLACE(abi_perfmon_values, values, drm_v3d_perfmon_get_values, values_ptr);
#ifdef DRM_IOCTL_V3D_PERFMON_GET_COUNTER
SAME_CODE(ABI_TYPE, ABI_V3D_PERFMON_GET_COUNTER, abi_perfmon_counter,
          DRM_IOCTL_V3D_PERFMON_GET_COUNTER);
SAME_PLACE(abi_perfmon_counter, name, drm_v3d_perfmon_get_counter, name);
SAME_PLACE(abi_perfmon_counter, description, drm_v3d_perfmon_get_counter, description);
SAME_PLACE(abi_perfmon_counter, reserved, drm_v3d_perfmon_get_counter, reserved);
#endif
#ifdef DRM_V3D_EXT_ID_CPU_RESET_PERFORMANCE_QUERY
SAME_SIZE(abi_reset_performance, drm_v3d_reset_performance_query);
SAME_PLACE(abi_reset_performance, n_monitors, drm_v3d_reset_performance_query, nperfmons);
SAME_PLACE(abi_reset_performance, monitors, drm_v3d_reset_performance_query, kperfmon_ids);
SAME_SIZE(abi_copy_performance, drm_v3d_copy_performance_query);
SAME_PLACE(abi_copy_performance, n_counters, drm_v3d_copy_performance_query, ncounters);
SAME_PLACE(abi_copy_performance, count, drm_v3d_copy_performance_query, count);
SAME_PLACE(abi_copy_performance, monitors, drm_v3d_copy_performance_query, kperfmon_ids);
#endif
_Static_assert((int)ABI_MAX_COUNTERS == DRM_V3D_MAX_PERF_COUNTERS, "counters");

extern int daedalus_v3d_abi_compared;
