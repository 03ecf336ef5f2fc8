/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for the compiler's <arm_neon.h> on other hosts, so that tests can
 * run the NEON variants there: SIMDe implements the intrinsics portably.  The
 * build puts this folder on the include path when DAEDALUS_SIMDE is set.
 */
#ifndef DAEDALUS_TOOLS_SIMDE_ARM_NEON_H
#define DAEDALUS_TOOLS_SIMDE_ARM_NEON_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/arm/neon.h>

#endif /* DAEDALUS_TOOLS_SIMDE_ARM_NEON_H */
