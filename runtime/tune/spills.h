/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a Vulkan driver's compiler spilled, where it tells (VK_KHR_pipeline_executable_properties):
 * by standing between the runtime and the loader.  Of one context a process.
 */
#ifndef DAEDALUS_TUNE_SPILLS_H
#define DAEDALUS_TUNE_SPILLS_H

#include <daedalus/core.h>
#include <stdbool.h>

/*
 * For daedalus_config: hands everything on to `next` (NULL: the system's Vulkan).
 * @return `next` where this was built without Vulkan's headers, or there is no Vulkan
 */
daedalus_get_instance_proc_addr_fn spills_loader(daedalus_get_instance_proc_addr_fn next);

/* Forgets what was compiled so far. */
void spills_forget(void);
/* Whether what was compiled since spills.  @param[out] what  "TMU Spills 4", say, cut to size */
bool spills_seen(char *what, size_t size);

#endif
