/* SPDX-License-Identifier: BSD-2-Clause */
/* The same from C++. */
#include <daedalus.h>
#include <daedalus/table.h>

int main() {
  daedalus_ctx *ctx = daedalus_ctx_create_no_qpu();
  const bool found = daedalus_find_kernel("no such kernel") == nullptr;
  daedalus_ctx_destroy(ctx);
  return ctx != nullptr && found ? 0 : 1;
}
