/* SPDX-License-Identifier: BSD-2-Clause */
/* pack() and unpack() are each other's reverse, and refuse what has no encoding. */
#include <daedalus/v3d/instruction.h>

#include "check.h"
#include "encoding/tables.h"

static bool same(const daedalus_v3d_instruction *x, const daedalus_v3d_instruction *y) {
  return memcmp(x, y, sizeof *x) == 0;
}

/* Whether *x packs; if it does it has to come back. */
static bool packs(const daedalus_v3d_instruction *x) {
  uint64_t word = 0, again = 0;
  daedalus_v3d_instruction y;
  if (daedalus_v3d_pack(x, &word) != NULL)
    return false;
  CHECK(daedalus_v3d_unpack(word, &y) == NULL && same(x, &y));
  CHECK(daedalus_v3d_pack(&y, &again) == NULL && again == word);
  return true;
}

/* How many combinations of modifiers an operation has, on one ALU; registers are rf1 and rf2. */
static unsigned count_modifiers(unsigned op, bool on_mul, unsigned small) {
  unsigned count = 0;
  for (unsigned a = 0; a < DAEDALUS_V3D_N_UNPACKS; a++)
    for (unsigned b = 0; b < DAEDALUS_V3D_N_UNPACKS; b++)
      for (unsigned pack = 0; pack < DAEDALUS_V3D_N_PACKS; pack++) {
        daedalus_v3d_instruction x = daedalus_v3d_nop();
        daedalus_v3d_alu *alu = on_mul ? &x.mul : &x.add;
        const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
        alu->op = (uint8_t)op;
        if (op != DAEDALUS_V3D_OP_NOP && (operation->traits & DAEDALUS_V3D_TRAIT_NO_DEST) == 0)
          alu->dest = (daedalus_v3d_dest){.magic = 0, .waddr = 63};
        alu->pack = (uint8_t)pack;
        const unsigned unpacks[2] = {a, b};
        for (unsigned i = 0; i < 2; i++) {
          alu->src[i].unpack = (uint8_t)unpacks[i];
          if (i < operation->sources)
            alu->src[i].index = (uint8_t)(i + 1);
          alu->src[i].small = small == i + 1;
        }
        count += packs(&x);
      }
  return count;
}

static unsigned expected_modifiers(unsigned op) {
  static const struct {
    const char *ops;
    unsigned count;
  } groups[] = {
      {" fsub fmul ", 4 * 4 * 3},
      {" fcmp ", 4 * 4},
      {" vfpack ", 3 * 3},
      {" vfadd vfsub vfmin vfmax vfcmp vfmul mov ", 5},
      {" fround ftrunc ffloor fceil fdx fdy ", 3 * 3},
      {" ftoin ftoiz ftouz ftoc itof utof fxcd fycd ", 3},
      {" fmov ", 7 * 3},
  };
  char word[32];
  snprintf(word, sizeof word, " %s ", daedalus_v3d_operation_of(op)->text);
  for (unsigned i = 0; i < sizeof groups / sizeof *groups; i++)
    if (strstr(groups[i].ops, word) != NULL)
      return groups[i].count;
  return 1;
}

static void test_modifiers(void) {
  for (unsigned op = 0; op < DAEDALUS_V3D_N_OPS; op++) {
    const daedalus_v3d_operation *operation = daedalus_v3d_operation_of(op);
    const bool pair = (operation->traits & DAEDALUS_V3D_TRAIT_ORDERED_PAIR) != 0;
    for (unsigned small = 0; small <= operation->sources; small++) {
      if (!pair) {
        const unsigned expected = expected_modifiers(op);
        CHECK_INT(count_modifiers(op, false, small), operation->on_add ? expected : 0);
        CHECK_INT(count_modifiers(op, true, small), operation->on_mul ? expected : 0);
      } else if (op == DAEDALUS_V3D_OP_FADD || op == DAEDALUS_V3D_OP_FMIN) {
        const unsigned other =
            op == DAEDALUS_V3D_OP_FADD ? DAEDALUS_V3D_OP_FADDNF : DAEDALUS_V3D_OP_FMAX;
        /* One of the two, whatever stands there. */
        CHECK_INT(count_modifiers(op, false, small) + count_modifiers(other, false, small), 48);
      }
    }
  }
}

/* The reserved codes are those of the instruction set's description. */
static void test_codes(void) {
  unsigned bad_add = 0, bad_mul = 0;
  daedalus_v3d_instruction x;
  for (unsigned op = 0; op < 256; op++) {
    bool any = false;
    for (unsigned selector = 0; selector < 64 && !any; selector++)
      any = daedalus_v3d_unpack(UINT64_C(0x38000041003bf000) | (uint64_t)op << 24 | selector, &x) ==
            NULL;
    bad_add += !any;
    CHECK_INT(any, !((op >= 117 && op <= 119) || (op >= 213 && op <= 239) || op == 255));
  }
  CHECK_INT(bad_add, 3 + 27 + 1);
  for (unsigned op = 1; op < 64; op++) {
    const bool good =
        daedalus_v3d_unpack(UINT64_C(0x00001041bb03f000) | (uint64_t)op << 58, &x) == NULL;
    bad_mul += !good;
    CHECK_INT(good, op != 12 && op != 13 && op != 15);
  }
  CHECK_INT(bad_mul, 3);
  /* Selectors of operations with fewer than two sources. */
  static const struct {
    unsigned op, legal;
  } selectors[] = {{186, 8},  {187, 19 + 6 + 4}, {188, 3 + 10}, {191, 4},
                   {245, 48}, {246, 24},         {249, 21 + 5}};
  for (unsigned i = 0; i < sizeof selectors / sizeof *selectors; i++) {
    unsigned legal = 0;
    for (unsigned selector = 0; selector < 64; selector++)
      legal += daedalus_v3d_unpack(
                   UINT64_C(0x380021810003f000) | (uint64_t)selectors[i].op << 24 | selector, &x) ==
               NULL;
    CHECK_INT(legal, selectors[i].legal);
  }
  unsigned legal = 0;
  for (unsigned selector = 0; selector < 64; selector++)
    legal += daedalus_v3d_unpack(UINT64_C(0x38001046bb000000) | selector << 12, &x) == NULL;
  CHECK_INT(legal, 21 + 5 + 8 + 2 + 1);
}

static void test_conditions(void) {
  unsigned count = 0;
  daedalus_v3d_instruction x = daedalus_v3d_nop();
  for (unsigned i = 0; i < 5 * 5 * 16 * 16; i++) {
    x.add.cond = (uint8_t)(i % 5);
    x.mul.cond = (uint8_t)(i / 5 % 5);
    x.add.flags = (uint8_t)(i / 25 % 16);
    x.mul.flags = (uint8_t)(i / 400);
    count += packs(&x);
  }
  CHECK_INT(count, 127); /* all values of the field but one */
  CHECK(daedalus_v3d_unpack(UINT64_C(0x38003186bb03f000) | UINT64_C(16) << 46, &x) != NULL);
}

static void test_signals(void) {
  unsigned count = 0, beside_small = 0;
  for (unsigned signals = 0; signals < 1u << 11; signals++)
    for (unsigned port = 0; port <= 4; port++) {
      daedalus_v3d_instruction x = daedalus_v3d_nop();
      x.signals = (uint16_t)signals;
      x.add.op = DAEDALUS_V3D_OP_XOR;
      x.mul.op = DAEDALUS_V3D_OP_UMUL24;
      if (port > 0)
        (port <= 2 ? &x.add : &x.mul)->src[(port - 1) & 1].small = 1;
      const bool good = packs(&x);
      count += good && port == 0;
      beside_small += good && port != 0;
    }
  CHECK_INT(count, 25);
  CHECK_INT(beside_small, 4);
  for (unsigned dest = 0; dest < 128; dest++) {
    daedalus_v3d_instruction x = daedalus_v3d_nop();
    x.signals = DAEDALUS_V3D_SIGNAL_LDTMU;
    x.signal_dest = (daedalus_v3d_dest){.magic = dest >= 64, .waddr = dest & 63};
    CHECK_INT(packs(&x), dest < 64 || daedalus_v3d_is_magic_waddr(dest & 63));
  }
}

static void test_branches(void) {
  unsigned count = 0;
  for (unsigned i = 0; i < 9 * 4 * 2 * 5 * 2 * 5 * 2; i++) {
    daedalus_v3d_instruction x = {.is_branch = 1};
    unsigned rest = i;
    x.branch.cond = (uint8_t)(rest % 9), rest /= 9;
    x.branch.msfign = (uint8_t)(rest % 4), rest /= 4;
    x.branch.set_link = rest % 2, rest /= 2;
    x.branch.target = (uint8_t)(rest % 5), rest /= 5;
    x.branch.uniforms = rest % 2, rest /= 2;
    x.branch.uniform_dest = (uint8_t)(rest % 5), rest /= 5;
    if (x.branch.target <= DAEDALUS_V3D_BRANCH_RELATIVE)
      x.branch.offset = UINT32_C(0xfedcba98);
    if (rest != 0)
      x.branch.reg = 63;
    const bool takes_register =
        x.branch.target == DAEDALUS_V3D_BRANCH_REGISTER || x.branch.uniform_dest == 3;
    const bool good = x.branch.cond != 1 && x.branch.cond < 8 && x.branch.msfign < 3 &&
                      x.branch.target < 4 && x.branch.uniform_dest < 4 &&
                      (x.branch.uniforms || x.branch.uniform_dest == 0) &&
                      (takes_register || rest == 0);
    CHECK_INT(packs(&x), good);
    count += good;
  }
  /* conditions, msfign, set_link; targets with and without a register */
  CHECK_INT(count, 7 * 3 * 2 * (3 * (1 + 3 + 2) + 2 * (1 + 4)));
}

#define REFUSED(reason, ...)                         \
  do {                                               \
    daedalus_v3d_instruction x = daedalus_v3d_nop(); \
    uint64_t word = 12345;                           \
    __VA_ARGS__;                                     \
    CHECK_STR(daedalus_v3d_pack(&x, &word), reason); \
    CHECK(word == 12345);                            \
  } while (0)
#define OP(name) DAEDALUS_V3D_OP_##name

static void test_refused_operations(void) {
  const daedalus_v3d_dest rf64 = {.waddr = 64}, magic19 = {.magic = 1, .waddr = 19};
  REFUSED("the add ALU does not have the operation", x.add.op = OP(FMUL));
  REFUSED("the mul ALU does not have the operation", x.mul.op = OP(SHL));
  REFUSED("there is no such operation", x.add.op = DAEDALUS_V3D_N_OPS);
  REFUSED("the highest register is rf63", x.add.op = OP(TIDX), x.add.dest = rf64);
  REFUSED("magic of a destination is 0 or 1", x.add.op = OP(TIDX), x.add.dest.magic = 2);
  REFUSED("small of a source is 0 or 1", x.add.op = OP(NOT), x.add.src[0].small = 2);
  REFUSED("the write address is reserved", x.add.op = OP(TIDX), x.add.dest = magic19);
  REFUSED("the operation has no destination: it has to be `-`", x.add.dest.magic = 0);
  REFUSED("the operation has no destination: it has to be `-`", x.add.op = OP(SETNNMODE_SS),
          x.add.dest.waddr = DAEDALUS_V3D_WADDR_TMUA);
  REFUSED("the operation has no destination: it has to be `-`", x.add.op = OP(STVPMV),
          x.add.dest.magic = 0);
  REFUSED("the operation writes registers only", x.add.op = OP(LDVPMV_IN));
  REFUSED("a source that the operation does not have is not 0", x.add.op = OP(TIDX),
          x.add.src[0].index = 1);
  REFUSED("a source that the operation does not have is not 0", x.mul.op = OP(MOV),
          x.mul.src[1].unpack = 1);
  REFUSED("the highest register is rf63", x.add.op = OP(NOT), x.add.src[0].index = 64);
  REFUSED("there are 48 small immediates", x.add.op = OP(NOT), x.add.src[0].small = 1,
          x.add.src[0].index = 48);
  REFUSED("the operation has no such modifier of a source", x.add.op = OP(ADD),
          x.add.src[0].unpack = DAEDALUS_V3D_UNPACK_L);
  REFUSED("the operation has no such modifier of a source", x.add.op = OP(VFPACK),
          x.add.src[1].unpack = DAEDALUS_V3D_UNPACK_ABS);
  REFUSED("the operation has no such modifier of a source", x.add.op = OP(FFLOOR),
          x.add.src[0].unpack = DAEDALUS_V3D_UNPACK_ABS);
  REFUSED("the operation has no such modifier of a source", x.add.op = OP(NOT),
          x.add.src[0].unpack = 200);
  REFUSED("only the first source of the operation takes a modifier", x.mul.op = OP(VFMUL),
          x.mul.src[1].unpack = DAEDALUS_V3D_UNPACK_SWP);
  REFUSED("the operation has no such modifier of the result", x.add.op = OP(FCMP),
          x.add.pack = DAEDALUS_V3D_PACK_L);
  REFUSED("the operation has no such modifier of the result", x.mul.op = OP(FMUL), x.mul.pack = 3);
  REFUSED("faddnf and fmax of one operand twice have no encoding", x.add.op = OP(FMAX));
  REFUSED(
      "the order of the sources makes it the other operation of fadd/faddnf or fmin/fmax: exchange "
      "them",
      x.add.op = OP(FADD), x.add.src[0].index = 1);
}

static void test_refused_instructions(void) {
  REFUSED("an instruction takes one small immediate", x.add.op = OP(ADD), x.add.src[0].small = 1,
          x.add.src[1].small = 1);
  REFUSED("an instruction takes one small immediate", x.add.op = OP(NOT), x.add.src[0].small = 1,
          x.mul.op = OP(MOV), x.mul.src[0].small = 1);
  REFUSED("a small immediate leaves no room for signals", x.add.op = OP(NOT),
          x.add.src[0].small = 1, x.signals = DAEDALUS_V3D_SIGNAL_THRSW);
  REFUSED("there is no such combination of signals",
          x.signals = DAEDALUS_V3D_SIGNAL_LDTMU | DAEDALUS_V3D_SIGNAL_LDUNIFRF);
  REFUSED("there is no such combination of signals",
          x.signals = DAEDALUS_V3D_SIGNAL_THRSW | DAEDALUS_V3D_SIGNAL_LDUNIFA);
  REFUSED("a destination of signals is named, but no signal has one",
          x.signals = DAEDALUS_V3D_SIGNAL_LDUNIF, x.signal_dest.waddr = 3);
  REFUSED("beside a signal with a destination there is no room for conditions and flag changes",
          x.signals = DAEDALUS_V3D_SIGNAL_LDTMU, x.mul.flags = DAEDALUS_V3D_FLAGS_PUSHZ);
  REFUSED("an operation has a condition or changes flags, not both",
          x.add.cond = DAEDALUS_V3D_COND_IFA, x.add.flags = DAEDALUS_V3D_FLAGS_PUSHZ);
  REFUSED("only one of the two operations can change flags", x.add.flags = DAEDALUS_V3D_FLAGS_PUSHZ,
          x.mul.flags = DAEDALUS_V3D_FLAGS_PUSHZ);
  REFUSED(
      "beside a condition on the add operation the mul operation can push flags, not update them",
      x.add.cond = DAEDALUS_V3D_COND_IFA, x.mul.flags = DAEDALUS_V3D_FLAGS_ANDZ);
  REFUSED("there is no such condition", x.add.cond = DAEDALUS_V3D_N_CONDS);
  REFUSED("there is no such flag change", x.add.flags = DAEDALUS_V3D_N_FLAGS);
  REFUSED("branch is not 0, but the instruction is none", x.branch.offset = 8);
  REFUSED("is_branch is 0 or 1, and reserved is 0", x.reserved[2] = 1);
  REFUSED("a branch has no operations and no signals", x.is_branch = 1);
#define BRANCH memset(&x, 0, sizeof x), x.is_branch = 1
  REFUSED("the offset of a branch is a multiple of 8", BRANCH, x.branch.offset = 4);
  REFUSED("a branch to the link register or a register has no offset", BRANCH,
          x.branch.target = DAEDALUS_V3D_BRANCH_LINK, x.branch.offset = 8);
  REFUSED("a register is named, but no destination of the branch uses it", BRANCH,
          x.branch.reg = 1);
  REFUSED("a destination of the uniform stream is named, but it does not branch", BRANCH,
          x.branch.uniform_dest = DAEDALUS_V3D_BRANCH_RELATIVE);
  REFUSED("there is no such branch condition", BRANCH, x.branch.cond = 1);
  REFUSED("set_link and uniforms are 0 or 1, and reserved is 0", BRANCH, x.branch.set_link = 2);
  REFUSED("the highest register is rf63", BRANCH, x.branch.target = DAEDALUS_V3D_BRANCH_REGISTER,
          x.branch.reg = 64);
  REFUSED("there is no such msfign", BRANCH, x.branch.msfign = 3);
}

static void test_illegal_words(void) {
  static const struct {
    uint64_t word;
    const char *why;
  } words[] = {
      {0, "the word is neither an ALU instruction nor a branch"},
      {UINT64_C(0x0300000000000000), "the word is neither an ALU instruction nor a branch"},
      {UINT64_C(0x0200000100000000), "branch condition 1 is reserved"},
      {UINT64_C(0x0200000000601000), "msfign 3 is reserved"},
      {UINT64_C(0x0200000000024000), "the destination of the uniform stream is reserved"},
      {UINT64_C(0x3ae03186bb03f000), "the value of the signal field is reserved"},
      {UINT64_C(0x38003186ff03f000), "the add ALU has no operation with this code"},
      {UINT64_C(0x30003186bb03f000), "the mul ALU has no operation with this code"},
      {UINT64_C(0x380031937c03f041), "the write address is reserved"},
      {UINT64_C(0x38903186bb03f000), "the write address of the signal is reserved"},
      {UINT64_C(0x39e021817c03f070), "there are 48 small immediates"},
      {UINT64_C(0x39e02185bb03f001),
       "a small immediate is signalled for a source that the operation does not have"},
      {UINT64_C(0x3be02185bb03f001),
       "a small immediate is signalled for a source that the operation does not have"},
      {UINT64_C(0x38043186bb03f000), "value 16 of the condition field is reserved"},
  };
  daedalus_v3d_instruction x;
  for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
    CHECK_STR(daedalus_v3d_unpack(words[i].word, &x), words[i].why);
}

static void test_small_immediates(void) {
  CHECK_INT(daedalus_v3d_small_immediate(15), 15);
  CHECK_INT(daedalus_v3d_small_immediate(16), UINT32_C(0xfffffff0));
  CHECK_INT(daedalus_v3d_small_immediate(31), UINT32_MAX);
  CHECK_INT(daedalus_v3d_small_immediate(32), 0x3b800000);
  CHECK_INT(daedalus_v3d_small_immediate(40), 0x3f800000);
  CHECK_INT(daedalus_v3d_small_immediate(47), 0x43000000);
  for (unsigned i = 0; i < DAEDALUS_V3D_SMALL_IMMEDIATES; i++)
    CHECK_INT(daedalus_v3d_small_immediate_index(daedalus_v3d_small_immediate(i)), i);
  CHECK_INT(daedalus_v3d_small_immediate_index(16), -1);
}

int main(void) {
  RUN(test_modifiers);
  RUN(test_codes);
  RUN(test_conditions);
  RUN(test_signals);
  RUN(test_branches);
  RUN(test_refused_operations);
  RUN(test_refused_instructions);
  RUN(test_illegal_words);
  RUN(test_small_immediates);
  return CHECK_RESULT();
}
