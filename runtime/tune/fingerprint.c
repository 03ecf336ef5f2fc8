/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "tune/fingerprint.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "tune/child.h"
#include "tune/execute.h"
#include "tune/guard.h"

static const char *const routes[] = {"vulkan", "drm"};
enum { N_ROUTES = 2 };

/* -------------------------------------------------------------------------------- devices */

typedef struct probe {
  child_watch watch;
  tune_devices found;
} probe;

typedef struct probing {
  const tune_setup *setup;
  const char *route;
  probe *shared;
} probing;

static int look(void *context) {
  const probing *p = context;
  tune_devices *found = &p->shared->found;
  tune_runner runner;
  char why[WHY_BYTES], text[PART_BYTES];
  daedalus_device_info info = {.size = sizeof(info)};
  if (!runner_open(&runner, p->setup, p->route, &info, why)) {
    return 0;
  }
  const size_t n = strlen(found->driver);
  snprintf(text, sizeof(text), "%s%s %s %s: %s", n != 0 ? "; " : "", p->route, info.driver,
           info.driver_version, info.name);
  snprintf(found->driver + n, sizeof(found->driver) - n, "%s", text);
  if (strcmp(p->route, "vulkan") == 0) {
    found->place.vulkan = true;
    found->place.max_workgroup = info.max_workgroup;
    found->place.max_shared_bytes = info.max_shared_bytes;
  } else {
    found->place.drm = true;
  }
  runner_close(&runner);
  return 0;
}

tune_devices fingerprint_devices(const tune_setup *setup) {
  probe *shared = child_memory(sizeof(*shared));
  for (size_t r = 0; r < N_ROUTES && !child_interrupted(); r++) {
    probing p = {.setup = setup, .route = routes[r], .shared = shared};
    const child_end end = child_run(look, &p, &shared->watch, setup->timeout, NULL);
    if (end.kind == CHILD_KILLED || end.kind == CHILD_TIMEOUT) {
      fprintf(stderr, "%s: opening the GPU by the route %s %s; it is left out\n", program_name,
              routes[r], end.kind == CHILD_TIMEOUT ? "hangs" : "crashes");
    }
  }
  const tune_devices found = shared->found;
  child_memory_free(shared, sizeof(*shared));
  return found;
}

/* ---------------------------------------------------------------------------------- parts */

/* Text from outside as a part: one line, its white space single blanks. */
static void set(char part[PART_BYTES], const char *text) {
  size_t n = 0;
  for (; *text != '\0' && n + 1 < PART_BYTES; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c > 0x20 && c < 0x7f) {
      part[n++] = *text;
    } else if (n != 0 && part[n - 1] != ' ') {
      part[n++] = ' ';
    }
  }
  n -= n != 0 && part[n - 1] == ' ';
  part[n] = '\0';
  if (n == 0) {
    strcpy(part, "-");
  }
}

/* The value of a line "name : value" of /proc/cpuinfo; "" without one. */
static void cpu_info(const char *name, char value[PART_BYTES]) {
  char line[PART_BYTES];
  FILE *file = fopen("/proc/cpuinfo", "r");
  value[0] = '\0';
  while (file != NULL && value[0] == '\0' && fgets(line, sizeof(line), file) != NULL) {
    const char *colon = strchr(line, ':');
    const size_t n = strlen(name);
    if (colon != NULL && strncmp(line, name, n) == 0 &&
        strspn(line + n, " \t") + n == (size_t)(colon - line)) {
      snprintf(value, PART_BYTES, "%s", colon + 1);
    }
  }
  if (file != NULL) {
    fclose(file);
  }
}

static void set_machine(tune_fingerprint *f, const char *sysfs) {
  char text[PART_BYTES], release[2 * PART_BYTES];
  struct utsname system;
  if (uname(&system) != 0) {
    die("uname() failed", "");
  }
  if (!guard_read(sysfs, "firmware/devicetree/base/model", text, sizeof(text)) || *text == '\0') {
    cpu_info("model name", text);
  }
  set(f->soc, *text != '\0' ? text : system.machine);
  cpu_info("Revision", text);
  set(f->revision, text);
  snprintf(release, sizeof(release), "%s %s", system.sysname, system.release);
  set(f->kernel, release);
}

tune_fingerprint fingerprint_take(const tune_setup *setup, const char *driver, const char *compiler,
                                  const char *generator) {
  tune_fingerprint f = {0};
  char clocks[GUARD_TEXT], own[PART_BYTES];
  set_machine(&f, setup->sysfs);
  set(f.driver, driver);
  snprintf(own, sizeof(own), "%s %s", point_own_compiler(), __VERSION__);
  set(f.compiler, compiler != NULL ? compiler : own);
  set(f.generator, generator != NULL ? generator : setup->world->table->generator);
  guard_clocks(setup->sysfs, clocks);
  set(f.clocks, clocks);
  const char *const parts[] = {"soc=",        f.soc,      "\nrevision=",  f.revision,
                               "\nkernel=",   f.kernel,   "\ndriver=",    f.driver,
                               "\ncompiler=", f.compiler, "\ngenerator=", f.generator,
                               "\nclocks=",   f.clocks,   "\n",           NULL};
  journal_hash(f.id, parts);
  return f;
}

json_line fingerprint_line(const tune_fingerprint *f) {
  json_line line = json_open("fingerprint");
  json_text(&line, "id", f->id);
  json_text(&line, "soc", f->soc);
  json_text(&line, "revision", f->revision);
  json_text(&line, "kernel", f->kernel);
  json_text(&line, "driver", f->driver);
  json_text(&line, "compiler", f->compiler);
  json_text(&line, "generator", f->generator);
  json_text(&line, "clocks", f->clocks);
  json_close(&line);
  return line;
}
