/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of GPU variants is unpacked; what no packer wrote is refused, and nothing is overrun. */
#include <errno.h>

#include "check.h"
#include "gpu/packed.h"
#include "recorder.h"

enum { N_MODULE = 32, N_PROGRAM = 9 };

/* The packer's tests have the same: tests/targets/test_packed.py. */
static const uint32_t module[N_MODULE] = {
    0x07230203, 0x10300, 0x80001, 200, 0,       0x20011, 1,       0x40015, 6,   32,      0,
    0x4002b,    6,       10,      ~0u, 0x5003d, 6,       11,      10,      5,   0x4002b, 6,
    100,        ~1u,     0x4002b, 6,   101,     ~1u,     0x4002b, 6,       102, ~1u};
#define MODULE_BEGINS "MYOEjDmAhgSBgCDIAQACEUcEFUMgTgQrSET/////DwU9TEdJTgQrTeQA/v///w8EK03l"
#define MODULE_ENDS "hAoAAOaBCgA"
static const char *const module_text[] = {MODULE_BEGINS MODULE_ENDS, NULL};
static const char *const module_pieces[] = {"", MODULE_BEGINS, "", MODULE_ENDS, "", NULL};
static const char *const program_text[] = {"BwAA8AO7hrEDiwgAAAGSCAAAApIIAA", NULL};

static long unpack_module(const char *const *text, size_t n_words, uint32_t *words, long fail_at) {
  counting state = {.fail_at = fail_at};
  const daedalus_allocator allocator = counting_allocator(&state);
  const daedalus_gpu_code code = {.packed = text, .n_words = n_words};
  const int error = daedalus_rt_spirv(&allocator, &code, words);
  CHECK_INT(state.n_live, 0);
  return error;
}

static long unpack_program(const char *const *text, size_t n_words, uint8_t *bytes, long fail_at) {
  counting state = {.fail_at = fail_at};
  const daedalus_allocator allocator = counting_allocator(&state);
  const daedalus_qpu_code code = {.packed = text, .n_words = n_words};
  const int error = daedalus_rt_instructions(&allocator, &code, bytes);
  CHECK_INT(state.n_live, 0);
  return error;
}

static void test_what_was_packed(void) {
  uint32_t words[N_MODULE] = {0};
  CHECK_INT(unpack_module(module_text, N_MODULE, words, -1), 0);
  CHECK(memcmp(words, module, sizeof(module)) == 0);
  memset(words, 0, sizeof(words));
  CHECK_INT(unpack_module(module_pieces, N_MODULE, words, -1), 0);
  CHECK(memcmp(words, module, sizeof(module)) == 0);

  uint8_t bytes[8 * N_PROGRAM];
  CHECK_INT(unpack_program(program_text, N_PROGRAM, bytes, -1), 0);
  for (int i = 0; i < N_PROGRAM; i++) {
    const uint8_t expected[8] = {(uint8_t)(i / 3), 0, 0xf0, 3, 0xbb, 0x86, 0xb1, 3};
    CHECK(memcmp(&bytes[8 * i], expected, 8) == 0);
  }
}

static void test_what_is_not_packed(void) {
  uint32_t words[N_MODULE];
  counting state = {.fail_at = 0};
  const daedalus_allocator allocator = counting_allocator(&state);
  const daedalus_gpu_code code = {.spirv = module, .n_words = N_MODULE};
  CHECK_INT(daedalus_rt_spirv(&allocator, &code, words), 0);
  CHECK(memcmp(words, module, sizeof(module)) == 0);
  static const uint64_t program[] = {1, UINT64_C(1) << 63};
  const daedalus_qpu_code qpu = {.words = program, .n_words = 2};
  uint64_t copy[2];
  CHECK_INT(daedalus_rt_instructions(&allocator, &qpu, (uint8_t *)copy), 0);
  CHECK(memcmp(copy, program, sizeof(program)) == 0);
}

static void test_refusals(void) {
  uint32_t words[N_MODULE + 1];
  uint8_t bytes[8 * (N_PROGRAM + 1)];
  CHECK_INT(unpack_module(module_text, N_MODULE, words, 0), -ENOMEM);
  CHECK_INT(unpack_program(program_text, N_PROGRAM, bytes, 0), -ENOMEM);
  for (int more = -1; more <= 1; more += 2) { /* words than there are */
    CHECK_INT(unpack_module(module_text, (size_t)(N_MODULE + more), words, -1), -EINVAL);
    CHECK_INT(unpack_program(program_text, (size_t)(N_PROGRAM + more), bytes, -1), -EINVAL);
  }
  static const char *const wrong[][2] = {
      {"BwAA8AO7hrEDiwgAAAGSCAAAApII"},   /* ends within a run's distance */
      {"BwAA8AO7hrEDiwkAAAGSCAAAApIIAA"}, /* from before the first byte */
      {"BwAA8AO7hrEDiwAAAAGSCAAAApIIAA"}, /* from itself */
      {"BwAA8AO7hrEDiwgAAAGSCAAAApIIA?"}, /* no base64 */
      {"RwAA8AO7hrEDiwgAAAGSCAAAApIIAA"}, /* more bytes in a run than there are */
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
    CHECK_INT(unpack_program(wrong[i], N_PROGRAM, bytes, -1), -EINVAL);
  }
}

/* Texts of characters by chance, and the module's with one of them changed. */
static void test_any_text(void) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint32_t random = 1;
  for (int round = 0; round < 20000; round++) {
    char text[sizeof(MODULE_BEGINS MODULE_ENDS)] = MODULE_BEGINS MODULE_ENDS;
    const size_t length = sizeof(text) - 1;
    for (size_t i = 0; i < length; i++) {
      random = random * 1664525 + 1013904223;
      if (round % 2 == 0 || (random >> 8) % length == 0) {
        text[i] = alphabet[random >> 26];
      }
    }
    const char *const pieces[] = {text, NULL};
    uint32_t words[N_MODULE];
    uint8_t bytes[8 * N_PROGRAM];
    const long spirv = unpack_module(pieces, N_MODULE, words, -1);
    const long qpu = unpack_program(pieces, N_PROGRAM, bytes, -1);
    CHECK(spirv == 0 || spirv == -EINVAL);
    CHECK(qpu == 0 || qpu == -EINVAL);
  }
}

int main(void) {
  test_what_was_packed();
  test_what_is_not_packed();
  test_refusals();
  test_any_text();
  return check_failures != 0;
}
