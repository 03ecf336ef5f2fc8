/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The journal: JSON lines that are only ever appended, each whole by itself.  See
 * docs/tuning-journal.md for the members of each line.
 */
#ifndef DAEDALUS_TUNE_JOURNAL_H
#define DAEDALUS_TUNE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tune/json.h"

enum { ID_BYTES = 17, WHEN_BYTES = 21 }; /* 16 hex digits; 2026-11-22T12:00:00Z; a zero */

typedef struct journal_entry {
  char key[ID_BYTES];
  const char *line; /* in the text that was read, or in `own` */
  size_t size;
  char *own; /* of a line that was appended since; NULL of the others */
} journal_entry;

/*
 * What a run asks of a time, so that it need not be taken again: so many samples, and an interval
 * within a share of the median, or so many seconds spent on it.  Another run may have asked less.
 */
typedef struct journal_terms {
  unsigned samples;
  double precision, seconds;
} journal_terms;

/* What a journal holds: of one fingerprint the results that need no repeating. */
typedef struct journal {
  const char *path, *fingerprint; /* the caller's */
  journal_terms terms;
  char *text;
  journal_entry *done; /* sorted by key; the last written first */
  size_t n_done;
  bool described; /* the fingerprint's own line is there */
} journal;

/*
 * Reads a journal, if there is one.  Lines that are broken or unknown are reported on standard
 * error with their number, and skipped.
 * @return false, reported, where it cannot be read
 */
bool journal_open(journal *j, const char *path, const char *fingerprint,
                  const journal_terms *terms);
/* The line of the result with that key; NULL: there is none. */
const journal_entry *journal_find(const journal *j, const char *key);
/*
 * Appends a closed line: a single write under a lock, which is on the disk when this returns.
 * @return false, reported, where that failed
 */
bool journal_append(journal *j, const json_line *line);
void journal_close(journal *j);

/* The time as lines tell it, UTC. */
void journal_now(char when[WHEN_BYTES]);
/* 16 hex digits of the sum of what `parts`, NULL-terminated, are one after another. */
void journal_hash(char id[ID_BYTES], const char *const *parts);

#endif
