/* SPDX-License-Identifier: BSD-2-Clause */
/* Variants in QPU code on the device: uploaded once, with their constants. */
#ifndef DAEDALUS_DRM_PROGRAM_H
#define DAEDALUS_DRM_PROGRAM_H

#include "gpu/drm/device.h"

struct daedalus_drm_program {
  daedalus_gpu_program base;
  const daedalus_qpu_code *code;
  size_t n_buffers;
  uint32_t threads_most;      /* of a dispatch */
  daedalus_gpu_block *block;  /* the code and behind it the constants; NULL until it is made */
  uint32_t constants_address; /* of the GPU */
};

/** The one that copies: buffer 0 to buffer 1, 16 bytes an item. */
extern const daedalus_qpu_code daedalus_drm_copy_code;

bool daedalus_rt_drm_has(const daedalus_variant *variant);

/** Any code, whether a variant's or not.  @return NULL without memory */
daedalus_drm_program *daedalus_rt_drm_program_new(daedalus_drm *drm, const daedalus_qpu_code *code,
                                                  size_t n_buffers, uint32_t threads);

/* For the route; see backend.h. */
int daedalus_rt_drm_program_create(daedalus_gpu_backend *backend,
                                   const daedalus_kernel_desc *kernel,
                                   const daedalus_variant *variant, uint32_t workgroup,
                                   daedalus_gpu_program **program);
int daedalus_rt_drm_program_make(daedalus_gpu_backend *backend, daedalus_gpu_program *program);
void daedalus_rt_drm_program_destroy(daedalus_gpu_backend *backend, daedalus_gpu_program *program);

/** What a stream of uniforms is filled with. */
typedef struct daedalus_drm_arguments {
  const daedalus_gpu_dispatch *dispatch;
  uint32_t records; /* address of the first one to do */
  uint32_t threads;
  uint32_t scratch; /* address */
} daedalus_drm_arguments;

/** Writes the n_uniforms words of a dispatch. */
void daedalus_rt_drm_uniforms(const daedalus_drm_program *program,
                              const daedalus_drm_arguments *arguments, uint32_t *words);

#endif /* DAEDALUS_DRM_PROGRAM_H */
