/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration, as programs of other versions hand it over. */
#ifndef DAEDALUS_CORE_CONFIG_H
#define DAEDALUS_CORE_CONFIG_H

#include "base/context.h"

/**
 * Copies what the caller's struct has and this library knows; the rest is zero.
 * The logger is taken over into `ctx` as soon as it is known to be one, so that what is wrong with
 * the rest is told to it.
 * @return 0 or -EINVAL, logged
 */
int daedalus_rt_config_read(daedalus_ctx *ctx, const daedalus_config *given,
                            daedalus_config *known);

#endif /* DAEDALUS_CORE_CONFIG_H */
