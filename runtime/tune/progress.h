/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of points that have no result yet, in a file beside the journal: what a group of points
 * has been through when it is ended from outside.  Who measures writes them as they come, a round
 * in one write; who measures the same points next takes them up.  Lines:
 *   {"v":1,"type":"sample","key":KEY,"seconds":S,"wall":NS,"cpu":NS,"empty":NS[,"gpu":NS],"sum":..}
 * KEY is that of the result to come, so what was measured of other code or other items is none.
 */
#ifndef DAEDALUS_TUNE_PROGRESS_H
#define DAEDALUS_TUNE_PROGRESS_H

#include <stdbool.h>

#include "tune/journal.h"

typedef struct progress_sample {
  char key[ID_BYTES];
  double seconds;          /* that it took */
  double wall, cpu, empty; /* ns, of all items */
  double gpu;              /* negative: the device has no clock */
} progress_sample;

/* Tells every whole sample of the file, in its order; nothing of a file that is not there. */
void progress_read(const char *path, void (*tell)(void *user, const progress_sample *sample),
                   void *user);
/* Adds a sample's line to a text of several. */
void progress_add(json_line *text, const progress_sample *sample);
/*
 * Appends the text, in one write, and empties it; puts what there is on the disk once a second.
 * Where that cannot be nothing is said: no result is lost, only time if this is ended.
 */
void progress_write(const char *path, json_line *text);
/*
 * After a group of points, whose results have these keys: leaves in the file what it has of other
 * points that the journal has no result of, and removes it where that is nothing, or cannot be.
 */
void progress_forget(const char *path, const journal *j, const char (*keys)[ID_BYTES], size_t n);

#endif
