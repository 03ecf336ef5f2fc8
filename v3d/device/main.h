/* SPDX-License-Identifier: BSD-2-Clause */
/* The program daedalus-v3d-device, for any executor. */
#ifndef DAEDALUS_V3D_DEVICE_MAIN_H
#define DAEDALUS_V3D_DEVICE_MAIN_H

#include <stdio.h>

#include "executor.h"
#include "fault.h"

/* What is an int is set or 0: getopt_long() sets it. */
struct dev_options {
  const char *socket;  /* --socket: serve there until a signal */
  const char *preload; /* --preload: library that --run preloads; NULL: none */
  const char *qemu;    /* --qemu: emulator that runs the program; NULL: none */
  const char *sysroot; /* --sysroot: where its libraries lie */
  char **program;      /* --run: NULL-terminated */
  const char *trace;   /* --trace: folder for traces of jobs; NULL: none */
  uint64_t memory;     /* bytes */
  uint64_t page;       /* --page-size: bytes; 0: the system's */
  FILE *log;
  FILE *jobs;
  struct dev_faults faults; /* moved to the device */
  int check_jobs;           /* --check-jobs: exit status 1 when one failed */
  int strict;
  int timed;      /* --timed: by the timing model */
  int intervals;  /* --intervals: and by the alternatives to its settings */
  int no_stretch; /* --no-stretch: waits go by the host's clock all the same */
  int quiet;
  daedalus_v3d_profile profile;
};

/**
 * Makes an executor by the options' profile into *executor. Returns 0, or a negative errno with
 * a message on stderr.
 */
typedef int (*dev_executor_fn)(const struct dev_options *options, daedalus_v3d_executor *executor);

/* Of the functional simulator. */
int dev_make_simulator(const struct dev_options *options, daedalus_v3d_executor *executor);

/**
 * Runs the program; returns its exit code: that of the program which --run ran (128 + signal when
 * one ended it, 126/127 when it could not be started), 0 otherwise, in place of 0 by --check-jobs
 * 1; 2 for bad usage, 3 when the device could not be started.
 */
int dev_main(int argc, char **argv, dev_executor_fn make_executor);

/* Serves as the options say. Returns the exit code. */
int dev_launch(struct dev_options *options, const daedalus_v3d_executor *executor);

#endif
