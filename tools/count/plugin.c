/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin.c - counts the instructions that a program executes under qemu-user.
 *
 *   qemu-aarch64 -plugin ./plugin.so,out=FILE program ...
 *
 * writes their number to FILE when the program ends.  Debian ships no header
 * of qemu's plugin interface; the few declarations it takes are below (version
 * 1 of the interface, qemu 4.2 to 8).
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
typedef struct qemu_plugin_tb qemu_plugin_tb;
typedef struct qemu_plugin_insn qemu_plugin_insn;
enum { INLINE_ADD_U64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*callback)(plugin_id, qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb *block);
qemu_plugin_insn *qemu_plugin_tb_get_insn(const qemu_plugin_tb *block, size_t index);
void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn *insn, int operation,
                                                void *counter, uint64_t operand);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*callback)(plugin_id, void *), void *user);

extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

static uint64_t executed;
static char out_path[4096];

static void translated(plugin_id id, qemu_plugin_tb *block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
    qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_tb_get_insn(block, i), INLINE_ADD_U64,
                                               &executed, 1);
  }
}

static void finished(plugin_id id, void *user) {
  (void)id;
  (void)user;
  FILE *file = fopen(out_path, "w");
  if (file) {
    fprintf(file, "%" PRIu64 "\n", executed);
    fclose(file);
  }
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; i++) {
    if (strncmp(argv[i], "out=", 4) == 0) {
      snprintf(out_path, sizeof(out_path), "%s", argv[i] + 4);
    }
  }
  if (!out_path[0]) {
    fprintf(stderr, "plugin.so: out=FILE is missing\n");
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, NULL);
  return 0;
}
