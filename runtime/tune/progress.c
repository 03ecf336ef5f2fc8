/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "tune/progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tune/base.h"
#include "tune/samples.h"

static const double SYNC_NS = 1e9;

/* A number of a line; `missing` where there is none. */
static double number(const char *line, size_t size, const char *name, double missing) {
  char text[64];
  return json_member(line, size, name, text, sizeof(text)) ? strtod(text, NULL) : missing;
}

static bool parse(const char *line, size_t size, progress_sample *sample) {
  char type[NAME_BYTES];
  if (json_fault(line, size) != NULL || !json_member(line, size, "type", type, sizeof(type)) ||
      strcmp(type, "sample") != 0 ||
      !json_member(line, size, "key", sample->key, sizeof(sample->key))) {
    return false;
  }
  sample->seconds = number(line, size, "seconds", 0);
  sample->wall = number(line, size, "wall", -1);
  sample->cpu = number(line, size, "cpu", 0);
  sample->empty = number(line, size, "empty", 0);
  sample->gpu = number(line, size, "gpu", -1);
  return sample->wall >= 0;
}

void progress_read(const char *path, void (*tell)(void *user, const progress_sample *sample),
                   void *user) {
  const char *why;
  FILE *file = daedalus_rt_open_regular(path, &why);
  char *line = NULL;
  size_t capacity = 0;
  ssize_t n;
  while (file != NULL && (n = getline(&line, &capacity, file)) > 0) {
    progress_sample sample;
    if (line[n - 1] == '\n' && parse(line, (size_t)n - 1, &sample)) {
      tell(user, &sample);
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  free(line);
}

void progress_add(json_line *text, const progress_sample *sample) {
  json_line line = json_open("sample");
  json_text(&line, "key", sample->key);
  json_number(&line, "seconds", sample->seconds);
  json_number(&line, "wall", sample->wall);
  json_number(&line, "cpu", sample->cpu);
  json_number(&line, "empty", sample->empty);
  if (sample->gpu >= 0) {
    json_number(&line, "gpu", sample->gpu);
  }
  json_close(&line);
  /* The newline before it ends a line that was torn. */
  text->text = enlarge(text->text, text->size + line.size + 3);
  text->size +=
      (size_t)sprintf(text->text + text->size, "%s%s\n", text->size == 0 ? "\n" : "", line.text);
  json_free(&line);
}

void progress_write(const char *path, json_line *text) {
  static double synced;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd >= 0) {
    (void)!write(fd, text->text, text->size);
    if (now_ns() - synced > SYNC_NS) {
      (void)fdatasync(fd);
      synced = now_ns();
    }
    close(fd);
  }
  json_free(text);
}

/* What the file is looked through for. */
typedef struct leftovers {
  const journal *j;
  const char (*keys)[ID_BYTES];
  size_t n;
  json_line text; /* of the samples that stay */
} leftovers;

static void look(void *user, const progress_sample *sample) {
  leftovers *l = user;
  bool known = journal_find(l->j, sample->key) != NULL;
  for (size_t i = 0; i < l->n && !known; i++) {
    known = strcmp(l->keys[i], sample->key) == 0;
  }
  if (!known) {
    progress_add(&l->text, sample);
  }
}

/* Puts a text in the place of the file, whole or not at all.  @return whether it did */
static bool replace(const char *path, const json_line *text) {
  const size_t size = strlen(path) + sizeof(".new");
  char *fresh = allocate(size);
  snprintf(fresh, size, "%s.new", path);
  const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool done = fd >= 0 && write(fd, text->text, text->size) == (ssize_t)text->size;
  done = fd >= 0 && fdatasync(fd) == 0 && done;
  done = (fd < 0 || close(fd) == 0) && done;
  done = done && rename(fresh, path) == 0;
  if (!done) {
    (void)unlink(fresh);
  }
  free(fresh);
  return done;
}

void progress_forget(const char *path, const journal *j, const char (*keys)[ID_BYTES], size_t n) {
  leftovers l = {.j = j, .keys = keys, .n = n};
  progress_read(path, look, &l);
  if (l.text.size == 0 || !replace(path, &l.text)) {
    (void)unlink(path);
  }
  json_free(&l.text);
}
