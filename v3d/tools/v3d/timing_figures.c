/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the work of a published figure by the timing model. */
#include "timing_figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "v3d.h"

enum { CODE_ADDRESS = 0x00100000, UNIFORM_ADDRESS = 0x00200000 };

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

/* Runs it, timed, with a program of the folder. Whether it ended well; stderr says why not. */
static bool run_work(work *w, const char *folder, const daedalus_v3d_profile *profile,
                     daedalus_v3d_report *report) {
  char name[4096], *path = name;
  daedalus_v3d_program program = {0};
  snprintf(name, sizeof name, "%s/%s.qpu", folder, w->program);
  if (assemble_files(&path, 1, &program) != EXIT_DONE)
    return false;
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
        {UNIFORM_ADDRESS, own ? (uint32_t)(program.n_uniforms * 4) : sizeof w->uniforms,
         own ? program.uniforms : w->uniforms},
        {WORK_ADDRESS, (uint32_t)(w->bytes + 64), memory}};
    daedalus_v3d_job job = {.buffers = buffers, .n_buffers = 3, .timed = true};
    fill_cfg(w, job.cfg);
    good = daedalus_v3d_machine_run(machine, &job, report) == DAEDALUS_V3D_DONE;
    if (!good)
      complain("%s: %s", w->program, report->message);
  } else {
    complain("no memory, or a setting is out of its range");
  }
  daedalus_v3d_machine_destroy(machine);
  free(memory);
  daedalus_v3d_program_free(&program);
  return good;
}

bool figure_by_model(const figure *f, const char *folder, daedalus_v3d_profile profile,
                     daedalus_v3d_report *report, double *value) {
  work w = {0};
  if (f->clock_mhz)
    profile.clock_mhz = f->clock_mhz;
  const double units = f->make(&w, f->parameters);
  if (!run_work(&w, folder, &profile, report))
    return false;
  double ns = (double)report->times.ns;
  if (w.launched)
    ns += (double)profile.job_ns + profile.submit_ns;
  *value = strchr(f->unit, '/') ? units / ns : ns / units;
  return true;
}
