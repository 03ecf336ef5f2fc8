/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/gpu.h - what is particular to the GPU: which device, memory that it
 * uses in place, and what becomes of a batch when it fails.  Part of core.h,
 * whose conventions hold here too.
 *
 * The GPU is opened by the first call that needs it: an append or dispatch for
 * DAEDALUS_SUBSTRATE_QPU, or for DAEDALUS_SUBSTRATE_AUTO where the recipe says QPU for any class of
 * the kernel; daedalus_append_variant() of a GPU variant; daedalus_ctx_prepare() and
 * daedalus_ctx_placement() as these appends; daedalus_ctx_has_qpu(), daedalus_ctx_device(),
 * daedalus_memory_create() and daedalus_memory_import_dmabuf().
 * Which device was taken is logged then, once, at level INFO.
 *
 * **By which route.**  Through Vulkan, with shaders that its driver compiles, or straight through
 * DRM, with code for the QPUs of V3D 7.1.  Vulkan is tried first, and DRM where that finds no
 * device; daedalus_config.route or the environment's DAEDALUS_QPU_ROUTE ("vulkan", "drm"), and else
 * the recipe, say which to try first.  A context has one route; all below is the same for both.
 *
 * **Which device.**  V3D (the GPU of a Raspberry Pi) first, then other GPUs.
 * A device that is a program on the CPU is taken only when it is asked for.
 * Asking: daedalus_config.device, or the environment's DAEDALUS_VULKAN_DEVICE.
 * Either is a part of the device's or the driver's name, whatever the case
 * ("v3d", "llvmpipe", "nvidia"; "lavapipe" also means llvmpipe), or "#N", the
 * device that daedalus_device_at() gives for N, or "none".
 *
 * **Where data lies.**  A buffer that is passed to an append and lies wholly in
 * the mapping of a daedalus_memory is used in place.  Any other is copied to
 * memory of the GPU when the batch is submitted, and what its items write is
 * copied back by the wait or poll that finds the batch done.
 *
 * **When the GPU fails** (lost, out of memory, no progress for the timeout),
 * one error is logged and the CPU goes on: with the batch at hand, and in a
 * lost device's stead with all later ones of the context, which does not try
 * the device again.  Results are correct all the same, but for memory that was
 * used in place and cannot be brought back to what it was: then submit, wait
 * and poll give -EIO, and daedalus_batch_undefined() names the items.  See
 * DAEDALUS_BATCH_SHADOW and DAEDALUS_BATCH_NO_SHADOW.
 */
#ifndef DAEDALUS_GPU_H
#define DAEDALUS_GPU_H

#include <daedalus/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- device */

typedef enum daedalus_device_kind {
  DAEDALUS_DEVICE_V3D = 0,   /**< the GPU of a Raspberry Pi 4 or 5 */
  DAEDALUS_DEVICE_OTHER = 1, /**< any other GPU */
  DAEDALUS_DEVICE_CPU = 2    /**< a program on the CPU, such as lavapipe */
} daedalus_device_kind;

/** Set `size` to sizeof(daedalus_device_info); strings live as long as the context. */
typedef struct daedalus_device_info {
  size_t size;
  const char *name;           /**< as the driver says: "V3D 7.1.10.2" */
  const char *driver;         /**< "V3DV Mesa" */
  const char *driver_version; /**< the driver's own text: "Mesa 25.0.7-2" */
  const char *memory;         /**< what daedalus_memory lies in, a sentence; NULL before opening */
  daedalus_device_kind kind;
  uint32_t vendor_id, device_id; /**< of PCI where it has them */
  uint32_t api_version;          /**< of Vulkan, as VK_MAKE_API_VERSION packs it */
  uint32_t subgroup_size;
  uint32_t max_workgroup;    /**< invocations */
  uint32_t max_shared_bytes; /**< of a workgroup */
  uint32_t features;         /**< DAEDALUS_GPU_* of table.h */
  uint8_t in_place;          /**< the CPU sees the GPU's memory: flush and invalidate cost little */
  uint8_t exports_fence;     /**< daedalus_batch_export_fence() works */
  uint8_t imports_dmabuf;    /**< daedalus_memory_import_dmabuf() works */
  uint8_t timestamps;        /**< DAEDALUS_BATCH_TIMESTAMPS works */
  uint8_t lost;              /**< it failed for good; the CPU does what is meant for it */
  const char *route;         /**< "vulkan" or "drm" */
} daedalus_device_info;

/**
 * The device that the context uses; opens it.
 * @return 0, -EINVAL, or -ENODEV where there is none, logged with the reason
 */
DAEDALUS_API int daedalus_ctx_device(daedalus_ctx *ctx, daedalus_device_info *info);

/** @return how many Vulkan devices there are, whether they can be used or not; opens none. */
DAEDALUS_API size_t daedalus_device_count(daedalus_ctx *ctx);

/** @return 0 or -EINVAL (index not below daedalus_device_count(), wrong size) */
DAEDALUS_API int daedalus_device_at(daedalus_ctx *ctx, size_t index, daedalus_device_info *info);

/* ----------------------------------------------------------------- memory */

/** Memory that the GPU uses in place.  Belongs to its context. */
typedef struct daedalus_memory daedalus_memory;

/**
 * Memory of the device: zeroed, aligned to 64 bytes at least.  Where the CPU cannot see
 * the device's own memory, or sees too little of it (GPUs on a card), the
 * mapping is a copy of it in the CPU's, which flush and invalidate bring over.
 * @param[out] memory  NULL on failure
 * @return 0, -EINVAL, -ENODEV or -ENOMEM
 */
DAEDALUS_API int daedalus_memory_create(daedalus_ctx *ctx, size_t size, daedalus_memory **memory);

/**
 * A dma-buf, such as a decoder's or a camera's frame.
 * @param fd       of the dma-buf; stays the caller's
 * @param size     bytes, at most the dma-buf's (which is checked where it tells), a multiple of 4
 * @param mapping  where the caller has mapped its first byte, a multiple of 64, borrowed until the
 *                 memory is destroyed; NULL has it mapped here (and where it cannot be mapped,
 *                 daedalus_memory_data() is an address that stands for it: for appends for the
 *                 QPU alone, as the CPU must not touch it)
 *                 The same dma-buf may be imported more than once, and what lies in it then counts
 *                 as one and the same memory (as of Linux 5.3)
 * @return 0, -EINVAL, -ENODEV, -ENOMEM, or -ENOTSUP where the device cannot import it, logged
 */
DAEDALUS_API int daedalus_memory_import_dmabuf(daedalus_ctx *ctx, int fd, size_t size,
                                               void *mapping, daedalus_memory **memory);

/**
 * A dma-buf of memory that daedalus_memory_create() made, for other devices.
 * @param[out] fd  owned by the caller, to be closed by it; -1 on failure.  Whether it can be mapped
 *                 for writing is up to the driver: V3D's lets it be read only
 * The first time it waits for batches in flight that use the memory, and for the GPU to let go of
 * it.
 * @return 0, -EINVAL, -ENOMEM, or -ENOTSUP where the device cannot export it
 */
DAEDALUS_API int daedalus_memory_export_dmabuf(daedalus_memory *memory, int *fd);

/** @return the first byte, for the CPU and for appends; NULL for NULL */
DAEDALUS_API void *daedalus_memory_data(const daedalus_memory *memory);

/** @return bytes, as asked for; 0 for NULL */
DAEDALUS_API size_t daedalus_memory_size(const daedalus_memory *memory);

/**
 * Lets the GPU see what the CPU wrote, before the batch that uses it is submitted.
 * Waits for batches in flight that use the memory where it has to copy.
 * @return 0, -EINVAL (range outside) or -EIO (the device is lost)
 */
DAEDALUS_API int daedalus_memory_flush(daedalus_memory *memory, size_t offset, size_t size);

/** Lets the CPU see what the GPU wrote, after the batch is done.  Else as flush. */
DAEDALUS_API int daedalus_memory_invalidate(daedalus_memory *memory, size_t offset, size_t size);

/**
 * Waits for batches in flight that use it, then frees it; NULL is fine.
 * @return 0, or -EBUSY where a batch that is not submitted yet uses it: nothing is freed then, and
 * a message says so.  What is left when the context is destroyed goes with it
 */
DAEDALUS_API int daedalus_memory_destroy(daedalus_memory *memory);

/** The pool that copies of the caller's memory lie in; bytes of the GPU's memory. */
typedef struct daedalus_pool_info {
  size_t size; /**< set to sizeof(daedalus_pool_info) */
  uint64_t in_use;
  uint64_t in_use_peak; /**< the watermark since the last reset of it */
  uint64_t reserved;    /**< in use and kept for use again */
  uint64_t requests;    /**< buffers asked for since the device was opened */
  uint64_t hits;        /**< of these, such as were there already */
} daedalus_pool_info;

/** All zero before the GPU is opened.  @return 0 or -EINVAL */
DAEDALUS_API int daedalus_ctx_pool(const daedalus_ctx *ctx, daedalus_pool_info *info);

/** Frees what the pool keeps for use again, and sets the watermark to what is in use. */
DAEDALUS_API void daedalus_ctx_pool_trim(daedalus_ctx *ctx);

/* ------------------------------------------------------------------ batch */

/** Bits of daedalus_batch_set_flags(). */
enum {
  /**
   * Keep a copy of what the batch writes in place, imported memory too, so
   * that a failing GPU leaves correct results.  Costs a copy on the GPU; where
   * the CPU cannot see the device's memory, one to the CPU before submit.
   */
  DAEDALUS_BATCH_SHADOW = 1u << 0,
  /**
   * Keep none for memory of daedalus_memory_create() either, of which by
   * default as much is kept as the batch both reads and writes (and none where
   * the CPU cannot see the device's memory): saves the copy.
   */
  DAEDALUS_BATCH_NO_SHADOW = 1u << 1,
  /** Let daedalus_batch_gpu_time() tell how long the GPU worked. */
  DAEDALUS_BATCH_TIMESTAMPS = 1u << 2
};

/**
 * Before the first append; reset() keeps them.
 * @return 0, -EINVAL (unknown bits, or both of the first two), -EBUSY (something is appended)
 */
DAEDALUS_API int daedalus_batch_set_flags(daedalus_batch *batch, uint32_t flags);

/**
 * @param[out] ns  nanoseconds from the start of the batch's first GPU work to the end of its last;
 *                 where the CPU's appends split it, the sum over the parts
 * @return 0, -EINVAL, -EBUSY (not done), or -ENOTSUP (no DAEDALUS_BATCH_TIMESTAMPS, no GPU work, or
 *         a device without timestamps)
 */
DAEDALUS_API int daedalus_batch_gpu_time(const daedalus_batch *batch, uint64_t *ns);

/** An item whose destination is undefined after -EIO. */
typedef struct daedalus_undefined_item {
  const char *kernel; /**< kernel id */
  size_t append; /**< which of the batch's appends, from 0; such as added nothing not counted */
  size_t item;   /**< index in it */
} daedalus_undefined_item;

/** @return how many; 0 unless the batch ended with -EIO. */
DAEDALUS_API size_t daedalus_batch_undefined_count(const daedalus_batch *batch);

/** @return 0 or -EINVAL; `item`'s string is static */
DAEDALUS_API int daedalus_batch_undefined(const daedalus_batch *batch, size_t index,
                                          daedalus_undefined_item *item);

#ifdef __cplusplus
}
#endif
#endif /* DAEDALUS_GPU_H */
