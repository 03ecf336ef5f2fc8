/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/base.h"

enum { SUM_BYTES = 25 }; /* ,"sum":"0123456789abcdef" */

/* ----------------------------------------------------------------------------- writing */

static void add(json_line *line, const char *bytes, size_t n) {
  if (line->capacity - line->size <= n) {
    line->capacity = 2 * (line->size + n) + 256;
    line->text = enlarge(line->text, line->capacity);
  }
  memcpy(line->text + line->size, bytes, n);
  line->size += n;
  line->text[line->size] = '\0';
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
addf(json_line *line, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  add(line, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* Bytes of the UTF-8 sequence at `at`; 0 where it is none. */
static size_t sequence(const unsigned char *at) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const size_t n = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  if (n < 2) {
    return n;
  }
  uint32_t code = at[0] & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((at[i] & 0xc0) != 0x80) {
      return 0;
    }
    code = code << 6 | (at[i] & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return at[0] < 0xf8 && code >= least[n] && code < 0x110000 && !surrogate ? n : 0;
}

static void add_quoted(json_line *line, const char *text) {
  add(line, "\"", 1);
  for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
    const size_t n = sequence(at);
    if (n == 0) {
      add(line, "\\ufffd", 6);
      at++;
    } else if (*at == '"' || *at == '\\') {
      addf(line, "\\%c", *at++);
    } else if (*at < 0x20) {
      addf(line, "\\u%04x", (unsigned)*at++);
    } else {
      add(line, (const char *)at, n);
      at += n;
    }
  }
  add(line, "\"", 1);
}

json_line json_open(const char *type) {
  json_line line = {0};
  addf(&line, "{\"v\":1,\"type\":\"%s\"", type);
  return line;
}

void json_text(json_line *line, const char *name, const char *value) {
  addf(line, ",\"%s\":", name);
  add_quoted(line, value);
}

void json_count(json_line *line, const char *name, uint64_t value) {
  addf(line, ",\"%s\":%" PRIu64, name, value);
}

void json_number(json_line *line, const char *name, double value) {
  if (!isfinite(value)) {
    die("not a finite number", name);
  }
  addf(line, ",\"%s\":%.6f", name, value);
}

void json_truth(json_line *line, const char *name, bool value) {
  addf(line, ",\"%s\":%s", name, value ? "true" : "false");
}

void json_counts(json_line *line, const char *name, const uint64_t *values, size_t n) {
  addf(line, ",\"%s\":[", name);
  for (size_t i = 0; i < n; i++) {
    addf(line, "%s%" PRIu64, i != 0 ? "," : "", values[i]);
  }
  add(line, "]", 1);
}

void json_close(json_line *line) {
  addf(line, ",\"sum\":\"%016" PRIx64 "\"}", fnv64(FNV64_EMPTY, line->text, line->size));
}

void json_free(json_line *line) {
  free(line->text);
  *line = (json_line){0};
}

/* ----------------------------------------------------------------------------- reading */

bool json_member(const char *line, size_t size, const char *name, char *value, size_t value_size) {
  /* Quotes inside of texts have a backslash before them, so a bare quoted name is a member's. */
  char wanted[NAME_BYTES];
  const int n = snprintf(wanted, sizeof(wanted), ",\"%s\":", name);
  if (n < 0 || (size_t)n >= sizeof(wanted)) {
    return false;
  }
  for (size_t at = 0; at + (size_t)n < size; at++) {
    if (memcmp(line + at, wanted, (size_t)n) != 0) {
      continue;
    }
    size_t from = at + (size_t)n, to = from;
    if (line[from] == '"') {
      for (to = ++from; to < size && line[to] != '"'; to++) {
        to += line[to] == '\\';
      }
    } else {
      while (to < size && line[to] != ',' && line[to] != '}') {
        to++;
      }
    }
    if (to >= size || to - from >= value_size) {
      return false;
    }
    memcpy(value, line + from, to - from);
    value[to - from] = '\0';
    return true;
  }
  return false;
}

const char *json_fault(const char *line, size_t size) {
  char sum[SUM_BYTES + 2];
  if (size < SUM_BYTES + 2 || line[0] != '{' || line[size - 1] != '}' ||
      memcmp(line + size - 1 - SUM_BYTES, ",\"sum\":\"", 8) != 0) {
    return "torn, or no journal's: it does not end with its sum";
  }
  const size_t body = size - 1 - SUM_BYTES;
  snprintf(sum, sizeof(sum), ",\"sum\":\"%016" PRIx64 "\"}", fnv64(FNV64_EMPTY, line, body));
  if (memcmp(line + body, sum, SUM_BYTES + 1) != 0) {
    return "changed or torn: its sum is of other bytes";
  }
  return memcmp(line, "{\"v\":1,\"type\":\"", 15) == 0 ? NULL : "of an unknown version";
}
