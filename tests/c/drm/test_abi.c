/* SPDX-License-Identifier: BSD-2-Clause */
/* What libdrm.h says of libdrm's structs, as the system's header has them: building is the test. */
#include <stdint.h> /* before <xf86drm.h>, which needs it */

#include <xf86drm.h>

#include "gpu/drm/libdrm.h"

#define SAME(own, theirs, member, other)                                         \
  _Static_assert(offsetof(own, member) == offsetof(theirs, other) &&             \
                     sizeof(((own *)0)->member) == sizeof(((theirs *)0)->other), \
                 #own "." #member)

SAME(daedalus_drm_listed, drmDevice, nodes, nodes);
SAME(daedalus_drm_listed, drmDevice, available_nodes, available_nodes);
SAME(daedalus_drm_listed, drmDevice, bustype, bustype);
SAME(daedalus_drm_listed, drmDevice, deviceinfo, deviceinfo);
SAME(daedalus_drm_platform, drmPlatformDeviceInfo, compatible, compatible);
SAME(daedalus_drm_version, drmVersion, version_major, version_major);
SAME(daedalus_drm_version, drmVersion, version_minor, version_minor);
SAME(daedalus_drm_version, drmVersion, version_patchlevel, version_patchlevel);
SAME(daedalus_drm_version, drmVersion, name_len, name_len);
SAME(daedalus_drm_version, drmVersion, name, name);
_Static_assert((int)DAEDALUS_DRM_NODE_RENDER == DRM_NODE_RENDER, "kind of a node");
_Static_assert((int)DAEDALUS_DRM_BUS_PLATFORM == DRM_BUS_PLATFORM, "kind of a bus");

extern const int daedalus_drm_abi_compiled;
const int daedalus_drm_abi_compiled = 1;
