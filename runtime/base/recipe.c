/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/recipe.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"

/* Of a file; a recipe of every kernel has some ten thousand bytes. */
enum { SIZE_MOST = 1 << 20, SIZE_FIRST = 1 << 14 };

static const char built_in_name[] = "the recipe built in";

/* ---------------------------------------------------------------- loading */

/** What is asked for; sets the source.  @return the path, or NULL: the one built in, or none */
static const char *wanted(daedalus_recipe *recipe, const char *configured) {
  const char *path = configured;
  recipe->source = DAEDALUS_RECIPE_CONFIG;
  if (path == NULL || path[0] == '\0') {
    path = getenv("DAEDALUS_RECIPE");
    recipe->source = DAEDALUS_RECIPE_ENVIRONMENT;
  }
  if (path == NULL || path[0] == '\0') {
    path = NULL;
    recipe->source =
        daedalus_rt_recipe_built_in_size != 0 ? DAEDALUS_RECIPE_BUILT_IN : DAEDALUS_RECIPE_NONE;
  } else if (strcmp(path, "none") == 0) {
    path = NULL;
    recipe->source = DAEDALUS_RECIPE_NONE;
  }
  return path;
}

static char *new_bytes(const daedalus_ctx *ctx, char *old, size_t size) {
  return ctx->allocator.resize(ctx->allocator.user, old, size);
}

/** All of a stream.  @return 0, -ENOMEM, -EIO (errno tells), or -EFBIG */
static int read_stream(const daedalus_ctx *ctx, FILE *file, daedalus_recipe *recipe) {
  for (size_t room = SIZE_FIRST;; room *= 2) {
    char *text = new_bytes(ctx, recipe->text, room);
    if (text == NULL) {
      return -ENOMEM;
    }
    recipe->text = text;
    recipe->size += fread(text + recipe->size, 1, room - recipe->size, file);
    if (recipe->size < room) {
      return ferror(file) ? -EIO : 0;
    }
    if (room >= SIZE_MOST) {
      return -EFBIG;
    }
  }
}

/** @return 0, -ENOMEM, or -EINVAL with `problem` set */
static int read_file(const daedalus_ctx *ctx, daedalus_recipe *recipe) {
  const char *why = "";
  FILE *file = daedalus_rt_open_regular(recipe->path, &why);
  const int error = file == NULL ? -EIO : read_stream(ctx, file, recipe);
  if (file != NULL && error == -EIO) {
    why = strerror(errno);
  }
  if (file != NULL) {
    fclose(file);
  }
  if (error == -EIO) {
    snprintf(recipe->problem, sizeof(recipe->problem), "%.200s: it cannot be read: %s",
             recipe->path, why);
    return -EINVAL;
  }
  if (error == -EFBIG) {
    snprintf(recipe->problem, sizeof(recipe->problem),
             "%.200s: it is no recipe: more than %d bytes", recipe->path, SIZE_MOST);
    return -EINVAL;
  }
  return error;
}

static int copy_built_in(const daedalus_ctx *ctx, daedalus_recipe *recipe) {
  recipe->text = new_bytes(ctx, NULL, daedalus_rt_recipe_built_in_size);
  if (recipe->text == NULL) {
    return -ENOMEM;
  }
  recipe->size = daedalus_rt_recipe_built_in_size;
  memcpy(recipe->text, daedalus_rt_recipe_built_in, recipe->size);
  return 0;
}

/** Ties go to the one that stands in the table first. */
static const char *route_of_most(const daedalus_recipe *recipe) {
  size_t n[2] = {0, 0};
  const char *names[2] = {NULL, NULL};
  for (size_t i = 0; i < recipe->n_entries; i++) {
    const daedalus_recipe_entry *entry = &recipe->entries[i];
    if (entry->chosen && entry->route != NULL) {
      const size_t which = names[0] != NULL && strcmp(names[0], entry->route) != 0;
      names[which] = entry->route;
      n[which]++;
    }
  }
  return names[n[1] > n[0]];
}

static void forget_entries(const daedalus_ctx *ctx, daedalus_recipe *recipe) {
  ctx->allocator.release(ctx->allocator.user, recipe->entries);
  ctx->allocator.release(ctx->allocator.user, recipe->first_class);
  recipe->entries = NULL;
  recipe->first_class = NULL;
  recipe->n_entries = 0;
  recipe->n_records = 0;
}

static void tell(const daedalus_ctx *ctx, const daedalus_recipe *recipe) {
  if (recipe->entries == NULL) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_WARNING,
                    "recipe %s: without it DAEDALUS_SUBSTRATE_AUTO means the CPU", recipe->problem);
  } else if (recipe->n_skipped != 0) {
    daedalus_rt_log(ctx, DAEDALUS_LOG_WARNING,
                    "recipe %s: %zu of its records are skipped for such reasons, %zu hold",
                    recipe->problem, recipe->n_skipped, recipe->n_records);
  } else {
    daedalus_rt_log(ctx, DAEDALUS_LOG_INFO, "recipe %s: %zu records, measured by %s",
                    recipe->path != NULL ? recipe->path : "built in", recipe->n_records,
                    recipe->fingerprint != NULL ? recipe->fingerprint : "nobody knows what");
  }
}

int daedalus_rt_recipe_load(daedalus_ctx *ctx, const char *configured) {
  daedalus_recipe *recipe = &ctx->recipe;
  const char *path = wanted(recipe, configured);
  if (recipe->source == DAEDALUS_RECIPE_NONE) {
    return 0;
  }
  int error;
  if (path != NULL) {
    const size_t size = strlen(path) + 1;
    recipe->path = new_bytes(ctx, NULL, size);
    if (recipe->path == NULL) {
      return -ENOMEM;
    }
    memcpy(recipe->path, path, size);
    error = read_file(ctx, recipe);
  } else {
    error = copy_built_in(ctx, recipe);
  }
  if (error == 0) {
    error = daedalus_rt_recipe_read(ctx, recipe, path != NULL ? path : built_in_name);
  }
  if (error == -ENOMEM) {
    return error;
  }
  if (error != 0) {
    forget_entries(ctx, recipe);
  } else {
    recipe->route = route_of_most(recipe);
  }
  tell(ctx, recipe);
  return 0;
}

void daedalus_rt_recipe_free(daedalus_ctx *ctx) {
  forget_entries(ctx, &ctx->recipe);
  ctx->allocator.release(ctx->allocator.user, ctx->recipe.text);
  ctx->allocator.release(ctx->allocator.user, ctx->recipe.path);
}

/* --------------------------------------------------------------- answering */

const daedalus_recipe_entry *daedalus_rt_recipe_find(const daedalus_ctx *ctx,
                                                     const daedalus_kernel_desc *kernel,
                                                     uint16_t class_index,
                                                     daedalus_substrate substrate) {
  const daedalus_recipe *recipe = &ctx->recipe;
  if (recipe->entries == NULL) {
    return NULL;
  }
  const size_t k = daedalus_rt_kernel_number(ctx->table, kernel);
  if (k == ctx->table->n_kernels) { /* an append may bring one */
    return NULL;
  }
  const daedalus_recipe_entry *entries =
      recipe->entries + DAEDALUS_RECIPE_PLACES * (size_t)(recipe->first_class[k] + class_index);
  const daedalus_recipe_entry *cpu = &entries[DAEDALUS_RECIPE_ON_CPU];
  const daedalus_recipe_entry *qpu = &entries[DAEDALUS_RECIPE_ON_QPU];
  const daedalus_recipe_entry *found =
      substrate == DAEDALUS_SUBSTRATE_CPU || (substrate == DAEDALUS_SUBSTRATE_AUTO && cpu->chosen)
          ? cpu
          : qpu;
  const bool holds = substrate != DAEDALUS_SUBSTRATE_AUTO || found->chosen;
  return found->variant != NULL && holds ? found : NULL;
}

int daedalus_ctx_recipe(const daedalus_ctx *ctx, daedalus_recipe_info *info) {
  if (ctx == NULL || info == NULL || info->size != sizeof(*info)) {
    return -EINVAL;
  }
  const daedalus_recipe *recipe = &ctx->recipe;
  *info = (daedalus_recipe_info){
      .size = sizeof(*info),
      .source = recipe->source,
      .path = recipe->path,
      .generator = recipe->generator,
      .fingerprint = recipe->fingerprint,
      .route = recipe->route,
      .problem = recipe->problem[0] != '\0' ? recipe->problem : NULL,
      .n_records = recipe->n_records,
      .n_skipped = recipe->n_skipped,
  };
  return 0;
}

/** The entry's kernel and class, by its place. */
static void describe_place(const daedalus_ctx *ctx, size_t entry, daedalus_recipe_record *record) {
  const daedalus_kernel_table *table = ctx->table;
  const size_t class_of_all = entry / DAEDALUS_RECIPE_PLACES;
  size_t k = table->n_kernels - 1;
  while (ctx->recipe.first_class[k] > class_of_all) {
    k--;
  }
  record->kernel = table->kernels[k].id;
  record->class_name = table->kernels[k].classes[class_of_all - ctx->recipe.first_class[k]].name;
}

int daedalus_ctx_recipe_record(const daedalus_ctx *ctx, size_t index,
                               daedalus_recipe_record *record) {
  if (ctx == NULL || record == NULL || index >= ctx->recipe.n_records) {
    return -EINVAL;
  }
  const daedalus_recipe *recipe = &ctx->recipe;
  size_t i = 0;
  while (recipe->entries[i].variant == NULL || index-- != 0) {
    i++;
  }
  const daedalus_recipe_entry *entry = &recipe->entries[i];
  *record = (daedalus_recipe_record){
      .variant = entry->variant->name,
      .route = entry->route,
      .reason = entry->reason,
      .substrate = entry->variant->cpu != NULL ? DAEDALUS_SUBSTRATE_CPU : DAEDALUS_SUBSTRATE_QPU,
      .workgroup = entry->workgroup,
      .chosen = entry->chosen,
  };
  describe_place(ctx, i, record);
  return 0;
}
