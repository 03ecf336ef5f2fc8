/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/packed.h"

#include <errno.h>
#include <string.h>

enum {
  HEADER = 5,     /* words of a SPIR-V module before its first instruction */
  MOST_BYTES = 6, /* that a word of SPIR-V is packed into */
  LITERALS = 128, /* at most, of a run that stands in the text; what is larger says other runs */
  SHORTEST = 5,   /* of the other runs */
  NEAR = 64,      /* operands that are said by their distance from the newest id; and small ones */
  AHEAD = 8,      /* how many of those are larger than it */
  STEP = 16       /* what is larger by less becomes the newest */
};

typedef struct text {
  const char *const *piece; /* the current one, or the NULL behind the last */
  const char *at;           /* in it */
  uint32_t bits;            /* the lowest n_bits: read and not yet taken */
  unsigned n_bits;
} text;

/** @return the value of the next character, or -1 behind the last. */
static int next_value(text *t) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (*t->piece != NULL && *t->at == '\0') {
    t->at = *++t->piece;
  }
  if (*t->piece == NULL) {
    return -1;
  }
  const char *found = memchr(alphabet, *t->at++, sizeof(alphabet) - 1);
  return found == NULL ? -1 : (int)(found - alphabet);
}

/** @return the next byte, or -1 where there is none. */
static int next_byte(text *t) {
  while (t->n_bits < 8) {
    const int value = next_value(t);
    if (value < 0) {
      return -1;
    }
    t->bits = t->bits << 6 | (uint32_t)value;
    t->n_bits += 6;
  }
  t->n_bits -= 8;
  return (int)(t->bits >> t->n_bits & 0xff);
}

/** @return whether the text is runs of `*n` bytes or fewer; *n is then how many. */
static bool unpack(const char *const *pieces, uint8_t *bytes, size_t *n) {
  text t = {.piece = pieces, .at = pieces[0]};
  size_t done = 0;
  for (int kind = next_byte(&t); kind >= 0; kind = next_byte(&t)) {
    const bool again = kind >= LITERALS;
    const size_t length = (size_t)(again ? kind - LITERALS + SHORTEST : kind + 1);
    const int low = again ? next_byte(&t) : 0, high = again ? next_byte(&t) : 0;
    const size_t back = (size_t)low + 256 * (size_t)high;
    if (low < 0 || high < 0 || length > *n - done || (again && (back == 0 || back > done))) {
      return false;
    }
    for (const size_t end = done + length; done < end; done++) {
      const int byte = again ? bytes[done - back] : next_byte(&t);
      if (byte < 0) {
        return false;
      }
      bytes[done] = (uint8_t)byte;
    }
  }
  *n = done;
  return *t.piece == NULL;
}

typedef struct stream {
  const uint8_t *at, *end;
} stream;

/** @return whether there was a number of 32 bits. */
static bool number(stream *s, uint32_t *value) {
  *value = 0;
  for (unsigned shift = 0; shift < 32 && s->at < s->end; shift += 7) {
    const uint8_t byte = *s->at++;
    *value |= (uint32_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

/** @return whether there was an operand; `newest` is the id that it may be near to. */
static bool operand(stream *s, uint32_t *newest, uint32_t *value) {
  const bool near = s->at < s->end && *s->at >= NEAR && *s->at < 2 * NEAR;
  if (!number(s, value)) {
    return false;
  }
  if (near) {
    *value = *newest + AHEAD - (*value - NEAR);
  }
  if (*value > *newest && *value - *newest < STEP) {
    *newest = *value;
  }
  return true;
}

/** @return whether the stream is a module of so many words. */
static bool module(stream s, uint32_t *words, size_t n_words) {
  size_t done = 0;
  while (done < n_words && done < HEADER) {
    if (!number(&s, &words[done++])) {
      return false;
    }
  }
  for (uint32_t newest = 0; done < n_words;) {
    uint32_t length, opcode;
    if (!number(&s, &length) || !number(&s, &opcode) || length == 0 || length > n_words - done) {
      return false;
    }
    words[done++] = length << 16 | opcode;
    for (uint32_t i = 1; i < length; i++) {
      if (!operand(&s, &newest, &words[done++])) {
        return false;
      }
    }
  }
  return s.at == s.end;
}

int daedalus_rt_spirv(const daedalus_allocator *allocator, const daedalus_gpu_code *code,
                      uint32_t *words) {
  if (code->packed == NULL) {
    memcpy(words, code->spirv, code->n_words * sizeof(*words));
    return 0;
  }
  size_t n = code->n_words * MOST_BYTES;
  uint8_t *bytes = allocator->resize(allocator->user, NULL, n);
  if (bytes == NULL) {
    return -ENOMEM;
  }
  const bool right =
      unpack(code->packed, bytes, &n) && module((stream){bytes, bytes + n}, words, code->n_words);
  allocator->release(allocator->user, bytes);
  return right ? 0 : -EINVAL;
}

int daedalus_rt_instructions(const daedalus_allocator *allocator, const daedalus_qpu_code *code,
                             uint8_t *instructions) {
  const size_t size = code->n_words * sizeof(*code->words);
  if (code->packed == NULL) {
    memcpy(instructions, code->words, size);
    return 0;
  }
  uint8_t *bytes = allocator->resize(allocator->user, NULL, size);
  if (bytes == NULL) {
    return -ENOMEM;
  }
  size_t n = size;
  const bool right = unpack(code->packed, bytes, &n) && n == size;
  if (right) {
    memcpy(instructions, bytes, size);
  }
  allocator->release(allocator->user, bytes);
  return right ? 0 : -EINVAL;
}
