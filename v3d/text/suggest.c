/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "text/assembler.h"
#include "text/names.h"

enum { LONGEST = 16, FARTHEST = 2 };

/* Letters to insert, drop, replace, or exchange with their neighbour, to get from a to b. */
static size_t distance(daedalus_v3d_token a, const char *b) {
  size_t rows[3][LONGEST + 1] = {{0}};
  const size_t n = strlen(b);
  if (n > LONGEST)
    return LONGEST;
  for (size_t j = 0; j <= n; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= a.length; i++) {
    const size_t *before = rows[(i + 1) % 3], *last = rows[(i - 1) % 3];
    size_t *row = rows[i % 3];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      const bool same = a.start[i - 1] == b[j - 1];
      size_t best = last[j - 1] + !same;
      if (last[j] + 1 < best)
        best = last[j] + 1;
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a.start[i - 1] == b[j - 2] && a.start[i - 2] == b[j - 1] &&
          before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[a.length % 3][n];
}

const char *daedalus_v3d_did_you_mean(daedalus_v3d_token token) {
  const char *found = NULL;
  size_t least = FARTHEST + 1;
  if (token.length < 2 || token.length > LONGEST)
    return NULL;
  for (unsigned i = 0; i < DAEDALUS_V3D_N_OPS + DAEDALUS_V3D_N_SIGNALS; i++) {
    const char *name = i < DAEDALUS_V3D_N_OPS
                           ? daedalus_v3d_operation_of(i)->text
                           : daedalus_v3d_signal_names[i - DAEDALUS_V3D_N_OPS].text;
    const size_t d = distance(token, name);
    /* Half of the letters have to be right. */
    if (d < least && 2 * d <= token.length) {
      least = d;
      found = name;
    }
  }
  return found;
}
