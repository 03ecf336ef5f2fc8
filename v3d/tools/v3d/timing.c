/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the timing model says of published figures, and how that changes within
 * the intervals that public facts leave open.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/estimate.h>

#include "../timing/timing.h"
#include "timing_figures.h"
#include "v3d.h"

static const struct interval {
  const char *name;
  size_t offset;
  uint32_t low, high;
} intervals[] = {
#define ROW(name, low, high) {#name, offsetof(daedalus_v3d_profile, name), low, high},
    DAEDALUS_V3D_TIMING_INTERVALS(ROW)
#undef ROW
};
enum { N_INTERVALS = sizeof intervals / sizeof intervals[0], TOLERANCE_PERCENT = 10 };

static void print_shares(const daedalus_v3d_times *t, const daedalus_v3d_profile *profile) {
  const unsigned qpus = profile->slices * profile->qpus_per_slice;
  const double all = (double)t->clocks * qpus / 100;
  const uint64_t shares[] = {t->active,         t->stall_tmu, t->stall_sfu,
                             t->stall_uniforms, t->waiting,   t->idle};
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
    printf(" %4.0f", (double)shares[i] / all);
  printf("  %4.0f\n", 100.0 * (double)t->tmu_busy / (double)(t->clocks * profile->slices));
}

static bool is_off(const figure *f, double value) {
  const double off = 100 * (value / f->published - 1);
  return f->role == CALIBRATED && (off > TOLERANCE_PERCENT || off < -TOLERANCE_PERCENT);
}

/* What the alternatives make of a figure. */
typedef struct spread {
  double low, high;
  const char *bad; /* the first alternative by which it is off by too much; or NULL */
} spread;

/* *of begins as the figure by the settings themselves. */
static bool spread_of(const figure *f, const char *folder, const daedalus_v3d_profile *profile,
                      bool shown, spread *of) {
  size_t n;
  const daedalus_v3d_alternative *all = daedalus_v3d_alternatives(&n);
  for (size_t i = 0; i < n; i++) {
    daedalus_v3d_profile other = *profile;
    daedalus_v3d_report report;
    double value;
    daedalus_v3d_apply_alternative(&all[i], &other);
    if (!figure_by_model(f, folder, other, &report, &value))
      return false;
    of->low = value < of->low ? value : of->low;
    of->high = value > of->high ? value : of->high;
    if (!of->bad && is_off(f, value))
      of->bad = all[i].name;
    if (shown)
      printf("  %-28s %9.4g %+6.1f %%\n", all[i].name, value, 100 * (value / f->published - 1));
  }
  return true;
}

/* Returns the exit code. */
static int compare(const char *folder, const daedalus_v3d_profile *profile, bool shown) {
  int code = 0;
  printf(
      "%-30s %-10s %4s %9s %9s %8s %9s..%-9s  %% of QPU clocks: active, stalled on TMU, SFU, "
      "uniforms,\n"
      "%-96s waiting, idle; %% of TMU clocks: busy\n",
      "figure", "", "MHz", "published", "modelled", "off by", "from", "to", "");
  for (unsigned i = 0; i < n_figures; i++) {
    const figure *f = &figures[i];
    daedalus_v3d_report report;
    double value;
    if (!figure_by_model(f, folder, *profile, &report, &value))
      return EXIT_BAD_INPUT;
    spread of = {value, value, NULL};
    if (!shown && !spread_of(f, folder, profile, false, &of))
      return EXIT_BAD_INPUT;
    printf("%-30s %-10s %4lu %9.4g %9.4g %+6.1f %% %9.4g..%-9.4g", f->name,
           f->role == CALIBRATED ? "calibrated" : "left out",
           (unsigned long)(f->clock_mhz ? f->clock_mhz : profile->clock_mhz), f->published, value,
           100 * (value / f->published - 1), of.low, of.high);
    print_shares(&report.times, profile);
    if (shown && !spread_of(f, folder, profile, true, &of))
      return EXIT_BAD_INPUT;
    if (of.bad)
      printf("  off by more than %d %% by the alternative %s\n", TOLERANCE_PERCENT, of.bad);
    if (of.bad || is_off(f, value))
      code = EXIT_WRONG;
  }
  return code;
}

/* The change of figure f when the setting has that value, in percent. */
static bool print_change(const figure *f, const char *folder, const daedalus_v3d_profile *profile,
                         const struct interval *setting, uint32_t end, double base) {
  daedalus_v3d_profile changed = *profile;
  daedalus_v3d_report report;
  double value;
  memcpy((char *)&changed + setting->offset, &end, sizeof end);
  if (!figure_by_model(f, folder, changed, &report, &value))
    return false;
  printf(" %+6.1f", 100 * (value / base - 1));
  return true;
}

static int show_intervals(const char *folder, const daedalus_v3d_profile *profile) {
  for (unsigned i = 0; i < n_figures; i++) {
    const figure *f = &figures[i];
    daedalus_v3d_report report;
    double base;
    if (!figure_by_model(f, folder, *profile, &report, &base))
      return EXIT_BAD_INPUT;
    printf("%s: %.4g %s\n", f->name, base, f->unit);
    for (unsigned k = 0; k < N_INTERVALS; k++) {
      const struct interval *setting = &intervals[k];
      if (setting->low == setting->high)
        continue;
      printf("  %-24s %8lu..%-8lu", setting->name, (unsigned long)setting->low,
             (unsigned long)setting->high);
      if (!print_change(f, folder, profile, setting, setting->low, base) ||
          !print_change(f, folder, profile, setting, setting->high, base))
        return EXIT_BAD_INPUT;
      printf(" %%\n");
    }
  }
  return 0;
}

int verb_timing(int argc, char **argv) {
  static const struct option options[] = {
      {"intervals", no_argument, NULL, 'I'}, {"alternatives", no_argument, NULL, 'A'},
      {"left-out", no_argument, NULL, 'L'},  {"profile", required_argument, NULL, 'p'},
      {"help", no_argument, NULL, 'h'},      {0}};
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  int by = 0;
  for (int option; (option = getopt_long(argc, argv, "IALp:h", options, NULL)) != -1;) {
    if (option == 'h')
      return usage("timing");
    if (option == '?')
      return bad_arguments("timing");
    if (option != 'p')
      by = option;
    else if (!read_profile(optarg, &profile))
      return EXIT_BAD_INPUT;
  }
  if (argc - optind != 1) {
    complain("timing: one folder of programs is needed");
    return bad_arguments("timing");
  }
  return by == 'I'   ? show_intervals(argv[optind], &profile)
         : by == 'L' ? show_left_out(argv[optind])
                     : compare(argv[optind], &profile, by == 'A');
}
