/* SPDX-License-Identifier: BSD-2-Clause */
#include "tune/group.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The parent's view of a group. */
typedef struct attempt {
  tune_group group; /* first: it is the child's context, too */
  bool recorded[GROUP_MOST];
  bool failed; /* recording did */
  bool (*record)(void *user, const tune_point *point, const tune_outcome *outcome);
  void *user;
} attempt;

/* Records what is done by now. */
static void record_done(void *context) {
  attempt *a = context;
  for (size_t i = 0; i < a->group.n && !a->failed; i++) {
    if (!a->recorded[i] && atomic_load(&a->group.shared->done[i])) {
      const tune_outcome outcome = a->group.shared->outcomes[i];
      a->recorded[i] = true;
      a->failed = !a->record(a->user, a->group.points[i], &outcome);
    }
  }
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void
conclude(attempt *a, size_t i, tune_verdict verdict, const char *format, ...) {
  tune_outcome outcome = {.verdict = verdict};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(outcome.why, sizeof(outcome.why), format, arguments);
  va_end(arguments);
  a->group.shared->outcomes[i] = outcome;
  atomic_store(&a->group.shared->done[i], true);
}

/* Blames the point at hand; where there is none, all that are left. */
static void blame(attempt *a, tune_verdict verdict, const char *why) {
  const int step = atomic_load(&a->group.shared->watch.step);
  for (size_t i = 0; i < a->group.n; i++) {
    if (!atomic_load(&a->group.shared->done[i]) && (step < 0 || (size_t)step == i)) {
      conclude(a, i, verdict, "%s%s", why, step < 0 ? ", while memory and device were set up" : "");
    }
  }
}

static size_t n_left(const attempt *a) {
  size_t n = 0;
  for (size_t i = 0; i < a->group.n; i++) {
    n += !atomic_load(&a->group.shared->done[i]);
  }
  return n;
}

/* What the child's end says of the points that are not done. */
static void judge(attempt *a, const child_end *end, bool device_was_there) {
  char why[WHY_BYTES];
  const char *setting_up = a->group.shared->setting_up;
  if (end->kind == CHILD_TIMEOUT) {
    snprintf(why, sizeof(why), "it was not done in %g s", a->group.setup->timeout);
    blame(a, TUNE_TIMEOUT, why);
  } else if (child_lacked_memory(end, why, sizeof(why))) {
    blame(a, TUNE_UNAVAILABLE, why);
  } else if (end->kind == CHILD_STUCK) {
    snprintf(why, sizeof(why), "its process had closed all, and did not end in %d s", CHILD_ENDING);
    blame(a, TUNE_FAILED, why);
  } else if (end->kind == CHILD_KILLED) {
    snprintf(why, sizeof(why), "it was killed by %s", child_signal_name(end->status));
    blame(a, TUNE_FAILED, why);
  } else if (end->status == MEASURE_NO_DEVICE || end->status == MEASURE_NO_PLACE) {
    const bool gone = end->status == MEASURE_NO_DEVICE && device_was_there;
    for (size_t i = 0; i < a->group.n; i++) {
      if (!atomic_load(&a->group.shared->done[i])) {
        conclude(a, i, gone ? TUNE_LOST : TUNE_UNAVAILABLE, "%s", setting_up);
      }
    }
  } else if (end->status != MEASURE_LOST) {
    snprintf(why, sizeof(why), "it ended the process with status %d", end->status);
    blame(a, TUNE_FAILED, why);
  }
}

bool group_run(const tune_setup *setup, const tune_point *const *points,
               const char (*keys)[ID_BYTES], size_t n, bool device_was_there,
               bool (*record)(void *user, const tune_point *point, const tune_outcome *outcome),
               void *user) {
  attempt a = {.group = {.setup = setup, .n = n}, .record = record, .user = user};
  memcpy(a.group.points, points, n * sizeof(*points));
  memcpy(a.group.keys, keys, n * sizeof(*keys));
  a.group.shared = child_memory(sizeof(*a.group.shared));
  bool stopped = false;
  while (!stopped && !a.failed && n_left(&a) != 0) {
    const size_t before = n_left(&a);
    /* A pause for the machine to cool down is a step, too. */
    const child_end end = child_run(measure, &a, &a.group.shared->watch,
                                    setup->timeout + setup->cool_down, record_done);
    stopped = end.kind == CHILD_INTERRUPT;
    if (!stopped && n_left(&a) != 0) {
      judge(&a, &end, device_was_there);
      if (n_left(&a) == before) { /* nobody to blame: not to be tried for ever */
        atomic_store(&a.group.shared->watch.step, -1);
        blame(&a, TUNE_FAILED, "the process ended without a result");
      }
      record_done(&a);
    }
  }
  child_memory_free(a.group.shared, sizeof(*a.group.shared));
  return !stopped && !a.failed;
}
