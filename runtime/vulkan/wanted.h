/* SPDX-License-Identifier: BSD-2-Clause */
/* Which device is asked for, with Vulkan or without. */
#ifndef DAEDALUS_VULKAN_WANTED_H
#define DAEDALUS_VULKAN_WANTED_H

#include <stdbool.h>

#include "core/context.h"

/** @return what the configuration, else the environment, asks for; NULL: nothing particular */
const char *daedalus_rt_wanted_device(const daedalus_ctx *ctx);

/** Whether the context is to have no GPU; that there is none is then no news. */
bool daedalus_rt_no_device_wanted(const daedalus_ctx *ctx);

#endif /* DAEDALUS_VULKAN_WANTED_H */
