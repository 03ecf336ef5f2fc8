/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stub driver as one with VK_KHR_pipeline_executable_properties, whose compiler spills in the
 * fixture's variant on words, and tells so of pipelines whose statistics were to be captured.
 */
#ifndef DAEDALUS_TESTS_TUNE_TELLING_H
#define DAEDALUS_TESTS_TUNE_TELLING_H

#include <daedalus/core.h>

daedalus_vulkan_fn telling_loader(void *instance, const char *name);

#endif
