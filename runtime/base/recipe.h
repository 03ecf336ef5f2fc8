/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recipe: for items of a class, the variant that was measured to be best, on the substrate
 * where they belong and on the other one.  The format of the text stands in docs/recipes.md;
 * recipe_text.c reads it, recipe.c says where it comes from and answers.
 */
#ifndef DAEDALUS_BASE_RECIPE_H
#define DAEDALUS_BASE_RECIPE_H

#include <daedalus/core.h>
#include <daedalus/table.h>

/** One record; strings lie in the recipe's text. */
typedef struct daedalus_recipe_entry {
  const daedalus_variant *variant; /* NULL: there is no record */
  const char *reason;
  const char *route;  /* "vulkan" or "drm"; NULL for the CPU */
  uint16_t workgroup; /* of a Vulkan variant; 0: its own */
  bool chosen;        /* what AUTO takes; else for who asks for the substrate */
} daedalus_recipe_entry;

enum { DAEDALUS_RECIPE_ON_CPU, DAEDALUS_RECIPE_ON_QPU, DAEDALUS_RECIPE_PLACES };

typedef struct daedalus_recipe {
  daedalus_recipe_source source;
  char *path;            /* of the file; NULL where it is none */
  char *text;            /* cut into fields */
  size_t size;           /* bytes of it */
  const char *generator; /* NULL where it tells none */
  const char *fingerprint;
  const char *route; /* of most records on the QPU; NULL without one */
  /*
   * NULL without a recipe to follow.  The entries of class c of kernel k are
   * entries[DAEDALUS_RECIPE_PLACES * (first_class[k] + c)] and those behind it, one a place.
   */
  daedalus_recipe_entry *entries;
  uint32_t *first_class;
  size_t n_entries; /* of all classes and places, empty ones, too */
  size_t n_records; /* that hold */
  size_t n_skipped;
  char problem[320]; /* a sentence; "" for none */
} daedalus_recipe;

/** The text that the library was built with; no bytes: it has none. */
extern const unsigned char daedalus_rt_recipe_built_in[];
extern const size_t daedalus_rt_recipe_built_in_size;

/**
 * Finds the context's recipe and reads it.  Whatever is wrong with it is logged, once, and leaves
 * safe defaults.
 * @param configured  daedalus_config.recipe
 * @return 0 or -ENOMEM
 */
int daedalus_rt_recipe_load(daedalus_ctx *ctx, const char *configured);

void daedalus_rt_recipe_free(daedalus_ctx *ctx);

/**
 * Reads `text`, which it cuts up, for the context's table.
 * @param name  what the text is called in messages
 * @return 0, -ENOMEM, or -EINVAL with `problem` set: the text is not to be followed
 */
int daedalus_rt_recipe_read(const daedalus_ctx *ctx, daedalus_recipe *recipe, const char *name);

/**
 * The record for items of a class.
 * @param substrate  AUTO: the chosen one
 * @return NULL where there is none
 */
const daedalus_recipe_entry *daedalus_rt_recipe_find(const daedalus_ctx *ctx,
                                                     const daedalus_kernel_desc *kernel,
                                                     uint16_t class_index,
                                                     daedalus_substrate substrate);

#endif /* DAEDALUS_BASE_RECIPE_H */
