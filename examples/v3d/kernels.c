/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daedalus/v3d/text.h>
#include <daedalus/v3d/validate.h>

/* A block and a half: what the last block's prefetch and reads reach behind a panel. */
enum { AHEAD_BYTES = 3 * BLOCK * PANEL_ROWS * 4 / 2, MOST_TEXT = 1 << 20, WORD = 4 };
/* Of both dispatches: workgroups of one batch, 12 a supergroup, so that all 24 threads run. */
enum { LANES = 16, SUPERGROUP = 12, BATCHES = 24 };

static uint32_t panels(const shape *shape) {
  return (shape->rows + PANEL_ROWS - 1) / PANEL_ROWS;
}

static uint32_t panel_bytes(const shape *shape) {
  return WORD * PANEL_ROWS * shape->depth;
}

uint32_t packed_bytes(const shape *shape) {
  return panels(shape) * panel_bytes(shape) + AHEAD_BYTES;
}

/* The file as text, or NULL. */
static char *read_text(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *text = malloc(MOST_TEXT);
  *length = file != NULL && text != NULL ? fread(text, 1, MOST_TEXT, file) : 0;
  if (*length == 0 || *length == MOST_TEXT || ferror(file)) {
    fprintf(stderr, "sgemm: %s: %s\n", path,
            *length == MOST_TEXT ? "too long" : strerror(errno ? errno : EIO));
    free(text);
    text = NULL;
  }
  if (file != NULL)
    fclose(file);
  return text;
}

static bool assemble(const char *path, daedalus_v3d_program *program) {
  size_t length;
  char *text = read_text(path, &length);
  if (text == NULL)
    return false;
  daedalus_v3d_diagnostic mistake;
  const size_t mistakes = daedalus_v3d_assemble(text, length, program, &mistake, 1);
  free(text);
  if (mistakes == SIZE_MAX)
    fprintf(stderr, "sgemm: no memory\n");
  else if (mistakes > 0)
    fprintf(stderr, "%s:%u:%u: %s\n", path, mistake.line, mistake.column, mistake.message);
  return mistakes == 0;
}

static bool validate(const char *path, const daedalus_v3d_program *program) {
  const daedalus_v3d_program_mode mode = {.strictness = DAEDALUS_V3D_STRICT, .threads = 2};
  daedalus_v3d_finding finding;
  const size_t n = daedalus_v3d_validate(program->words, program->n_words, &mode, &finding, 1);
  if (n == SIZE_MAX)
    fprintf(stderr, "sgemm: no memory\n");
  else if (n > 0)
    fprintf(stderr, "%s:%u: %s\n", path, program->lines[finding.index],
            daedalus_v3d_rule_text(finding.rule));
  return n == 0;
}

/* A program in a buffer of the device, and behind it room for its uniforms. */
typedef struct loaded {
  uint32_t code, uniforms; /* device addresses */
  uint32_t *words;         /* of the uniforms */
} loaded;

static bool load(const device *device, const char *folder, const char *name, size_t n_uniforms,
                 loaded *loaded) {
  char path[1024];
  daedalus_v3d_program program = {0};
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
    fprintf(stderr, "sgemm: the folder's name is too long\n");
    return false;
  }
  bool done = assemble(path, &program) && validate(path, &program);
  if (done) {
    const size_t bytes = program.n_words * sizeof *program.words;
    device_buffer buffer;
    done = device->allocate(device->state, (uint32_t)(bytes + n_uniforms * WORD), &buffer);
    if (done) {
      memcpy(buffer.data, program.words, bytes);
      loaded->code = buffer.address;
      loaded->uniforms = buffer.address + (uint32_t)bytes;
      loaded->words = (uint32_t *)buffer.data + bytes / WORD;
    }
  }
  daedalus_v3d_program_free(&program);
  return done;
}

/* Workgroups of 16 in a grid of x by y by z, 24 in all; the fields are those of Linux. */
static void dispatch(uint32_t x, uint32_t y, uint32_t z, const loaded *loaded, uint32_t cfg[7]) {
  const uint32_t words[7] = {
      x << 16,          y << 16,      z << 16, LANES | SUPERGROUP << 8 | (SUPERGROUP - 1) << 12,
      BATCHES,          loaded->code, /* two threads a QPU, 64 registers each */
      loaded->uniforms,
  };
  memcpy(cfg, words, sizeof words);
}

bool prepare_pack(const device *device, const char *folder, const shape *shape, const addresses *at,
                  uint32_t cfg[7]) {
  const uint32_t uniforms[] = {at->a,       WORD * shape->depth, shape->rows - PANEL_ROWS,
                               at->packed,  panel_bytes(shape),  panels(shape),
                               shape->depth};
  loaded loaded;
  if (!load(device, folder, "pack.qpu", sizeof uniforms / WORD, &loaded))
    return false;
  memcpy(loaded.words, uniforms, sizeof uniforms);
  dispatch(3, 8, 1, &loaded, cfg);
  return true;
}

bool prepare_product(const device *device, const char *folder, const shape *shape,
                     const addresses *at, uint32_t cfg[7]) {
  enum { SLICE_COLUMNS = 8 * TILE_COLUMNS, BLOCK_BYTES = WORD * BLOCK * PANEL_ROWS };
  const uint32_t row_bytes = WORD * shape->columns;
  uint32_t uniforms[] = {0, /* not used: the stream branches to the third, and ignores bit 2 */
                         0, /* the address of the next */
                         /* for the end of a tile */
                         at->c, row_bytes, shape->rows - PANEL_ROWS,
                         /* for its beginning */
                         panels(shape), SLICE_COLUMNS, shape->columns, at->packed,
                         panel_bytes(shape), at->b, row_bytes, shape->depth - 2,
                         shape->depth / BLOCK, BLOCK_BYTES};
  loaded loaded;
  if (!load(device, folder, "product.qpu", sizeof uniforms / WORD, &loaded))
    return false;
  uniforms[1] = loaded.uniforms + 2 * WORD;
  memcpy(loaded.words, uniforms, sizeof uniforms);
  loaded.uniforms += WORD;
  dispatch(4, 3, 2, &loaded, cfg);
  return true;
}
