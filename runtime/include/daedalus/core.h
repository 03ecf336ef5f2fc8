/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daedalus/core.h - contexts, batches, errors: everything public that is the
 * same for every kernel.  The kernels' own types and functions stand in the
 * generated headers beside this one; <daedalus.h> includes all of them.
 *
 * Words used throughout
 *   item       one unit of work of a kernel: a block, an edge segment, a tile.
 *   buffer     memory a kernel reads or writes.  A *plane* has a stride in
 *              bytes and is addressed per item by an offset in the meta; a
 *              *block* buffer holds the items' data packed one after another,
 *              item i at element i * (elements per item).
 *   meta       one struct per item: byte offsets into the planes, then the
 *              kernel's parameters.
 *   class      a precondition on an item (for a transform: "eob <= 12") under
 *              which a cheaper variant gives the same result.
 *   variant    one generated implementation of a kernel for one class.
 *   substrate  where a variant runs: CPU or QPU (the GPU's shader cores).
 *
 * Errors: functions that can fail return 0 or a negative errno value;
 * daedalus_strerror() explains it.  A failing call has no effect, except where
 * its comment says otherwise.  A NULL handle is -EINVAL.
 *
 * Threads: a context, and all batches begun on it, may be used by one thread
 * at a time.  Different contexts are independent and may be used at once.
 *
 * Strides are in bytes, as ptrdiff_t.  Offsets in a meta are in bytes from the
 * plane pointer that was passed; both are multiples of the element's size.  The
 * caller guarantees that what an item touches (the kernel's header states the
 * rectangle) lies inside its memory.
 *
 * A negative stride means that rows run upwards: row 1 lies below row 0 in
 * memory.  daedalus_append_*, daedalus_dispatch_*, daedalus_recipe_dispatch_*,
 * daedalus_append(), daedalus_append_variant() and daedalus_dispatch() take one
 * on every substrate, and so do daedalus_items_* (for steps from item to item,
 * too) and the decoder entries.  An offset is unsigned all the same, and counts
 * upwards from the pointer.
 */
#ifndef DAEDALUS_CORE_H
#define DAEDALUS_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define DAEDALUS_API __attribute__((visibility("default")))
#else
#define DAEDALUS_API
#endif

/** Version of this interface: major changes break callers, minor ones add. */
#define DAEDALUS_VERSION_MAJOR 0
#define DAEDALUS_VERSION_MINOR 4
/** Both in one number, for daedalus_config.version. */
#define DAEDALUS_VERSION (DAEDALUS_VERSION_MAJOR * 65536 + DAEDALUS_VERSION_MINOR)

/** Everything that lives from create to destroy: devices, recipes, the logger. */
typedef struct daedalus_ctx daedalus_ctx;

/** Ordered appends of items, executed together.  Belongs to its context. */
typedef struct daedalus_batch daedalus_batch;

/**
 * Where to run.  AUTO follows the recipe; without one it means the CPU.  QPU is refused with
 * -ENODEV where there is no GPU, unless the context has DAEDALUS_CONFIG_QPU_FALLBACK_CPU.
 */
typedef enum daedalus_substrate {
  DAEDALUS_SUBSTRATE_AUTO = 0,
  DAEDALUS_SUBSTRATE_CPU = 1,
  DAEDALUS_SUBSTRATE_QPU = 2
} daedalus_substrate;

typedef enum daedalus_log_level {
  DAEDALUS_LOG_ERROR = 0,
  DAEDALUS_LOG_WARNING = 1,
  DAEDALUS_LOG_INFO = 2
} daedalus_log_level;

/**
 * Receives one message (UTF-8, no newline; valid during the call only).
 * Called on the thread that uses the context; must not call into daedalus.
 */
typedef void (*daedalus_log_fn)(void *user, daedalus_log_level level, const char *message);

/**
 * Processor features that a decoder allows, for daedalus_<decoder>_fill_<table>() of the generated
 * headers. DOTPROD takes NEON with it.
 */
enum { DAEDALUS_FEATURE_NEON = 1u << 0, DAEDALUS_FEATURE_DOTPROD = 1u << 1 };

/** Bits of daedalus_config.flags. */
enum {
  /** Never look for a GPU. */
  DAEDALUS_CONFIG_NO_QPU = 1u << 0,
  /**
   * Check at every append that its items do not overlap in what they write
   * and do not read what another of them writes, nor by one buffer what they write by another; a
   * violation is -EINVAL and is logged with the items.  Costs time and memory: for debugging.
   */
  DAEDALUS_CONFIG_CHECK_OVERLAP = 1u << 1,
  /**
   * Since 0.4.  What is appended or dispatched for DAEDALUS_SUBSTRATE_QPU takes the CPU where there
   * is no GPU, or none of its variants can run there with these buffers.  daedalus_batch_choice()
   * tells what was taken and why.  Without this flag both are refused with -ENODEV.  A variant that
   * was asked for by name (daedalus_append_variant()) is refused as ever.
   */
  DAEDALUS_CONFIG_QPU_FALLBACK_CPU = 1u << 2
};

/** vkGetInstanceProcAddr, written without Vulkan's types; cast it to this. */
typedef void (*daedalus_vulkan_fn)(void);
typedef daedalus_vulkan_fn (*daedalus_get_instance_proc_addr_fn)(void *instance, const char *name);

/**
 * Set `size` to sizeof(daedalus_config), `version` to DAEDALUS_VERSION and everything unused to
 * zero.  The sizes of earlier versions are accepted: 0.1 ended with `log_user`, 0.2 with `route`,
 * 0.3 with `recipe`.  A larger size, that of a later minor version, is accepted if all bytes beyond
 * this struct are zero; else it is refused, and the message tells the first such byte's offset and
 * both versions.  Above DAEDALUS_CONFIG_SIZE_MOST it is refused unread.  Of the strings nothing is
 * kept but copies.
 */
typedef struct daedalus_config {
  size_t size;         /**< tells which release's struct this is */
  uint32_t flags;      /**< DAEDALUS_CONFIG_*; unknown bits are refused */
  daedalus_log_fn log; /**< NULL: messages of level ERROR and WARNING go to stderr */
  void *log_user;      /**< handed to `log` as it is; never read or freed */

  /* Since 0.2: the GPU, see daedalus/gpu.h. */
  /**
   * Which Vulkan device: as the environment's DAEDALUS_VULKAN_DEVICE, over
   * which it takes precedence; NULL leaves it to that and to the order of
   * preference.
   */
  const char *device;
  /** Where Vulkan comes from; NULL: libvulkan.so.1.  Has to outlive the context. */
  daedalus_get_instance_proc_addr_fn get_instance_proc_addr;
  /** Folder of the pipeline cache; NULL: $XDG_CACHE_HOME/daedalus; "": none is kept. */
  const char *cache_dir;
  /**
   * Milliseconds without progress after which the GPU counts as lost; 0: the
   * environment's DAEDALUS_QPU_TIMEOUT_MS, else DAEDALUS_TIMEOUT_MS.
   */
  uint32_t timeout_ms;
  /**
   * How the QPU is reached: "vulkan" or "drm", see daedalus/gpu.h; goes before the environment's
   * DAEDALUS_QPU_ROUTE.  NULL leaves it to that and to the order of preference.
   */
  const char *route;

  /* Since 0.3. */
  /**
   * File of the recipe (see below), read when the context is made; goes before the environment's
   * DAEDALUS_RECIPE and that before the recipe that the library was built with.  "none": no recipe.
   * NULL or "" leaves it to these two.
   */
  const char *recipe;

  /* Since 0.4. */
  uint32_t version;  /**< DAEDALUS_VERSION as the caller was compiled; 0: not told.  For messages */
  uint32_t reserved; /**< zero, else refused */
} daedalus_config;

/** No daedalus_config of this major version is larger. */
#define DAEDALUS_CONFIG_SIZE_MOST 4096

/** What daedalus_config.timeout_ms is by default. */
#define DAEDALUS_TIMEOUT_MS 10000

/** @return a context, or NULL as daedalus_ctx_create_with().  Owned by the caller. */
DAEDALUS_API daedalus_ctx *daedalus_ctx_create(void);

/** As daedalus_ctx_create(), without looking for a GPU. */
DAEDALUS_API daedalus_ctx *daedalus_ctx_create_no_qpu(void);

/**
 * @param config  copied; NULL means all defaults
 * @return a context, or NULL with errno ENOMEM, or EINVAL when `config` is not
 *         one this library understands (wrong size, unknown flag) or the
 *         generated code linked in is of another release than the runtime
 */
DAEDALUS_API daedalus_ctx *daedalus_ctx_create_with(const daedalus_config *config);

/**
 * Destroys the context and every batch begun on it and not destroyed, whose
 * handles are then invalid too; NULL is fine.
 */
DAEDALUS_API void daedalus_ctx_destroy(daedalus_ctx *ctx);

/* ----------------------------------------------------------------- recipe */

/*
 * A recipe is a text that says, for kernels and their classes, on which
 * substrate the items belong and which variant does them there, as it was
 * measured: DAEDALUS_SUBSTRATE_AUTO follows it, and where a caller says CPU or
 * QPU the variant is the recipe's for that substrate.  What it says nothing
 * about, or names what cannot run here, takes the CPU for AUTO and the variant
 * of lowest rank.  One that is missing, broken, or of other generated code is
 * not followed at all: a warning says so once, when the context is made, and
 * AUTO means the CPU.  Results are the same with any recipe.
 *
 * Where the records for the QPU are for one route and the configuration and
 * the environment ask for none, that route is tried first; where they name
 * both, the one that more of them name.
 */

/** Where a context's recipe came from. */
typedef enum daedalus_recipe_source {
  DAEDALUS_RECIPE_NONE = 0,        /**< there is none, or none was asked for */
  DAEDALUS_RECIPE_CONFIG = 1,      /**< daedalus_config.recipe */
  DAEDALUS_RECIPE_ENVIRONMENT = 2, /**< DAEDALUS_RECIPE */
  DAEDALUS_RECIPE_BUILT_IN = 3     /**< the library was built with it */
} daedalus_recipe_source;

/** Set `size` to sizeof(daedalus_recipe_info); strings live as long as the context. */
typedef struct daedalus_recipe_info {
  size_t size;
  daedalus_recipe_source source;
  const char *path;      /**< of the file; NULL where it is none */
  const char *generator; /**< hash of the code that was measured; NULL where it could not be read */
  const char *fingerprint; /**< of the board: its id and words; NULL where it tells none */
  const char *route;       /**< "vulkan" or "drm"; NULL where no record is for the QPU */
  const char *problem;     /**< the first that was found, with file and line; NULL: there is none */
  size_t n_records;        /**< that are followed; 0 where all of it was refused */
  size_t n_skipped;        /**< that name what is not in this library */
} daedalus_recipe_info;

/** @return 0 or -EINVAL */
DAEDALUS_API int daedalus_ctx_recipe(const daedalus_ctx *ctx, daedalus_recipe_info *info);

/** One record of a recipe; strings live as long as the context. */
typedef struct daedalus_recipe_record {
  const char *kernel;           /**< kernel id */
  const char *class_name;       /**< of the items */
  const char *variant;          /**< the variant's full name */
  const char *route;            /**< "vulkan" or "drm"; NULL for the CPU */
  const char *reason;           /**< what was measured */
  daedalus_substrate substrate; /**< CPU or QPU */
  uint32_t workgroup;           /**< of a Vulkan variant; 0: its own */
  uint8_t chosen; /**< AUTO follows it; else it is for callers that ask for the substrate */
} daedalus_recipe_record;

/**
 * @param index        below daedalus_recipe_info.n_records; in the order of the kernel table
 * @param[out] record  filled in
 * @return 0 or -EINVAL
 */
DAEDALUS_API int daedalus_ctx_recipe_record(const daedalus_ctx *ctx, size_t index,
                                            daedalus_recipe_record *record);

/** Set `size` to sizeof(daedalus_placement); strings live as long as the context. */
typedef struct daedalus_placement {
  size_t size;
  const char *kernel;           /**< kernel id */
  const char *class_name;       /**< of the items that were asked about */
  const char *variant;          /**< the variant's full name */
  const char *route;            /**< "vulkan" or "drm"; NULL for the CPU */
  const char *reason;           /**< why this one, a sentence; the recipe's where it decided */
  daedalus_substrate substrate; /**< CPU or QPU, never AUTO */
  uint8_t recorded;             /**< the recipe says something about this kernel and class */
} daedalus_placement;

/**
 * What DAEDALUS_SUBSTRATE_AUTO does with items of a class, and why; of buffers that are aligned for
 * every variant.  As daedalus_ctx_prepare() for AUTO, opens the GPU where the recipe says QPU for
 * any class of the kernel, tests the variants there, and waits for batches in flight.
 * @param kernel      id or alias
 * @param class_name  NULL: "full"
 * @return 0; -EINVAL (a NULL argument, wrong size, no such kernel or class, logged); -ENODEV
 *         (nothing here can run it); -ENOMEM
 */
DAEDALUS_API int daedalus_ctx_placement(daedalus_ctx *ctx, const char *kernel,
                                        const char *class_name, daedalus_placement *placement);

/**
 * Does ahead of time what else the first append of a kernel for a substrate does: opens the GPU
 * where the substrate or the recipe says QPU, and has the variants that may be taken compiled and
 * tested there, whatever buffers they need.  A test waits for all batches of the context that are
 * in flight; so do this before the first one.  Takes from milliseconds to seconds on a GPU.
 *
 * Later appends of that kernel for that substrate only look up what was found, and allocate nothing
 * besides room in the batch, which daedalus_batch_reset() keeps.  One that finds only variants for
 * whose test there was no memory has these tested again.  Since 0.4.
 * @param kernel  id or alias
 * @return 0; -EINVAL (a NULL argument, no such kernel or substrate, logged); -ENODEV (QPU asked for
 *         and none there, but for DAEDALUS_CONFIG_QPU_FALLBACK_CPU, logged); -ENOMEM
 */
DAEDALUS_API int daedalus_ctx_prepare(daedalus_ctx *ctx, const char *kernel,
                                      daedalus_substrate substrate);

/**
 * Whether work for DAEDALUS_SUBSTRATE_QPU finds a GPU; opens it.  Why there is none is logged the
 * first time that it is looked for.
 * @return 1, 0 (none, or it was lost), or -EINVAL
 */
DAEDALUS_API int daedalus_ctx_has_qpu(daedalus_ctx *ctx);

/** @return a static text for 0 or a negative error code; never NULL. */
DAEDALUS_API const char *daedalus_strerror(int error);

/** @return "MAJOR.MINOR", a static string. */
DAEDALUS_API const char *daedalus_version(void);

/* ------------------------------------------------------------------ batch */

/**
 * Begins a batch.  The generated daedalus_append_<kernel>() functions add work.
 *
 * Items of one append are unordered: they must not overlap in what they write
 * nor read what another of them writes.  What an item writes by one buffer does not lie in what it
 * reads or writes by another; a plane that its kernel both reads and writes is one buffer.  Appends
 * of one batch take effect in their order.  Batches of one context take effect in the order of
 * submission.
 *
 * An append copies the meta; buffers are borrowed until the batch is done
 * (wait returned 0, or poll returned 1), and must neither move nor be freed
 * nor, where the kernel writes, be touched before that.
 *
 * @param[out] batch  the new batch; NULL on failure
 * @return 0, -EINVAL (a NULL argument) or -ENOMEM
 */
DAEDALUS_API int daedalus_batch_begin(daedalus_ctx *ctx, daedalus_batch **batch);

/**
 * Hands all appends over for execution; nothing can be appended afterwards.
 * The CPU's work is done when this returns, and what the GPU does before it.
 *
 * @return 0, -EALREADY when submitted before, or -EIO when the GPU failed and
 *         memory that it used in place is undefined (daedalus/gpu.h)
 */
DAEDALUS_API int daedalus_batch_submit(daedalus_batch *batch);

/**
 * Blocks until the batch is done.
 * @param timeout_ns  nanoseconds; negative waits without limit, 0 asks only
 * @return 0 when done, -ETIME when not done in time, -EINVAL when the batch was
 *         not submitted, or the error that stopped the work
 */
DAEDALUS_API int daedalus_batch_wait(daedalus_batch *batch, int64_t timeout_ns);

/** @return 1 when done, 0 when not yet, or a negative error as wait gives it. */
DAEDALUS_API int daedalus_batch_poll(daedalus_batch *batch);

/**
 * Exports a sync_file descriptor that becomes readable when the GPU is done with
 * the batch.  What it wrote to memory other than daedalus_memory is there only
 * after wait or poll.
 * @param[out] fd  owned by the caller, to be closed by it; -1 on failure
 * @return 0, -EINVAL when not submitted, -ENOTSUP when the batch holds no GPU
 *         work (it is done already) or the device exports no fences
 */
DAEDALUS_API int daedalus_batch_export_fence(daedalus_batch *batch, int *fd);

/**
 * Makes a batch that is done, or was never submitted, empty again and keeps
 * its memory, so that a steady caller allocates nothing.
 * @return 0, or -EBUSY while work is in flight
 */
DAEDALUS_API int daedalus_batch_reset(daedalus_batch *batch);

/** Waits for work in flight, then frees the batch; NULL is fine. */
DAEDALUS_API void daedalus_batch_destroy(daedalus_batch *batch);

/** What was chosen for the items of one class in one append. */
typedef struct daedalus_choice {
  const char *kernel;           /**< kernel id */
  const char *class_name;       /**< the variant's class; "full" when no narrower one applies */
  const char *variant;          /**< the variant's full name */
  const char *reason;           /**< why this one, a sentence; the recipe's where it decided */
  daedalus_substrate substrate; /**< CPU or QPU, never AUTO */
  size_t n_items;               /**< how many items took it */
} daedalus_choice;

/** @return how many choices the batch's appends have made so far. */
DAEDALUS_API size_t daedalus_batch_choice_count(const daedalus_batch *batch);

/**
 * @param index        in append order, below daedalus_batch_choice_count()
 * @param[out] choice  filled in; its strings live as long as the context
 * @return 0 or -EINVAL
 */
DAEDALUS_API int daedalus_batch_choice(const daedalus_batch *batch, size_t index,
                                       daedalus_choice *choice);

#ifdef __cplusplus
}
#endif

#include <daedalus/gpu.h>

#endif /* DAEDALUS_CORE_H */
