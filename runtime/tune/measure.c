/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L
#include "tune/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tune/execute.h"
#include "tune/guard.h"
#include "tune/progress.h"
#include "tune/samples.h"

/* A throttled machine is given up on when so many times the samples wanted were taken. */
enum { MOST_TRIES = 3 };

typedef struct candidate {
  size_t number; /* in the group */
  const tune_point *point;
  bool live;
  samples wall, cpu, gpu, empty; /* ns of all items */
  tune_times last;
  double last_empty, last_spent;
  double spent;     /* ns */
  size_t next_look; /* samples at which the interval is looked at */
  unsigned discarded;
} candidate;

typedef struct session {
  tune_group *group;
  const tune_setup *setup;
  tune_runner runner;
  workload *works; /* a file each; the first is timed */
  workload one;    /* of one item, for GPU variants */
  candidate candidates[GROUP_MOST];
  size_t n;
  tune_guard guard;
  bool lost;
} session;

/* ------------------------------------------------------------------------------- verdicts */

static void conclude(session *s, candidate *c, tune_outcome outcome) {
  outcome.discarded = c->discarded;
  s->group->shared->outcomes[c->number] = outcome;
  atomic_store(&s->group->shared->done[c->number], true);
  c->live = false;
  s->lost = s->lost || outcome.verdict == TUNE_LOST;
  samples_free(&c->wall);
  samples_free(&c->cpu);
  samples_free(&c->gpu);
  samples_free(&c->empty);
  child_notify();
}

/* Ends a point that went wrong; `when` it did, in words. */
static void reject(session *s, candidate *c, tune_verdict verdict, const char *when,
                   const char *why, bool verified) {
  tune_outcome outcome = {.verdict = verdict, .verified_before = verified};
  snprintf(outcome.why, sizeof(outcome.why), "%.100s%.400s", when, why);
  conclude(s, c, outcome);
}

/* Whether items of the class meet what the variant's class asks for. */
static bool fits(const workload *work, const daedalus_variant *variant) {
  for (size_t i = 0; i < work->n_items; i++) {
    if (!item_of_class(work->kernel, variant->class_index,
                       work->meta + i * work->kernel->meta_size)) {
      return false;
    }
  }
  return true;
}

/* Runs it once on the items of every file.  @return whether all was right */
static bool verify(session *s, candidate *c, const char *when, bool verified) {
  char why[WHY_BYTES], where[100];
  tune_times times;
  for (size_t f = 0; f < s->setup->n_files && c->live; f++) {
    child_step(&s->group->shared->watch, (int)c->number);
    if (!fits(&s->works[f], c->point->variant)) {
      reject(s, c, TUNE_REFUSED, "", "items of that class are not what the variant is for", false);
      break;
    }
    const tune_verdict verdict = runner_execute(&s->runner, &s->works[f], c->point->variant,
                                                c->point->workgroup, &times, why);
    if (verdict != TUNE_OK) {
      snprintf(where, sizeof(where), "%s, seed %llu: ", when,
               (unsigned long long)s->setup->seeds[f]);
      reject(s, c, verdict, where, why, verified);
    }
  }
  return c->live;
}

/* --------------------------------------------------------------------------------- times */

/* One run and one empty one; their times are the candidate's last. */
static void sample(session *s, candidate *c) {
  char why[WHY_BYTES];
  tune_times empty;
  child_step(&s->group->shared->watch, (int)c->number);
  const double begin = now_ns();
  tune_verdict verdict = runner_execute(&s->runner, &s->works[0], c->point->variant,
                                        c->point->workgroup, &c->last, why);
  if (verdict != TUNE_OK) {
    reject(s, c, verdict, "in the run that was timed: ", why, true);
    return;
  }
  if (s->runner.ctx == NULL) {
    c->last_empty = runner_empty_call(&s->works[0], c->point->variant);
  } else {
    verdict =
        runner_execute(&s->runner, &s->one, c->point->variant, c->point->workgroup, &empty, why);
    if (verdict != TUNE_OK) {
      reject(s, c, verdict, "in a dispatch of one item: ", why, true);
      return;
    }
    c->last_empty = empty.wall;
  }
  c->last_spent = now_ns() - begin;
  c->spent += c->last_spent;
}

static void keep(candidate *c, const progress_sample *sample) {
  samples_add(&c->wall, sample->wall);
  samples_add(&c->cpu, sample->cpu);
  samples_add(&c->empty, sample->empty);
  if (sample->gpu >= 0) {
    samples_add(&c->gpu, sample->gpu);
  }
}

/* Keeps the round's samples, also for who may come after this, or counts them as discarded: that
   the machine is throttled now says nothing of then. */
static void keep_round(session *s, bool discard) {
  json_line text = {0};
  for (size_t i = 0; i < s->n; i++) {
    candidate *c = &s->candidates[i];
    if (!c->live) {
      continue;
    }
    if (discard) {
      c->discarded++;
      continue;
    }
    progress_sample sample = {.seconds = c->last_spent / 1e9,
                              .wall = c->last.wall,
                              .cpu = c->last.cpu,
                              .empty = c->last_empty,
                              .gpu = c->last.gpu};
    memcpy(sample.key, s->group->keys[c->number], sizeof(sample.key));
    keep(c, &sample);
    progress_add(&text, &sample);
  }
  if (s->setup->progress != NULL && text.size != 0) {
    progress_write(s->setup->progress, &text);
  }
  json_free(&text);
}

/* A sample of an earlier process. */
static void take_up(void *user, const progress_sample *sample) {
  session *s = user;
  for (size_t i = 0; i < s->n; i++) {
    candidate *c = &s->candidates[i];
    if (strcmp(s->group->keys[c->number], sample->key) == 0) {
      keep(c, sample);
      c->spent += 1e9 * sample->seconds;
    }
  }
}

/* Whether the interval is narrow enough; looked at ever more rarely. */
static bool precise(session *s, candidate *c) {
  if (c->wall.n < c->next_look) {
    return false;
  }
  c->next_look = c->wall.n + c->wall.n / 4 + 1;
  const double median = samples_quantile(&c->wall, 0.5);
  const interval i = samples_median_interval(&c->wall);
  return fmax(median - i.low, i.high - median) <= s->setup->precision * median;
}

static void accept(session *s, candidate *c) {
  const double items = (double)s->setup->items;
  const interval i = samples_median_interval(&c->wall);
  tune_outcome outcome = {.verdict = TUNE_OK,
                          .median = samples_quantile(&c->wall, 0.5) / items,
                          .mad = samples_mad(&c->wall) / items,
                          .low = i.low / items,
                          .high = i.high / items,
                          .cpu = samples_quantile(&c->cpu, 0.5) / items,
                          .gpu = -1,
                          .empty = samples_quantile(&c->empty, 0.5),
                          .seconds = c->spent / 1e9,
                          .samples = (unsigned)c->wall.n,
                          .verified_before = true,
                          .verified_after = true};
  if (c->gpu.n == c->wall.n) {
    outcome.gpu = samples_quantile(&c->gpu, 0.5) / items;
  }
  if (verify(s, c, "after it was timed", true)) {
    conclude(s, c, outcome);
  }
}

/* Ends the point if there is nothing more to be had from it. */
static void decide(session *s, candidate *c, const char *throttled) {
  const bool enough = c->wall.n >= s->setup->samples;
  if (enough && c->discarded <= c->wall.n &&
      (c->spent >= 1e9 * s->setup->point_seconds || precise(s, c))) {
    accept(s, c);
  } else if (c->discarded > c->wall.n &&
             c->wall.n + c->discarded >= (size_t)MOST_TRIES * s->setup->samples) {
    char why[WHY_BYTES];
    snprintf(why, sizeof(why), "%u of %zu samples were taken while the machine was throttled: %s",
             c->discarded, c->wall.n + c->discarded, throttled);
    reject(s, c, TUNE_THROTTLED, "", why, true);
  }
}

/* Every live candidate once; the first round only warms up. */
static bool turn(session *s, bool warming) {
  char throttled[GUARD_WHY] = "";
  bool any = false;
  for (size_t i = 0; i < s->n && !s->lost; i++) {
    if (s->candidates[i].live) {
      sample(s, &s->candidates[i]);
      any = true;
    }
  }
  const bool discard = guard_look(&s->guard, throttled);
  if (!warming && !s->lost) {
    keep_round(s, discard);
  }
  for (size_t i = 0; i < s->n && !warming && !s->lost; i++) {
    if (s->candidates[i].live) {
      decide(s, &s->candidates[i], throttled);
    }
  }
  if (discard && s->setup->cool_down > 0) {
    child_step(&s->group->shared->watch, -1);
    const struct timespec pause = {
        .tv_sec = (time_t)s->setup->cool_down,
        .tv_nsec = (long)(1e9 * (s->setup->cool_down - floor(s->setup->cool_down)))};
    nanosleep(&pause, NULL);
  }
  return any;
}

/* ---------------------------------------------------------------------------- the session */

static bool place_all(session *s, char why[WHY_BYTES]) {
  const tune_point *first = s->group->points[0];
  s->works = allocate_zeroed(s->setup->n_files * sizeof(*s->works));
  for (size_t f = 0; f < s->setup->n_files; f++) {
    const sample_items *items = samples_of(&s->setup->files[f], first->kernel);
    if (items == NULL) {
      snprintf(why, WHY_BYTES, "a data file has no items of %s", first->kernel->id);
      return false;
    }
    if (!runner_place(&s->runner, &s->works[f], items, first->class_index, s->setup->items, why) ||
        (f == 0 && s->runner.ctx != NULL &&
         !runner_place(&s->runner, &s->one, items, first->class_index, 1, why))) {
      return false;
    }
  }
  return true;
}

static int set_up(session *s, char why[WHY_BYTES]) {
  if (s->setup->core >= 0 && !runner_pin(s->setup->core)) {
    snprintf(why, WHY_BYTES, "this process cannot run on core %d", s->setup->core);
    return MEASURE_NO_PLACE;
  }
  guard_open(&s->guard, s->setup->sysfs);
  if (!runner_open(&s->runner, s->setup, s->group->points[0]->route, NULL, why)) {
    return MEASURE_NO_DEVICE;
  }
  return place_all(s, why) ? MEASURE_DONE : MEASURE_NO_PLACE;
}

int measure(void *context) {
  tune_group *group = context;
  session s = {.group = group, .setup = group->setup};
  const int status = set_up(&s, group->shared->setting_up);
  if (status != MEASURE_DONE) {
    return status;
  }
  for (size_t i = 0; i < group->n; i++) {
    if (!atomic_load(&group->shared->done[i])) {
      s.candidates[s.n++] = (candidate){
          .number = i, .point = group->points[i], .live = true, .next_look = s.setup->samples};
    }
  }
  if (s.setup->progress != NULL) {
    progress_read(s.setup->progress, take_up, &s);
  }
  for (size_t i = 0; i < s.n && !s.lost; i++) {
    verify(&s, &s.candidates[i], "before it was timed", false);
  }
  for (bool warming = true; !s.lost && turn(&s, warming); warming = false) {
  }
  if (s.lost) {
    return MEASURE_LOST; /* nothing of a lost device can be freed for sure */
  }
  child_step(&group->shared->watch, -1);
  for (size_t f = 0; f < s.setup->n_files; f++) {
    work_free(&s.works[f]);
  }
  work_free(&s.one);
  free(s.works);
  runner_close(&s.runner);
  return MEASURE_DONE;
}
