/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of the journal while it is written: an object of members that are not nested. */
#ifndef DAEDALUS_TUNE_JSON_H
#define DAEDALUS_TUNE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_line {
  char *text; /* ends with a zero */
  size_t size, capacity;
} json_line;

/* {"v":1,"type":TYPE; to be closed by json_close(). */
json_line json_open(const char *type);
/* Bytes that are no UTF-8 become U+FFFD. */
void json_text(json_line *line, const char *name, const char *value);
void json_count(json_line *line, const char *name, uint64_t value);
/* A finite number, to 6 digits behind the point. */
void json_number(json_line *line, const char *name, double value);
void json_truth(json_line *line, const char *name, bool value);
void json_counts(json_line *line, const char *name, const uint64_t *values, size_t n);
/* Adds the sum, FNV-1a over what stands before it, and the closing brace; no newline. */
void json_close(json_line *line);
void json_free(json_line *line);

/*
 * Reading what was written so: a value of a member, as it stands there (of a text what is between
 * the quotes).
 * @param line  of `size` bytes, without its newline
 * @return false where there is none, or where it does not fit
 */
bool json_member(const char *line, size_t size, const char *name, char *value, size_t value_size);
/* What is wrong with a line, by its ends and its sum; NULL: nothing. */
const char *json_fault(const char *line, size_t size);

#endif
