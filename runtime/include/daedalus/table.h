/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/table.h - how generated code describes itself to the runtime.
 *
 * A library holds exactly one `daedalus_kernels`, emitted by the generator:
 * libdaedalus.a with the variants marked `prod`, libdaedalus_variants.a with
 * all of them.  The runtime, the cross-check and the tuner know kernels only
 * through it.  Public for tools; programs that only dispatch kernels need
 * <daedalus.h> alone.
 */
#ifndef DAEDALUS_TABLE_H
#define DAEDALUS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <daedalus/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Raised whenever a struct below changes; the runtime refuses another one. */
#define DAEDALUS_TABLE_VERSION 5

/** One buffer argument: where it starts and, for a plane, its stride. */
typedef struct daedalus_buffer {
  void *data; /**< never written through when the kernel declares it `in` */
  ptrdiff_t
      stride; /**< bytes from a row to the next, negative where rows run upwards; 0 for a block */
} daedalus_buffer;

/**
 * A CPU variant.
 * @param buffers  in the kernel's order
 * @param meta     array of the kernel's meta structs
 * @param items    indices of the items to do, into `meta` and block buffers
 * @param n_items  how many indices; may be 0
 * Every listed item meets the precondition of the variant's class.
 */
typedef void daedalus_cpu_fn(const daedalus_buffer *buffers, const void *meta,
                             const uint32_t *items, size_t n_items);

typedef enum daedalus_type {
  DAEDALUS_TYPE_U8,
  DAEDALUS_TYPE_I8,
  DAEDALUS_TYPE_U16,
  DAEDALUS_TYPE_I16,
  DAEDALUS_TYPE_U32,
  DAEDALUS_TYPE_I32
} daedalus_type;

/** Bits of daedalus_buffer_desc.access. */
enum { DAEDALUS_ACCESS_READ = 1, DAEDALUS_ACCESS_WRITE = 2 };

/** Half-open rectangle of elements around the item's origin. */
typedef struct daedalus_rect {
  int32_t row_begin, row_end, col_begin, col_end;
} daedalus_rect;

typedef struct daedalus_buffer_desc {
  const char *name;
  daedalus_type type;
  bool is_plane;
  uint8_t access;       /**< DAEDALUS_ACCESS_* */
  uint16_t meta_offset; /**< plane: position in the meta of its uint32_t byte offset */
  uint32_t item_stride; /**< block: elements from an item to the next */
  int64_t lo, hi;       /**< what a conformant item holds, inclusive */
  daedalus_rect reads;  /**< empty when not read; a block is one row */
  daedalus_rect writes; /**< includes what is rewritten with its own value */
  /**
   * 0, or 1 + index of the parameter that counts the item's rows: row_end of
   * both rectangles is stated for the parameter's hi, and is smaller by as
   * much as an item's value is below it.
   */
  uint16_t rows_param;
} daedalus_buffer_desc;

typedef struct daedalus_param_desc {
  const char *name;
  daedalus_type type;
  uint16_t meta_offset;
  int32_t lo, hi; /**< declared range, inclusive */
  uint16_t count; /**< elements of an array, each in the range; 0 for a single value */
} daedalus_param_desc;

/** lo <= parameter <= hi. */
typedef struct daedalus_condition {
  uint16_t param; /**< index into the kernel's parameters */
  int32_t lo, hi;
} daedalus_condition;

/** An item is of the first class, in table order, whose conditions all hold. */
typedef struct daedalus_class_desc {
  const char *name;
  const daedalus_condition *conditions;
  size_t n_conditions; /**< 0 for the last class, "full" */
} daedalus_class_desc;

/** Bits of daedalus_variant.needs and daedalus_cpu_features. */
#define DAEDALUS_NEEDS_DOTPROD UINT32_C(1) /**< SDOT and UDOT: Armv8.2 FEAT_DotProd */

/**
 * What this processor has of it.  Set before main and constant from then on;
 * 0 where the environment has DAEDALUS_BASELINE=1.
 */
DAEDALUS_API extern uint32_t daedalus_cpu_features;

/** A word of an item's record that is no word of its meta, but the item's index. */
#define DAEDALUS_RECORD_INDEX UINT16_C(0xffff)

/**
 * What a GPU variant is and how it is started.
 *
 * **Arguments.**  Storage buffer b of descriptor set 0 is the kernel's buffer b.  The one after the
 * last holds the records of the items to do, `n_record` words each: the words of the item's meta
 * that the variant reads, and its index (into block buffers) where it needs that.  Where the
 * variant has constants (tables that it looks things up in), the binding after that holds them.
 * Memory is read in whole aligned words that hold a byte of an item's rectangle, so what is bound
 * must be whole words, too.  Push constants, words of 32 bits: `first`, the number of the first
 * record to do; `n_items`, how many from there, at least 1; then of every buffer two signed words:
 * `base`, bytes from the start of what is bound to element 0 of the caller's buffer, and `stride`,
 * bytes from a row to the next (0 for a block).
 *
 * **Shape.**  `invocations` neighbouring invocations of a workgroup do `items` neighbouring
 * records.  The size of a workgroup is specialisation constant 0: a multiple of `invocations`, at
 * least `workgroup_min`, such that shared memory suffices.  Records past `n_items` are left alone,
 * so any number of workgroups from ceil(n_items / items a workgroup) on will do.
 */
typedef struct daedalus_gpu_code {
  const uint32_t *spirv; /**< a SPIR-V 1.3 module with the entry point "main"; NULL if `packed` */
  const char *const *packed; /**< the module in a form of the runtime's own; NULL if not */
  size_t n_words;            /**< of the module */
  const uint16_t *record;    /**< of each word, the word of the meta, or DAEDALUS_RECORD_INDEX */
  size_t n_record;           /**< at least 1; a word may occur twice */
  const uint32_t *constants; /**< NULL where n_constants is 0 */
  size_t n_constants;        /**< words; where 0, there is no binding for them */
  /**
   * A buffer's entry: what the address of its first element, its stride and the items' offsets
   * are multiples of, in bytes; a power of two.
   */
  const uint8_t *align;
  uint16_t invocations;   /**< at least 1, a power of two */
  uint16_t items;         /**< at least 1 */
  uint16_t workgroup;     /**< invocations of a workgroup where no recipe says otherwise */
  uint16_t workgroup_min; /**< at least `invocations` */
  uint32_t shared_bytes;  /**< workgroup memory that `invocations` invocations take; 0 for none */
  uint32_t features;      /**< DAEDALUS_GPU_* that the device must have */
} daedalus_gpu_code;

/** Bits of daedalus_gpu_code.features: access to elements of that size in storage buffers. */
#define DAEDALUS_GPU_STORAGE8 UINT32_C(1)
#define DAEDALUS_GPU_STORAGE16 UINT32_C(2)

/** What a word of a QPU variant's uniform stream is. */
typedef enum daedalus_qpu_uniform_kind {
  DAEDALUS_QPU_CONSTANT, /**< `value` itself */
  DAEDALUS_QPU_RECORDS,  /**< address of the first record */
  DAEDALUS_QPU_ITEMS,    /**< how many records, at least 1 */
  DAEDALUS_QPU_THREADS,  /**< how many threads do them */
  DAEDALUS_QPU_BASE,     /**< address of element 0 of the caller's buffer `index` */
  DAEDALUS_QPU_STRIDE,   /**< bytes from a row of buffer `index` to the next, signed */
  DAEDALUS_QPU_SCRATCH,  /**< address of the threads' scratch memory */
  DAEDALUS_QPU_TABLE,    /**< address of the variant's constants, plus `value` bytes */
  DAEDALUS_QPU_N_UNIFORM_KINDS
} daedalus_qpu_uniform_kind;

typedef struct daedalus_qpu_uniform {
  uint8_t kind;   /**< daedalus_qpu_uniform_kind */
  uint8_t index;  /**< of the kernel's buffers; 0 where the kind has none */
  uint32_t value; /**< 0 where the kind has none */
} daedalus_qpu_uniform;

/**
 * What a variant in machine code of V3D 7.1 is and how it is started.
 *
 * **Arguments.**  All are words of the uniform stream, in the order of `uniforms`, the same for all
 * threads; addresses are the device's.  The stream is only read, and holds the words that a loop
 * takes it back by, so one copy serves a job.  Records are `n_record` words an item, as of a
 * daedalus_gpu_code, in the order in which they are done.  Records and constants begin at multiples
 * of 16 bytes, scratch memory at multiples of 4; a word behind the last record has to be there, as
 * ldunifa fetches ahead.  The CPU writes records before the job begins.  Memory is read in whole
 * aligned words that hold a byte of an item's rectangle, so these must be whole, too.
 *
 * **Shape.**  A thread is a workgroup of 16 invocations; its number along x is the thread's, below
 * DAEDALUS_QPU_THREADS, and along y and z 0.  A trip through its loop does `items` records; thread
 * t of T makes the trips t, t + T, ...  Every thread must have a trip, so T is at most
 * ceil(DAEDALUS_QPU_ITEMS / items); beyond that any T does, and results do not depend on it.
 * Workgroups may be grouped into supergroups.
 *
 * **Limits.**  Strides are within +-2^23 bytes, indices of items below 2^24, and so many bytes
 * behind the records as those of T trips take must lie below 2^32; they are not read.
 */
typedef struct daedalus_qpu_code {
  const uint64_t *words;     /**< instructions; NULL if `packed` */
  const char *const *packed; /**< they in a form of the runtime's own; NULL if not */
  size_t n_words;            /**< how many instructions */
  const daedalus_qpu_uniform *uniforms;
  size_t n_uniforms;
  const uint16_t *record;    /**< of each word, the word of the meta, or DAEDALUS_RECORD_INDEX */
  size_t n_record;           /**< at least 1; a word may occur twice */
  const uint32_t *constants; /**< tables; NULL where n_constants is 0 */
  size_t n_constants;        /**< words */
  /**
   * A buffer's entry: what the address of its first element, its stride and the items' offsets
   * are multiples of, in bytes; a power of two.
   */
  const uint8_t *align;
  uint8_t threads;        /**< that a QPU runs at once: 2 or 4 */
  uint16_t items;         /**< of a trip: 1 to 16, a power of two */
  uint32_t scratch_bytes; /**< that each thread takes of scratch memory; 0 for none */
  uint32_t forms;         /**< DAEDALUS_QPU_FORM_* that it contains */
  /**
   * Clocks of the GPU that an item takes, about and rather too many, where all threads of 12 QPUs
   * are at it; at least 1.  T threads take 12 * `threads` / T times as many, at most.
   */
  uint32_t clocks;
} daedalus_qpu_code;

/**
 * Bits of daedalus_qpu_code.forms: forms of instructions of which no public source settles what
 * hardware makes of them.  Behind a variant that contains one stands another that does not.
 */
#define DAEDALUS_QPU_FORM_MIXED_DOT UINT32_C(1)     /**< v8dot, one side signed: which */
#define DAEDALUS_QPU_FORM_SIGNED_LOAD UINT32_C(2)   /**< lookups that extend signs */
#define DAEDALUS_QPU_FORM_FLOAT UINT32_C(4)         /**< denormals, NaN, what does not fit */
#define DAEDALUS_QPU_FORM_CARRY UINT32_C(8)         /**< flag C of other than add, sub and min */
#define DAEDALUS_QPU_FORM_FLAGS_SWITCH UINT32_C(16) /**< flags read behind a thread switch */

typedef struct daedalus_variant {
  const char *name;     /**< daedalus_<kernel>__<target>_<options> */
  const char *target;   /**< "c", "vector", "neon", "glsl", "qpu" */
  uint32_t needs;       /**< DAEDALUS_NEEDS_* that it cannot run without */
  uint16_t class_index; /**< into the kernel's classes */
  bool prod;
  /**
   * Lower is taken first among the variants that can run here of an item's class and, where the
   * class has one, of the last class, for any items; equal ranks do not occur among these.
   */
  uint16_t rank;
  const char *reason; /**< why this rank, a sentence for daedalus_choice */
  /* Exactly one of these is not NULL. */
  daedalus_cpu_fn *cpu;         /**< "c", "vector", "neon" */
  const daedalus_gpu_code *gpu; /**< "glsl" */
  const daedalus_qpu_code *qpu; /**< "qpu" */
} daedalus_variant;

typedef struct daedalus_kernel_desc {
  const char *id;
  uint32_t meta_size; /**< bytes, a multiple of 4 */
  const daedalus_buffer_desc *buffers;
  size_t n_buffers;
  const daedalus_param_desc *params; /**< in the order of the meta, behind the planes' offsets */
  size_t n_params;
  const daedalus_class_desc *classes;
  size_t n_classes; /**< at least 1; the last is "full" */
  const daedalus_variant *variants;
  size_t n_variants;
} daedalus_kernel_desc;

typedef struct daedalus_alias {
  const char *alias; /**< another id */
  uint32_t kernel;   /**< index into the table's kernels */
} daedalus_alias;

typedef struct daedalus_kernel_table {
  uint32_t version;      /**< DAEDALUS_TABLE_VERSION */
  const char *generator; /**< hash of the generator and the specs */
  const daedalus_kernel_desc *kernels;
  size_t n_kernels;
  const daedalus_alias *aliases;
  size_t n_aliases;
} daedalus_kernel_table;

/**
 * A function for many items that are laid out regularly, with the arguments that all have alike.
 * @param steps  an entry a buffer: bytes from an item's origin to the next one's; 0 for a block
 * @param meta   the first item's; NULL where the kernel has no parameters
 */
typedef void daedalus_items_fn(const daedalus_buffer *buffers, const ptrdiff_t *steps,
                               const void *meta, size_t meta_step, size_t n_items);

typedef struct daedalus_items_entry {
  const char *name;            /**< a CPU variant's, or the id of a kernel, for the public ones */
  daedalus_items_fn *items;    /**< daedalus_items_... */
  daedalus_items_fn *clearing; /**< daedalus_clearing_items_...; NULL where there is none */
  daedalus_items_fn *tall;     /**< daedalus_tall_...: items with all rows, one below the other, of
                                    the first one's parameters; NULL where there is none */
} daedalus_items_entry;

/** All functions for many items; an entry without name ends it.  In libdaedalus_variants.a only. */
extern const daedalus_items_entry daedalus_items_entries[];

/** The library's one table. */
DAEDALUS_API extern const daedalus_kernel_table daedalus_kernels;

/** @return the kernel with that id or alias, or NULL. */
DAEDALUS_API const daedalus_kernel_desc *daedalus_find_kernel(const char *id);

/**
 * Adds items to a batch; what daedalus_append_<kernel>() calls.
 *
 * Parameters outside their declared range are refused, so that no variant ever
 * sees one.  With n_items == 0 nothing is added and the pointers may be NULL.
 *
 * The first append of a kernel for a substrate finds out what can run it, which on the GPU waits
 * for all batches in flight (see daedalus_ctx_prepare()); later ones look that up.
 *
 * @param kernel   of the table, or one that lives, unchanged, as long as the context
 * @param buffers  n_buffers entries, the structs copied, the memory borrowed;
 *                 pointers, strides and offsets are multiples of the element
 * @param meta     n_items structs, copied; their reserved members are zero
 * @return 0; -EINVAL (NULL argument, parameter out of range, reserved bytes
 *         that are not zero, misaligned buffer or offset, overlap in the debug mode); -EALREADY
 * (submitted); -ENODEV (QPU asked for and none there, but for DAEDALUS_CONFIG_QPU_FALLBACK_CPU, or
 * no variant that can run here); -ENOMEM; -EOVERFLOW (n_items over UINT32_MAX)
 */
DAEDALUS_API int daedalus_append(daedalus_batch *batch, const daedalus_kernel_desc *kernel,
                                 daedalus_substrate substrate, const daedalus_buffer *buffers,
                                 size_t n_items, const void *meta);

/**
 * As daedalus_append(), every item by this variant of the kernel, which the table need not mark as
 * `prod`: for the cross-check and the tuner.  Items that do not meet the precondition of its class
 * are the caller's mistake.  The first append of a GPU variant and workgroup compiles and tests it,
 * and waits for all batches in flight.
 * @param kernel     as daedalus_append()
 * @param variant    one of the kernel's
 * @param workgroup  of a GPU variant, invocations of a workgroup; 0 for the variant's own, and for
 *                   the CPU's
 * @return as daedalus_append(); -ENODEV where the variant cannot run here; -EINVAL where a variant
 *         of the CPU is another kernel's, or has a workgroup
 */
DAEDALUS_API int daedalus_append_variant(daedalus_batch *batch, const daedalus_kernel_desc *kernel,
                                         const daedalus_variant *variant, uint32_t workgroup,
                                         const daedalus_buffer *buffers, size_t n_items,
                                         const void *meta);

/**
 * A batch of one append, submitted and waited for.  Errors as both give them.
 * @param kernel  as daedalus_append(): of the table, or one that lives as long as the context
 */
DAEDALUS_API int daedalus_dispatch(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                                   daedalus_substrate substrate, const daedalus_buffer *buffers,
                                   size_t n_items, const void *meta);

#ifdef __cplusplus
}
#endif
#endif /* DAEDALUS_TABLE_H */
