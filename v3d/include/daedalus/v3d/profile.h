/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/v3d/profile.h - what is assumed of one board, and of the points that no public source
 * settles, as data.
 *
 * DAEDALUS_V3D_SETTINGS(X) calls X(name, default, min, max, text).  A profile file holds lines
 * `name = value` (decimal or 0x), `#` begins a comment; what it leaves out keeps its default.
 * v3d/profiles/pi5.profile states all defaults.
 */
#ifndef DAEDALUS_V3D_PROFILE_H
#define DAEDALUS_V3D_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include <daedalus/v3d/timing.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAEDALUS_V3D_SETTINGS(X)                                                                \
  /* The board. */                                                                              \
  X(slices, 3, 1, 4, "slices of the core")                                                      \
  X(qpus_per_slice, 4, 1, 4, "QPUs a slice")                                                    \
  X(core0_ident0, 0x07443356, 0, UINT32_MAX, "identification word 0 of core 0")                 \
  X(core0_ident1, 0x81001431, 0, UINT32_MAX, "the same, 1; bits 11:4 are those of the board")   \
  X(hub_ident3, 0x00020a10, 0, UINT32_MAX, "identification word 3 of the hub: revision")        \
  /* UNSURE points, one switch each: docs/v3d-simulator.md says what is known of each. */       \
  X(carry_of_max, 1, 0, 1, "C of max, umin, umax: 1 a > b as for min, 0 always clear")          \
  X(carry_elsewhere, 0, 0, 1, "C of operations for which none is known: 0 clear, 1 set")        \
  X(faddnf_flushes, 0, 0, 1, "faddnf: 0 as fadd, 1 denormal sums become zero")                  \
  X(negative_zero_is_zero, 1, 0, 1, "Z of float results: 1 set for -0.0, 0 only for +0.0")      \
  X(negative_zero_is_negative, 1, 0, 1, "N of float results: 1 set for -0.0, 0 not")            \
  X(fmin_nan, 0, 0, 1, "fmin and fmax with one NaN: 0 the other operand, 1 NaN")                \
  X(float_to_int_saturates, 1, 0, 1, "ftoin, ftoiz, ftouz out of range: 1 nearest, 0 zero")     \
  X(f16_denormals, 1, 0, 1, "f16 values: 1 denormals are kept, 0 flushed to zero")              \
  X(flags_of_halves, 0, 0, 2, "flags of 2 x f16: 0 both halves, 1 the low one, 2 the high one") \
  X(sfu_significand_bits, 24, 8, 24, "bits to which SFU results are rounded, 24 all of fp32")   \
  X(clz_of_zero, 32, 0, 32, "clz(0)")                                                           \
  X(nnmode_first_letter_is_a, 1, 0, 1, "setnnmode_xy: 1 x is source a, 0 x is source b")        \
  X(nnmode_at_start, 0, 0, 3, "v8dot mode at thread start: 0 uu, 1 su, 2 us, 3 ss")             \
  X(nnmode_same_instruction, 1, 0, 1, "setnnmode acts on v8dot of the same instruction")        \
  X(flags_stay, 1, 0, 1, "A and B after a thread switch: 1 as before, 0 lost (inverted)")       \
  X(register_branch_lane, 0, 0, 15, "lane whose value a branch to a register takes")            \
  X(link_when_not_taken, 0, 0, 1, "set_link of a branch not taken: 1 sets the link register")   \
  X(register_stream_ignores_bit_2, 1, 0, 1,                                                     \
    "uniform branch to a register: 1 bits 2:0 of it are ignored, 0 bits 1:0")                   \
  X(flpop_restores, 1, 0, 1, "flpop: 1 restores A from the popped bits, 0 leaves the flags")    \
  X(msf_of_active_lane, 1, 1, 0xf, "msf in a dispatched lane")                                  \
  X(tmu_signed_extends, 1, 0, 1, "i8 and i16 loads: 1 sign-extend, 0 zero-extend")              \
  X(tmu_unaligned_halves, 0, 0, 1, "misaligned 16-bit access: 1 works, 0 is reported")          \
  X(tmu_store_conflict_last_lane, 1, 0, 1,                                                      \
    "lanes storing to one address: 1 highest wins, 0 lowest")                                   \
  X(tmu_short_stores, 1, 0, 1,                                                                  \
    "stores with fewer data words than their type: 1 write those, 0 are reported")              \
  X(quad_mode, 2, 0, 2,                                                                         \
    "per-quad lookups: 2 each lane its address, 1 that of the quad's lane 0, 0 reported")       \
  X(uniforms_see_stores, 0, 0, 1, "uniform reads: 0 memory as at job start, 1 as it is now")    \
  X(ended_batches_arrive, 1, 0, 1,                                                              \
    "barriers: 1 the supergroup's batches that have ended count as there, 0 they do not")       \
  /* Bounds of a simulated job. */                                                              \
  X(max_slots, 2000000000, 1, UINT32_MAX,                                                       \
    "instructions of one thread before it counts as endless")                                   \
  X(max_job_slots, UINT32_MAX, 1, UINT32_MAX, "instructions of all threads of a job, likewise") \
  DAEDALUS_V3D_TIMING_SETTINGS(X)

typedef struct daedalus_v3d_profile {
#define DAEDALUS_V3D_MEMBER(name, value, min, max, text) uint32_t name; /**< text */
  DAEDALUS_V3D_SETTINGS(DAEDALUS_V3D_MEMBER)
#undef DAEDALUS_V3D_MEMBER
} daedalus_v3d_profile;

/** All defaults: a Raspberry Pi 5. */
daedalus_v3d_profile daedalus_v3d_profile_default(void);

/**
 * Reads settings from length bytes of a profile file into *profile, over what is there.  Returns
 * 0, or the line (from 1) of the first mistake with what is wrong in message.
 */
unsigned daedalus_v3d_profile_parse(const char *text, size_t length, daedalus_v3d_profile *profile,
                                    char *message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
