/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of the simulator: decoded programs, threads, supergroups, the machine.  One header for
 * simulator/, nobody else includes it.
 *
 * An instruction is decoded once into a v3d_op, whose run function is chosen so that nothing is
 * decided again: the loop of thread_order.c calls one run function after the other and looks up
 * only when one returns an event, or when a delay slot has run out.
 */
#ifndef DAEDALUS_V3D_ENGINE_H
#define DAEDALUS_V3D_ENGINE_H

#include <stdalign.h>
#include <stdatomic.h>

#include <daedalus/v3d/simulate.h>

#include "hazards/hazards.h"
#include "simulator/alu.h"
#include "simulator/memory.h"
#include "simulator/sync.h"

#define V3D_LANES DAEDALUS_V3D_LANES
#define V3D_ALL_LANES 0xffffu
#define V3D_MAX_THREADS 4
#define V3D_MAX_SLOTS (16 * V3D_MAX_THREADS)
/** Entries of a QPU's TMU queues, which its threads share. */
#define V3D_TMU_ENTRIES 16
/** What registers and results hold that nobody has written. */
#define V3D_UNDEFINED 0xa5a5a5a5u

/** Rows of a thread: registers, small immediates, and one that takes what goes nowhere. */
enum {
  V3D_ROW_SMALL = DAEDALUS_V3D_REGISTERS,
  V3D_ROW_NOWHERE = V3D_ROW_SMALL + DAEDALUS_V3D_SMALL_IMMEDIATES,
  V3D_ROWS
};

/** What the loop has to know of an instruction that it ran: bits. */
enum {
  V3D_EVENT_THRSW = 1u << 0,
  V3D_EVENT_BRANCH = 1u << 1, /**< taken: thread->branch_target. */
  V3D_EVENT_FAULT = 1u << 2,  /**< the report is written. */
  V3D_EVENT_CHUNK = 1u << 3,  /**< no instruction: execution goes on in the next chunk. */
  V3D_EVENT_YIELD = 1u << 4   /**< not run yet: another QPU's turn comes first (timed jobs). */
};

typedef struct v3d_thread v3d_thread;
typedef struct v3d_op v3d_op;

/** Executes one instruction. Returns V3D_EVENT_* bits. */
typedef unsigned v3d_run_fn(v3d_thread *thread, v3d_op *op);

/** Where a result goes. */
typedef enum v3d_dest_kind {
  V3D_TO_ROW = 0,
  V3D_TO_REP,
  V3D_TO_QUAD,
  V3D_TO_UNIFA,
  V3D_TO_TMU_DATA,
  V3D_TO_TMU_ADDRESS,
  V3D_TO_TMU_ADDRESS_UNIFORM,
  V3D_TO_TMU_CONFIG,
  V3D_TO_SYNC,
  V3D_TO_SYNC_UNIFORM,
  V3D_TO_NOT_IN_COMPUTE
} v3d_dest_kind;

/** One ALU's part of an instruction: what is needed each time. */
typedef struct v3d_half {
  daedalus_v3d_execute_fn *execute; /**< NULL: nothing to do. */
  uint8_t a, b;                     /**< rows. */
  uint8_t dest;                     /**< row, of V3D_TO_ROW. */
  uint8_t kind;                     /**< v3d_dest_kind */
  uint8_t cond;                     /**< daedalus_v3d_cond */
  uint8_t flags;                    /**< daedalus_v3d_flags */
  uint8_t is_flpop;
  uint8_t reserved;
} v3d_half;

/** What is needed only by halves that modify operands, results or flags. */
typedef struct v3d_modifiers {
  daedalus_v3d_unpack_fn *unpack[2]; /**< NULL: as it is. */
  daedalus_v3d_pack_fn *pack;        /**< NULL: as it is. */
  daedalus_v3d_flag_fn *flag;        /**< NULL: no flag is pushed or updated. */
} v3d_modifiers;

struct v3d_op {
  v3d_run_fn *run;
  v3d_half add, mul;
  uint32_t address;
  uint16_t signals;
  uint8_t signal_dest, signal_kind; /**< as in v3d_half. */
  uint64_t word;
  uint8_t timing; /**< what the timing model has to look at: V3D_TIMING_* bits. */
  /* Beyond the first cache line. */
  v3d_modifiers add_more, mul_more;
  daedalus_v3d_branch branch;
  uint32_t buffer_hint; /**< index of the buffer that its lookup found last. */
  bool mul_first;       /**< the mul ALU executes before the add ALU. */
  const char *reason;   /**< why run refuses it. */
};

/** Instructions decoded together: 256 bytes of code. */
enum { V3D_CHUNK_WORDS = 32, V3D_CHUNK_BYTES = 8 * V3D_CHUNK_WORDS };

typedef struct v3d_chunk {
  uint32_t address;                /**< a multiple of V3D_CHUNK_BYTES. */
  uint32_t job;                    /**< for which its words were last compared with memory. */
  bool four_threads;               /**< decoded for 32 registers. */
  uint32_t present;                /**< bit i: word i lies in a buffer. */
  struct v3d_chunk *follower;      /**< the next one, once it was needed. */
  v3d_op ops[V3D_CHUNK_WORDS + 1]; /**< the last one leads on. */
  uint64_t words[V3D_CHUNK_WORDS];
  daedalus_v3d_effects effects[V3D_CHUNK_WORDS];
} v3d_chunk;

/** Decoded code by address; what an earlier job left serves again when the words are the same. */
typedef struct v3d_programs {
  v3d_chunk **table; /**< open addressing; n_table is a power of two. */
  size_t n_table, n_chunks;
} v3d_programs;

/** Batches that share barriers and a slot of shared memory. */
typedef struct v3d_supergroup {
  bool alive;
  uint64_t index;
  uint32_t slot;      /**< of shared memory: unique among those alive. */
  uint32_t n_batches; /**< that it has in all. */
  uint32_t n_started, n_ended;
} v3d_supergroup;

typedef enum v3d_thread_state {
  V3D_IDLE = 0, /**< no batch. */
  V3D_READY,
  V3D_WAITING /**< for thread->wait. */
} v3d_thread_state;

typedef struct v3d_tmu {
  uint32_t config; /**< consumed byte by byte. */
  uint32_t n_data;
  uint32_t first, n_results; /**< of the ring below. */
  uint32_t limit;            /**< of data words, and of results. */
  alignas(64) uint32_t data[V3D_TMU_ENTRIES][V3D_LANES];
  alignas(64) uint32_t results[V3D_TMU_ENTRIES][V3D_LANES];
} v3d_tmu;

/** One thread of one QPU. */
struct v3d_thread {
  alignas(64) uint32_t rows[V3D_ROWS][V3D_LANES];
  uint32_t results[2][V3D_LANES]; /**< of add and mul, until they are written. */
  daedalus_v3d_lane_state state;
  struct daedalus_v3d_machine *machine;
  v3d_op *next;
  uint64_t executed; /**< instructions since the batch began. */
  /* Instruction counts after which something happens; UINT64_MAX: nothing is to happen. */
  uint64_t branch_at, switch_at;
  uint64_t last_thrsw; /**< count of the last thrsw that switches. */
  uint32_t branch_target;
  bool in_last_segment;             /**< the next thrsw ends the program. */
  bool ends_at_switch;              /**< of switch_at. */
  v3d_wait wait;                    /**< takes effect at the next thread switch. */
  uint32_t wait_object, wait_frees; /**< of wait. */
  uint32_t uniforms;                /**< address of the next word. */
  uint32_t unifa;
  uint32_t uniform_hint, unifa_hint; /**< buffers found last. */
  v3d_thread_state status;
  unsigned qpu, number; /**< which thread of the QPU: 0 and 2, or 0 to 3. */
  uint32_t batch;
  v3d_supergroup *supergroup;
  daedalus_v3d_hazards hazards;
  v3d_tmu tmu;
};

/** A dispatch, decoded from cfg. */
typedef struct v3d_dispatch {
  uint32_t groups[3], offsets[3];
  uint64_t n_groups;   /**< past which no lane is active; UINT64_MAX: ids go on. */
  uint32_t group_size; /**< invocations. */
  uint32_t groups_per_supergroup;
  uint32_t batches_per_supergroup;
  uint32_t n_batches;
  uint32_t code, uniforms;
  bool four_threads, single_segment;
} v3d_dispatch;

struct daedalus_v3d_machine {
  daedalus_v3d_profile profile;
  v3d_memory memory;
  v3d_programs programs;
  v3d_thread *threads; /**< of slot s: QPU s % n_qpus, its thread s / n_qpus. */
  unsigned n_qpus;
  uint32_t job_number; /**< of v3d_chunk.job. */
  atomic_bool stopped; /**< by daedalus_v3d_machine_stop(). */
  bool keep_memory;    /**< what jobs overwrite is kept, to be put back. */
  /* Of the job that runs. */
  bool strict;
  v3d_dispatch dispatch;
  daedalus_v3d_program_mode mode;
  uint32_t next_batch;
  unsigned n_slots;
  uint64_t slots_left; /**< instructions until the job counts as endless. */
  uint64_t reset_left; /**< instructions until the kernel would reset the GPU; see note_batch. */
  unsigned n_busy;     /**< QPUs that have a batch. */
  uint8_t batches_of[V3D_MAX_SLOTS / V3D_MAX_THREADS]; /**< of each QPU. */
  v3d_supergroup supergroups[V3D_MAX_SLOTS];
  v3d_sync_object objects[V3D_SYNC_OBJECTS];
  v3d_supergroup *newest; /**< that the next batch may belong to. */
  daedalus_v3d_report *report;
  struct v3d_timing *timing;       /**< of a timed job; else NULL. */
  struct v3d_timing *timing_state; /**< kept between timed jobs; NULL until the first. */
};

/* decode.c */

/** Fills in *op and *effects for the word at address. */
void daedalus_v3d_decode(v3d_op *op, daedalus_v3d_effects *effects, uint64_t word, uint32_t address,
                         bool four_threads, const daedalus_v3d_profile *profile);

/* execute.c, by alu.c */

/** The run function of an ALU instruction, from what the rest of *op says. */
v3d_run_fn *daedalus_v3d_runner_of(const v3d_op *op, bool lane_operations);
/* Those of each compilation. */
v3d_run_fn *daedalus_v3d_compiled_runner_of(const v3d_op *op, bool lane_operations);
v3d_run_fn *daedalus_v3d_compiled_runner_of_avx2(const v3d_op *op, bool lane_operations);

/* decode.c */

/** Run functions of what is no instruction: a word outside every buffer, one that op->reason
 * refuses, the end of a chunk. */
unsigned daedalus_v3d_run_absent(v3d_thread *thread, v3d_op *op);
unsigned daedalus_v3d_run_refused(v3d_thread *thread, v3d_op *op);
unsigned daedalus_v3d_run_chunk_end(v3d_thread *thread, v3d_op *op);

/* branch.c */

unsigned daedalus_v3d_run_branch(v3d_thread *thread, v3d_op *op);

/* uniforms.c: each returns whether *value was read; if not the report is written. */

bool daedalus_v3d_next_uniform(v3d_thread *thread, const v3d_op *op, uint32_t *value);
bool daedalus_v3d_next_unifa(v3d_thread *thread, const v3d_op *op, uint32_t *value);

/* tmu.c: where not otherwise said each returns V3D_EVENT_* bits. */

void daedalus_v3d_tmu_begin(v3d_tmu *tmu, unsigned threads);
unsigned daedalus_v3d_tmu_push(v3d_thread *thread, v3d_op *op, const uint32_t *data);
unsigned daedalus_v3d_tmu_lookup(v3d_thread *thread, v3d_op *op, const uint32_t *addresses,
                                 daedalus_v3d_lanes lanes);
/** The oldest result; NULL: the report is written. */
const uint32_t *daedalus_v3d_tmu_pop(v3d_thread *thread, v3d_op *op);

/* sync.c */

/** A write of config to the thread synchroniser. */
unsigned daedalus_v3d_sync(v3d_thread *thread, v3d_op *op, const uint32_t *config);

/* programs.c */

/** A job begins. */
void daedalus_v3d_programs_begin(v3d_programs *programs);
void daedalus_v3d_programs_free(v3d_programs *programs);

/** The op at address, decoded; NULL when there is no memory. Never a chunk's end. */
v3d_op *daedalus_v3d_op_at(struct daedalus_v3d_machine *machine, uint32_t address);

/** The same from op, which this job has run: nearly all branches stay in a chunk. */
static inline v3d_op *daedalus_v3d_op_from(struct daedalus_v3d_machine *machine, v3d_op *op,
                                           uint32_t address) {
  if ((op->address ^ address) & ~(uint32_t)(V3D_CHUNK_BYTES - 1))
    return daedalus_v3d_op_at(machine, address);
  return op + ((ptrdiff_t)(address / 8) - (ptrdiff_t)(op->address / 8));
}

/** The op after a chunk's end; NULL when there is no memory. */
v3d_op *daedalus_v3d_following_op(struct daedalus_v3d_machine *machine, v3d_op *end);

const daedalus_v3d_effects *daedalus_v3d_effects_of_op(const v3d_op *op);

/* dispatch.c */

/** Decodes cfg. NULL, or the reason why it makes no sense. */
const char *daedalus_v3d_dispatch_of(const uint32_t cfg[7], v3d_dispatch *dispatch);

/** Starts the next batch on thread, unless there is none or it has to wait. */
bool daedalus_v3d_start_batch(struct daedalus_v3d_machine *machine, v3d_thread *thread);

/** The batch of thread has ended, after its instruction op. Returns V3D_EVENT_* bits. */
unsigned daedalus_v3d_end_batch(v3d_thread *thread, const v3d_op *op);

/* thread_order.c */

/** How a turn ended. */
typedef enum v3d_turn {
  V3D_TURN_SWITCHED,
  V3D_TURN_ENDED,
  V3D_TURN_STOPPED, /**< the report is written. */
  V3D_TURN_YIELDED  /**< V3D_EVENT_YIELD. */
} v3d_turn;

/** Runs thread to its next switch, its end, or until its turn is over. */
v3d_turn daedalus_v3d_run_turn(v3d_thread *thread);

/** Raises the rules that op is about to break (strict jobs). */
unsigned daedalus_v3d_check_rules(v3d_thread *thread, v3d_op *op);

/** No thread can run and the dispatch is not done: says who waits for what. */
void daedalus_v3d_report_deadlock(struct daedalus_v3d_machine *machine);

/** Runs the dispatch of *machine. The report is written when it does not end well. */
void daedalus_v3d_run_threads(struct daedalus_v3d_machine *machine);

/* report.c */

#if defined(__GNUC__)
#define V3D_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define V3D_PRINTF(text, first)
#endif

/** Ends the job at op, which thread runs. Returns V3D_EVENT_FAULT. */
unsigned daedalus_v3d_fault(v3d_thread *thread, const v3d_op *op, daedalus_v3d_outcome outcome,
                            const char *format, ...) V3D_PRINTF(4, 5);

/** The same, of one lane at one address. */
unsigned daedalus_v3d_fault_at(v3d_thread *thread, const v3d_op *op, daedalus_v3d_outcome outcome,
                               unsigned lane, uint32_t address, const char *format, ...)
    V3D_PRINTF(6, 7);

/** Ends the job for a reason that has no place in the program. */
void daedalus_v3d_end_job(struct daedalus_v3d_machine *machine, daedalus_v3d_outcome outcome,
                          const char *format, ...) V3D_PRINTF(3, 4);

/** Where address lies, or what is next to it, as text: "in the buffer 0x...+0x...", ... */
void daedalus_v3d_describe_address(const v3d_memory *memory, uint32_t address, char *text,
                                   size_t size);

#endif
