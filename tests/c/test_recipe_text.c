/* SPDX-License-Identifier: BSD-2-Clause */
/* Recipes that are wrong: broken, cut short, garbage, of another library; and want of memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recipe_support.h"

/* ----------------------------------------------------------------------- what is wrong */

static void check_refused(const char *text, size_t size, const char *problem) {
  daedalus_ctx *ctx = open_at(written(text, size));
  char expected[400];
  const daedalus_recipe_info info = info_of(ctx);
  snprintf(expected, sizeof(expected), "%s:%s", written_path(), problem);
  CHECK_STR(info.problem, expected);
  CHECK_INT(info.n_records, 0);
  CHECK_INT(last.n, 1);
  CHECK(last.level == DAEDALUS_LOG_WARNING);
  snprintf(expected, sizeof(expected),
           "recipe %s: without it DAEDALUS_SUBSTRATE_AUTO means the CPU", info.problem);
  CHECK_STR(last.message, expected);
  CHECK_INT(n_infos, 0);
  CHECK_STR(chosen(ctx, VALUE_ONE).variant, "one");
  CHECK_INT(last.n, 1); /* said once */
  daedalus_ctx_destroy(ctx);
}

static void test_broken(void) {
  static const struct {
    const char *text, *problem;
  } cases[] = {
      {"", "1: the text is empty"},
      {"\n", "1: this is no recipe: its first line is not \"daedalus-recipe 1\""},
      {"#daedalus-recipe 1\n", "1: this is no recipe: its first line is not \"daedalus-recipe 1\""},
      {"daedalus-recipe 2\n",
       "1: this recipe is of another version than 1, which this library reads"},
      {"daedalus-recipe 1 1\n",
       "1: this recipe is of another version than 1, which this library reads"},
      {"daedalus-recipe 1\n", "1: there is no line \"generator\""},
      {"daedalus-recipe 1\n\n" ONE, "3: the second line has to be \"generator\" and a hash"},
      {"daedalus-recipe 1\ngenerator \n", "2: the line \"generator\" tells no hash"},
      {"daedalus-recipe 1\ngenerator 0123abce\n" ONE,
       "2: this recipe is old: measured with the code of generator 0123abce, while this library "
       "has that of 0123abcd; run ./daedalus tune, then ./daedalus recipe"},
      {HEAD HEAD,
       "3: a line begins with \"daedalus-recipe\", not with choose, other, fingerprint "
       "or #"},
      {HEAD "generator 0123abcd\n", "3: a second line \"generator\""},
      {HEAD BOARD BOARD, "4: a second line \"fingerprint\""},
      {HEAD ONE ONE, "4: a second record for items of class one of recorder"},
      {HEAD ONE "choose recorder one qpu shader vulkan 0 ; r\n",
       "4: a second record for items of class one of recorder"},
      {HEAD "choose recorder one cpu one - 0 ; r",
       "3: the last line has no end: the text is cut short"},
      {HEAD "choose recorder one cpu one - 0\n",
       "3: there is no reason behind \" ; \" after the workgroup"},
      {HEAD "choose recorder one cpu one - 0 ; \n",
       "3: there is no reason behind \" ; \" after the workgroup"},
      {HEAD "choose recorder one cpu one - 0 0 ; r\n",
       "3: there is no reason behind \" ; \" after the workgroup"},
      {HEAD "choose recorder one cpu one - ; r\n",
       "3: the record ends early: kernel, class, substrate, variant, route, workgroup and a reason "
       "behind ; are needed"},
      {HEAD "choose\n",
       "3: the record ends early: kernel, class, substrate, variant, route, workgroup and a reason "
       "behind ; are needed"},
      {HEAD "choose recorder one auto one - 0 ; r\n",
       "3: the substrate is \"auto\", not cpu or qpu"},
      {HEAD "choose recorder one cpu one - 64 ; r\n",
       "3: a record for the CPU has the route - and the workgroup 0"},
      {HEAD "choose recorder one cpu one drm 0 ; r\n",
       "3: a record for the CPU has the route - and the workgroup 0"},
      {HEAD "choose recorder one qpu shader - 0 ; r\n", "3: the route is \"-\", not vulkan or drm"},
      {HEAD "choose recorder one qpu shader vulkan -1 ; r\n",
       "3: the workgroup is \"-1\", not a number from 0 to 65535"},
      {HEAD "choose recorder one qpu shader vulkan 65536 ; r\n",
       "3: the workgroup is \"65536\", not a number from 0 to 65535"},
      {HEAD "choose recorder one qpu shader vulkan 18446744073709551680 ; r\n",
       "3: the workgroup is \"18446744073709551680\", not a number from 0 to 65535"},
      {HEAD "choose recorder one qpu shader vulkan 6x ; r\n",
       "3: the workgroup is \"6x\", not a number from 0 to 65535"},
      {HEAD "choose recorder one cpu one - 0 ; r\r\n",
       "3: byte 36 is 0x0d, and only ASCII may be outside of comments"},
      {HEAD "choose recorder one cpu one - 0 ; \x1b[2J\n",
       "3: byte 35 is 0x1b, and only ASCII may be outside of comments"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    check_refused(cases[i].text, strlen(cases[i].text), cases[i].problem);
  }
  static const char zero[] = HEAD "cho\0ose\n";
  check_refused(zero, sizeof(zero) - 1,
                "3: byte 4 is 0x00, and only ASCII may be outside of comments");
}

static void test_files_that_are_none(void) {
  static char fifo[] = "/tmp/daedalus-fifo-XXXXXX";
  CHECK(mkdtemp(fifo) != NULL && rmdir(fifo) == 0 && mkfifo(fifo, 0600) == 0);
  const char *const paths[] = {"/nowhere/recipe", ".", fifo};
  for (size_t i = 0; i < 3; i++) {
    daedalus_ctx *ctx = open_at(paths[i]);
    char expected[200];
    snprintf(expected, sizeof(expected), "%s: it cannot be read: %s", paths[i],
             i == 0 ? strerror(ENOENT) : "it is no regular file");
    CHECK_STR(info_of(ctx).problem, expected);
    CHECK_STR(info_of(ctx).path, paths[i]);
    CHECK_INT(last.n, 1);
    daedalus_ctx_destroy(ctx);
  }
  CHECK_INT(remove(fifo), 0);
  /* One line of all that a file may have, and of one byte more. */
  const size_t most = ((size_t)1 << 20) - 1;
  char *text = malloc(most + 1);
  memset(text, 'x', most + 1);
  memcpy(text, HEAD, strlen(HEAD));
  text[most - 1] = '\n';
  daedalus_ctx *ctx = open_at(written(text, most));
  CHECK(strstr(info_of(ctx).problem, ":3: a line begins with \"xxxxxxxxxx") != NULL);
  daedalus_ctx_destroy(ctx);
  ctx = open_at(written(text, most + 1));
  CHECK(strstr(info_of(ctx).problem, ": it is no recipe: more than 1048576 bytes") != NULL);
  CHECK_INT(last.n, 1);
  daedalus_ctx_destroy(ctx);
  free(text);
}

/* Records that cannot hold in this library go, the others stay. */
static void test_skipped(void) {
  static const struct {
    const char *record, *problem;
  } cases[] = {
      {"choose elsewhere full cpu one - 0 ; r\n", "there is no kernel elsewhere"},
      {"choose recorder many cpu one - 0 ; r\n", "recorder has no class many"},
      {"choose recorder full cpu fullest - 0 ; r\n",
       "this library has no variant fullest of recorder: the recipe is of another release; "
       "./daedalus tune and ./daedalus recipe write one for this"},
      {"choose recorder full qpu daedalus_recorder__qpu_full_t4_unifa drm 0 ; r\n", /* older words
                                                                                     */
       "this library has no variant daedalus_recorder__qpu_full_t4_unifa of recorder: the recipe "
       "is of another release; ./daedalus tune and ./daedalus recipe write one for this"},
      {"choose recorder full qpu full vulkan 0 ; r\n", "full runs on the CPU"},
      {"choose recorder full cpu shader - 0 ; r\n", "shader runs on the QPU by the route vulkan"},
      {"choose recorder full qpu shader drm 0 ; r\n", "shader runs on the QPU by the route vulkan"},
      {"choose recorder full qpu machine vulkan 0 ; r\n",
       "machine runs on the QPU by the route drm"},
      {"choose recorder full cpu few - 0 ; r\n",
       "few is for items of class few, which those of class full need not be"},
      {"choose recorder few cpu one - 0 ; r\n",
       "one is for items of class one, which those of class few need not be"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char text[500], expected[500];
    snprintf(text, sizeof(text), "%s%s%s%s", HEAD, cases[i].record, ONE, cases[i].record);
    daedalus_ctx *ctx = open_text(text);
    const daedalus_recipe_info info = info_of(ctx);
    snprintf(expected, sizeof(expected), "%s:3: %s", written_path(), cases[i].problem);
    CHECK_STR(info.problem, expected);
    CHECK_INT(info.n_records, 1);
    CHECK_INT(info.n_skipped, 2);
    CHECK_INT(last.n, 1);
    CHECK(strstr(last.message, "2 of its records are skipped for such reasons, 1 hold") != NULL);
    CHECK_STR(chosen(ctx, VALUE_ONE).variant, "one_worse");
    CHECK_STR(chosen(ctx, VALUE_FULL).variant, "full");
    daedalus_ctx_destroy(ctx);
  }
}

/* ------------------------------------------------------------------------------- hostile */

static const char good[] = HEAD BOARD ONE
    "choose recorder full qpu machine drm 0 ; R 1.2 GREEN, measured: CPU 100 ns, QPU 83 ns\n"
    "other recorder full cpu full - 0 ; slower\n"
    "# the end\n"
    "choose recorder few cpu few - 0 ; R 0.04 RED\n";

/* Reads a copy that ends where the text does, so that a step too far is seen. */
static int read_copy(const daedalus_ctx *ctx, const char *text, size_t size) {
  daedalus_recipe recipe = {.text = malloc(size != 0 ? size : 1), .size = size};
  memcpy(recipe.text, text, size);
  const int error = daedalus_rt_recipe_read(ctx, &recipe, "name");
  CHECK(error == 0 || error == -EINVAL);
  CHECK(error == 0 || strncmp(recipe.problem, "name:", 5) == 0);
  CHECK((recipe.n_skipped != 0 || error != 0) == (recipe.problem[0] != '\0'));
  size_t n = 0;
  for (size_t i = 0; i < recipe.n_entries; i++) {
    const daedalus_recipe_entry *entry = &recipe.entries[i];
    n += entry->variant != NULL;
    if (entry->variant != NULL) {
      CHECK(entry->reason[0] != '\0' && strlen(entry->reason) < size);
      CHECK((entry->route == NULL) == (entry->variant->cpu != NULL));
      CHECK((entry->variant->cpu == NULL) ==
            (i % DAEDALUS_RECIPE_PLACES == DAEDALUS_RECIPE_ON_QPU));
    }
  }
  CHECK_INT(n, recipe.n_records);
  free(recipe.entries);
  free(recipe.first_class);
  free(recipe.text);
  return error;
}

static void test_cut_short(void) {
  daedalus_ctx *ctx = open_at(NULL);
  const size_t head = strlen(HEAD);
  for (size_t size = 0; size < sizeof(good); size++) {
    const bool whole = size >= head && good[size - 1] == '\n';
    CHECK_INT(read_copy(ctx, good, size), whole ? 0 : -EINVAL);
  }
  daedalus_ctx_destroy(ctx);
}

static uint32_t next(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* Bytes changed, left out, doubled; words and lines in each other's place. */
static void test_garbage(void) {
  daedalus_ctx *ctx = open_at(NULL);
  uint32_t state = 1;
  int n_read = 0;
  for (int round = 0; round < 40000; round++) {
    char text[3 * sizeof(good)];
    size_t size = sizeof(good) - 1;
    memcpy(text, good, size);
    for (uint32_t changes = 1 + next(&state) % 4; changes != 0 && size > 64; changes--) {
      const size_t at = next(&state) % size, n = 1 + next(&state) % 16;
      const size_t from = next(&state) % size, end = at + n < size ? at + n : size;
      switch (next(&state) % 5) {
        case 0:
          text[at] = (char)next(&state);
          break;
        case 1: /* by what means something to the reader */
          text[at] = "\n\t ;#-0aq"[next(&state) % 9];
          break;
        case 2:
          memmove(text + at, text + end, size - end);
          size -= end - at;
          break;
        case 3:
          memmove(text + end, text + at, size - at);
          size += end - at;
          break;
        default:
          memmove(text + at, text + from, end - at < size - from ? end - at : size - from);
      }
    }
    n_read += read_copy(ctx, text, size) == 0;
  }
  CHECK(n_read > 1000 && n_read < 39000); /* both happen */
  daedalus_ctx_destroy(ctx);
}

static void test_out_of_memory(void) {
  const char *path = written(good, sizeof(good) - 1);
  long fail_at = 0;
  for (;; fail_at++) {
    counting state = {.fail_at = fail_at};
    const daedalus_allocator allocator = counting_allocator(&state);
    const daedalus_config config = {.size = sizeof(config),
                                    .flags = DAEDALUS_CONFIG_NO_QPU,
                                    .log = log_message,
                                    .log_user = &last,
                                    .recipe = path};
    errno = 0;
    daedalus_ctx *ctx = daedalus_rt_ctx_create(&config, &table, &allocator);
    state.fail_at = -1;
    if (ctx != NULL) {
      CHECK_STR(chosen(ctx, VALUE_ONE).variant, "one_worse");
    } else {
      CHECK_INT(errno, ENOMEM);
    }
    daedalus_ctx_destroy(ctx);
    CHECK_INT(state.n_live, 0);
    if (ctx != NULL) {
      break;
    }
  }
  CHECK_INT(fail_at, 5); /* path, text, two arrays, the context */
}

int main(void) {
  unsetenv("DAEDALUS_RECIPE");
  unsetenv("DAEDALUS_QPU_ROUTE");
  make_table();
  RUN(test_broken);
  RUN(test_files_that_are_none);
  RUN(test_skipped);
  RUN(test_cut_short);
  RUN(test_garbage);
  RUN(test_out_of_memory);
  unlink(written_path());
  return CHECK_RESULT();
}
