/* SPDX-License-Identifier: BSD-2-Clause */
/* A published figure by the timing model, and what the settings become when one is left out. */
#ifndef DAEDALUS_TOOLS_V3D_TIMING_FIGURES_H
#define DAEDALUS_TOOLS_V3D_TIMING_FIGURES_H

#include "../timing/timing.h"

/**
 * The figure by the model, in its unit, with programs of the folder.  The clock is that of the
 * board that was measured.  False after a message.
 */
bool figure_by_model(const figure *f, const char *folder, daedalus_v3d_profile profile,
                     daedalus_v3d_report *report, double *value);

/**
 * Fits the settings to all calibrated figures, and again to all but one for each of them: prints
 * what they become, and the figure left out. Returns an exit code.
 */
int show_left_out(const char *folder);

#endif
