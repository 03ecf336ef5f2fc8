/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device says of itself. */
#include <errno.h>
#include <string.h>

#include "perfmon.h"
#include "timed.h"

/* Fills name, date or description: as much as there is room for, and the length that it has. */
static int give_text(struct dev_call *call, uint64_t *length, uint64_t address, const char *text) {
  const uint64_t room = *length, has = strlen(text);
  *length = has;
  return address == 0 ? 0 : dev_user_write(call, address, text, has < room ? has : room);
}

int dev_ioctl_version(struct dev_call *call) {
  struct abi_version *version = (struct abi_version *)call->arg;
  version->major = 1;
  version->minor = 0;
  version->patch = 0;
  int result = give_text(call, &version->name_length, version->name, "v3d");
  if (result == 0)
    result = give_text(call, &version->date_length, version->date, "20180419");
  if (result == 0)
    result = give_text(call, &version->description_length, version->description,
                       "Broadcom V3D graphics");
  return result;
}

int dev_ioctl_get_cap(struct dev_call *call) {
  struct abi_get_cap *cap = (struct abi_get_cap *)call->arg;
  cap->value = 0;
  switch (cap->capability) {
    case ABI_CAP_TIMESTAMP_MONOTONIC:
    case ABI_CAP_SYNCOBJ:
      cap->value = 1;
      return 0;
    case ABI_CAP_PRIME:
      cap->value = ABI_PRIME_IMPORT | ABI_PRIME_EXPORT;
      return 0;
    case ABI_CAP_SYNCOBJ_TIMELINE: /* the hardware's driver has none */
      return 0;
    default: /* the others are of displays */
      return -EOPNOTSUPP;
  }
}

int dev_ioctl_get_param(struct dev_call *call) {
  enum { N_REGISTERS = 7 };
  struct abi_get_param *param = (struct abi_get_param *)call->arg;
  const daedalus_v3d_profile *profile = &call->device->profile;
  /* Drivers count QPUs by this word to size what threads spill to: the board's own counts. */
  const uint32_t counts = profile->slices << 4 | profile->qpus_per_slice << 8;
  /* By number. A word 0 is one that no public source states. */
  const uint64_t values[] = {
      0,                                                   /* UIFCFG */
      0,                                                   /* HUB_IDENT1 */
      0,                                                   /* HUB_IDENT2 */
      profile->hub_ident3,                                 /* HUB_IDENT3 */
      profile->core0_ident0,                               /* CORE0_IDENT0 */
      (profile->core0_ident1 & ~UINT32_C(0xff0)) | counts, /* CORE0_IDENT1 */
      0,                                                   /* CORE0_IDENT2 */
      1, /* SUPPORTS_TFU: drivers insist, jobs fail */
      1, /* SUPPORTS_CSD */
      1, /* SUPPORTS_CACHE_FLUSH */
      dev_is_timed(
          call->device), /* SUPPORTS_PERFMON: without the model there is nothing to count */
      1,                 /* SUPPORTS_MULTISYNC_EXT */
      1,                 /* SUPPORTS_CPU_QUEUE */
      dev_is_timed(call->device) ? DEV_N_COUNTERS : 0, /* MAX_PERF_COUNTERS */
      0, /* SUPPORTS_SUPER_PAGES: kernels that know the question say so where they have none */
  };
  if (param->pad != 0 || param->param >= sizeof values / sizeof *values)
    return -EINVAL;
  /* The kernel reads registers only where the member is 0, and overwrites it elsewhere. */
  if (param->param < N_REGISTERS && param->value != 0)
    return -EINVAL;
  param->value = values[param->param];
  return 0;
}
