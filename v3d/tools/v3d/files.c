/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/replace.h"
#include "v3d.h"

void complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "daedalus-v3d: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
}

const char *shown_name(const char *path) {
  return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

static bool read_stream(FILE *stream, char **bytes, size_t *size) {
  size_t room = 1 << 16;
  *size = 0;
  *bytes = malloc(room);
  while (*bytes != NULL) {
    *size += fread(*bytes + *size, 1, room - *size, stream);
    if (*size < room)
      return ferror(stream) == 0;
    char *grown = room > SIZE_MAX / 2 ? NULL : realloc(*bytes, 2 * room);
    room *= 2;
    if (grown == NULL)
      free(*bytes);
    *bytes = grown;
  }
  errno = ENOMEM;
  return false;
}

/* NULL after a message. */
static FILE *open_input(const char *path) {
  if (strcmp(path, "-") == 0)
    return stdin;
  /* A FIFO that nobody writes to would keep a plain open() for ever. */
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0)
    complain("%s: %s", path, strerror(errno));
  else if (!S_ISREG(status.st_mode))
    complain("%s: no regular file", path);
  else
    return fdopen(fd, "rb");
  if (fd >= 0)
    close(fd);
  return NULL;
}

bool read_file(const char *path, char **bytes, size_t *size) {
  FILE *stream = open_input(path);
  *bytes = NULL;
  if (stream == NULL)
    return false;
  const bool good = read_stream(stream, bytes, size);
  if (!good) {
    complain("%s: %s", shown_name(path), strerror(errno));
    free(*bytes);
    *bytes = NULL;
  }
  if (stream != stdin)
    fclose(stream);
  return good;
}

bool write_file(const char *path, const void *bytes, size_t size) {
  const struct iovec all = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
  const char *wrong = NULL;
  if (strcmp(path, "-") != 0)
    wrong = daedalus_v3d_replace_file(path, &all, 1);
  else if (size != 0 && fwrite(bytes, 1, size, stdout) != size)
    wrong = strerror(errno);
  if (wrong != NULL)
    complain("%s: %s", path, wrong);
  return wrong == NULL;
}

bool begin_text(text_output *text) {
  text->stream = open_memstream(&text->bytes, &text->size);
  if (text->stream == NULL)
    complain("no memory");
  return text->stream != NULL;
}

bool write_text(const char *path, text_output *text) {
  bool good = ferror(text->stream) == 0;
  good = fclose(text->stream) == 0 && good;
  if (!good)
    complain("no memory");
  good = good && write_file(path, text->bytes, text->size);
  free(text->bytes);
  return good;
}

bool read_profile(const char *path, daedalus_v3d_profile *profile) {
  char *text, message[200] = "";
  size_t size;
  if (!read_file(path, &text, &size))
    return false;
  const unsigned line = daedalus_v3d_profile_parse(text, size, profile, message, sizeof message);
  free(text);
  if (line != 0)
    fprintf(stderr, "%s:%u: %s\n", path, line, message);
  return line == 0;
}

int assemble_text(const char *path, const char *text, size_t size, daedalus_v3d_program *program) {
  static daedalus_v3d_diagnostic mistakes[SHOWN_MISTAKES];
  const size_t n = daedalus_v3d_assemble(text, size, program, mistakes, SHOWN_MISTAKES);
  if (n == SIZE_MAX) {
    complain("%s: no memory", shown_name(path));
    return EXIT_BAD_INPUT;
  }
  for (size_t i = 0; i < n && i < SHOWN_MISTAKES; i++)
    fprintf(stderr, "%s:%u:%u: %s\n", shown_name(path), mistakes[i].line, mistakes[i].column,
            mistakes[i].message);
  if (n > SHOWN_MISTAKES)
    fprintf(stderr, "%s: %zu more mistakes\n", shown_name(path), n - SHOWN_MISTAKES);
  return n == 0 ? EXIT_DONE : EXIT_BAD_INPUT;
}

static int assemble_file(const char *path, daedalus_v3d_program *program) {
  char *text;
  size_t size;
  if (!read_file(path, &text, &size))
    return EXIT_BAD_INPUT;
  const int code = assemble_text(path, text, size, program);
  free(text);
  return code;
}

int assemble_files(char **paths, int n, daedalus_v3d_program *programs) {
  int code = EXIT_DONE;
  for (int i = 0; i < n; i++) {
    const int result = assemble_file(paths[i], &programs[i]);
    code = result > code ? result : code;
  }
  if (code != EXIT_DONE)
    for (int i = 0; i < n; i++)
      daedalus_v3d_program_free(&programs[i]);
  return code;
}

char **paths_of(int argc, char **argv, int first, int *n) {
  static char name[] = "-";
  static char *standard_input[] = {name};
  *n = argc > first ? argc - first : 1;
  return argc > first ? argv + first : standard_input;
}

bool parse_number(const char *option, const char *text, unsigned long max, unsigned long *number) {
  char *end;
  errno = 0;
  const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  *number = strtoul(text, &end, hexadecimal ? 16 : 10);
  if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && *number <= max)
    return true;
  complain("%s: `%s` is no number of 0 to %lu", option, text, max);
  return false;
}

bool parse_threads(const char *text, unsigned long *threads) {
  if (!parse_number("--threads", text, 4, threads))
    return false;
  if (*threads == 2 || *threads == 4)
    return true;
  complain("--threads: a QPU runs 2 or 4 threads");
  return false;
}
