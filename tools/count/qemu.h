/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qemu.h - what a plugin of qemu-user takes, and what qemu calls.
 *
 * Debian ships no header of qemu's plugin interface; these are the declarations of version 1 of it
 * (qemu 4.2 to 8) that are needed here.
 */
#ifndef DAEDALUS_QEMU_H
#define DAEDALUS_QEMU_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t plugin_id;
typedef struct qemu_plugin_tb qemu_plugin_tb;
typedef struct qemu_plugin_insn qemu_plugin_insn;
enum { READS_NO_REGISTERS = 0, ADD_U64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*callback)(plugin_id, qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb *block);
qemu_plugin_insn *qemu_plugin_tb_get_insn(const qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn *insn,
                                            void (*callback)(unsigned int, void *), int flags,
                                            void *user);
/* Adds `by` to *counter before each execution. */
void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn *insn, int operation,
                                                void *counter, uint64_t by);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*callback)(plugin_id, void *), void *user);

extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

#endif /* DAEDALUS_QEMU_H */
