/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines that the tuner writes. */
#include <stdio.h>
#include <string.h>

#include "tune/engine.h"
#include "tune/samples.h"

const char *engine_verdict(tune_verdict verdict) {
  static const char *const names[] = {"ok",      "wrong", "failed",    "timeout",    "spills",
                                      "refused", "lost",  "throttled", "unavailable"};
  return names[verdict];
}

void engine_scenario(const tune_engine *engine, const tune_point *point, char text[NAME_BYTES]) {
  snprintf(text, NAME_BYTES, "%s items=%zu", point->variant->cpu != NULL ? "m3" : "m2",
           engine->setup.items);
}

const char *engine_hash(const tune_engine *engine, const daedalus_variant *variant) {
  for (const tune_hash *h = engine->setup.world->hashes; h->variant != NULL; h++) {
    if (strcmp(h->variant, variant->name) == 0) {
      return h->hash;
    }
  }
  return "-";
}

static void add_times(json_line *line, const tune_outcome *outcome) {
  json_number(line, "median", outcome->median);
  json_number(line, "mad", outcome->mad);
  json_number(line, "low", outcome->low);
  json_number(line, "high", outcome->high);
}

void engine_key(const tune_engine *engine, const tune_point *point, char key[ID_BYTES]) {
  char scenario[NAME_BYTES];
  engine_scenario(engine, point, scenario);
  const char *const parts[] = {point->text, "|", scenario, "|", engine_hash(engine, point->variant),
                               NULL};
  journal_hash(key, parts);
}

json_line engine_result_line(const tune_engine *engine, const tune_point *point,
                             const tune_outcome *outcome) {
  char key[ID_BYTES], scenario[NAME_BYTES], when[WHEN_BYTES];
  const char *hash = engine_hash(engine, point->variant);
  const bool ok = outcome->verdict == TUNE_OK;
  engine_scenario(engine, point, scenario);
  engine_key(engine, point, key);
  journal_now(when);
  json_line line = json_open("result");
  json_text(&line, "fingerprint", engine->fingerprint.id);
  json_text(&line, "key", key);
  json_text(&line, "point", point->text);
  json_text(&line, "scenario", scenario);
  json_text(&line, "verdict", engine_verdict(outcome->verdict));
  json_text(&line, "reason", outcome->why);
  json_truth(&line, "modelled", false);
  json_text(&line, "unit", "ns");
  if (ok) {
    add_times(&line, outcome);
  }
  json_count(&line, "samples", ok ? outcome->samples : 0);
  json_count(&line, "discarded", outcome->discarded);
  if (ok) {
    json_number(&line, "seconds", outcome->seconds);
    json_number(&line, "empty", outcome->empty);
    json_number(&line, "cpu", outcome->cpu);
  }
  if (ok && outcome->gpu >= 0) {
    json_number(&line, "gpu", outcome->gpu);
  }
  json_count(&line, "items", engine->setup.items);
  json_counts(&line, "seeds", engine->setup.seeds, engine->setup.n_files);
  json_truth(&line, "verified_before", outcome->verified_before);
  json_truth(&line, "verified_after", outcome->verified_after);
  json_text(&line, "input_hash", hash);
  json_text(&line, "when", when);
  json_close(&line);
  return line;
}

json_line engine_run_line(const tune_engine *engine, const char *ended) {
  char when[WHEN_BYTES];
  journal_now(when);
  json_line line = json_open("run");
  json_text(&line, "fingerprint", engine->fingerprint.id);
  json_text(&line, "command", engine->options.command);
  json_count(&line, "points", engine->points);
  json_count(&line, "done", engine->measured);
  json_text(&line, "ended", ended);
  json_number(&line, "seconds", (now_ns() - engine->began) / 1e9);
  json_text(&line, "when", when);
  json_close(&line);
  return line;
}

static bool append(tune_engine *engine, const json_line *line) {
  if (!journal_append(&engine->journal, line)) {
    engine->cannot_record = true;
    return false;
  }
  return true;
}

bool engine_append(tune_engine *engine, json_line *line) {
  bool done = true;
  if (!engine->journal.described) {
    json_line own = fingerprint_line(&engine->fingerprint);
    done = append(engine, &own);
    json_free(&own);
    engine->journal.described = done;
  }
  done = done && append(engine, line);
  if (done && engine->echo) {
    printf("%s\n", line->text);
    fflush(stdout);
  }
  json_free(line);
  return done;
}
