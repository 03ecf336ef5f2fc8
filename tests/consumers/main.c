/* SPDX-License-Identifier: BSD-2-Clause */
/* The least that a user of the library does; each consumer project builds it. */
#include <daedalus.h>
#include <daedalus/table.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Which kernels there are depends on the generated code: one with VP9 has this header. */
#if __has_include(<daedalus/vp9.h>)
#include <daedalus/vp9.h>

/* Two 8x8 blocks with a DC coefficient of 64 * k only: k is added to each of their pixels. */
static int run_kernel(daedalus_ctx *ctx) {
  enum { STRIDE = 32, ROWS = 10, PIXEL = 100 };
  static const int added[2] = {8, -5};
  static int16_t coeffs[2][64];
  static uint8_t pixels[ROWS][STRIDE];
  const daedalus_vp9_idct8_meta meta[2] = {
      {.dst_off = STRIDE + 4, .eob = 1},
      {.dst_off = STRIDE + 20, .eob = 1},
  };
  memset(pixels, PIXEL, sizeof(pixels));
  coeffs[0][0] = (int16_t)(64 * added[0]);
  coeffs[1][0] = (int16_t)(64 * added[1]);
  const int error = daedalus_recipe_dispatch_vp9_idct8(ctx, pixels[0], STRIDE, coeffs[0], 2, meta);
  if (error != 0) {
    fprintf(stderr, "vp9_idct8: %s\n", daedalus_strerror(error));
    return 1;
  }
  for (int y = 0; y < ROWS; y++) {
    for (int x = 0; x < STRIDE; x++) {
      const int inside = y >= 1 && y < 9 && x % 16 >= 4 && x % 16 < 12;
      const int expected = PIXEL + (inside ? added[x / 16] : 0);
      if (pixels[y][x] != expected) {
        fprintf(stderr, "vp9_idct8: row %d, column %d is %d, expected %d\n", y, x, pixels[y][x],
                expected);
        return 1;
      }
    }
  }
  printf("vp9_idct8: good\n");
  return 0;
}
#else
static int run_kernel(daedalus_ctx *ctx) {
  (void)ctx;
  return 0;
}
#endif

int main(void) {
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  if (ctx == NULL) {
    fprintf(stderr, "no context\n");
    return 1;
  }
  /* No kernel by name: this has to hold with any generated code. */
  for (size_t i = 0; i < daedalus_kernels.n_kernels; i++) {
    const daedalus_kernel_desc *kernel = &daedalus_kernels.kernels[i];
    if (daedalus_find_kernel(kernel->id) != kernel) {
      fprintf(stderr, "%s is not found\n", kernel->id);
      return 1;
    }
  }
  daedalus_recipe_info recipe = {.size = sizeof(recipe)};
  if (daedalus_ctx_recipe(ctx, &recipe) != 0 || recipe.problem != NULL) {
    fprintf(stderr, "recipe: %s\n", recipe.problem == NULL ? "not told" : recipe.problem);
    return 1;
  }
  const int failed = run_kernel(ctx);
  daedalus_ctx_destroy(ctx);
  return failed;
}
