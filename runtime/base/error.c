/* SPDX-License-Identifier: BSD-2-Clause */
#include <daedalus/core.h>

#include <errno.h>

const char *daedalus_strerror(int error) {
  switch (error) {
    case 0:
      return "success";
    case -EINVAL:
      return "invalid argument";
    case -ENOMEM:
      return "out of memory";
    case -EALREADY:
      return "batch already submitted";
    case -EBUSY:
      return "batch still in flight";
    case -ETIME:
      return "timed out before the batch was done";
    case -EIO:
      return "the GPU failed, and what it wrote in place is undefined";
    case -ENODEV:
      return "no device that can run this";
    case -ENOTSUP:
      return "not supported by this batch, memory or device";
    case -EOVERFLOW:
      return "too many items in one append";
    default:
      return "unknown error";
  }
}

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor) TEXT_OF(major) "." TEXT_OF(minor)

const char *daedalus_version(void) {
  return VERSION_TEXT(DAEDALUS_VERSION_MAJOR, DAEDALUS_VERSION_MINOR);
}
