/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the text of a recipe.  What is wrong with its form makes it broken: all of it is refused,
 * as nobody can tell what else was meant.  A record that is well formed and cannot hold here, as
 * this library has no such variant, is skipped.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"

enum { WORKGROUP_MOST = 65535 };

typedef struct reader {
  const daedalus_ctx *ctx;
  daedalus_recipe *recipe;
  const char *name;
  size_t line; /* from 1 */
  char *at;    /* what is left of the line; it ends in '\0' */
} reader;

/* --------------------------------------------------------------- problems */

static void state_problem(const reader *r, const char *format, va_list arguments) {
  char *problem = r->recipe->problem;
  const size_t size = sizeof(r->recipe->problem);
  const int n = snprintf(problem, size, "%.120s:%zu: ", r->name, r->line);
  if (n > 0 && (size_t)n < size) {
    vsnprintf(problem + n, size - (size_t)n, format, arguments);
  }
}

/** @return -EINVAL */
static int broken(const reader *r, const char *format, ...) DAEDALUS_PRINTF(2, 3);
static int broken(const reader *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  state_problem(r, format, arguments);
  va_end(arguments);
  return -EINVAL;
}

/** The first one is told, the others are counted.  @return 0 */
static int skipped(const reader *r, const char *format, ...) DAEDALUS_PRINTF(2, 3);
static int skipped(const reader *r, const char *format, ...) {
  if (r->recipe->n_skipped++ == 0) {
    va_list arguments;
    va_start(arguments, format);
    state_problem(r, format, arguments);
    va_end(arguments);
  }
  return 0;
}

/* ----------------------------------------------------------------- fields */

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/** The next word of the line, or NULL at its end. */
static char *next_word(reader *r) {
  while (is_blank(*r->at)) {
    r->at++;
  }
  if (*r->at == '\0') {
    return NULL;
  }
  char *word = r->at;
  while (*r->at != '\0' && !is_blank(*r->at)) {
    r->at++;
  }
  if (*r->at != '\0') {
    *r->at++ = '\0';
  }
  return word;
}

/** What is left of the line, without blanks around it. */
static char *rest_of_line(reader *r) {
  while (is_blank(*r->at)) {
    r->at++;
  }
  size_t n = strlen(r->at);
  while (n != 0 && is_blank(r->at[n - 1])) {
    n--;
  }
  r->at[n] = '\0';
  return r->at;
}

/** @return 0, or -1 where the word is no decimal number up to `most` */
static int read_number(const char *word, uint32_t most, uint32_t *number) {
  uint32_t value = 0;
  size_t i = 0;
  for (; word[i] >= '0' && word[i] <= '9' && value <= most; i++) {
    value = value * 10 + (uint32_t)(word[i] - '0');
  }
  *number = value;
  return i != 0 && word[i] == '\0' && value <= most ? 0 : -1;
}

/* ---------------------------------------------------------------- records */

typedef struct record {
  const char *kernel, *class_name, *substrate, *variant, *route, *workgroup, *reason;
  bool chosen;
} record;

/** What can be said of a record without the table. */
static int split_record(reader *r, record *record) {
  const char **const fields[] = {&record->kernel,  &record->class_name, &record->substrate,
                                 &record->variant, &record->route,      &record->workgroup};
  for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    *fields[i] = next_word(r);
    if (*fields[i] == NULL || strcmp(*fields[i], ";") == 0) {
      return broken(r,
                    "the record ends early: kernel, class, substrate, variant, route, workgroup "
                    "and a reason behind ; are needed");
    }
  }
  const char *mark = next_word(r);
  record->reason = rest_of_line(r);
  if (mark == NULL || strcmp(mark, ";") != 0 || record->reason[0] == '\0') {
    return broken(r, "there is no reason behind \" ; \" after the workgroup");
  }
  return 0;
}

static const daedalus_variant *variant_of(const daedalus_kernel_desc *kernel, const char *name) {
  for (size_t i = 0; i < kernel->n_variants; i++) {
    if (strcmp(kernel->variants[i].name, name) == 0) {
      return &kernel->variants[i];
    }
  }
  return NULL;
}

/** Whether items of class `a` meet the precondition of class `b`. */
static bool implies(const daedalus_kernel_desc *kernel, uint16_t a, uint16_t b) {
  const daedalus_class_desc *given = &kernel->classes[a], *wanted = &kernel->classes[b];
  for (size_t i = 0; i < wanted->n_conditions; i++) {
    const daedalus_condition *condition = &wanted->conditions[i];
    int64_t lo = kernel->params[condition->param].lo, hi = kernel->params[condition->param].hi;
    for (size_t k = 0; k < given->n_conditions; k++) {
      if (given->conditions[k].param == condition->param) {
        lo = given->conditions[k].lo > lo ? given->conditions[k].lo : lo;
        hi = given->conditions[k].hi < hi ? given->conditions[k].hi : hi;
      }
    }
    if (lo < condition->lo || hi > condition->hi) {
      return false;
    }
  }
  return true;
}

/** Puts a well-formed record into its place. */
static int place_record(const reader *r, const record *record, bool on_qpu, uint32_t workgroup) {
  const daedalus_kernel_table *table = r->ctx->table;
  const daedalus_kernel_desc *kernel = daedalus_rt_find_kernel(table, record->kernel);
  if (kernel == NULL) {
    return skipped(r, "there is no kernel %.60s", record->kernel);
  }
  uint16_t c = 0;
  while (c < kernel->n_classes && strcmp(kernel->classes[c].name, record->class_name) != 0) {
    c++;
  }
  if (c == kernel->n_classes) {
    return skipped(r, "%s has no class %.60s", kernel->id, record->class_name);
  }
  const daedalus_variant *variant = variant_of(kernel, record->variant);
  if (variant == NULL) {
    return skipped(r,
                   "this library has no variant %.100s of %s: the recipe is of another release; "
                   "./daedalus tune and ./daedalus recipe write one for this",
                   record->variant, kernel->id);
  }
  const char *where = variant->cpu != NULL ? "-" : variant->gpu != NULL ? "vulkan" : "drm";
  if (strcmp(record->route, where) != 0) {
    return skipped(r, "%s runs on the %s%s%s", variant->name, variant->cpu != NULL ? "CPU" : "QPU",
                   variant->cpu != NULL ? "" : " by the route ", variant->cpu != NULL ? "" : where);
  }
  if (!implies(kernel, c, variant->class_index)) {
    return skipped(r, "%s is for items of class %s, which those of class %s need not be",
                   variant->name, kernel->classes[variant->class_index].name,
                   kernel->classes[c].name);
  }
  daedalus_recipe *recipe = r->recipe;
  daedalus_recipe_entry *entries =
      recipe->entries +
      DAEDALUS_RECIPE_PLACES * (size_t)(recipe->first_class[kernel - table->kernels] + c);
  daedalus_recipe_entry *own = entries + on_qpu, *other = entries + !on_qpu;
  if (own->variant != NULL || (record->chosen && other->chosen)) {
    return broken(r, "a second record for items of class %s of %s", kernel->classes[c].name,
                  kernel->id);
  }
  *own = (daedalus_recipe_entry){.variant = variant,
                                 .reason = record->reason,
                                 .route = on_qpu ? record->route : NULL,
                                 .workgroup = (uint16_t)workgroup,
                                 .chosen = record->chosen};
  recipe->n_records++;
  return 0;
}

static int read_record(reader *r, bool chosen) {
  record record = {.chosen = chosen};
  int error = split_record(r, &record);
  if (error != 0) {
    return error;
  }
  const bool on_qpu = strcmp(record.substrate, "qpu") == 0;
  if (!on_qpu && strcmp(record.substrate, "cpu") != 0) {
    return broken(r, "the substrate is \"%.40s\", not cpu or qpu", record.substrate);
  }
  uint32_t workgroup;
  if (read_number(record.workgroup, WORKGROUP_MOST, &workgroup) != 0) {
    return broken(r, "the workgroup is \"%.40s\", not a number from 0 to %d", record.workgroup,
                  WORKGROUP_MOST);
  }
  if (!on_qpu && (strcmp(record.route, "-") != 0 || workgroup != 0)) {
    return broken(r, "a record for the CPU has the route - and the workgroup 0");
  }
  if (on_qpu && strcmp(record.route, "vulkan") != 0 && strcmp(record.route, "drm") != 0) {
    return broken(r, "the route is \"%.40s\", not vulkan or drm", record.route);
  }
  return place_record(r, &record, on_qpu, workgroup);
}

/* ------------------------------------------------------------------ lines */

static int read_version(reader *r) {
  const char *word = next_word(r), *version = next_word(r);
  if (word == NULL || strcmp(word, "daedalus-recipe") != 0) {
    return broken(r, "this is no recipe: its first line is not \"daedalus-recipe 1\"");
  }
  if (version == NULL || strcmp(version, "1") != 0 || next_word(r) != NULL) {
    return broken(r, "this recipe is of another version than 1, which this library reads");
  }
  return 0;
}

static int read_generator(reader *r) {
  const char *hash = rest_of_line(r), *own = r->ctx->table->generator;
  if (r->recipe->generator != NULL) {
    return broken(r, "a second line \"generator\"");
  }
  if (hash[0] == '\0') {
    return broken(r, "the line \"generator\" tells no hash");
  }
  r->recipe->generator = hash;
  if (strcmp(hash, own) != 0) {
    return broken(r,
                  "this recipe is old: measured with the code of generator %.40s, while this "
                  "library has that of %.40s; run ./daedalus tune, then ./daedalus recipe",
                  hash, own);
  }
  return 0;
}

static int read_line(reader *r) {
  if (r->line == 1) {
    return read_version(r);
  }
  const char *keyword = next_word(r);
  if (keyword == NULL) {
    return 0;
  }
  if (strcmp(keyword, "generator") == 0) {
    return read_generator(r);
  }
  if (r->recipe->generator == NULL) {
    return broken(r, "the second line has to be \"generator\" and a hash");
  }
  if (strcmp(keyword, "fingerprint") == 0) {
    if (r->recipe->fingerprint != NULL) {
      return broken(r, "a second line \"fingerprint\"");
    }
    r->recipe->fingerprint = rest_of_line(r);
    return 0;
  }
  const bool chosen = strcmp(keyword, "choose") == 0;
  if (chosen || strcmp(keyword, "other") == 0) {
    return read_record(r, chosen);
  }
  return broken(r, "a line begins with \"%.40s\", not with choose, other, fingerprint or #",
                keyword);
}

/** Of one line's bytes, which '\0' follows.  @return -EINVAL for what no line may hold */
static int check_bytes(const reader *r, const char *line, size_t size) {
  for (size_t i = 0; i < size; i++) {
    const unsigned char byte = (unsigned char)line[i];
    if ((byte < 0x20 && byte != '\t') || byte > 0x7e) {
      return broken(r, "byte %zu is 0x%02x, and only ASCII may be outside of comments", i + 1,
                    byte);
    }
  }
  return 0;
}

static int read_lines(reader *r) {
  char *line = r->recipe->text, *const end = line + r->recipe->size;
  int error = 0;
  while (error == 0 && line != end) {
    r->line++;
    char *stop = memchr(line, '\n', (size_t)(end - line));
    if (stop == NULL) {
      return broken(r, "the last line has no end: the text is cut short");
    }
    *stop = '\0';
    r->at = line;
    if (line[0] != '#' || r->line == 1) {
      error = check_bytes(r, line, (size_t)(stop - line));
      error = error == 0 ? read_line(r) : error;
    }
    line = stop + 1;
  }
  if (error == 0 && r->recipe->generator == NULL) {
    r->line += r->line == 0;
    error =
        broken(r, r->recipe->size == 0 ? "the text is empty" : "there is no line \"generator\"");
  }
  return error;
}

/** Room for the records of every class, all empty.  @return 0 or -ENOMEM */
static int make_room(const daedalus_ctx *ctx, daedalus_recipe *recipe) {
  const daedalus_kernel_table *table = ctx->table;
  const daedalus_allocator *allocator = &ctx->allocator;
  size_t n_classes = 0;
  recipe->first_class = allocator->resize(allocator->user, NULL,
                                          (table->n_kernels + 1) * sizeof(*recipe->first_class));
  if (recipe->first_class == NULL) {
    return -ENOMEM;
  }
  for (size_t k = 0; k < table->n_kernels; k++) {
    recipe->first_class[k] = (uint32_t)n_classes;
    n_classes += table->kernels[k].n_classes;
  }
  recipe->n_entries = DAEDALUS_RECIPE_PLACES * n_classes;
  recipe->entries =
      allocator->resize(allocator->user, NULL, (recipe->n_entries + 1) * sizeof(*recipe->entries));
  if (recipe->entries == NULL) {
    return -ENOMEM;
  }
  for (size_t i = 0; i < recipe->n_entries; i++) {
    recipe->entries[i] = (daedalus_recipe_entry){0};
  }
  return 0;
}

int daedalus_rt_recipe_read(const daedalus_ctx *ctx, daedalus_recipe *recipe, const char *name) {
  reader r = {.ctx = ctx, .recipe = recipe, .name = name};
  const int error = make_room(ctx, recipe);
  return error == 0 ? read_lines(&r) : error;
}
