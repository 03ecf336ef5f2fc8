/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 * The code of GPU variants, which generated files hold packed, as text: a fifth of what its words
 * take as numbers.  What generator/targets/gpu/packed.py wrote is, from the outside in:
 *
 * - **text**: pieces of base64 (RFC 4648, no padding), one after the other; NULL ends them;
 * - **runs** of bytes: a byte b < 128, and b + 1 bytes as they are; or a byte b >= 128 for a run of
 *   b - 123 bytes, and two bytes, the lower first, that say how far back it is to be found.  It may
 *   overlap what it makes;
 * - **words**: an instruction of the QPU is 8 bytes, the lowest first.  A SPIR-V module is numbers:
 *   the five words of its header, then of every instruction how many words it has, its opcode, and
 *   its operands.  A number is bytes of 7 bits each, the lowest first; all but the last have bit 7
 *   set.  But an operand of one byte is that itself below 64, and from 64 on it is 72 less the
 * byte, added to the newest id.  That is 0 before the first operand; an operand that is more, by
 * less than 16, becomes it.
 */
#ifndef DAEDALUS_GPU_PACKED_H
#define DAEDALUS_GPU_PACKED_H

#include <daedalus/table.h>

#include "base/alloc.h"

/**
 * The module of a variant, packed or not.
 * @param words  code->n_words words, the caller's
 * @return 0; -EINVAL where what is packed is no module of so many words, -ENOMEM
 */
int daedalus_rt_spirv(const daedalus_allocator *allocator, const daedalus_gpu_code *code,
                      uint32_t *words);

/**
 * The instructions of a variant, packed or not.
 * @param instructions  8 * code->n_words bytes, the caller's: as the GPU takes them; only written
 * @return 0; -EINVAL where what is packed are not so many, -ENOMEM
 */
int daedalus_rt_instructions(const daedalus_allocator *allocator, const daedalus_qpu_code *code,
                             uint8_t *instructions);

#endif /* DAEDALUS_GPU_PACKED_H */
