/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can run a kernel's classes for a substrate, in the order in which it is taken.
 *
 * A list is made at the first use, once for a context, a kernel and a substrate: it opens the GPU
 * if the substrate asks for it, or the recipe does, and has every variant compiled and tested that
 * may ever be taken.  From then on an append looks up, by class and alignment.
 */
#ifndef DAEDALUS_BATCH_CHOICES_H
#define DAEDALUS_BATCH_CHOICES_H

#include <stdbool.h>

#include "base/context.h"
#include "cpu/cpu.h"

/**
 * Whether a substrate can be asked for; opens the GPU for who asks for it and for nothing else.
 * @return 0; -EINVAL or -ENODEV (it is unknown or not there), logged
 */
int daedalus_rt_choices_check(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                              daedalus_substrate substrate);

/** The list, there already or made now, for a substrate that was checked.  @return 0 or -ENOMEM */
int daedalus_rt_choices_get(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel,
                            daedalus_substrate substrate, daedalus_choices **choices);

/** Whether it depends on the alignment of buffers what is taken. */
bool daedalus_rt_choices_by_alignment(const daedalus_choices *choices);

/**
 * Looks up what runs a class.  Where all that fit could not be tested when the list was made, by an
 * earlier call, they are tested again.
 * @param places  the bits that are set in any address, stride or offset of each buffer; NULL: none
 */
daedalus_pick daedalus_rt_choices_pick(daedalus_choices *choices, uint16_t class_index,
                                       const uintptr_t *places);

/** Of all classes, where the configuration has the CPU stand in for the last, too. */
void daedalus_rt_choices_pick_all(daedalus_choices *choices, const uintptr_t *places,
                                  daedalus_pick *picks);

/** @return the first of `n` buffers that is not aligned as a GPU variant needs it, or n */
size_t daedalus_rt_misaligned(const uint8_t *align, const uintptr_t *places, size_t n);

/** Opens the GPU for who asks for it.  @return 0 or -ENODEV, logged */
int daedalus_rt_choices_open(daedalus_ctx *ctx, const daedalus_kernel_desc *kernel);

/** Frees all lists of a context. */
void daedalus_rt_choices_free(daedalus_ctx *ctx);

#endif /* DAEDALUS_BATCH_CHOICES_H */
