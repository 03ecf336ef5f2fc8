/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast the simulator is: `daedalus_v3d_bench_simulator [seconds a line]` prints a line a
 * program, in instructions of 16 lanes a second of user time (the machine's load hardly matters),
 * plain, strict and timed, and the time of a job that does nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulation.h"

/* What all loops begin with: rf10..rf17 something, rf20 the count, rf21 and rf22 addresses. */
#define SETUP                                                  \
  "eidx rf1 ; nop ; ldunif\n"                                  \
  ".uniform 20000\n.uniform 0x00100000\n.uniform 0x00200000\n" \
  "mov rf20, rf0 ; mov rf10, rf1 ; ldunif\n"                   \
  "mov rf21, rf0 ; mov rf11, rf1 ; ldunif\n"                   \
  "mov rf22, rf0 ; mov rf12, rf1\n"                            \
  "shl rf2, rf1, 2 ; mov rf13, rf1\n"                          \
  "tidx rf4 ; mov rf14, rf1\n"                                 \
  "shl rf4, rf4, 8 ; mov rf15, rf1\n"                          \
  "add rf21, rf21, rf2 ; mov rf16, rf1\n"                      \
  "add rf22, rf22, rf2 ; mov rf17, rf1\n"                      \
  "add rf22, rf22, rf4 ; mov rf18, rf1\n"                      \
  "again:\n"
/* The loop ends with three slots of its own. */
#define NEXT                        \
  "sub.pushz rf20, rf20, 1 ; nop\n" \
  "b.anyna again\n"

static const struct program {
  const char *name, *text;
} programs[] = {
    {"dual issue, integer", SETUP "add rf10, rf11, rf12 ; umul24 rf13, rf14, rf15\n"
                                  "sub rf11, rf12, rf13 ; smul24 rf14, rf15, rf16\n"
                                  "xor rf12, rf13, rf14 ; add rf15, rf16, rf10\n"
                                  "shl rf13, rf10, 3 ; umul24 rf16, rf11, rf12\n"
                                  "add rf10, rf10, rf12 ; umul24 rf13, rf13, rf15\n"
                                  "sub rf11, rf11, rf13 ; smul24 rf14, rf14, rf16\n"
                                  "max rf12, rf12, rf14 ; sub rf15, rf15, rf10\n"
                                  "asr rf13, rf13, 2 ; mov rf16, rf11\n" NEXT
                                  "add rf10, rf11, rf12 ; umul24 rf13, rf14, rf15\n"
                                  "sub rf11, rf12, rf13 ; smul24 rf14, rf15, rf16\n"
                                  "xor rf12, rf13, rf14 ; add rf15, rf16, rf10\n" END},
    {"single issue, integer", SETUP "add rf10, rf11, rf12 ; nop\n"
                                    "sub rf11, rf12, rf13 ; nop\n"
                                    "xor rf12, rf13, rf14 ; nop\n"
                                    "shl rf13, rf10, 3 ; nop\n"
                                    "nop ; umul24 rf13, rf13, rf15\n"
                                    "sub rf11, rf11, rf13 ; nop\n"
                                    "max rf12, rf12, rf14 ; nop\n"
                                    "asr rf13, rf13, 2 ; nop\n" NEXT "add rf10, rf11, rf12 ; nop\n"
                                    "sub rf11, rf12, rf13 ; nop\n"
                                    "xor rf12, rf13, rf14 ; nop\n" END},
    {"dual issue, float", SETUP "fadd rf10, rf11, rf12 ; fmul rf13, rf14, rf15\n"
                                "fsub rf11, rf12, rf13 ; fmul rf14, rf15, rf16\n"
                                "fmax rf12, rf13, rf14 ; fmul rf15, rf16, rf10\n"
                                "fadd rf13, rf10, 2.0 ; fmul rf16, rf11, rf12\n"
                                "fadd rf10, rf10, rf12 ; fmul rf13, rf13, rf15\n"
                                "fsub rf11, rf11, rf13 ; fmul rf14, rf14, rf16\n"
                                "fmin rf12, rf12, rf14 ; fmul rf15, rf15, rf10\n"
                                "ftoiz rf13, rf13 ; mov rf16, rf11\n" NEXT
                                "fadd rf10, rf11, rf12 ; fmul rf13, rf14, rf15\n"
                                "fsub rf11, rf12, rf13 ; fmul rf14, rf15, rf16\n"
                                "itof rf12, rf13 ; add rf15, rf16, rf10\n" END},
    {"flags and conditions", SETUP "sub.pushc -, rf11, rf12 ; nop\n"
                                   "mov.ifa rf12, rf11 ; nop\n"
                                   "xor.pushz -, rf13, rf14 ; nop\n"
                                   "mov.ifna rf13, rf14 ; nop\n"
                                   "min.pushc -, rf10, rf12 ; nop\n"
                                   "add.ifa rf10, rf10, 1 ; nop\n"
                                   "add.pushn rf12, rf12, rf14 ; nop\n"
                                   "mov.ifna rf13, rf11 ; nop\n" NEXT "add rf10, rf11, rf12 ; nop\n"
                                   "sub rf11, rf12, rf13 ; nop\n"
                                   "xor rf12, rf13, rf14 ; nop\n" END},
    {"u8 load and store",
     SETUP "bu there, r:unif\n"
           "nop ; nop\nnop ; nop\nnop ; nop\n"
           "there:\n"
           "mov tmuau, rf21 ; nop ; thrsw\n"
           "add rf10, rf11, rf12 ; nop\n"
           "sub rf11, rf12, rf13 ; nop\n"
           "nop ; nop ; ldtmu.rf16\n"
           "add tmud, rf16, rf10 ; nop\n"
           "mov tmuau, rf22 ; nop\n"
           "tmuwt - ; nop\n"
           "sub.pushz rf20, rf20, 1 ; nop\n"
           "bu.anyna there, r:unif\n"
           "add rf10, rf11, rf12 ; nop\n"
           "sub rf11, rf12, rf13 ; nop\n"
           "xor rf12, rf13, rf14 ; nop\n" END ".uniform 0, 0xfffffffd, 0xfffffffd, -12\n"},
    {"vec4 load and store",
     SETUP "bu there, r:unif\n"
           "nop ; nop\nnop ; nop\nnop ; nop\n"
           "there:\n"
           "mov tmuau, rf21 ; nop ; thrsw\n"
           "add rf10, rf11, rf12 ; nop\n"
           "sub rf11, rf12, rf13 ; nop\n"
           "nop ; nop ; ldtmu.rf16\n"
           "add tmud, rf16, rf10 ; nop ; ldtmu.rf17\n"
           "add tmud, rf17, rf10 ; nop ; ldtmu.rf18\n"
           "add tmud, rf18, rf10 ; nop ; ldtmu.rf19\n"
           "add tmud, rf19, rf10 ; nop\n"
           "mov tmuau, rf22 ; nop\n"
           "tmuwt - ; nop\n"
           "sub.pushz rf20, rf20, 1 ; nop\n"
           "bu.anyna there, r:unif\n"
           "add rf10, rf11, rf12 ; nop\n"
           "sub rf11, rf12, rf13 ; nop\n"
           "xor rf12, rf13, rf14 ; nop\n" END ".uniform 0, 0xfffffffc, 0xfffffffc, -12\n"},
    {"load, compute, store", SETUP "mov tmua, rf21 ; nop ; thrsw\n"
                                   "add rf10, rf11, rf12 ; umul24 rf13, rf14, rf15\n"
                                   "sub rf11, rf12, rf13 ; smul24 rf14, rf15, rf16\n"
                                   "nop ; nop ; ldtmu.rf16\n"
                                   "add tmud, rf16, rf10 ; nop\n"
                                   "mov tmua, rf22 ; nop\n"
                                   "add rf10, rf10, rf12 ; umul24 rf13, rf13, rf15\n"
                                   "tmuwt - ; nop\n" NEXT "add rf10, rf11, rf12 ; nop\n"
                                   "sub rf11, rf12, rf13 ; nop\n"
                                   "xor rf12, rf13, rf14 ; nop\n" END},
};

static double now(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

/* Instructions a second. */
static double speed(simulation *s, double seconds) {
  const double begin = now();
  double end;
  uint64_t instructions = 0;
  do {
    if (simulation_run(s, DAEDALUS_V3D_DONE) != DAEDALUS_V3D_DONE)
      exit(1);
    instructions += s->report.counts.instructions;
    end = now();
  } while (end - begin < seconds);
  return (double)instructions / (end - begin);
}

static void empty_job(simulation *s, double seconds) {
  unsigned long jobs = 0;
  simulation_load(s, "nop ; nop ; thrsw\nnop ; nop\nnop ; nop\n");
  simulation_shape(s, 1, 16, 1);
  s->job.cfg[5] |= 2;
  s->job.strict = false;
  const double begin = now();
  double end;
  do {
    for (unsigned i = 0; i < 1000; i++, jobs++)
      if (simulation_run(s, DAEDALUS_V3D_DONE) != DAEDALUS_V3D_DONE)
        exit(1);
    end = now();
  } while (end - begin < seconds);
  printf("%-24s %8.2f us\n", "an empty job", (end - begin) / (double)jobs * 1e6);
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  simulation *s = simulation_create(NULL);
  printf("%-24s %8s %8s %8s  million instructions a second\n", "", "plain", "strict", "timed");
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    simulation_load(s, programs[i].text);
    simulation_shape(s, 24, 16, 1);
    s->job.strict = false;
    const double plain = speed(s, seconds);
    s->job.strict = true;
    const double strict = speed(s, seconds);
    s->job.strict = false;
    s->job.timed = true;
    printf("%-24s %8.1f %8.1f %8.1f\n", programs[i].name, plain / 1e6, strict / 1e6,
           speed(s, seconds) / 1e6);
    s->job.timed = false;
  }
  empty_job(s, seconds);
  simulation_destroy(s);
  return 0;
}
