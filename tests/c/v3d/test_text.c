/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: daedalus_v3d_test_text FOLDER N [--update]
 *
 * Known words and their text; the listings in FOLDER, which have every operation, modifier,
 * condition, flag change, signal set and form of branch; N random words, to struct and back and to
 * text and back.  --update writes the listings anew.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <daedalus/v3d/text.h>

#include "check.h"
#include "encoding/tables.h"
#include "text/names.h"

/* Words that Mesa's and py-videocore7's tests pin. canonical is 0 where word is. */
static const struct {
  uint64_t word, canonical;
  const char *text;
} vectors[] = {
#define V(word, text) {UINT64_C(word), 0, text}
#define N(word, canonical, text) {UINT64_C(word), UINT64_C(canonical), text}
    V(0x38003186bb03f000, "nop                           ; nop"),
    V(0x38203186bb03f000, "nop                           ; nop                         ; thrsw"),
    V(0x3980f186bb03f000,
      "nop                           ; nop                         ; ldunifrf.rf3"),
    V(0x3882f186bb03f000,
      "nop                           ; nop                         ; ldtmu.rf11"),
    V(0x38002185bb03f001, "tidx rf5                      ; nop"),
    V(0x3980218abb03f002,
      "eidx rf10                     ; nop                         ; ldunifrf.rf0"),
    V(0x39c0218df903f103, "mov rf13, 4                   ; nop"),
    V(0x3800218df903f1c3, "mov rf13, rf7                 ; nop"),
    V(0x39e0218d7c03f344, "shl rf13, rf13, 4             ; nop"),
    V(0x380021803803f00a, "add rf0, rf0, rf10            ; nop"),
    V(0x380021843c03f146, "sub rf4, rf5, rf6             ; nop"),
    V(0x380021810503f083, "fadd rf1, rf2, rf3            ; nop"),
    V(0x380021810503f0c2, "faddnf rf1, rf3, rf2          ; nop"),
    V(0x380021818503f083, "fmin rf1, rf2, rf3            ; nop"),
    V(0x380021818503f0c2, "fmax rf1, rf3, rf2            ; nop"),
    V(0x380021814503f083, "fsub rf1, rf2, rf3            ; nop"),
    V(0x38002181f603f0a0, "itof rf1, rf2                 ; nop"),
    V(0x38002181f503f097, "ftoiz rf1, rf2                ; nop"),
    V(0x38002181f503f0a7, "ftouz rf1, rf2                ; nop"),
    V(0x38002181f503f0a4, "ffloor rf1, rf2               ; nop"),
    V(0x38002181ba03f085, "clz rf1, rf2                  ; nop"),
    V(0x38002181bc03f0a0, "recip rf1, rf2                ; nop"),
    V(0x0420100cf900d003, "mov tmua, rf0                 ; add rf0, rf0, rf13          ; thrsw"),
    V(0x3800318bf903f283, "mov tmud, rf10                ; nop"),
    V(0x39c031a0f903f7c3, "mov tmuc, -1                  ; nop"),
    V(0x54001046bb083000, "nop                           ; fmul rf1, rf2, rf3"),
    V(0x0c001046bb083000, "nop                           ; umul24 rf1, rf2, rf3"),
    V(0x24001046bb083000, "nop                           ; smul24 rf1, rf2, rf3"),
    V(0x28003186bb083000, "nop                           ; multop -, rf2, rf3"),
    V(0x38001046bb083000, "nop                           ; mov rf1, rf2"),
    V(0x38001046bb084000, "nop                           ; fmov rf1, rf2"),
    V(0x5400010138146083, "add rf1, rf2, rf3             ; fmul rf4, rf5, rf6"),
    V(0x380061813803f083, "add.pushz rf1, rf2, rf3       ; nop"),
    V(0x380821813803f083, "add.ifa rf1, rf2, rf3         ; nop"),
    V(0x38203192bb03f00e, "barrierid syncb               ; nop                         ; thrsw"),
    V(0x39e02181fd03f081, "rot rf1, rf2, 1               ; nop"),
    V(0x38003dc6bb1c3000, "nop                           ; mov rep, rf7"),
    N(0x39c0000a3803f042, 0x39c0218a3803f042, "add rf10, 1, rf2              ; nop"),
    N(0x39e0000b3c03f0de, 0x39e0218b3c03f0de, "sub rf11, rf3, -2             ; nop"),
    N(0x57c00340bb105000, 0x57c01346bb105000, "nop                           ; fmul rf13, 4, rf5"),
    N(0x27e00380bb188000, 0x27e01386bb188000,
      "nop                           ; smul24 rf14, rf6, 8"),
    N(0x2c000300bb042030, 0x2c001306bb042030,
      "setnnmode_uu                  ; v8dot rf12, rf1, rf2"),
    V(0x38000411f9190250, "fmov rf17, rf9.sat            ; fmov rf16, rf6.sat"),
    N(0x3800000af503f168, 0x3800218af503f168, "ffloor rf10, rf5.l            ; nop"),
    V(0x0200001000001000, "b  16"),
    V(0x02ffffe5ff001000, "b.anyna  -32"),
    V(0x02fffffbff00d000, "bu.na0  -8, r:unif"),
    V(0x0234567812000000, "b  zero_addr+0x12345678"),
    V(0x0200000000003140, "b  rf5"),
    /* An unused destination written otherwise, unused sources, bdu without ub. */
    N(0x38000000bb03f000, 0x38003186bb03f000, "nop                           ; nop"),
    N(0x3800218dbbfff001, 0x3800218dbb03f001, "tidx rf13                     ; nop"),
    N(0x0200001000009000, 0x0200001000001000, "b  16"),
    N(0x020000100000117f, 0x0200001000001000, "b  16"),
#undef V
#undef N
};

static void test_vectors(void) {
  for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    const uint64_t canonical = vectors[i].canonical != 0 ? vectors[i].canonical : vectors[i].word;
    char text[DAEDALUS_V3D_LINE];
    daedalus_v3d_instruction x;
    uint64_t word = 0;
    CHECK_STR(daedalus_v3d_disassemble(vectors[i].word, text) == NULL ? text : "illegal",
              vectors[i].text);
    CHECK(daedalus_v3d_unpack(vectors[i].word, &x) == NULL);
    CHECK(daedalus_v3d_pack(&x, &word) == NULL && word == canonical);
    daedalus_v3d_program program;
    daedalus_v3d_diagnostic mistake = {0};
    CHECK_INT(daedalus_v3d_assemble(text, strlen(text), &program, &mistake, 1), 0);
    CHECK_STR(mistake.message, "");
    CHECK(program.n_words == 1 && program.words[0] == canonical);
    daedalus_v3d_program_free(&program);
  }
}

static void test_illegal_word(void) {
  char text[DAEDALUS_V3D_LINE];
  CHECK_STR(daedalus_v3d_disassemble(0, text),
            "the word is neither an ALU instruction nor a branch");
  CHECK_STR(text, ".word 0x0000000000000000");
}

/* The names of write addresses are those that there are. */
static void test_names(void) {
  for (unsigned waddr = 0; waddr < DAEDALUS_V3D_N_WADDRS; waddr++)
    CHECK_INT(daedalus_v3d_waddr_names[waddr] != NULL, daedalus_v3d_is_magic_waddr(waddr));
  for (unsigned i = 0; i < DAEDALUS_V3D_N_UNPACKS; i++)
    CHECK(daedalus_v3d_unpack_names[i] != NULL);
}

/* The listings. */

static void list(FILE *file, const daedalus_v3d_instruction *x) {
  uint64_t word;
  char text[DAEDALUS_V3D_LINE];
  if (daedalus_v3d_pack(x, &word) != NULL)
    return; /* the lists below try more than there is */
  daedalus_v3d_format(x, text);
  fprintf(file, "0x%016" PRIx64 " %s\n", word, text);
}

static void list_operation(FILE *file, unsigned op, bool on_mul) {
  const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
  if (!(on_mul ? operation->on_mul : operation->on_add))
    return;
  for (unsigned i = 0; i < DAEDALUS_V3D_N_UNPACKS * 2 * DAEDALUS_V3D_N_PACKS; i++) {
    daedalus_v3d_instruction x = daedalus_v3d_nop();
    daedalus_v3d_alu *alu = on_mul ? &x.mul : &x.add;
    const unsigned unpack = i / 2 % DAEDALUS_V3D_N_UNPACKS;
    if (unpack == 0 && i % 2 != 0)
      continue;
    alu->op = (uint8_t)op;
    alu->pack = (uint8_t)(i / 2 / DAEDALUS_V3D_N_UNPACKS);
    if (op != DAEDALUS_V3D_OP_NOP && (operation->traits & DAEDALUS_V3D_TRAIT_NO_DEST) == 0)
      alu->dest = (daedalus_v3d_dest){.waddr = 4};
    for (unsigned k = 0; k < operation->sources; k++)
      alu->src[k].index = (uint8_t)(5 + k);
    alu->src[i % 2].unpack = (uint8_t)unpack;
    daedalus_v3d_order_sources(&x.add);
    list(file, &x);
  }
}

static void list_conditions(FILE *file) {
  for (unsigned field = 0; field < 128; field++) {
    daedalus_v3d_instruction x = daedalus_v3d_nop();
    daedalus_v3d_condition condition;
    x.add.op = x.mul.op = DAEDALUS_V3D_OP_SUB;
    if (daedalus_v3d_decode_condition(field, &condition) != NULL)
      continue;
    x.add.cond = condition.add_cond;
    x.add.flags = condition.add_flags;
    x.mul.cond = condition.mul_cond;
    x.mul.flags = condition.mul_flags;
    list(file, &x);
  }
}

static void list_signals(FILE *file) {
  for (unsigned signals = 0; signals < 1u << DAEDALUS_V3D_N_SIGNALS; signals++) {
    daedalus_v3d_instruction x = daedalus_v3d_nop();
    x.signals = (uint16_t)signals;
    if ((signals & DAEDALUS_V3D_SIGNALS_WITH_ADDRESS) != 0)
      x.signal_dest.waddr = 9;
    list(file, &x);
  }
  for (unsigned waddr = 0; waddr < DAEDALUS_V3D_N_WADDRS; waddr++) {
    daedalus_v3d_instruction x = daedalus_v3d_nop();
    x.add.op = DAEDALUS_V3D_OP_EIDX;
    x.add.dest = (daedalus_v3d_dest){.magic = 1, .waddr = (uint8_t)waddr};
    list(file, &x);
  }
}

static void list_immediates(FILE *file) {
  for (unsigned i = 0; i < 2 * DAEDALUS_V3D_SMALL_IMMEDIATES; i++) {
    daedalus_v3d_instruction x = daedalus_v3d_nop();
    daedalus_v3d_alu *alu = i % 4 < 2 ? &x.add : &x.mul;
    alu->op = i % 4 < 2 ? DAEDALUS_V3D_OP_FSUB : DAEDALUS_V3D_OP_FMUL;
    alu->src[i % 2] = (daedalus_v3d_operand){
        .small = 1, .index = (uint8_t)(i / 2), .unpack = i % 3 ? 0 : DAEDALUS_V3D_UNPACK_L};
    list(file, &x);
  }
}

static void list_branches(FILE *file) {
  for (unsigned i = 0; i < 8 * 3 * 2; i++) {
    daedalus_v3d_instruction x = {.is_branch = 1};
    x.branch = (daedalus_v3d_branch){.cond = (uint8_t)(i % 8),
                                     .msfign = (uint8_t)(i / 8 % 3),
                                     .set_link = (uint8_t)(i / 24),
                                     .target = DAEDALUS_V3D_BRANCH_RELATIVE,
                                     .offset = UINT32_C(0x89abcde8)};
    list(file, &x);
  }
  for (unsigned i = 0; i < 4 * 5; i++) {
    daedalus_v3d_instruction x = {.is_branch = 1};
    x.branch.target = (uint8_t)(i % 4);
    x.branch.uniforms = i >= 4;
    x.branch.uniform_dest = (uint8_t)(i < 4 ? 0 : i / 4 - 1);
    if (i % 4 < 2)
      x.branch.offset = 0x12345678;
    if (i % 4 == 3 || x.branch.uniform_dest == 3)
      x.branch.reg = 12;
    list(file, &x);
  }
}

static void list_operations(FILE *file) {
  fprintf(file, "# Every operation and modifier.\n");
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++) {
    list_operation(file, op, false);
    list_operation(file, op, true);
  }
}

static void list_instructions(FILE *file) {
  fprintf(file, "# Every condition, flag change, signal set, immediate and branch.\n");
  list_conditions(file);
  list_signals(file);
  list_immediates(file);
  list_branches(file);
}

static const struct listing {
  const char *name;
  void (*write)(FILE *file);
  size_t least; /* words */
} listings[] = {
    {"operations.qpu", list_operations, 300},
    {"instructions.qpu", list_instructions, 300},
};
enum { N_LISTINGS = sizeof listings / sizeof *listings };

static FILE *open_listing(const char *folder, const struct listing *listing, const char *mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, listing->name);
  return fopen(path, mode);
}

static void test_listing(const char *folder, const struct listing *listing) {
  static char ours[1 << 20], golden[1 << 20];
  FILE *made = tmpfile(), *kept = open_listing(folder, listing, "r");
  CHECK(made != NULL && kept != NULL);
  if (made == NULL || kept == NULL)
    return;
  listing->write(made);
  rewind(made);
  const size_t length = fread(ours, 1, sizeof ours - 1, made);
  const size_t golden_length = fread(golden, 1, sizeof golden - 1, kept);
  fclose(made);
  fclose(kept);
  if (length != golden_length || memcmp(ours, golden, length) != 0) {
    size_t at = 0;
    while (ours[at] != '\0' && ours[at] == golden[at])
      at++;
    while (at > 0 && ours[at - 1] != '\n')
      at--;
    fprintf(stderr, "%s: the listing is not what it was (--update writes it anew):\n-%.*s\n+%.*s\n",
            listing->name, (int)strcspn(golden + at, "\n"), golden + at,
            (int)strcspn(ours + at, "\n"), ours + at);
    CHECK(false);
  }
  /* Each line states its word: the assembler compares. */
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic mistake = {0};
  CHECK_INT(daedalus_v3d_assemble(golden, golden_length, &program, &mistake, 1), 0);
  CHECK_STR(mistake.message, "");
  CHECK(program.n_words > listing->least);
  daedalus_v3d_program_free(&program);
}

/* Random words. */

static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Any word; half of them branches, or with the opcodes that few random words would have. */
static uint64_t random_word(uint64_t *state) {
  uint64_t word = next_random(state);
  const uint64_t how = next_random(state);
  if (how & 1) {
    if ((how & 2) != 0)
      word = (word & ~(UINT64_C(0xff) << 24)) | (186 + (how >> 8) % 69) << 24;
    if ((how & 4) != 0)
      word = (word & ~(UINT64_C(63) << 58)) | UINT64_C(14) << 58;
    if ((how & 0x38) == 0)
      word = (word & ~(UINT64_C(0xff) << 56)) | UINT64_C(2) << 56;
    word &= ~(how & UINT64_C(3) << 44); /* fewer reserved write addresses */
  }
  return word;
}

enum { BATCH = 512 };

typedef struct batch {
  char text[BATCH * DAEDALUS_V3D_LINE];
  size_t length, n;
  uint64_t canonical[BATCH];
} batch;

/* The text of the batch has to assemble to its words. */
static void finish(batch *b) {
  daedalus_v3d_program program;
  daedalus_v3d_diagnostic mistake = {0};
  CHECK_INT(daedalus_v3d_assemble(b->text, b->length, &program, &mistake, 1), 0);
  CHECK_STR(mistake.message, "");
  CHECK_INT(program.n_words, b->n);
  CHECK(program.n_words == b->n &&
        (b->n == 0 || memcmp(program.words, b->canonical, b->n * sizeof *b->canonical) == 0));
  daedalus_v3d_program_free(&program);
  b->length = b->n = 0;
}

static void test_random_words(unsigned long n) {
  static batch b;
  unsigned long legal = 0;
  uint64_t state = 71;
  for (unsigned long i = 0; i < n && check_failures < 10; i++) {
    const uint64_t word = random_word(&state);
    daedalus_v3d_instruction x, y;
    if (daedalus_v3d_unpack(word, &x) != NULL)
      continue;
    legal++;
    uint64_t *canonical = &b.canonical[b.n];
    if (daedalus_v3d_pack(&x, canonical) != NULL || daedalus_v3d_unpack(*canonical, &y) != NULL ||
        memcmp(&x, &y, sizeof x) != 0) {
      fprintf(stderr, "0x%016" PRIx64 " does not come back\n", word);
      CHECK(false);
      continue;
    }
    b.length += daedalus_v3d_format(&x, b.text + b.length);
    b.text[b.length++] = '\n';
    if (++b.n == BATCH)
      finish(&b);
  }
  finish(&b);
  CHECK(legal > n / 4);
  printf("%lu random words, %lu of them legal\n", n, legal);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s FOLDER N [--update]\n", argv[0]);
    return 2;
  }
  for (size_t i = 0; argc > 3 && i < N_LISTINGS; i++) {
    FILE *file = open_listing(argv[1], &listings[i], "w");
    if (file == NULL)
      return 2;
    listings[i].write(file);
    if (fclose(file) != 0)
      return 2;
  }
  if (argc > 3)
    return 0;
  RUN(test_vectors);
  RUN(test_illegal_word);
  RUN(test_names);
  for (size_t i = 0; i < N_LISTINGS; i++)
    test_listing(argv[1], &listings[i]);
  test_random_words(strtoul(argv[2], NULL, 10));
  return CHECK_RESULT();
}
