/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/names.h"

#include <stdio.h>
#include <string.h>

/* Whether `text` stands in a name as a whole word, between its ends or underscores. */
static bool is_word_of(const char *name, const char *text) {
  const size_t n = strlen(text);
  for (const char *at = name; n != 0 && (at = strstr(at, text)) != NULL; at++) {
    if ((at == name || at[-1] == '_') && (at[n] == '\0' || at[n] == '_')) {
      return true;
    }
  }
  return false;
}

/* Name i of all ids, then all aliases; NULL behind them.  @param[out] kernel  that has it */
static const char *name_of(const daedalus_kernel_table *table, size_t i, size_t *kernel) {
  if (i < table->n_kernels) {
    *kernel = i;
    return table->kernels[i].id;
  }
  i -= table->n_kernels;
  if (i >= table->n_aliases) {
    return NULL;
  }
  *kernel = table->aliases[i].kernel;
  return table->aliases[i].alias;
}

/* Whether one name goes on where the other ends: vp9_mc_8h_avg extends vp9_mc_8h. */
static bool extends(const char *name, const char *stem) {
  const size_t n = strlen(stem);
  return strncmp(name, stem, n) == 0 && (name[n] == '\0' || name[n] == '_');
}

const daedalus_kernel_desc *names_kernel(const daedalus_kernel_table *table, const char *text,
                                         char why[WHY_BYTES]) {
  const char *name, *stem = NULL;
  char names[WHY_BYTES / 2] = "";
  size_t kernel, found = 0;
  bool several = false;
  for (size_t i = 0; (name = name_of(table, i, &kernel)) != NULL; i++) {
    if (strcmp(name, text) == 0) {
      return &table->kernels[kernel];
    }
    if (is_word_of(name, text) && (stem == NULL || extends(stem, name))) {
      stem = name;
      found = kernel;
    }
  }
  for (size_t i = 0; (name = name_of(table, i, &kernel)) != NULL; i++) {
    if (is_word_of(name, text)) {
      several = several || !extends(name, stem);
      snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s", name);
    }
  }
  if (stem == NULL) {
    snprintf(why, WHY_BYTES, "%.100s is no kernel, and no word of a kernel's name", text);
  } else if (several) {
    snprintf(why, WHY_BYTES, "%.100s is in the names of several kernels:%s; name one", text, names);
  }
  return stem != NULL && !several ? &table->kernels[found] : NULL;
}
