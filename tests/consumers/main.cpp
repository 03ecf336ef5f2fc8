/* SPDX-License-Identifier: BSD-2-Clause */
/* The same from C++. */
#include <daedalus.h>
#include <daedalus/table.h>

#include <cstdint>

#if __has_include(<daedalus/vp9.h>)
#include <daedalus/vp9.h>

/* A DC coefficient of 64 * 8 adds 8 to each pixel of the block. */
static bool runs_kernel(daedalus_ctx *ctx) {
  std::uint8_t pixels[8 * 8] = {};
  std::int16_t coeffs[64] = {64 * 8};
  daedalus_vp9_idct8_meta meta = {};
  meta.eob = 1;
  if (daedalus_recipe_dispatch_vp9_idct8(ctx, pixels, 8, coeffs, 1, &meta) != 0) {
    return false;
  }
  for (const std::uint8_t pixel : pixels) {
    if (pixel != 8) {
      return false;
    }
  }
  return true;
}
#else
static bool runs_kernel(daedalus_ctx *) {
  return true;
}
#endif

int main() {
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  const bool found = daedalus_find_kernel("no such kernel") == nullptr;
  const bool good = ctx != nullptr && found && runs_kernel(ctx);
  daedalus_ctx_destroy(ctx);
  return good ? 0 : 1;
}
