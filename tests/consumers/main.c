/* SPDX-License-Identifier: BSD-2-Clause */
/* The least that a user of the library does; each consumer project builds it. */
#include <daedalus.h>
#include <daedalus/table.h>
#include <stdio.h>

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
  daedalus_ctx_destroy(ctx);
  return 0;
}
