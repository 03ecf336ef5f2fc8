/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/text.h>

#include "timing.h"

enum { CODE_ADDRESS = 0x00100000, UNIFORM_ADDRESS = 0x00200000 };

static char *read_text(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long end;
  if (file && !fseek(file, 0, SEEK_END) && (end = ftell(file)) >= 0 && !fseek(file, 0, SEEK_SET)) {
    *size = (size_t)end;
    text = malloc(*size + 1);
    if (text && fread(text, 1, *size, file) != *size)
      free(text), text = NULL;
  }
  if (!text)
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
  if (file)
    fclose(file);
  return text;
}

static bool assemble(const char *folder, const char *name, daedalus_v3d_program *program) {
  char path[4096];
  size_t size;
  daedalus_v3d_diagnostic first = {0};
  snprintf(path, sizeof path, "%s/%s.qpu", folder, name);
  char *text = read_text(path, &size);
  if (!text)
    return false;
  const bool good = !daedalus_v3d_assemble(text, size, program, &first, 1);
  if (!good)
    fprintf(stderr, "%s:%u:%u: %s\n", path, first.line, first.column, first.message);
  free(text);
  return good;
}

static void fill_cfg(const work *w, uint32_t cfg[7]) {
  const unsigned per = w->groups_per_supergroup, size = w->group_size;
  const unsigned batches = (per * size + 15) / 16, rest = w->groups % per;
  cfg[0] = w->groups << 16;
  cfg[1] = cfg[2] = 1u << 16;
  cfg[3] = (size & 0xff) | (per & 0xf) << 8 | (batches - 1) << 12;
  cfg[4] = w->groups / per * batches + (rest * size + 15) / 16;
  cfg[5] = CODE_ADDRESS;
  cfg[6] = UNIFORM_ADDRESS;
}

bool run_work(const work *w, const char *folder, const daedalus_v3d_profile *profile,
              daedalus_v3d_report *report) {
  daedalus_v3d_program program;
  if (!assemble(folder, w->program, &program))
    return false;
  uint32_t uniforms[16];
  memcpy(uniforms, w->uniforms, sizeof uniforms);
  void *memory = calloc(1, w->bytes + 64);
  daedalus_v3d_machine *machine = daedalus_v3d_machine_create(profile);
  bool good = memory && machine;
  if (good && w->fill)
    w->fill(memory);
  if (good) {
    /* A dump of Mesa brings its own uniforms. */
    const bool own = program.n_uniforms > 0;
    daedalus_v3d_buffer buffers[] = {
        {CODE_ADDRESS, (uint32_t)(program.n_words * 8), program.words},
        {UNIFORM_ADDRESS, own ? (uint32_t)(program.n_uniforms * 4) : sizeof uniforms,
         own ? program.uniforms : uniforms},
        {WORK_ADDRESS, (uint32_t)(w->bytes + 64), memory}};
    daedalus_v3d_job job = {.buffers = buffers, .n_buffers = 3, .timed = true};
    fill_cfg(w, job.cfg);
    good = daedalus_v3d_machine_run(machine, &job, report) == DAEDALUS_V3D_DONE;
    if (!good)
      fprintf(stderr, "%s: %s\n", w->program, report->message);
  } else {
    fprintf(stderr, "no memory, or a setting is out of its range\n");
  }
  daedalus_v3d_machine_destroy(machine);
  free(memory);
  daedalus_v3d_program_free(&program);
  return good;
}
