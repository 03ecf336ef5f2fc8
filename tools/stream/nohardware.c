/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nohardware.c - keeps the hardware interfaces of a static libavutil out.
 *
 * Its archive member for hardware contexts pulls in VA-API, OpenCL and the
 * like.  This program never asks for one, so these definitions of the same
 * names only have to be there; one that is called all the same stops the
 * program and says so.  The headers that declare them are not included, as
 * none of the real types matter here.
 */
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void trap(const char *name) {
  fprintf(stderr, "%s was called, and this program has no hardware decoding\n", name);
  abort();
}

#define TRAP(name)  \
  void name(void);  \
  void name(void) { \
    trap(#name);    \
  }

TRAP(av_hwdevice_ctx_alloc)
TRAP(av_hwdevice_ctx_create)
TRAP(av_hwdevice_ctx_create_derived)
TRAP(av_hwdevice_ctx_create_derived_opts)
TRAP(av_hwdevice_ctx_init)
TRAP(av_hwdevice_find_type_by_name)
TRAP(av_hwdevice_get_hwframe_constraints)
TRAP(av_hwdevice_get_type_name)
TRAP(av_hwdevice_hwconfig_alloc)
TRAP(av_hwdevice_iterate_types)
TRAP(av_hwframe_constraints_free)
TRAP(av_hwframe_ctx_alloc)
TRAP(av_hwframe_ctx_create_derived)
TRAP(av_hwframe_ctx_init)
TRAP(av_hwframe_get_buffer)
TRAP(av_hwframe_map)
TRAP(av_hwframe_transfer_data)
TRAP(av_hwframe_transfer_get_formats)
TRAP(ff_hwframe_map_create)
TRAP(ff_hwframe_map_replace)

/* The decoder's list of accelerators points at these; all zero means "none of mine". */
#define NO_ACCELERATOR(name)       \
  extern const void *const name[]; \
  const void *const name[64] = {NULL};

NO_ACCELERATOR(ff_vp9_vaapi_hwaccel)
NO_ACCELERATOR(ff_vp9_vdpau_hwaccel)
NO_ACCELERATOR(ff_vp9_nvdec_hwaccel)
NO_ACCELERATOR(ff_h263_vaapi_hwaccel)
NO_ACCELERATOR(ff_h263_vdpau_hwaccel)
NO_ACCELERATOR(ff_h263_nvdec_hwaccel)
NO_ACCELERATOR(ff_h264_vaapi_hwaccel)
NO_ACCELERATOR(ff_h264_vdpau_hwaccel)
NO_ACCELERATOR(ff_h264_nvdec_hwaccel)
NO_ACCELERATOR(ff_h264_vulkan_hwaccel)
NO_ACCELERATOR(ff_mpeg4_vaapi_hwaccel)
NO_ACCELERATOR(ff_mpeg4_vdpau_hwaccel)
NO_ACCELERATOR(ff_mpeg4_nvdec_hwaccel)
