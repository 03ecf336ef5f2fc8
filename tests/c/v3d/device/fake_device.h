/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device that the tests run on: "shaders" are a struct in a buffer at cfg[5] & ~7, and do one
 * simple thing, so that the device is tested without a simulator.
 */
#ifndef DAEDALUS_TESTS_V3D_FAKE_DEVICE_H
#define DAEDALUS_TESTS_V3D_FAKE_DEVICE_H

#include <stdint.h>

enum fake_operation {
  FAKE_NOTHING,
  FAKE_ADD,   /* target[i] = source[i] + value, n words */
  FAKE_CFG,   /* target[0..7) = cfg */
  FAKE_SLEEP, /* value milliseconds; by the model n microseconds */
  FAKE_HOLD,  /* until target[0] is not 0, then value milliseconds more; fails after FAKE_MOST_S */
  FAKE_FAIL   /* with a report */
};
enum { FAKE_MOST_S = 60 };
/* The first half of a nop of the GPU: a program of it that begins so does nothing here. */
#define FAKE_QPU_NOP 0xbb03f000u

struct fake_shader {
  uint32_t operation, target, source, n, value;
};

/* What each job takes, with --timed. */
enum {
  FAKE_CLOCKS = 1000,
  FAKE_ACTIVE = 400,
  FAKE_STALL_TMU = 80,
  FAKE_STALL_SFU = 20,
  FAKE_L2T_HITS = 7
};

#endif
