/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/options.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/base.h"
#include "tune/measure.h"

static const char usage[] =
    "usage: daedalus-tune --data FILE [--data FILE...] --journal FILE [OPTION VALUE]...\n"
    "       daedalus-tune --list [--kernel TEXT]\n"
    "\n"
    "  --data FILE       items with their results, of `./daedalus bench --write-data FILE`; each\n"
    "                    file is a seed, the first one's items are timed\n"
    "  --journal FILE    results are appended here; what it has is not measured again\n"
    "  --points FILE|-   points to measure, blanks or lines between them; -: from standard input,\n"
    "                    a line at a time, the journal's lines on standard output; default: all\n"
    "  --kernel TEXT     only kernels whose ids contain it\n"
    "  --scenario S      m2: variants of the QPU; m3: of the CPU, on one core; m4: both at once\n"
    "  --items N         of a sample, 32640\n"
    "  --budget SECONDS  begin no more points after it; default: no end\n"
    "  --samples N       of a point at least, 10 or more; 10\n"
    "  --precision P     of the median, a share of it, 0.01\n"
    "  --point-seconds S after which a point with enough samples is taken as it is, 3\n"
    "  --timeout SECONDS that a run may take, 60\n"
    "  --cool-down S     to wait where the machine was throttled, 1\n"
    "  --group N         points measured in turns, 8\n"
    "  --core N          where the caller runs; m3: the last core that is allowed\n"
    "  --compiler TEXT, --generator HASH   for the fingerprint, over what the program knows\n"
    "  --sysfs DIR       in place of /sys\n"
    "  --list            only print the points\n"
    "\n"
    "m4: --cpu-kernel K --qpu-kernel K, ids, short names, or points;\n"
    "  --cpu-instead P, the point that does the QPU's items on the CPU, default: by rank, of the\n"
    "  class of the QPU's;\n"
    "  --neon-threads N, default: 1, 2, 3 and 4, as far as there are cores; --qpu-core N, where "
    "the\n"
    "  QPU is driven from, 3, or the last there is; --duration SECONDS of both at once, 6\n";

static _Noreturn void refuse(const char *what, const char *detail) {
  fprintf(stderr, "%s: %s: %s; --help tells the options\n", program_name, what, detail);
  exit(2);
}

static uint64_t whole(const char *name, const char *text, uint64_t least, uint64_t most) {
  char *end, why[WHY_BYTES];
  const unsigned long long n = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || n < least || n > most) {
    snprintf(why, sizeof(why), "%.100s is no whole number from %llu to %llu", text,
             (unsigned long long)least, (unsigned long long)most);
    refuse(name, why);
  }
  return n;
}

static double positive(const char *name, const char *text, bool zero) {
  char *end;
  const double n = strtod(text, &end);
  if (*text == '\0' || *end != '\0' || !isfinite(n) || n < 0 || (n == 0 && !zero) || n > 1e9) {
    refuse(name, "it takes a positive number");
  }
  return n;
}

static tune_scenario scenario(const char *text) {
  static const char *const names[] = {NULL, "m2", "m3", "m4"};
  for (int s = SCENARIO_M2; s <= SCENARIO_M4; s++) {
    if (strcmp(text, names[s]) == 0) {
      return (tune_scenario)s;
    }
  }
  refuse("--scenario", "m2, m3 or m4");
}

/* Options whose value is a text.  @return where it goes, or NULL */
static const char **text_of(tune_options *o, const char *name) {
  const struct {
    const char *name;
    const char **value;
  } all[] = {{"--journal", &o->journal},
             {"--points", &o->points},
             {"--kernel", &o->kernel},
             {"--compiler", &o->compiler},
             {"--generator", &o->generator},
             {"--cpu-kernel", &o->cpu_kernel},
             {"--qpu-kernel", &o->qpu_kernel},
             {"--cpu-instead", &o->cpu_instead},
             {"--sysfs", &o->sysfs}};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    if (strcmp(name, all[i].name) == 0) {
      return all[i].value;
    }
  }
  return NULL;
}

/* Options whose value is a number of seconds or a share.  @return whether it is one */
static bool set_real(tune_options *o, const char *name, const char *value) {
  const struct {
    const char *name;
    double *value;
    bool zero;
  } all[] = {{"--budget", &o->budget, false},
             {"--precision", &o->precision, true},
             {"--point-seconds", &o->point_seconds, true},
             {"--timeout", &o->timeout, false},
             {"--cool-down", &o->cool_down, true},
             {"--duration", &o->duration, false}};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    if (strcmp(name, all[i].name) == 0) {
      *all[i].value = positive(name, value, all[i].zero);
      return true;
    }
  }
  return false;
}

static void set_other(tune_options *o, const char *name, const char *value) {
  if (strcmp(name, "--data") == 0) {
    if (o->n_data == DATA_MOST) {
      refuse(name, "too many files");
    }
    o->data[o->n_data++] = value;
  } else if (strcmp(name, "--scenario") == 0) {
    o->scenario = scenario(value);
  } else if (strcmp(name, "--items") == 0) {
    o->items = (size_t)whole(name, value, 1, 1 << 24);
  } else if (strcmp(name, "--samples") == 0) {
    o->samples = (unsigned)whole(name, value, SAMPLES_LEAST, 100000);
  } else if (strcmp(name, "--group") == 0) {
    o->group = (size_t)whole(name, value, 1, GROUP_MOST);
  } else if (strcmp(name, "--neon-threads") == 0) {
    o->threads = (unsigned)whole(name, value, 1, 64);
  } else if (strcmp(name, "--core") == 0) {
    o->core = (int)whole(name, value, 0, 1023);
  } else if (strcmp(name, "--qpu-core") == 0) {
    o->qpu_core = (int)whole(name, value, 0, 1023);
  } else {
    refuse("there is no option", name);
  }
}

static void keep_command(tune_options *o, int argc, char **argv) {
  size_t n = 0;
  for (int i = 0; i < argc && n < sizeof(o->command); i++) {
    const int more = snprintf(o->command + n, sizeof(o->command) - n, "%s%s", i != 0 ? " " : "",
                              i != 0 ? argv[i] : program_name);
    n += more > 0 ? (size_t)more : 0;
  }
}

static void complete(tune_options *o) {
  if (o->list) {
    return;
  }
  if (o->n_data == 0 || o->journal == NULL) {
    refuse("not enough options", "--data and --journal are needed");
  }
  if ((o->scenario == SCENARIO_M4) != (o->cpu_kernel != NULL && o->qpu_kernel != NULL)) {
    refuse("--scenario", "m4 takes --cpu-kernel and --qpu-kernel, and the others do not");
  }
  if (o->scenario != SCENARIO_M4 && o->cpu_instead != NULL) {
    refuse("--cpu-instead", "it goes with --scenario m4");
  }
  if (o->scenario == SCENARIO_M4 && (o->points != NULL || o->kernel != NULL)) {
    refuse("--scenario", "m4 takes neither --points nor --kernel");
  }
}

void options_parse(tune_options *o, int argc, char **argv) {
  *o = (tune_options){.items = 32640,
                      .group = 8,
                      .samples = SAMPLES_LEAST,
                      .core = -1,
                      .qpu_core = -1,
                      .precision = 0.01,
                      .point_seconds = 3,
                      .timeout = 60,
                      .cool_down = 1,
                      .duration = 6,
                      .sysfs = "/sys"};
  keep_command(o, argc, argv);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--list") == 0) {
      o->list = true;
      continue;
    }
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      exit(0);
    }
    if (i + 1 == argc) {
      refuse("no value, or no option", argv[i]);
    }
    const char *name = argv[i], *value = argv[++i];
    const char **text = text_of(o, name);
    if (text != NULL) {
      *text = value;
    } else if (!set_real(o, name, value)) {
      set_other(o, name, value);
    }
  }
  if (o->cpu_kernel != NULL && o->qpu_kernel != NULL && o->scenario == SCENARIO_ANY) {
    o->scenario = SCENARIO_M4;
  }
  complete(o);
}
