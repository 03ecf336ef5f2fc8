/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin.c - writes down the instructions that a program executes under qemu-user.
 *
 *   qemu-aarch64 -plugin ./plugin.so,out=FILE program ...
 *
 * writes the address of each, in the order of execution, to FILE: 64 bits, as this machine orders
 * bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "qemu.h"

static FILE *trace;

static void executed(unsigned int cpu, void *address) {
  (void)cpu;
  const uint64_t value = (uintptr_t)address;
  if (trace && fwrite(&value, sizeof(value), 1, trace) != 1) {
    perror("plugin.so: the trace");
    fclose(trace); /* what is missing at its end is noticed by who reads it */
    trace = NULL;
  }
}

static void translated(plugin_id id, qemu_plugin_tb *block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
    qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
    qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, READS_NO_REGISTERS,
                                           (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
  }
}

static void finished(plugin_id id, void *user) {
  (void)id;
  (void)user;
  if (trace) {
    fclose(trace);
  }
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info;
  if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
    fprintf(stderr, "plugin.so: out=FILE is missing\n");
    return -1;
  }
  trace = fopen(argv[0] + 4, "wb");
  if (!trace) {
    perror(argv[0] + 4);
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, NULL);
  return 0;
}
