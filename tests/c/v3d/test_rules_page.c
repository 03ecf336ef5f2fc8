/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * docs/v3d-rules.md has a row for each rule of daedalus/v3d/rules.h, in the same words and order.
 * With the argument --print, prints the rows as they have to be.
 */
#include <stdlib.h>

#include <daedalus/v3d/rules.h>

#include "check.h"

enum { LINE = 512 };

/** Every row of the table of rules, and no other line of the page, begins with a name in capitals.
 */
static bool is_row(const char *line) {
  return strncmp(line, "| `", 3) == 0 && line[3] >= 'A' && line[3] <= 'Z';
}

static void row(daedalus_v3d_rule rule, char *line) {
  snprintf(line, LINE, "| `%s` | %s | %s |\n", daedalus_v3d_rule_name(rule),
           daedalus_v3d_rule_is_strict(rule) ? "strict" : "tolerant", daedalus_v3d_rule_text(rule));
}

static void test_page(void) {
  unsigned rule = 0;
  char line[LINE], expected[LINE];
  FILE *page = fopen(DAEDALUS_V3D_RULES_PAGE, "r");
  CHECK(page != NULL);
  if (page == NULL)
    return;
  while (fgets(line, sizeof line, page) != NULL)
    if (is_row(line)) {
      expected[0] = '\0';
      if (rule < DAEDALUS_V3D_N_RULES)
        row((daedalus_v3d_rule)rule, expected);
      CHECK_STR(line, expected);
      rule++;
    }
  fclose(page);
  CHECK_INT(rule, DAEDALUS_V3D_N_RULES);
}

static void test_names(void) {
  CHECK_STR(daedalus_v3d_rule_name(DAEDALUS_V3D_N_RULES), "UNKNOWN");
  CHECK_STR(daedalus_v3d_rule_text(DAEDALUS_V3D_N_RULES), "no such rule");
  CHECK(!daedalus_v3d_rule_is_strict(DAEDALUS_V3D_N_RULES));
  for (unsigned rule = 0; rule < DAEDALUS_V3D_N_RULES; rule++) {
    const char *text = daedalus_v3d_rule_text((daedalus_v3d_rule)rule);
    CHECK(strlen(text) > 20 && text[strlen(text) - 1] != '.');
  }
}

int main(int argc, char **argv) {
  char line[LINE];
  for (unsigned rule = 0; argc > 1 && strcmp(argv[1], "--print") == 0; rule++) {
    if (rule == DAEDALUS_V3D_N_RULES)
      return 0;
    row((daedalus_v3d_rule)rule, line);
    fputs(line, stdout);
  }
  RUN(test_page);
  RUN(test_names);
  return CHECK_RESULT();
}
