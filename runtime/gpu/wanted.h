/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked for, by the configuration or else by the environment. */
#ifndef DAEDALUS_GPU_WANTED_H
#define DAEDALUS_GPU_WANTED_H

#include <stdbool.h>

#include "base/context.h"

/** @return which device; NULL: nothing particular */
const char *daedalus_rt_wanted_device(const daedalus_ctx *ctx);

/** Whether the context is to have no GPU; that there is none is then no news. */
bool daedalus_rt_no_device_wanted(const daedalus_ctx *ctx);

/** @return the route's name, or what stands in its place, else the recipe's; NULL: none */
const char *daedalus_rt_wanted_route(const daedalus_ctx *ctx);

/** @return nanoseconds without progress after which the GPU is lost */
uint64_t daedalus_rt_wanted_timeout(const daedalus_ctx *ctx);

/**
 * A number of milliseconds in the environment.
 * @return it, or `otherwise` where there is none, or none that is `least` or more, which is logged
 */
uint64_t daedalus_rt_wanted_ms(const daedalus_ctx *ctx, const char *name, uint64_t least,
                               uint64_t otherwise);

/** Whether a name holds what was asked for, whatever the case. */
bool daedalus_rt_name_holds(const char *name, const char *asked);

#endif /* DAEDALUS_GPU_WANTED_H */
