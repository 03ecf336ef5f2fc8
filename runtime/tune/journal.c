/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE
#include "tune/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "tune/base.h"

void journal_now(char when[WHEN_BYTES]) {
  const time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  strftime(when, WHEN_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

void journal_hash(char id[ID_BYTES], const char *const *parts) {
  uint64_t sum = FNV64_EMPTY;
  for (; *parts != NULL; parts++) {
    sum = fnv64(sum, *parts, strlen(*parts));
  }
  snprintf(id, ID_BYTES, "%016" PRIx64, sum);
}

static bool complain(const char *path, const char *why) {
  fprintf(stderr, "%s: %s: %s\n", program_name, path, why);
  return false;
}

/* ----------------------------------------------------------------------------- reading */

/* The whole file, with a zero behind it; NULL without one, errno and the reason set. */
static char *read_file(const char *path, size_t *size, const char **why) {
  FILE *file = daedalus_rt_open_regular(path, why);
  if (file == NULL) {
    return NULL;
  }
  size_t capacity = 1 << 16;
  char *text = allocate(capacity);
  *size = 0;
  for (size_t n; (n = fread(text + *size, 1, capacity - *size - 1, file)) != 0;) {
    *size += n;
    if (capacity - *size < 2) {
      capacity *= 2;
      text = enlarge(text, capacity);
    }
  }
  text[*size] = '\0';
  const bool failed = ferror(file) != 0;
  fclose(file);
  if (failed) {
    free(text);
    errno = EIO;
    *why = strerror(EIO);
    return NULL;
  }
  return text;
}

static bool known(const char *type) {
  static const char *const types[] = {"fingerprint", "result", "mixed", "run", "check"};
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    if (strcmp(type, types[i]) == 0) {
      return true;
    }
  }
  return false;
}

static bool has(const char *line, size_t size, const char *name, const char *value) {
  char found[NAME_BYTES];
  return json_member(line, size, name, found, sizeof(found)) && strcmp(found, value) == 0;
}

/* A number of a line; 0 where there is none. */
static double number(const char *line, size_t size, const char *name) {
  char text[64];
  return json_member(line, size, name, text, sizeof(text)) ? strtod(text, NULL) : 0;
}

/* Whether a time is as good as this run would have it. */
static bool meets(const journal_terms *terms, const char *line, size_t size) {
  const double median = number(line, size, "median");
  const double below = median - number(line, size, "low");
  const double above = number(line, size, "high") - median;
  return number(line, size, "samples") >= terms->samples &&
         ((below <= terms->precision * median && above <= terms->precision * median) ||
          number(line, size, "seconds") >= terms->seconds);
}

/* Whether a line is one of the fingerprint's results that need no repeating.  What M4 was asked
   stands in its scenario, and so in its key. */
static bool settled(const journal *j, const char *line, size_t size, const char *type) {
  static const char *const again[] = {"timeout", "lost", "throttled", "unavailable"};
  const bool is_result = strcmp(type, "result") == 0;
  if ((!is_result && strcmp(type, "mixed") != 0) ||
      !has(line, size, "fingerprint", j->fingerprint)) {
    return false;
  }
  for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++) {
    if (has(line, size, "verdict", again[i])) {
      return false;
    }
  }
  return !is_result || !has(line, size, "verdict", "ok") || meets(&j->terms, line, size);
}

/* Adds a settled line behind the others. */
static void add(journal *j, const char *line, size_t size, char *own) {
  if ((j->n_done & (j->n_done - 1)) == 0) { /* full where it is a power of two */
    j->done = enlarge(j->done, (j->n_done != 0 ? 2 * j->n_done : 1) * sizeof(*j->done));
  }
  journal_entry *e = &j->done[j->n_done++];
  *e = (journal_entry){.line = line, .size = size, .own = own};
  (void)json_member(line, size, "key", e->key, sizeof(e->key));
}

/* What a line is to a journal that is opened. */
static void take(journal *j, const char *line, size_t size, const char *type) {
  if (strcmp(type, "fingerprint") == 0) {
    j->described = j->described || has(line, size, "id", j->fingerprint);
  } else if (settled(j, line, size, type)) {
    add(j, line, size, NULL);
  }
}

static int by_key(const void *a, const void *b) {
  const journal_entry *x = a, *y = b;
  const int order = strcmp(x->key, y->key);
  return order != 0 ? order : (x->line < y->line) - (x->line > y->line);
}

bool journal_open(journal *j, const char *path, const char *fingerprint,
                  const journal_terms *terms) {
  size_t size = 0, number = 1;
  const char *why;
  *j = (journal){.path = path, .fingerprint = fingerprint, .terms = *terms};
  j->text = read_file(path, &size, &why);
  if (j->text == NULL) {
    return errno == ENOENT || complain(path, why);
  }
  for (const char *line = j->text, *end = line + size; line < end; number++) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    stop = stop != NULL ? stop : end;
    const size_t n = (size_t)(stop - line);
    char type[NAME_BYTES] = "";
    const char *fault = n != 0 ? json_fault(line, n) : NULL;
    if (n != 0 && fault == NULL &&
        (!json_member(line, n, "type", type, sizeof(type)) || !known(type))) {
      fault = "of an unknown type";
    }
    if (fault != NULL) {
      fprintf(stderr, "%s:%zu: %s; the line is skipped\n", path, number, fault);
    } else if (n != 0) {
      take(j, line, n, type);
    }
    line = stop + 1;
  }
  if (j->n_done != 0) {
    qsort(j->done, j->n_done, sizeof(*j->done), by_key);
  }
  return true;
}

/* The first entry that is not below the key. */
static size_t place_of(const journal *j, const char *key) {
  size_t low = 0, high = j->n_done;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(j->done[middle].key, key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const journal_entry *journal_find(const journal *j, const char *key) {
  const size_t place = place_of(j, key);
  return place < j->n_done && strcmp(j->done[place].key, key) == 0 ? &j->done[place] : NULL;
}

/* Puts a line that was appended among the others, where it is to be found. */
static void remember(journal *j, const json_line *line) {
  char type[NAME_BYTES];
  if (!json_member(line->text, line->size, "type", type, sizeof(type)) ||
      !settled(j, line->text, line->size, type)) {
    return;
  }
  char *own = memcpy(allocate(line->size), line->text, line->size);
  add(j, own, line->size, own);
  const journal_entry added = j->done[--j->n_done];
  const size_t place = place_of(j, added.key);
  memmove(&j->done[place + 1], &j->done[place], (j->n_done - place) * sizeof(*j->done));
  j->done[place] = added;
  j->n_done++;
}

void journal_close(journal *j) {
  for (size_t i = 0; i < j->n_done; i++) {
    free(j->done[i].own);
  }
  free(j->text);
  free(j->done);
  *j = (journal){0};
}

/* ----------------------------------------------------------------------------- writing */

/* Makes a new file's name last. */
static void sync_folder(const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  const int n = slash == NULL
                    ? snprintf(folder, sizeof(folder), ".")
                    : snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path);
  if (n < 0 || (size_t)n >= sizeof(folder)) {
    return;
  }
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
}

/* Writes the line at the end, behind a newline of its own where the last line was torn. */
static bool write_line(int fd, const json_line *line) {
  struct stat file;
  char last = '\n';
  if (flock(fd, LOCK_EX) != 0 || fstat(fd, &file) != 0 ||
      (file.st_size != 0 && pread(fd, &last, 1, file.st_size - 1) != 1)) {
    return false;
  }
  char *whole = allocate(line->size + 2);
  size_t n = 0;
  if (last != '\n') {
    whole[n++] = '\n';
  }
  memcpy(whole + n, line->text, line->size);
  n += line->size;
  whole[n++] = '\n';
  const ssize_t written = write(fd, whole, n);
  free(whole);
  if (written >= 0 && (size_t)written != n) {
    errno = ENOSPC;
  }
  return written == (ssize_t)n && fdatasync(fd) == 0;
}

bool journal_append(journal *j, const json_line *line) {
  const bool fresh = access(j->path, F_OK) != 0;
  const int fd = open(j->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    return complain(j->path, strerror(errno));
  }
  const bool done = write_line(fd, line);
  const int error = errno;
  close(fd);
  if (!done) {
    return complain(j->path, strerror(error));
  }
  if (fresh) {
    sync_folder(j->path);
  }
  remember(j, line);
  return true;
}
