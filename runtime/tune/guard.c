/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE
#include "tune/guard.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bits of the firmware's flags that tell of now; the same 16 places higher: since boot. */
enum { NOW = 0xf, SINCE = 16 };

bool guard_read(const char *sysfs, const char *path, char *text, size_t size) {
  char whole[2 * GUARD_PATH];
  snprintf(whole, sizeof(whole), "%s/%s", sysfs, path);
  FILE *file = fopen(whole, "rb");
  if (file == NULL) {
    return false;
  }
  const size_t n = fread(text, 1, size - 1, file);
  fclose(file);
  text[n] = '\0';
  text[strcspn(text, "\n")] = '\0';
  return true;
}

static bool read_number(const char *sysfs, const char *path, long *number) {
  char text[64], *end;
  if (!guard_read(sysfs, path, text, sizeof(text))) {
    return false;
  }
  *number = strtol(text, &end, 10);
  return end != text;
}

/* The first path below sysfs that a pattern fits; relative to it. */
static bool find(const char *sysfs, const char *pattern, char path[GUARD_PATH]) {
  char whole[2 * GUARD_PATH];
  glob_t found;
  snprintf(whole, sizeof(whole), "%s/%s", sysfs, pattern);
  const bool any = glob(whole, 0, NULL, &found) == 0 && found.gl_pathc != 0;
  if (any) {
    snprintf(path, GUARD_PATH, "%s", found.gl_pathv[0] + strlen(sysfs) + 1);
  }
  globfree(&found);
  return any;
}

/* ---------------------------------------------------------------------- the firmware's flags */

/* What vcgencmd says behind the "=". */
static bool ask(const char *command, char *text, size_t size) {
  FILE *answer = popen(command, "r");
  if (answer == NULL) {
    return false;
  }
  char line[GUARD_TEXT];
  const bool told = fgets(line, sizeof(line), answer) != NULL;
  const char *value = told ? strchr(line, '=') : NULL;
  if (pclose(answer) != 0 || value == NULL) {
    return false;
  }
  snprintf(text, size, "%s", value + 1);
  text[strcspn(text, "\n")] = '\0';
  return true;
}

static bool flags_of(const tune_guard *guard, unsigned long *flags) {
  char text[64];
  const bool told =
      guard->vcgencmd
          ? ask("vcgencmd get_throttled 2>/dev/null", text, sizeof(text))
          : guard->flags[0] != '\0' && guard_read(guard->sysfs, guard->flags, text, sizeof(text));
  char *end = text;
  *flags = told ? strtoul(text, &end, 16) : 0;
  return told && end != text;
}

static bool by_flags(tune_guard *guard, char why[GUARD_WHY]) {
  unsigned long flags;
  if (!flags_of(guard, &flags)) {
    return false;
  }
  const unsigned long fresh = (flags & ~guard->said) >> SINCE & NOW;
  guard->said = flags;
  if (((flags & NOW) | fresh) == 0) {
    return false;
  }
  snprintf(why, GUARD_WHY, "the firmware's throttle flags are 0x%lx", flags);
  return true;
}

/* ------------------------------------------------------------------------ clocks, temperature */

static bool by_clock(const tune_guard *guard, char why[GUARD_WHY]) {
  for (int core = 0;; core++) {
    char folder[64], path[128], text[64];
    long now, most;
    snprintf(folder, sizeof(folder), "devices/system/cpu/cpu%d", core);
    snprintf(path, sizeof(path), "%s/cpufreq/scaling_driver", folder);
    if (!guard_read(guard->sysfs, path, text, sizeof(text))) {
      return false;
    }
    const bool set = strcmp(text, "cpufreq-dt") == 0;
    snprintf(path, sizeof(path), "%s/cpufreq/scaling_governor", folder);
    if (!set || !guard_read(guard->sysfs, path, text, sizeof(text)) ||
        strcmp(text, "performance") != 0) {
      continue;
    }
    snprintf(path, sizeof(path), "%s/cpufreq/scaling_max_freq", folder);
    if (!read_number(guard->sysfs, path, &most)) {
      continue;
    }
    snprintf(path, sizeof(path), "%s/cpufreq/scaling_cur_freq", folder);
    if (read_number(guard->sysfs, path, &now) && (double)now < 0.95 * (double)most) {
      snprintf(why, GUARD_WHY, "core %d ran at %ld of %ld kHz", core, now, most);
      return true;
    }
  }
}

/* Whether a zone is at a trip point at which it slows the machine down. */
static bool zone_trips(const tune_guard *guard, int zone, long temperature, char why[GUARD_WHY]) {
  for (int trip = 0;; trip++) {
    char path[128], type[64];
    long limit;
    snprintf(path, sizeof(path), "class/thermal/thermal_zone%d/trip_point_%d_type", zone, trip);
    if (!guard_read(guard->sysfs, path, type, sizeof(type))) {
      return false;
    }
    snprintf(path, sizeof(path), "class/thermal/thermal_zone%d/trip_point_%d_temp", zone, trip);
    if ((strcmp(type, "passive") == 0 || strcmp(type, "hot") == 0) &&
        read_number(guard->sysfs, path, &limit) && limit > 0 && temperature >= limit) {
      snprintf(why, GUARD_WHY, "thermal zone %d was at %.1f C, its %s limit is %.1f C", zone,
               (double)temperature / 1000, type, (double)limit / 1000);
      return true;
    }
  }
}

static bool by_temperature(const tune_guard *guard, char why[GUARD_WHY]) {
  for (int zone = 0;; zone++) {
    char path[128], type[64];
    long temperature;
    snprintf(path, sizeof(path), "class/thermal/thermal_zone%d/type", zone);
    if (!guard_read(guard->sysfs, path, type, sizeof(type))) {
      return false;
    }
    snprintf(path, sizeof(path), "class/thermal/thermal_zone%d/temp", zone);
    if (read_number(guard->sysfs, path, &temperature) &&
        zone_trips(guard, zone, temperature, why)) {
      return true;
    }
  }
}

/* ------------------------------------------------------------------------------------- all */

void guard_open(tune_guard *guard, const char *sysfs) {
  char text[64], why[GUARD_WHY];
  *guard = (tune_guard){0};
  snprintf(guard->sysfs, sizeof(guard->sysfs), "%s", sysfs);
  if (!find(sysfs, "devices/platform/soc*/*firmware/get_throttled", guard->flags) &&
      !find(sysfs, "devices/platform/*firmware/get_throttled", guard->flags)) {
    guard->flags[0] = '\0';
    guard->vcgencmd =
        strcmp(sysfs, "/sys") == 0 && ask("vcgencmd get_throttled 2>/dev/null", text, sizeof(text));
  }
  (void)flags_of(guard, &guard->said); /* what was before is no news */
  (void)guard_look(guard, why);
}

bool guard_look(tune_guard *guard, char why[GUARD_WHY]) {
  const bool was = guard->was;
  guard->was = by_flags(guard, why) || by_temperature(guard, why) || by_clock(guard, why);
  if (was && !guard->was) {
    snprintf(why, GUARD_WHY, "the machine had just been throttled");
  }
  return was || guard->was;
}

void guard_clocks(const char *sysfs, char clocks[GUARD_TEXT]) {
  char path[128], governor[64], part[160], v3d[64];
  long most;
  clocks[0] = '\0';
  for (int core = 0;; core++) {
    snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/cpufreq/scaling_governor", core);
    const bool known = guard_read(sysfs, path, governor, sizeof(governor));
    snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/cpufreq/scaling_max_freq", core);
    if (!known || !read_number(sysfs, path, &most)) {
      break;
    }
    snprintf(part, sizeof(part), "%s %ld kHz", governor, most);
    if (strstr(clocks, part) == NULL && strlen(clocks) + strlen(part) + 3 < GUARD_TEXT) {
      strcat(clocks, clocks[0] != '\0' ? ", " : "");
      strcat(clocks, part);
    }
  }
  if (strcmp(sysfs, "/sys") == 0 &&
      ask("vcgencmd get_config v3d_freq 2>/dev/null", v3d, sizeof(v3d)) &&
      strlen(clocks) + strlen(v3d) + 12 < GUARD_TEXT) {
    snprintf(clocks + strlen(clocks), GUARD_TEXT - strlen(clocks), "%sv3d %s MHz",
             clocks[0] != '\0' ? ", " : "", v3d);
  }
  if (clocks[0] == '\0') {
    strcpy(clocks, "-");
  }
}
