/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/trace.h>

#include "v3d.h"

/* Where the program and its uniforms lie; buffers of the command line keep below. */
#define UNIFORM_ADDRESS UINT32_C(0xe0000000)
#define CODE_ADDRESS UINT32_C(0xf0000000)
enum { MAX_BUFFERS = 16, OWN_BUFFERS = 2, LANES = DAEDALUS_V3D_LANES };

typedef struct run {
  daedalus_v3d_buffer buffers[MAX_BUFFERS + OWN_BUFFERS];
  const char *outputs[MAX_BUFFERS + OWN_BUFFERS];
  size_t n_buffers;
  unsigned long groups[3], invocations, supergroup, threads;
  bool single_segment, strict, timed, intervals;
  const char *trace; /* file; NULL: none */
  daedalus_v3d_profile profile;
} run;

/* Keeps the buffers sorted; they may not overlap. */
static bool insert_buffer(run *r, daedalus_v3d_buffer buffer) {
  size_t at = r->n_buffers;
  while (at > 0 && r->buffers[at - 1].address > buffer.address)
    at--;
  const bool after_last =
      at == 0 || r->buffers[at - 1].address + (uint64_t)r->buffers[at - 1].size <= buffer.address;
  const bool before_next =
      at == r->n_buffers || buffer.address + (uint64_t)buffer.size <= r->buffers[at].address;
  if (!after_last || !before_next) {
    complain("--buffer: the buffer at 0x%08" PRIx32 " overlaps another", buffer.address);
    return false;
  }
  memmove(&r->buffers[at + 1], &r->buffers[at], (r->n_buffers - at) * sizeof *r->buffers);
  r->buffers[at] = buffer;
  r->n_buffers++;
  return true;
}

/* ADDRESS,BYTES[,FILE]; text is cut into pieces. */
static bool add_buffer(run *r, char *text) {
  const char *address_text = strsep(&text, ","), *size_text = strsep(&text, ","), *path = text;
  unsigned long address, size;
  if (size_text == NULL) {
    complain("--buffer: an address and a size are needed: ADDRESS,BYTES[,FILE]");
    return false;
  }
  if (r->n_buffers == MAX_BUFFERS) {
    complain("--buffer: there is room for %d", MAX_BUFFERS);
    return false;
  }
  if (!parse_number("--buffer", address_text, UNIFORM_ADDRESS - 1, &address) ||
      !parse_number("--buffer", size_text, UNIFORM_ADDRESS - address, &size))
    return false;
  char *bytes = NULL;
  size_t given = 0;
  if (path != NULL && !read_file(path, &bytes, &given))
    return false;
  daedalus_v3d_buffer buffer = {.address = (uint32_t)address, .size = (uint32_t)size};
  buffer.data = calloc(1, size > 0 ? size : 1);
  if (buffer.data == NULL || size == 0 || given > size) {
    complain(buffer.data == NULL ? "no memory"
             : size == 0         ? "--buffer: the buffer is empty"
                                 : "--buffer: the file is larger than the buffer");
    free(buffer.data);
    free(bytes);
    return false;
  }
  if (given > 0)
    memcpy(buffer.data, bytes, given);
  free(bytes);
  if (insert_buffer(r, buffer))
    return true;
  free(buffer.data);
  return false;
}

static bool parse_positive(const char *option, const char *text, unsigned long max,
                           unsigned long *number) {
  if (!parse_number(option, text, max, number))
    return false;
  if (*number == 0)
    complain("%s: 0 is not enough", option);
  return *number > 0;
}

static bool parse_groups(run *r, char *text) {
  for (int i = 0; i < 3 && text != NULL; i++)
    if (!parse_positive("--groups", strsep(&text, ","), 0xffff, &r->groups[i]))
      return false;
  if (text != NULL)
    complain("--groups: there are three dimensions");
  return text == NULL;
}

static bool parse_option(run *r, int option, char **outputs, size_t *n_outputs) {
  switch (option) {
    case 'b':
      return add_buffer(r, optarg);
    case 'o':
      if (*n_outputs == MAX_BUFFERS) {
        complain("--output: there is room for %d", MAX_BUFFERS);
        return false;
      }
      outputs[(*n_outputs)++] = optarg;
      return true;
    case 'g':
      return parse_groups(r, optarg);
    case 'i':
      return parse_positive("--invocations", optarg, 256, &r->invocations);
    case 'm':
      return parse_positive("--supergroup", optarg, 16, &r->supergroup);
    case 'n':
      return parse_threads(optarg, &r->threads);
    case 's':
      r->single_segment = true;
      return true;
    case 'S':
      r->strict = true;
      return true;
    case 'T':
      r->timed = true;
      return true;
    case 'I':
      r->timed = r->intervals = true;
      return true;
    case 't':
      r->trace = optarg;
      return true;
    case 'p':
      return read_profile(optarg, &r->profile);
    default:
      return false;
  }
}

/* ADDRESS,FILE of --output, once all buffers are known. */
static bool set_output(run *r, char *text) {
  const char *address_text = strsep(&text, ","), *path = text;
  unsigned long address;
  if (path == NULL) {
    complain("--output: an address and a file are needed: ADDRESS,FILE");
    return false;
  }
  if (!parse_number("--output", address_text, UINT32_MAX, &address))
    return false;
  for (size_t i = 0; i < r->n_buffers; i++)
    if (r->buffers[i].address == address) {
      r->outputs[i] = path;
      return true;
    }
  complain("--output: no buffer begins at 0x%08lx", address);
  return false;
}

static bool print_buffers(const run *r) {
  for (size_t i = 0; i < r->n_buffers; i++) {
    const daedalus_v3d_buffer *buffer = &r->buffers[i];
    if (r->outputs[i] != NULL) {
      if (!write_file(r->outputs[i], buffer->data, buffer->size))
        return false;
      continue;
    }
    for (uint32_t at = 0; at < buffer->size; at += 16) {
      printf("0x%08" PRIx32 ":", buffer->address + at);
      for (uint32_t k = at; k < at + 16 && k < buffer->size; k += 4) {
        uint8_t b[4] = {0};
        memcpy(b, (const uint8_t *)buffer->data + k, buffer->size - k < 4 ? buffer->size - k : 4);
        printf(" %02x%02x%02x%02x", b[3], b[2], b[1], b[0]);
      }
      printf("\n");
    }
  }
  return true;
}

/* As JSON where the file's name ends so. */
static bool write_trace(const char *path, const daedalus_v3d_job *job,
                        const daedalus_v3d_report *report, const daedalus_v3d_timing *timing) {
  const size_t length = strlen(path);
  const bool json = length > 5 && strcmp(path + length - 5, ".json") == 0;
  text_output text;
  if (!begin_text(&text))
    return false;
  (json ? daedalus_v3d_trace_print_json : daedalus_v3d_trace_print)(job->trace, job, report, timing,
                                                                    text.stream);
  return write_text(path, &text);
}

static int execute(run *r, daedalus_v3d_program *program) {
  daedalus_v3d_buffer buffers[MAX_BUFFERS + OWN_BUFFERS];
  size_t n = r->n_buffers;
  memcpy(buffers, r->buffers, n * sizeof *buffers);
  if (program->n_uniforms > 0)
    buffers[n++] = (daedalus_v3d_buffer){UNIFORM_ADDRESS, (uint32_t)(4 * program->n_uniforms),
                                         program->uniforms};
  buffers[n++] =
      (daedalus_v3d_buffer){CODE_ADDRESS, (uint32_t)(8 * program->n_words), program->words};
  const uint32_t batches = (uint32_t)(r->invocations + LANES - 1) / LANES;
  if (r->supergroup > 1 && r->invocations % LANES != 0) {
    complain("--supergroup: of more than one workgroup only if these fill their batches");
    return EXIT_BAD_INPUT;
  }
  const uint64_t all = (uint64_t)r->groups[0] * r->groups[1] * r->groups[2] * batches;
  if (all > UINT32_MAX) {
    complain("--groups: more batches than 32 bits count");
    return EXIT_BAD_INPUT;
  }
  daedalus_v3d_job job = {.buffers = buffers, .n_buffers = n, .strict = r->strict};
  for (int i = 0; i < 3; i++)
    job.cfg[i] = (uint32_t)r->groups[i] << 16;
  const uint32_t supergroup = (uint32_t)r->supergroup;
  job.cfg[3] = (uint32_t)(r->invocations & 0xff) | (supergroup & 0xf) << 8 |
               (batches * supergroup - 1) << 12;
  job.cfg[4] = (uint32_t)all;
  job.cfg[5] = CODE_ADDRESS | (r->single_segment ? 2u : 0) | (r->threads == 4 ? 1u : 0);
  job.cfg[6] = UNIFORM_ADDRESS;
  daedalus_v3d_machine *machine = daedalus_v3d_machine_create(&r->profile);
  if (machine == NULL) {
    complain("no memory");
    return EXIT_BAD_INPUT;
  }
  daedalus_v3d_report report;
  daedalus_v3d_trace trace = {0};
  job.timed = r->timed;
  job.trace = r->trace != NULL ? &trace : NULL;
  daedalus_v3d_timing timing = {0};
  if (r->intervals) /* a job that fails does so again below */
    daedalus_v3d_machine_estimate(machine, &job, &timing, &report);
  const daedalus_v3d_outcome outcome = daedalus_v3d_machine_run(machine, &job, &report);
  daedalus_v3d_machine_destroy(machine);
  const bool traced =
      r->trace == NULL || write_trace(r->trace, &job, &report, r->intervals ? &timing : NULL);
  daedalus_v3d_trace_free(&trace);
  if (!traced)
    return EXIT_BAD_INPUT;
  if (r->timed)
    fprintf(stderr, "%" PRIu64 " clocks, %" PRIu64 " ns\n", report.times.clocks, report.times.ns);
  if (r->intervals) {
    daedalus_v3d_timing_print_json(&timing, stderr);
    fprintf(stderr, "\n");
  }
  if (outcome != DAEDALUS_V3D_DONE)
    fprintf(stderr, "%s\n", report.message);
  if (!print_buffers(r))
    return EXIT_BAD_INPUT;
  return outcome == DAEDALUS_V3D_DONE ? EXIT_DONE : EXIT_WRONG;
}

static int assemble_and_execute(run *r, int argc, char **argv) {
  int n;
  char **paths = paths_of(argc, argv, optind, &n);
  if (n != 1) {
    complain("one program can be run");
    return bad_arguments("exec");
  }
  daedalus_v3d_program program = {0};
  int code = assemble_files(paths, 1, &program);
  if (code == EXIT_DONE && program.n_words == 0) {
    complain("%s: no instructions", shown_name(paths[0]));
    code = EXIT_BAD_INPUT;
  }
  if (code == EXIT_DONE)
    code = execute(r, &program);
  daedalus_v3d_program_free(&program);
  return code;
}

int verb_exec(int argc, char **argv) {
  static const struct option options[] = {{"buffer", required_argument, NULL, 'b'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"groups", required_argument, NULL, 'g'},
                                          {"invocations", required_argument, NULL, 'i'},
                                          {"supergroup", required_argument, NULL, 'm'},
                                          {"threads", required_argument, NULL, 'n'},
                                          {"single-segment", no_argument, NULL, 's'},
                                          {"timed", no_argument, NULL, 'T'},
                                          {"trace", required_argument, NULL, 't'},
                                          {"strict", no_argument, NULL, 'S'},
                                          {"intervals", no_argument, NULL, 'I'},
                                          {"profile", required_argument, NULL, 'p'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  run r = {.groups = {1, 1, 1}, .invocations = LANES, .supergroup = 1, .threads = 2};
  char *outputs[MAX_BUFFERS];
  size_t n_outputs = 0;
  int code = EXIT_DONE;
  r.profile = daedalus_v3d_profile_default();
  for (int option; code == EXIT_DONE && (option = getopt_long(argc, argv, "b:o:g:i:m:n:sSTIt:p:h",
                                                              options, NULL)) != -1;) {
    if (option == 'h')
      return usage("exec");
    if (!parse_option(&r, option, outputs, &n_outputs))
      code = bad_arguments("exec");
  }
  for (size_t i = 0; i < n_outputs && code == EXIT_DONE; i++)
    if (!set_output(&r, outputs[i]))
      code = bad_arguments("exec");
  if (code == EXIT_DONE)
    code = assemble_and_execute(&r, argc, argv);
  for (size_t i = 0; i < r.n_buffers; i++)
    free(r.buffers[i].data);
  return code;
}
