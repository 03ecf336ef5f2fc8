/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The binary interface of the DRM device v3d: numbers and layouts that clients use, of ioctls of
 * type 'd', and of what its buffers and fences are exported as.  Stated here because installed
 * headers differ in age; tests/c/v3d/device/test_abi.c compares with the system's <drm/drm.h> and
 * <drm/v3d_drm.h> where there are any.
 *
 * Members named mbz or pad must be zero.  Pointers are 64-bit user addresses.
 */
#ifndef DAEDALUS_V3D_DEVICE_ABI_H
#define DAEDALUS_V3D_DEVICE_ABI_H

#include <stdint.h>

/* The 32 bits of an ioctl request, as on x86-64 and AArch64. */
#define ABI_TYPE 'd'
#define ABI_NR(request) ((uint32_t)(request) & 0xff)
#define ABI_TYPE_OF(request) (((uint32_t)(request) >> 8) & 0xff)
#define ABI_SIZE(request) (((uint32_t)(request) >> 16) & 0x3fff)
#define ABI_WRITES(request) (((uint32_t)(request) >> 30) & 1) /* the client gives the argument */
#define ABI_READS(request) (((uint32_t)(request) >> 31) & 1)  /* the client gets it back */
#define ABI_REQUEST(reads, nr, type) ABI_REQUEST_OF(ABI_TYPE, reads, nr, type)
#define ABI_REQUEST_OF(kind, reads, nr, type)                                                  \
  ((uint32_t)(reads) << 31 | 1u << 30 | (uint32_t)sizeof(type) << 16 | (uint32_t)(kind) << 8 | \
   (uint32_t)(nr))

/* X(ID, number, name): dev_ioctl_<name> does it, see call.h. */
#define ABI_IOCTLS(X)                                   \
  X(VERSION, 0x00, version)                             \
  X(GEM_CLOSE, 0x09, gem_close)                         \
  X(GET_CAP, 0x0c, get_cap)                             \
  X(SET_CLIENT_CAP, 0x0d, not_supported)                \
  X(PRIME_HANDLE_TO_FD, 0x2d, prime_handle_to_fd)       \
  X(PRIME_FD_TO_HANDLE, 0x2e, prime_fd_to_handle)       \
  X(V3D_SUBMIT_CL, 0x40, submit_cl)                     \
  X(V3D_WAIT_BO, 0x41, wait_bo)                         \
  X(V3D_CREATE_BO, 0x42, create_bo)                     \
  X(V3D_MMAP_BO, 0x43, mmap_bo)                         \
  X(V3D_GET_PARAM, 0x44, get_param)                     \
  X(V3D_GET_BO_OFFSET, 0x45, get_bo_offset)             \
  X(V3D_SUBMIT_TFU, 0x46, submit_tfu)                   \
  X(V3D_SUBMIT_CSD, 0x47, submit_csd)                   \
  X(V3D_PERFMON_CREATE, 0x48, perfmon_create)           \
  X(V3D_PERFMON_DESTROY, 0x49, perfmon_destroy)         \
  X(V3D_PERFMON_GET_VALUES, 0x4a, perfmon_get_values)   \
  X(V3D_SUBMIT_CPU, 0x4b, submit_cpu)                   \
  X(V3D_PERFMON_GET_COUNTER, 0x4c, perfmon_get_counter) \
  X(SYNCOBJ_CREATE, 0xbf, syncobj_create)               \
  X(SYNCOBJ_DESTROY, 0xc0, syncobj_destroy)             \
  X(SYNCOBJ_HANDLE_TO_FD, 0xc1, syncobj_handle_to_fd)   \
  X(SYNCOBJ_FD_TO_HANDLE, 0xc2, syncobj_fd_to_handle)   \
  X(SYNCOBJ_WAIT, 0xc3, syncobj_wait)                   \
  X(SYNCOBJ_RESET, 0xc4, syncobj_reset)                 \
  X(SYNCOBJ_SIGNAL, 0xc5, syncobj_signal)               \
  X(SYNCOBJ_TIMELINE_WAIT, 0xca, not_supported)         \
  X(SYNCOBJ_QUERY, 0xcb, not_supported)                 \
  X(SYNCOBJ_TRANSFER, 0xcc, not_supported)              \
  X(SYNCOBJ_TIMELINE_SIGNAL, 0xcd, not_supported)       \
  X(SYNCOBJ_EVENTFD, 0xcf, not_supported)

enum abi_nr {
#define ABI_ENUMERATE(id, number, name) ABI_##id = number,
  ABI_IOCTLS(ABI_ENUMERATE)
#undef ABI_ENUMERATE
};

struct abi_version {
  int32_t major, minor, patch;
  uint32_t pad;
  uint64_t name_length; /* in: room at name; out: length without a NUL */
  uint64_t name;
  uint64_t date_length, date;
  uint64_t description_length, description;
};

struct abi_gem_close {
  uint32_t handle, pad;
};

enum { ABI_CAP_PRIME = 0x5, ABI_CAP_TIMESTAMP_MONOTONIC = 0x6, ABI_CAP_SYNCOBJ = 0x13 };
enum { ABI_CAP_SYNCOBJ_TIMELINE = 0x14 };
enum { ABI_PRIME_IMPORT = 1, ABI_PRIME_EXPORT = 2 }; /* bits of the capability */

struct abi_get_cap {
  uint64_t capability, value;
};

struct abi_prime_handle {
  uint32_t handle, flags; /* flags: O_CLOEXEC, O_RDWR */
  int32_t fd;
};

struct abi_syncobj_create {
  uint32_t handle, flags;
};
enum { ABI_SYNCOBJ_CREATE_SIGNALED = 1 };

struct abi_syncobj_destroy {
  uint32_t handle, pad;
};

struct abi_syncobj_handle {
  uint32_t handle, flags;
  int32_t fd;
  uint32_t pad;
};
enum { ABI_SYNCOBJ_FD_SYNC_FILE = 1 };

struct abi_syncobj_wait {
  uint64_t handles;
  int64_t timeout_ns; /* absolute, CLOCK_MONOTONIC */
  uint32_t n_handles, flags, first_signaled, pad;
};
/* With the deadline comes a member behind pad, when the result is wanted: a hint. */
enum { ABI_SYNCOBJ_WAIT_ALL = 1, ABI_SYNCOBJ_WAIT_FOR_SUBMIT = 2, ABI_SYNCOBJ_WAIT_DEADLINE = 8 };

struct abi_syncobj_array {
  uint64_t handles;
  uint32_t n_handles, pad;
};

struct abi_create_bo {
  uint32_t size, flags, handle, offset;
};

struct abi_mmap_bo {
  uint32_t handle, flags;
  uint64_t offset;
};

struct abi_get_param {
  uint32_t param, pad;
  uint64_t value;
};

struct abi_get_bo_offset {
  uint32_t handle, offset;
};

struct abi_wait_bo {
  uint32_t handle, pad;
  uint64_t timeout_ns; /* relative; out: what is left */
};

enum { ABI_SUBMIT_FLUSH_CACHE = 1, ABI_SUBMIT_EXTENSION = 2 };

struct abi_submit_cl {
  uint32_t bcl_start, bcl_end; /* binning list */
  uint32_t rcl_start, rcl_end; /* render list */
  uint32_t in_sync_bcl, in_sync_rcl, out_sync;
  uint32_t qma, qms, qts;
  uint64_t bo_handles;
  uint32_t n_bo_handles, flags, perfmon_id, pad;
  uint64_t extensions;
};

struct abi_submit_csd {
  uint32_t cfg[7], coef[4];
  uint64_t bo_handles;
  uint32_t n_bo_handles, in_sync, out_sync, perfmon_id;
  uint64_t extensions;
  uint32_t flags, pad;
};

struct abi_submit_tfu {
  uint32_t icfg, iia, iis, ica, iua, ioa, ios, coef[4];
  uint32_t bo_handles[4]; /* up to the first 0 */
  uint32_t in_sync, out_sync, flags;
  uint64_t extensions;
  uint32_t ioc, pad; /* of V3D 7.1 */
};

struct abi_submit_cpu {
  uint64_t bo_handles;
  uint32_t n_bo_handles, flags;
  uint64_t extensions;
};

/* Extensions are a linked list; each begins with this. */
struct abi_extension {
  uint64_t next;
  uint32_t id, flags;
};
enum {
  ABI_EXT_MULTI_SYNC = 1,
  ABI_EXT_INDIRECT_CSD = 2,
  ABI_EXT_TIMESTAMP = 3,
  ABI_EXT_RESET_TIMESTAMP = 4,
  ABI_EXT_COPY_TIMESTAMP = 5,
  ABI_EXT_RESET_PERFORMANCE = 6,
  ABI_EXT_COPY_PERFORMANCE = 7
};

struct abi_sem {
  uint32_t handle, flags;
  uint64_t point, mbz[2];
};

enum { ABI_STAGE_BIN, ABI_STAGE_RENDER, ABI_STAGE_TFU, ABI_STAGE_CSD, ABI_STAGE_CLEAN };
enum { ABI_STAGE_CPU = 5 };

struct abi_multi_sync {
  struct abi_extension base;
  uint64_t in_syncs, out_syncs; /* arrays of struct abi_sem */
  uint32_t n_in_syncs, n_out_syncs, wait_stage, pad;
};

struct abi_indirect_csd {
  struct abi_extension base;
  struct abi_submit_csd submit;
  uint32_t indirect;              /* handle of the buffer with the uniforms */
  uint32_t offset;                /* of the three group counts in the CPU job's buffer, bytes */
  uint32_t wg_size;               /* invocations */
  uint32_t wg_uniform_offsets[3]; /* words of the uniforms' buffer to set; ~0: none */
};

struct abi_timestamp {
  struct abi_extension base;
  uint64_t offsets, syncs; /* arrays of u32, count each */
  uint32_t count, pad;
};

struct abi_reset_timestamp {
  struct abi_extension base;
  uint64_t syncs;
  uint32_t offset, count;
};

struct abi_copy_timestamp {
  struct abi_extension base;
  uint8_t do_64bit, do_partial, availability_bit, mbz;
  uint32_t offset, stride, count;
  uint64_t offsets, syncs;
};

enum { ABI_MAX_COUNTERS = 32 }; /* of a monitor */

struct abi_perfmon_create {
  uint32_t id, n_counters;
  uint8_t counters[ABI_MAX_COUNTERS];
};

struct abi_perfmon_destroy {
  uint32_t id;
};

struct abi_perfmon_values {
  uint32_t id, pad;
  uint64_t values; /* array of u64, as many as it has counters */
};

struct abi_perfmon_counter {
  uint8_t counter;
  char name[64], category[32], description[256];
  uint8_t reserved[7];
};

struct abi_reset_performance {
  struct abi_extension base;
  uint64_t syncs; /* array of u32, count */
  uint32_t count, n_monitors;
  uint64_t monitors; /* array of count pointers to arrays of n_monitors u32 */
};

struct abi_copy_performance {
  struct abi_extension base;
  uint8_t do_64bit, do_partial, availability_bit, mbz;
  uint32_t offset, stride, n_monitors, n_counters, count;
  uint64_t syncs, monitors;
};

/* -- Sync files: ioctls of type '>', on their descriptors. -- */

#define ABI_TYPE_SYNC_FILE '>'
enum { ABI_SYNC_MERGE = 3, ABI_SYNC_INFO = 4, ABI_SYNC_SET_DEADLINE = 5 };

struct abi_sync_merge {
  char name[32];
  int32_t other, fd; /* fd: the new one */
  uint32_t flags, pad;
};

struct abi_sync_file_info {
  char name[32];
  int32_t status; /* 0 active, 1 signaled */
  uint32_t flags;
  uint32_t n_fences; /* in: room at fences; out: how many there are */
  uint32_t pad;
  uint64_t fences; /* array of struct abi_sync_fence_info */
};

struct abi_sync_fence_info {
  char object[32], driver[32];
  int32_t status;
  uint32_t flags;
  uint64_t timestamp_ns;
};

struct abi_sync_deadline {
  uint64_t deadline_ns, pad;
};

/* -- Exported buffers: ioctls of type 'b', on their descriptors. -- */

#define ABI_TYPE_DMA_BUF 'b'
enum {
  ABI_DMA_BUF_SYNC = 0,
  ABI_DMA_BUF_SET_NAME = 1,
  ABI_DMA_BUF_EXPORT_SYNC_FILE = 2,
  ABI_DMA_BUF_IMPORT_SYNC_FILE = 3
};
enum { ABI_DMA_BUF_READ = 1, ABI_DMA_BUF_WRITE = 2, ABI_DMA_BUF_END = 4 };

struct abi_dma_buf_sync {
  uint64_t flags;
};

struct abi_dma_buf_sync_file {
  uint32_t flags;
  int32_t fd;
};

/* -- Heaps of /dev/dma_heap: ioctls of type 'H'. -- */

#define ABI_TYPE_DMA_HEAP 'H'
enum { ABI_DMA_HEAP_ALLOC = 0 };

struct abi_dma_heap_alloc {
  uint64_t bytes;
  uint32_t fd, fd_flags; /* fd 0 in; fd_flags: O_CLOEXEC and the access mode */
  uint64_t heap_flags;   /* mbz */
};

/* No argument is larger. */
enum { ABI_MAX_ARGUMENT = 384 };

#endif
