/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads plans: lines of words, see docs/testing-without-a-pi.md. */
#define _GNU_SOURCE
#include "vkrun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  plan *out;
  case_plan *c; /* the open case; NULL outside of one */
  int line;
  bool wrong;
  bool skip;   /* a declaration was wrong: what follows up to the end would be found wrong for it */
  char *words; /* the rest of the line */
  char folder[4096];
} reader;

static bool fail(reader *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: ", r->out->path, r->line);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  r->wrong = true;
  return false;
}

static char *copy_of(const char *text) {
  char *copy = need(strlen(text) + 1, 1);
  memcpy(copy, text, strlen(text));
  return copy;
}

/* Makes room for one more element behind n; the new one is zeroed. */
static void *grown(void *items, size_t n, size_t size) {
  if ((n & (n - 1)) != 0) {
    return items; /* room was doubled at the last power of two */
  }
  uint8_t *more = need(n == 0 ? 1 : 2 * n, size);
  if (n != 0) {
    memcpy(more, items, n * size);
  }
  free(items);
  return more;
}

static char *word(reader *r) {
  return strtok_r(NULL, " \t\r\n", &r->words);
}

static bool name(reader *r, const char *what, char **out) {
  *out = word(r);
  return *out != NULL || fail(r, "%s is missing", what);
}

/* A number from 0 to `most`: decimal, or hexadecimal with 0x. */
static bool number_of(reader *r, const char *text, const char *what, uint64_t most, uint64_t *out) {
  char *end;
  errno = 0;
  *out = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *out > most) {
    return fail(r, "%s is '%s'; a number from 0 to %" PRIu64 " is needed", what, text, most);
  }
  return true;
}

static bool number(reader *r, const char *what, uint64_t most, uint64_t *out) {
  char *text;
  return name(r, what, &text) && number_of(r, text, what, most, out);
}

static bool number32(reader *r, const char *what, uint32_t *out) {
  uint64_t n = 0;
  bool good = number(r, what, UINT32_MAX, &n);
  *out = (uint32_t)n;
  return good;
}

static bool in_words(reader *r, const char *what, uint64_t n) {
  return n % 4 == 0 || fail(r, "%s is %" PRIu64 "; a multiple of 4 is needed", what, n);
}

static bool done(reader *r) {
  char *more = word(r);
  return more == NULL || fail(r, "'%s' is one word too many", more);
}

static bool find_buffer(reader *r, size_t *index) {
  char *text;
  if (!name(r, "the buffer's name", &text)) {
    return false;
  }
  for (*index = 0; *index < r->c->n_buffers; ++*index) {
    if (strcmp(r->c->buffers[*index].name, text) == 0) {
      return true;
    }
  }
  return fail(r, "no buffer '%s' was declared before", text);
}

static bool find_pipeline(reader *r, size_t *index) {
  char *text;
  if (!name(r, "the pipeline's name", &text)) {
    return false;
  }
  for (*index = 0; *index < r->c->n_pipelines; ++*index) {
    if (strcmp(r->c->pipelines[*index].name, text) == 0) {
      return true;
    }
  }
  return fail(r, "no pipeline '%s' was declared before", text);
}

/* Whether bytes from offset lie inside a buffer. */
static bool inside(reader *r, size_t buffer, uint64_t offset, uint64_t bytes) {
  uint64_t size = r->c->buffers[buffer].bytes;
  return (offset <= size && bytes <= size - offset) ||
         fail(r, "%" PRIu64 " bytes from %" PRIu64 " are not inside '%s' of %" PRIu64, bytes,
              offset, r->c->buffers[buffer].name, size);
}

/* Files are named from the plan's folder. */
static bool path(reader *r, const char *what, char **out) {
  char *text;
  if (!name(r, what, &text)) {
    return false;
  }
  size_t room = strlen(r->folder) + strlen(text) + 1;
  *out = need(room, 1);
  snprintf(*out, room, "%s%s", text[0] == '/' ? "" : r->folder, text);
  return true;
}

static bool read_words(reader *r, op *o) {
  size_t n = 0;
  for (char *text = word(r); text != NULL; text = word(r), ++n) {
    uint64_t value;
    if (!number_of(r, text, "a word", UINT32_MAX, &value)) {
      return false;
    }
    o->words = grown(o->words, n, sizeof *o->words);
    o->words[n] = (uint32_t)value;
  }
  o->n_words = (uint32_t)n;
  o->bytes = 4 * (uint64_t)n;
  return n != 0 || fail(r, "at least one word is needed");
}

/* ---- declarations ---- */

/* buffer NAME BYTES zero | random SEED | file PATH | word VALUE */
static bool read_buffer(reader *r) {
  case_plan *c = r->c;
  buffer_plan b = {.line = r->line};
  char *text;
  if (!name(r, "the buffer's name", &text)) {
    return false;
  }
  b.name = copy_of(text);
  for (size_t i = 0; i < c->n_buffers; ++i) {
    if (strcmp(c->buffers[i].name, b.name) == 0) {
      return fail(r, "buffer '%s' was declared in line %d", b.name, c->buffers[i].line);
    }
  }
  if (!number(r, "the size in bytes", UINT32_MAX, &b.bytes) ||
      !in_words(r, "the size in bytes", b.bytes) || !name(r, "the content", &text)) {
    return false;
  }
  if (b.bytes == 0) {
    return fail(r, "a buffer of no bytes cannot be");
  }
  if (strcmp(text, "zero") == 0) {
    b.kind = FILL_ZERO;
  } else if (strcmp(text, "random") == 0) {
    b.kind = FILL_RANDOM;
    if (!number(r, "the seed", UINT64_MAX, &b.seed)) {
      return false;
    }
  } else if (strcmp(text, "file") == 0) {
    b.kind = FILL_FILE;
    if (!path(r, "the file's name", &b.path)) {
      return false;
    }
  } else if (strcmp(text, "word") == 0) {
    b.kind = FILL_WORD;
    if (!number(r, "the word", UINT32_MAX, &b.seed)) {
      return false;
    }
  } else {
    return fail(r, "the content is '%s'; zero, random, file or word is known", text);
  }
  c->buffers = grown(c->buffers, c->n_buffers, sizeof b);
  c->buffers[c->n_buffers++] = b;
  return done(r);
}

/* pipeline NAME SPIRV-FILE [subgroup SIZE] [spec ID VALUE]... */
static bool read_pipeline(reader *r) {
  case_plan *c = r->c;
  pipeline_plan p = {.line = r->line};
  char *text;
  if (!name(r, "the pipeline's name", &text)) {
    return false;
  }
  p.name = copy_of(text);
  for (size_t i = 0; i < MAX_BINDINGS; ++i) {
    p.types[i] = VK_DESCRIPTOR_TYPE_MAX_ENUM;
  }
  for (size_t i = 0; i < c->n_pipelines; ++i) {
    if (strcmp(c->pipelines[i].name, p.name) == 0) {
      return fail(r, "pipeline '%s' was declared in line %d", p.name, c->pipelines[i].line);
    }
  }
  if (!path(r, "the SPIR-V file's name", &p.path)) {
    return false;
  }
  while ((text = word(r)) != NULL) {
    if (strcmp(text, "subgroup") == 0) {
      if (!number32(r, "the subgroup size", &p.subgroup)) {
        return false;
      }
    } else if (strcmp(text, "spec") == 0 && p.n_spec < MAX_SPEC) {
      if (!number32(r, "the constant's number", &p.spec_id[p.n_spec]) ||
          !number32(r, "the constant's value", &p.spec_value[p.n_spec])) {
        return false;
      }
      ++p.n_spec;
    } else {
      return fail(r, "'%s' is not known here, or there are more than %d constants", text, MAX_SPEC);
    }
  }
  c->pipelines = grown(c->pipelines, c->n_pipelines, sizeof p);
  c->pipelines[c->n_pipelines++] = p;
  return true;
}

/* needs subgroup SIZE */
static bool read_needs(reader *r) {
  char *text;
  if (!name(r, "what is needed", &text)) {
    return false;
  }
  if (strcmp(text, "subgroup") != 0) {
    return fail(r, "'%s' is not known here; subgroup is", text);
  }
  return number32(r, "the subgroup size", &r->c->needs_subgroup) && done(r);
}

/* ---- commands ---- */

/* bind|uniform PIPELINE BINDING BUFFER [OFFSET BYTES] */
static bool read_bind(reader *r, op *o, VkDescriptorType type) {
  uint64_t binding;
  if (!find_pipeline(r, &o->pipeline) || !number(r, "the binding", MAX_BINDINGS - 1, &binding) ||
      !find_buffer(r, &o->a)) {
    return false;
  }
  o->n[0] = (uint32_t)binding;
  o->bytes = r->c->buffers[o->a].bytes;
  char *text = word(r);
  if (text != NULL && (!number_of(r, text, "the offset", UINT32_MAX, &o->offset) ||
                       !number(r, "the size in bytes", UINT32_MAX, &o->bytes) ||
                       !inside(r, o->a, o->offset, o->bytes))) {
    return false;
  }
  VkDescriptorType *known = &r->c->pipelines[o->pipeline].types[binding];
  if (*known != VK_DESCRIPTOR_TYPE_MAX_ENUM && *known != type) {
    return fail(r, "the binding was of the other kind (bind, uniform) before");
  }
  *known = type;
  return done(r);
}

/* push PIPELINE OFFSET WORD... */
static bool read_push(reader *r, op *o) {
  if (!find_pipeline(r, &o->pipeline) || !number(r, "the offset", PUSH_BYTES, &o->offset) ||
      !in_words(r, "the offset", o->offset) || !read_words(r, o)) {
    return false;
  }
  uint32_t end = (uint32_t)(o->offset + o->bytes);
  if (end > PUSH_BYTES) {
    return fail(r, "push constants end at byte %" PRIu32 "; %d are there", end, PUSH_BYTES);
  }
  uint32_t *push_end = &r->c->pipelines[o->pipeline].push_end;
  *push_end = end > *push_end ? end : *push_end;
  return true;
}

/* dispatch PIPELINE X Y Z [base X Y Z] */
static bool read_dispatch(reader *r, op *o) {
  if (!find_pipeline(r, &o->pipeline)) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    if (!number32(r, "the number of workgroups", &o->n[i])) {
      return false;
    }
  }
  char *text = word(r);
  if (text == NULL) {
    return true;
  }
  if (strcmp(text, "base") != 0) {
    return fail(r, "'%s' is not known here; base is", text);
  }
  for (int i = 3; i < 6; ++i) {
    if (!number32(r, "the first workgroup", &o->n[i])) {
      return false;
    }
  }
  return done(r);
}

/* indirect PIPELINE BUFFER OFFSET */
static bool read_indirect(reader *r, op *o) {
  return find_pipeline(r, &o->pipeline) && find_buffer(r, &o->a) &&
         number(r, "the offset", UINT32_MAX, &o->offset) && in_words(r, "the offset", o->offset) &&
         inside(r, o->a, o->offset, 12) && done(r);
}

/* copy FROM OFFSET TO OFFSET BYTES */
static bool read_copy(reader *r, op *o) {
  return find_buffer(r, &o->a) && number(r, "the offset", UINT32_MAX, &o->offset) &&
         find_buffer(r, &o->b) && number(r, "the offset", UINT32_MAX, &o->offset2) &&
         number(r, "the size in bytes", UINT32_MAX, &o->bytes) &&
         inside(r, o->a, o->offset, o->bytes) && inside(r, o->b, o->offset2, o->bytes) && done(r);
}

/* fill BUFFER OFFSET BYTES WORD */
static bool read_fill(reader *r, op *o) {
  return find_buffer(r, &o->a) && number(r, "the offset", UINT32_MAX, &o->offset) &&
         in_words(r, "the offset", o->offset) &&
         number(r, "the size in bytes", UINT32_MAX, &o->bytes) &&
         in_words(r, "the size in bytes", o->bytes) && inside(r, o->a, o->offset, o->bytes) &&
         number32(r, "the word", &o->n[0]) && done(r);
}

/* update BUFFER OFFSET WORD... */
static bool read_update(reader *r, op *o) {
  if (!find_buffer(r, &o->a) || !number(r, "the offset", UINT32_MAX, &o->offset) ||
      !in_words(r, "the offset", o->offset) || !read_words(r, o)) {
    return false;
  }
  return (o->bytes <= MAX_UPDATE_BYTES || fail(r, "more than %d bytes", MAX_UPDATE_BYTES)) &&
         inside(r, o->a, o->offset, o->bytes);
}

/* submit [TIMES] */
static bool read_submit(reader *r, op *o) {
  char *text = word(r);
  uint64_t n = 1;
  if (text != NULL && !number_of(r, text, "how often", 1000000, &n)) {
    return false;
  }
  if (n == 0) {
    return fail(r, "a submission of no times cannot be");
  }
  o->n[0] = (uint32_t)n;
  return done(r);
}

static bool read_binding(reader *r, op *o) {
  return read_bind(r, o, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
}

static bool read_uniform(reader *r, op *o) {
  return read_bind(r, o, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER);
}

static bool read_barrier(reader *r, op *o) {
  (void)o;
  return done(r);
}

static const struct {
  const char *verb;
  op_kind kind;
  bool (*read)(reader *r, op *o);
} commands[] = {
    {"bind", OP_BIND, read_binding},
    {"uniform", OP_BIND, read_uniform},
    {"push", OP_PUSH, read_push},
    {"dispatch", OP_DISPATCH, read_dispatch},
    {"indirect", OP_INDIRECT, read_indirect},
    {"barrier", OP_BARRIER, read_barrier},
    {"copy", OP_COPY, read_copy},
    {"fill", OP_FILL, read_fill},
    {"update", OP_UPDATE, read_update},
    {"submit", OP_SUBMIT, read_submit},
};

static bool read_op(reader *r, const char *verb) {
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
    if (strcmp(verb, commands[i].verb) != 0) {
      continue;
    }
    op o = {.line = r->line, .kind = commands[i].kind};
    const bool good = commands[i].read(r, &o);
    if (good) {
      r->c->ops = grown(r->c->ops, r->c->n_ops, sizeof o);
      r->c->ops[r->c->n_ops++] = o;
    }
    return good;
  }
  return fail(r, "'%s' is no command of a plan", verb);
}

/* case NAME */
static bool read_case(reader *r) {
  char *text;
  if (r->c != NULL) {
    return fail(r, "case '%s' has no end before this", r->c->name);
  }
  if (!name(r, "the case's name", &text)) {
    return false;
  }
  if (text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] != 0) {
    return fail(r, "the case's name is '%s'; letters, digits, - and _ make one", text);
  }
  plan *p = r->out;
  for (size_t i = 0; i < p->n_cases; ++i) {
    if (strcmp(p->cases[i].name, text) == 0) {
      return fail(r, "case '%s' was in line %d already", text, p->cases[i].line);
    }
  }
  p->cases = grown(p->cases, p->n_cases, sizeof *p->cases);
  r->c = &p->cases[p->n_cases++];
  *r->c = (case_plan){.name = copy_of(text), .line = r->line};
  return done(r);
}

static bool read_line(reader *r, char *line) {
  line[strcspn(line, "#")] = '\0';
  char *verb = strtok_r(line, " \t\r\n", &r->words);
  if (verb == NULL) {
    return true;
  }
  if (strcmp(verb, "end") == 0 && (r->c != NULL || r->skip)) {
    r->c = NULL;
    r->skip = false;
    return done(r);
  }
  if (strcmp(verb, "case") == 0) {
    r->skip = !read_case(r);
    return !r->skip;
  }
  if (r->skip) {
    return true;
  }
  if (r->c == NULL) {
    return fail(r, "'%s' stands outside of a case", verb);
  }
  if (strcmp(verb, "buffer") == 0) {
    r->skip = !read_buffer(r);
  } else if (strcmp(verb, "pipeline") == 0) {
    r->skip = !read_pipeline(r);
  } else if (strcmp(verb, "needs") == 0) {
    r->skip = !read_needs(r);
  } else {
    return read_op(r, verb);
  }
  return !r->skip;
}

bool plan_read(const char *path_of_plan, plan *out) {
  *out = (plan){.path = path_of_plan};
  reader r = {.out = out};
  FILE *f = strcmp(path_of_plan, "-") == 0 ? stdin : fopen(path_of_plan, "r");
  if (f == NULL) {
    fprintf(stderr, "vkrun: %s: %s\n", path_of_plan, strerror(errno));
    return false;
  }
  const char *slash = strrchr(path_of_plan, '/');
  if (slash != NULL) {
    snprintf(r.folder, sizeof r.folder, "%.*s", (int)(slash - path_of_plan + 1), path_of_plan);
  }
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, f) >= 0) {
    ++r.line;
    read_line(&r, line);
  }
  if (ferror(f)) {
    fail(&r, "cannot be read: %s", strerror(errno));
  }
  free(line);
  if (f != stdin) {
    fclose(f);
  }
  if (r.c != NULL) {
    fail(&r, "case '%s' has no end", r.c->name);
  }
  return !r.wrong;
}
