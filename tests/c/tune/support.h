/* SPDX-License-Identifier: BSD-2-Clause */
/* Data files, runs of the tuner and what its journal says, for tests. */
#ifndef DAEDALUS_TESTS_TUNE_SUPPORT_H
#define DAEDALUS_TESTS_TUNE_SUPPORT_H

#include "tune/setup.h"

enum { ITEMS = 200, LINE_BYTES = 4096 };

/* Makes a folder and goes there; it is removed at the end of the program. */
void support_begin(void);

/* Writes items of fake_add, with results that do not come from a variant. */
void support_write_items(const char *path, uint64_t seed);
/* Writes a small text file, making its folders. */
void support_write(const char *path, const char *text);

/*
 * Runs the tuner in a process of its own, on "items-1" and "items-2" and the journal "journal",
 * with ITEMS items, no Vulkan device of the system, and these arguments, parted by blanks.
 * @param input  for its standard input, a file; NULL: none.  Its output goes to "output"
 * @return its process, for support_wait()
 */
int support_start(const tune_world *world, const char *arguments, const char *input);
/* @return its exit status; 128 + signal where it was killed */
int support_wait(int process);
/* Both of these. */
int support_run(const tune_world *world, const char *arguments);

/* The last line of the file that contains both texts, in `line`; an empty one without. */
void support_find(const char *path, const char *a, const char *b, char line[LINE_BYTES]);
/* How many lines of the file contain the text. */
unsigned support_count(const char *path, const char *text);
/* A member of a line, as it stands there; "" without. */
const char *support_member(const char *line, const char *name);

#endif
