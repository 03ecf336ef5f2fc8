/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/bound.h"

uint64_t daedalus_rt_gpu_dispatch_clocks(const daedalus_gpu_program *program, size_t n_items) {
  return program->job_clocks + n_items * program->item_clocks;
}

bool daedalus_rt_gpu_dispatch_fits(const daedalus_gpu_program *program) {
  return daedalus_rt_gpu_dispatch_clocks(program, DAEDALUS_GPU_ITEMS_UNIT) <=
         DAEDALUS_GPU_CLOCKS_A_SUBMISSION;
}

size_t daedalus_rt_gpu_dispatch_most(const daedalus_gpu_program *program) {
  const uint64_t all = DAEDALUS_GPU_CLOCKS_A_SUBMISSION, job = program->job_clocks;
  const uint64_t in_time = job < all ? (all - job) / program->item_clocks : 0;
  const uint64_t most = in_time < program->items_most ? in_time : program->items_most;
  return most < DAEDALUS_GPU_ITEMS_UNIT
             ? DAEDALUS_GPU_ITEMS_UNIT
             : (size_t)most / DAEDALUS_GPU_ITEMS_UNIT * DAEDALUS_GPU_ITEMS_UNIT;
}
