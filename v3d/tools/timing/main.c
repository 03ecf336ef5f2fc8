/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus-v3d-timing: what the timing model says of published figures, and how that changes within
 * the intervals that public facts leave open.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <daedalus/v3d/estimate.h>

#include "timing.h"

static const char usage[] =
    "usage: daedalus-v3d-timing [--intervals | --alternatives] FOLDER [PROFILE]\n"
    "  Runs the programs in FOLDER by the timing model and compares with published figures; from\n"
    "  .. to is what the alternatives to the open settings make of a figure, all at once.\n"
    "  PROFILE has settings over the defaults. --intervals: how much each figure changes when one\n"
    "  setting goes to an end of its interval. --alternatives: each figure by each of them.\n"
    "  Exit codes: 0 done, 1 a calibrated figure is off by more than 10 %, by the settings or by "
    "an\n"
    "  alternative, 2 bad input.\n";

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

static bool read_profile(const char *path, daedalus_v3d_profile *profile) {
  char text[65536], message[200];
  FILE *file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
  }
  const size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  const unsigned line = daedalus_v3d_profile_parse(text, size, profile, message, sizeof message);
  if (line)
    fprintf(stderr, "%s:%u: %s\n", path, line, message);
  return !line;
}

/* The figure by the model, in its unit. The clock is that of the board that was measured. */
static bool model(const figure *f, const char *folder, daedalus_v3d_profile profile,
                  daedalus_v3d_report *report, double *value) {
  work w = {0};
  if (f->clock_mhz)
    profile.clock_mhz = f->clock_mhz;
  const double units = f->make(&w, f->parameters);
  if (!run_work(&w, folder, &profile, report))
    return false;
  double ns = (double)report->times.ns;
  if (f->launched)
    ns += (double)profile.job_ns + profile.submit_ns;
  *value = f->is_time ? ns / units : units / ns;
  return true;
}

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
    if (!model(f, folder, other, &report, &value))
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
    if (!model(f, folder, *profile, &report, &value))
      return 2;
    spread of = {value, value, NULL};
    if (!shown && !spread_of(f, folder, profile, false, &of))
      return 2;
    printf("%-30s %-10s %4lu %9.4g %9.4g %+6.1f %% %9.4g..%-9.4g", f->name,
           f->role == CALIBRATED ? "calibrated" : "left out",
           (unsigned long)(f->clock_mhz ? f->clock_mhz : profile->clock_mhz), f->published, value,
           100 * (value / f->published - 1), of.low, of.high);
    print_shares(&report.times, profile);
    if (shown && !spread_of(f, folder, profile, true, &of))
      return 2;
    if (of.bad)
      printf("  off by more than %d %% by the alternative %s\n", TOLERANCE_PERCENT, of.bad);
    if (of.bad || is_off(f, value))
      code = 1;
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
  if (!model(f, folder, changed, &report, &value))
    return false;
  printf(" %+6.1f", 100 * (value / base - 1));
  return true;
}

static int show_intervals(const char *folder, const daedalus_v3d_profile *profile) {
  for (unsigned i = 0; i < n_figures; i++) {
    const figure *f = &figures[i];
    daedalus_v3d_report report;
    double base;
    if (!model(f, folder, *profile, &report, &base))
      return 2;
    printf("%s: %.4g %s\n", f->name, base, f->unit);
    for (unsigned k = 0; k < N_INTERVALS; k++) {
      const struct interval *setting = &intervals[k];
      if (setting->low == setting->high)
        continue;
      printf("  %-24s %8lu..%-8lu", setting->name, (unsigned long)setting->low,
             (unsigned long)setting->high);
      if (!print_change(f, folder, profile, setting, setting->low, base) ||
          !print_change(f, folder, profile, setting, setting->high, base))
        return 2;
      printf(" %%\n");
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  const bool with_intervals = argc > 1 && !strcmp(argv[1], "--intervals");
  const bool shown = argc > 1 && !strcmp(argv[1], "--alternatives");
  char **rest = argv + 1 + (with_intervals || shown);
  const int n = argc - 1 - (with_intervals || shown);
  if (n < 1 || n > 2 || rest[0][0] == '-') {
    const bool help = argc == 2 && !strcmp(argv[1], "--help");
    fputs(usage, help ? stdout : stderr);
    return help ? 0 : 2;
  }
  if (n == 2 && !read_profile(rest[1], &profile))
    return 2;
  return with_intervals ? show_intervals(rest[0], &profile) : compare(rest[0], &profile, shown);
}
