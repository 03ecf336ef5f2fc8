/* SPDX-License-Identifier: BSD-2-Clause */
#include "fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may follow the colon, by kind. */
enum argument { OF = 1, SEED = 2, MS = 4, FACTOR = 8, BITS = 16, REOPEN = 32, BATCHES = 64 };

static const struct {
  const char *name;
  unsigned arguments;
} kinds[DEV_N_FAULTS] = {
    [DEV_FAULT_NO_MEMORY] = {"no-memory", OF | SEED},
    [DEV_FAULT_HANG] = {"hang", MS | BATCHES | SEED},
    [DEV_FAULT_LOST] = {"lost", OF | REOPEN | SEED},
    [DEV_FAULT_SLOW] = {"slow", MS | FACTOR | SEED},
    [DEV_FAULT_FLIP] = {"flip", BITS | SEED},
};

static const char *const names[] = {"of", "seed", "ms", "factor", "bits", "reopen", "batches"};
enum { N_NAMES = sizeof names / sizeof *names };

enum { MAX_MS = 3600000, MAX_FACTOR = 1000000, MAX_BITS = 1 << 20 };

/* A text that is being read; text up to end is what is left. */
struct reader {
  const char *at, *end;
  char *message;
  size_t size;
};

static int wrong(struct reader *reader, const char *expected) {
  const int shown = reader->end - reader->at > 40 ? 40 : (int)(reader->end - reader->at);
  snprintf(reader->message, reader->size, "at '%.*s': expected %s", shown, reader->at, expected);
  return -EINVAL;
}

static bool takes(struct reader *reader, const char *word) {
  const size_t length = strlen(word);
  if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
    return false;
  reader->at += length;
  return true;
}

/* Whether the name that is next, up to a delimiter, is this one. */
static bool takes_name(struct reader *reader, const char *name, const char *delimiters) {
  const size_t length = strlen(name);
  struct reader after = *reader;
  if (!takes(&after, name) || (after.at != after.end && strchr(delimiters, *after.at) == NULL) ||
      length == 0)
    return false;
  *reader = after;
  return true;
}

static bool takes_number(struct reader *reader, uint64_t max, uint64_t *number) {
  const char *at = reader->at;
  uint64_t value = 0;
  for (; at != reader->end && *at >= '0' && *at <= '9'; at++) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (value > (max - digit) / 10)
      return false;
    value = value * 10 + digit;
  }
  if (at == reader->at)
    return false;
  reader->at = at;
  *number = value;
  return true;
}

static int read_when(struct reader *reader, struct dev_fault *fault) {
  static const char expected[] = "a number from 1, a range N-M, * or 1/P";
  fault->one_in = 1;
  fault->first = 1;
  fault->last = UINT64_MAX;
  if (takes(reader, "*"))
    return 0;
  const struct reader before = *reader;
  uint64_t number;
  if (!takes_number(reader, UINT32_MAX, &number) || number == 0)
    goto fail;
  if (takes(reader, "/")) {
    if (number != 1 || !takes_number(reader, UINT32_MAX, &number) || number == 0)
      goto fail;
    fault->one_in = (uint32_t)number;
    return 0;
  }
  fault->first = fault->last = number;
  if (takes(reader, "-") &&
      (!takes_number(reader, UINT32_MAX, &fault->last) || fault->last < fault->first))
    goto fail;
  return 0;
fail:
  *reader = before;
  return wrong(reader, expected);
}

static int read_number(struct reader *reader, uint64_t min, uint64_t max, const char *expected,
                       uint32_t *value) {
  const struct reader before = *reader;
  uint64_t number;
  if (takes_number(reader, max, &number) && number >= min) {
    *value = (uint32_t)number;
    return 0;
  }
  *reader = before;
  return wrong(reader, expected);
}

/* What the fault is of: calls of no-memory, or those who lose the device. */
static int read_of(struct reader *reader, struct dev_fault *fault) {
  static const char *const calls[] = {"buffer", "syncobj", "submit"};
  if (fault->kind == DEV_FAULT_LOST) {
    fault->one_client = takes_name(reader, "client", ",");
    return fault->one_client || takes_name(reader, "device", ",") ? 0
                                                                  : wrong(reader, "device, client");
  }
  for (unsigned i = 0; i < DEV_N_FAULT_CALLS; i++) {
    if (takes_name(reader, calls[i], ",")) {
      fault->call = (enum dev_fault_call)i;
      return 0;
    }
  }
  return wrong(reader, "buffer, syncobj, submit");
}

static int read_value(struct reader *reader, enum argument argument, struct dev_fault *fault) {
  switch (argument) {
    case OF:
      return read_of(reader, fault);
    case SEED:
      return read_number(reader, 0, UINT32_MAX, "a seed of 32 bits", &fault->seed);
    case MS:
      return read_number(reader, 1, MAX_MS, "1 to 3600000 ms", &fault->ms);
    case FACTOR:
      return read_number(reader, 2, MAX_FACTOR, "a factor of 2 to 1000000", &fault->factor);
    case BITS:
      return read_number(reader, 1, MAX_BITS, "1 to 1048576 bits", &fault->bits);
    case BATCHES:
      return read_number(reader, 0, UINT32_MAX, "a number of batches", &fault->batches);
    case REOPEN:
      fault->reopens = takes_name(reader, "yes", ",");
      return fault->reopens || takes_name(reader, "no", ",") ? 0 : wrong(reader, "yes, no");
  }
  return wrong(reader, "nothing");
}

/* Which arguments a kind has, for messages. */
static void list_arguments(unsigned arguments, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "one of");
  for (unsigned i = 0; i < N_NAMES && used < size; i++)
    if (arguments >> i & 1)
      used += (size_t)snprintf(text + used, size - used, " %s=", names[i]);
}

static int read_arguments(struct reader *reader, struct dev_fault *fault) {
  const unsigned allowed = kinds[fault->kind].arguments;
  unsigned given = 0;
  char list[80];
  list_arguments(allowed, list, sizeof list);
  do {
    const char *const start = reader->at;
    unsigned i = 0;
    while (i < N_NAMES && !((allowed >> i & 1) && takes_name(reader, names[i], "=")))
      i++;
    if (i == N_NAMES || !takes(reader, "="))
      return wrong(reader, list);
    if (given >> i & 1) {
      reader->at = start;
      return wrong(reader, "each argument once");
    }
    given |= 1u << i;
    const int result = read_value(reader, (enum argument)(1u << i), fault);
    if (result != 0)
      return result;
  } while (takes(reader, ","));
  if (reader->at != reader->end)
    return wrong(reader, "a comma, or the end");
  return 0;
}

/* Reads [text, end) into *fault. */
static int parse(struct reader *reader, struct dev_fault *fault) {
  unsigned kind = 0;
  while (kind < DEV_N_FAULTS && !takes_name(reader, kinds[kind].name, "@"))
    kind++;
  if (kind == DEV_N_FAULTS)
    return wrong(reader, "a kind (no-memory, hang, lost, slow, flip) and @");
  fault->kind = (enum dev_fault_kind)kind;
  fault->bits = 1;
  if (!takes(reader, "@"))
    return wrong(reader, "@");
  int result = read_when(reader, fault);
  if (result == 0 && takes(reader, ":"))
    result = read_arguments(reader, fault);
  else if (result == 0 && reader->at != reader->end)
    result = wrong(reader, "a colon, or the end");
  if (result == 0 && fault->kind == DEV_FAULT_SLOW && (fault->ms == 0) == (fault->factor == 0))
    result = wrong(reader, "ms= or factor=, one of them");
  if (result == 0 && fault->kind == DEV_FAULT_LOST && fault->one_client && fault->reopens)
    result = wrong(reader, "reopen= without of=client: the client can open the device again");
  return result;
}

static int add(struct dev_faults *faults, const char *text, size_t length, char *message,
               size_t size) {
  struct dev_fault fault = {0};
  struct reader reader = {.at = text, .end = text + length, .message = message, .size = size};
  const int result = parse(&reader, &fault);
  if (result != 0)
    return result;
  struct dev_fault *items = realloc(faults->items, (faults->n + 1) * sizeof *items);
  if (items != NULL)
    faults->items = items;
  fault.text = strndup(text, length);
  if (items == NULL || fault.text == NULL) {
    free(fault.text);
    snprintf(message, size, "no memory");
    return -ENOMEM;
  }
  items[faults->n++] = fault;
  return 0;
}

int dev_faults_add(struct dev_faults *faults, const char *text, char *message, size_t size) {
  return add(faults, text, strlen(text), message, size);
}

int dev_faults_add_list(struct dev_faults *faults, const char *text, char *message, size_t size) {
  int result = 0;
  while (result == 0 && *text != 0) {
    const size_t length = strcspn(text, ";");
    if (length > 0)
      result = add(faults, text, length, message, size);
    text += length + (text[length] == ';');
  }
  return result;
}

void dev_faults_free(struct dev_faults *faults) {
  for (size_t i = 0; i < faults->n; i++)
    free(faults->items[i].text);
  free(faults->items);
  *faults = (struct dev_faults){0};
}

/* The output function of the generator SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t dev_fault_random(uint64_t seed, uint64_t i) {
  uint64_t z = (seed + 1) * UINT64_C(0xd1342543de82ef95) + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static bool strikes(const struct dev_fault *fault, uint64_t number) {
  if (number < fault->first || number > fault->last)
    return false;
  return fault->one_in == 1 || dev_fault_random(fault->seed, number) % fault->one_in == 0;
}

struct dev_fault *dev_fault_at(const struct dev_faults *faults, enum dev_fault_kind kind,
                               uint64_t number) {
  for (size_t i = 0; i < faults->n; i++)
    if (faults->items[i].kind == kind && strikes(&faults->items[i], number))
      return &faults->items[i];
  return NULL;
}

struct dev_fault *dev_fault_at_call(const struct dev_faults *faults, enum dev_fault_call call,
                                    uint64_t number) {
  for (size_t i = 0; i < faults->n; i++) {
    struct dev_fault *fault = &faults->items[i];
    if (fault->kind == DEV_FAULT_NO_MEMORY && fault->call == call && strikes(fault, number))
      return fault;
  }
  return NULL;
}
