/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fits the settings that no public source states to the calibrated figures: to all of them, and to
 * all but one, which is then a prediction.  One setting after the other takes that value of its
 * list by which the squares of the figures' relative errors (their logarithms) sum up to least;
 * twice through all of them, from the middle of each list.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "timing_figures.h"
#include "v3d.h"

enum { MOST_VALUES = 16, ROUNDS = 2 };

typedef struct fitted {
  const char *name;
  size_t offset;
  unsigned n;
  uint32_t values[MOST_VALUES]; /* that are tried; the middle one is the start */
} fitted;

#define SETTING(name) #name, offsetof(daedalus_v3d_profile, name)
static const fitted settings[] = {
    {SETTING(tmu_hit_clocks), 13, {40, 50, 60, 65, 70, 75, 80, 90, 100, 120, 140, 170, 200}},
    {SETTING(sfu_slice_clocks), 7, {0, 1, 2, 3, 4, 5, 6}},
    {SETTING(supergroups_in_flight), 7, {1, 2, 3, 4, 6, 12, 64}},
    {SETTING(job_ns), 7, {25000, 27500, 30000, 32500, 35000, 37500, 40000}},
};
enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

static void set(daedalus_v3d_profile *profile, const fitted *setting, uint32_t value) {
  memcpy((char *)profile + setting->offset, &value, sizeof value);
}

static bool takes_part(unsigned i, unsigned left_out) {
  return figures[i].role == CALIBRATED && i != left_out;
}

/* The sum of squares over the calibrated figures but one. */
static bool error_of(const char *folder, const daedalus_v3d_profile *profile, unsigned left_out,
                     double *error) {
  *error = 0;
  for (unsigned i = 0; i < n_figures; i++) {
    daedalus_v3d_report report;
    double value;
    if (!takes_part(i, left_out))
      continue;
    if (!figure_by_model(&figures[i], folder, *profile, &report, &value))
      return false;
    const double off = log(value / figures[i].published);
    *error += off * off;
  }
  return true;
}

/* The best value of one setting, the others being as they are in *profile. */
static bool fit_one(const char *folder, const fitted *setting, unsigned left_out,
                    daedalus_v3d_profile *profile) {
  double least = HUGE_VAL;
  uint32_t best;
  memcpy(&best, (const char *)profile + setting->offset, sizeof best);
  /* What it is comes first: where no figure asks for another value, it stays. */
  if (!error_of(folder, profile, left_out, &least))
    return false;
  for (unsigned i = 0; i < setting->n; i++) {
    double error;
    set(profile, setting, setting->values[i]);
    if (!error_of(folder, profile, left_out, &error))
      return false;
    if (error < least * (1 - 1e-9)) {
      least = error;
      best = setting->values[i];
    }
  }
  set(profile, setting, best);
  return true;
}

static bool fit(const char *folder, unsigned left_out, daedalus_v3d_profile *profile) {
  *profile = daedalus_v3d_profile_default();
  for (unsigned i = 0; i < N_SETTINGS; i++)
    set(profile, &settings[i], settings[i].values[settings[i].n / 2]);
  for (unsigned round = 0; round < ROUNDS; round++)
    for (unsigned i = 0; i < N_SETTINGS; i++)
      if (!fit_one(folder, &settings[i], left_out, profile))
        return false;
  return true;
}

static void print_settings(const daedalus_v3d_profile *profile) {
  for (unsigned i = 0; i < N_SETTINGS; i++) {
    uint32_t value;
    memcpy(&value, (const char *)profile + settings[i].offset, sizeof value);
    printf("%s%s = %lu", i ? ", " : "", settings[i].name, (unsigned long)value);
  }
  printf("\n");
}

int show_left_out(const char *folder) {
  daedalus_v3d_profile profile;
  if (!fit(folder, n_figures, &profile))
    return EXIT_BAD_INPUT;
  printf("fitted to all calibrated figures: ");
  print_settings(&profile);
  for (unsigned i = 0; i < n_figures; i++) {
    const figure *f = &figures[i];
    daedalus_v3d_profile without = profile;
    daedalus_v3d_report report;
    double value;
    if (f->role == CALIBRATED && !fit(folder, i, &without))
      return EXIT_BAD_INPUT;
    if (!figure_by_model(f, folder, without, &report, &value))
      return EXIT_BAD_INPUT;
    printf("%-34s %-10s %9.4g %9.4g %+6.1f %%  ", f->name,
           f->role == CALIBRATED ? "left out" : "never used", f->published, value,
           100 * (value / f->published - 1));
    print_settings(&without);
    fflush(stdout);
  }
  return 0;
}
