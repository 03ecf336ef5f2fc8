/* SPDX-License-Identifier: BSD-2-Clause */
#define _XOPEN_SOURCE 700
#include "support.h"

#include <daedalus.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tune/engine.h"
#include "tune/json.h"

enum { DISTINCT = 50, ROWS = 4, BLOCK = 16 };

/* ---------------------------------------------------------------------------------- files */

static char folder[] = "/tmp/daedalus-tune-XXXXXX";
static pid_t owner;

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk) {
  (void)status;
  (void)type;
  (void)walk;
  return remove(path);
}

static void remove_folder(void) {
  if (getpid() == owner) {
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  }
}

void support_begin(void) {
  owner = getpid();
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
    abort();
  }
  atexit(remove_folder);
  setenv("DAEDALUS_VULKAN_DEVICE", "none", 1);
  support_write_items("items-1", 1);
  support_write_items("items-2", 2);
}

void support_write(const char *path, const char *text) {
  char part[512];
  for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
    snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
    if (part[0] != '\0') {
      (void)mkdir(part, 0700);
    }
  }
  FILE *file = fopen(path, "w");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
    abort();
  }
}

static void put(FILE *file, const void *bytes, size_t n) {
  if (fwrite(bytes, 1, n, file) != n) {
    abort();
  }
}

static void put_numbers(FILE *file, const int64_t *numbers, size_t n) {
  put(file, numbers, n * sizeof(*numbers));
}

static uint32_t next(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

void support_write_items(const char *path, uint64_t seed) {
  static daedalus_fake_add_meta metas[DISTINCT];
  static uint8_t given[DISTINCT][BLOCK], left[DISTINCT][BLOCK];
  static int16_t source[DISTINCT][BLOCK];
  uint32_t state = (uint32_t)seed;
  for (size_t i = 0; i < DISTINCT; i++) {
    metas[i] = (daedalus_fake_add_meta){.count = (uint8_t)(2 + next(&state) % 15),
                                        .gain = (int8_t)(next(&state) % 2 == 0 ? -1 : 2)};
    for (size_t k = 0; k < BLOCK; k++) {
      given[i][k] = (uint8_t)next(&state);
      source[i][k] = (int16_t)(1 + next(&state) % 100);
      const int sum = given[i][k] + (k < metas[i].count ? metas[i].gain * source[i][k] : 0);
      left[i][k] = (uint8_t)(sum & 0xff);
    }
  }
  char name[NAME_BYTES] = "fake_add";
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    abort();
  }
  put(file, "DAEDBEN2", 8);
  put_numbers(file, (int64_t[]){1, (int64_t)seed}, 2);
  put(file, name, sizeof(name));
  put_numbers(file, (int64_t[]){sizeof(metas[0]), DISTINCT, 2}, 3);
  put(file, metas, sizeof(metas));
  put_numbers(file, (int64_t[]){ROWS, BLOCK / ROWS, 0, 0, 1}, 5);
  put(file, given, sizeof(given));
  put(file, left, sizeof(left));
  put_numbers(file, (int64_t[]){1, sizeof(source[0]), 0, 0, 0}, 5);
  put(file, source, sizeof(source));
  if (fclose(file) != 0) {
    abort();
  }
}

/* ------------------------------------------------------------------------------------ runs */

/* Parts the text by blanks behind what every run is given. */
static int arguments_of(char *text, char **argv, size_t most) {
  static char fixed[] =
      "daedalus-tune --data items-1 --data items-2 --journal journal --items 200 --cool-down 0 "
      "--point-seconds 0.02 --timeout 10";
  char *parts[] = {fixed, text};
  size_t n = 0;
  for (size_t p = 0; p < 2; p++) {
    for (char *word = strtok(parts[p], " "); word != NULL; word = strtok(NULL, " ")) {
      if (n + 1 == most) {
        abort();
      }
      argv[n++] = word;
    }
  }
  argv[n] = NULL;
  return (int)n;
}

int support_start(const tune_world *world, const char *arguments, const char *input) {
  fflush(NULL);
  const pid_t pid = fork();
  if (pid != 0) {
    return (int)pid;
  }
  static char text[16384];
  char *argv[256];
  const int out = open("output", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int in = open(input != NULL ? input : "/dev/null", O_RDONLY);
  if (out < 0 || in < 0 || dup2(out, 1) < 0 || dup2(in, 0) < 0 ||
      strlen(arguments) >= sizeof(text)) {
    abort();
  }
  strcpy(text, arguments);
  const int argc = arguments_of(text, argv, 256);
  exit(tune_main(argc, argv, world));
}

/* Adds the journal to the file that DAEDALUS_TEST_JOURNAL names: other tests read what is written
   here. */
static void keep_journal(void) {
  const char *path = getenv("DAEDALUS_TEST_JOURNAL");
  FILE *from = path != NULL ? fopen("journal", "r") : NULL;
  FILE *to = from != NULL ? fopen(path, "a") : NULL;
  char line[LINE_BYTES];
  while (to != NULL && fgets(line, sizeof(line), from) != NULL) {
    fputs(line, to);
  }
  if (from != NULL) {
    fclose(from);
  }
  if (to != NULL && fclose(to) != 0) {
    abort();
  }
}

int support_wait(int process) {
  int status;
  if (waitpid(process, &status, 0) != process) {
    abort();
  }
  keep_journal();
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int support_run(const tune_world *world, const char *arguments) {
  return support_wait(support_start(world, arguments, NULL));
}

/* ------------------------------------------------------------------------------ the journal */

void support_find(const char *path, const char *a, const char *b, char line[LINE_BYTES]) {
  char text[LINE_BYTES];
  FILE *file = fopen(path, "r");
  line[0] = '\0';
  while (file != NULL && fgets(text, sizeof(text), file) != NULL) {
    if (strstr(text, a) != NULL && strstr(text, b) != NULL) {
      text[strcspn(text, "\n")] = '\0';
      strcpy(line, text);
    }
  }
  if (file != NULL) {
    fclose(file);
  }
}

unsigned support_count(const char *path, const char *text) {
  char line[LINE_BYTES];
  unsigned n = 0;
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    n += strstr(line, text) != NULL;
  }
  if (file != NULL) {
    fclose(file);
  }
  return n;
}

const char *support_member(const char *line, const char *name) {
  static char values[8][1024];
  static size_t next_value;
  char *value = values[next_value++ % 8];
  if (!json_member(line, strlen(line), name, value, sizeof(values[0]))) {
    value[0] = '\0';
  }
  return value;
}
