/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `daedalus-v3d-timing FOLDER [PROFILE]`: what the timing model says of published figures.  FOLDER
 * has the programs, PROFILE settings over the defaults.  Exit codes: 0 done, 2 bad input.
 */
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

static bool read_profile(const char *path, daedalus_v3d_profile *profile) {
  char text[65536], message[200];
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return false;
  }
  const size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  const unsigned line = daedalus_v3d_profile_parse(text, size, profile, message, sizeof message);
  if (line)
    fprintf(stderr, "%s:%u: %s\n", path, line, message);
  return !line;
}

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

static bool show(const figure *f, const char *folder, const daedalus_v3d_profile *given) {
  daedalus_v3d_profile profile = *given;
  daedalus_v3d_report report;
  work w = {0};
  if (f->clock_mhz)
    profile.clock_mhz = f->clock_mhz;
  const double units = f->make(&w, f->parameters);
  if (!run_work(&w, folder, &profile, &report))
    return false;
  const daedalus_v3d_times *t = &report.times;
  double ns = (double)t->ns;
  if (f->make == figures[3].make)
    ns += profile.job_ns + profile.submit_ns;
  const double modelled = f->is_time ? ns / units : units / ns;
  const unsigned qpus = profile.slices * profile.qpus_per_slice;
  const uint64_t all = t->clocks * qpus;
  printf("%-32s %-10s %9.4g %9.4g %+6.1f %% | %3.0f %3.0f %3.0f %3.0f %3.0f %3.0f | %3.0f %3.0f\n",
         f->name, f->role == CALIBRATED ? "calibrated" : "left out", f->published, modelled,
         100 * (modelled / f->published - 1), percent(t->active, all), percent(t->stall_tmu, all),
         percent(t->stall_sfu, all), percent(t->stall_uniforms, all), percent(t->waiting, all),
         percent(t->idle, all), percent(t->tmu_busy, t->clocks * profile.slices),
         percent(t->tmu_hits, t->tmu_hits + t->tmu_misses));
  return true;
}

int main(int argc, char **argv) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: daedalus-v3d-timing FOLDER [PROFILE]\n");
    return 2;
  }
  if (argc == 3 && !read_profile(argv[2], &profile))
    return 2;
  for (unsigned i = 0; i < n_figures; i++)
    if (!show(&figures[i], argv[1], &profile))
      return 2;
  return 0;
}
