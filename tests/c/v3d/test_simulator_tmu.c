/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory lookups: types, vectors, atomics, predication, queues. */
#include <string.h>

#include "check.h"
#include "simulation.h"

/* rf1 = DATA, rf2 = eidx, rf3 = DATA + 4 * eidx. */
#define DATA_BEGIN                  \
  BEGIN                             \
  "eidx rf2 ; nop ; ldunifrf.rf1\n" \
  ".uniform 0x00100000\n"           \
  "shl rf3, rf2, 2 ; nop\n"         \
  "add rf3, rf3, rf1 ; nop\n"

static uint32_t byte_at(const simulation *s, uint32_t offset) {
  return s->data[offset / 4] >> 8 * (offset % 4) & 0xff;
}

static void fill(simulation *s) {
  for (unsigned i = 0; i < DATA_BYTES / 4; i++)
    s->data[i] = i * 0x9e3779b1u + 0x80;
}

/* Bytes and halves, both signs. */
static void small_loads(void) {
  simulation *s = simulation_create(NULL);
  fill(s);
  simulation_do(s, DATA_BEGIN
                "add rf4, rf1, rf2 ; nop\n" /* bytes */
                "add rf5, rf4, rf2 ; nop\n" /* halves */
                "mov tmuau, rf4 ; nop\nnop ; nop ; ldtmu.rf10\n"
                "mov tmuau, rf4 ; nop\nnop ; nop ; ldtmu.rf11\n"
                "mov tmuau, rf5 ; nop\nnop ; nop ; ldtmu.rf12\n"
                "mov tmuau, rf5 ; nop\nnop ; nop ; ldtmu.rf13\n"
                ".uniform 0xfffffffd, 0xfffffff8, 0xfffffffe, 0xfffffff9\n" STORE("rf10")
                    STORE("rf11") STORE("rf12") STORE("rf13") END);
  CHECK_ROW(s, 0, byte_at(s, lane));
  CHECK_ROW(s, 1, (uint32_t)(int8_t)byte_at(s, lane));
  CHECK_ROW(s, 2, byte_at(s, 2 * lane) | byte_at(s, 2 * lane + 1) << 8);
  CHECK_ROW(s, 3, (uint32_t)(int16_t)(byte_at(s, 2 * lane) | byte_at(s, 2 * lane + 1) << 8));
  simulation_destroy(s);
}

/* The low 8 or 16 bits are stored, their neighbours stay. */
static void small_stores(void) {
  simulation *s = simulation_create(NULL);
  memset(s->data, 0xee, sizeof s->data);
  simulation_do(s, DATA_BEGIN
                "nop ; nop ; ldunifrf.rf7\n"
                "add rf6, rf2, rf7 ; nop\n"
                "mov tmud, rf6 ; nop\n"
                "mov tmuau, rf3 ; nop\n"
                "add rf3, rf3, rf61 ; nop\n"
                "mov tmud, rf6 ; nop\n"
                "mov tmuau, rf3 ; nop\n"
                "tmuwt - ; nop\n"
                ".uniform 0x00123480, 0xfffffffd, 0xfffffffe\n" END);
  for (uint32_t lane = 0; lane < 16; lane++) {
    CHECK_INT(s->data[lane], 0xeeeeee80u + lane);
    CHECK_INT(s->data[16 + lane], 0xeeee3480u + lane);
  }
  simulation_destroy(s);
}

/* A lane's vector lies in memory word by word; ldtmu delivers one word of all lanes. */
static void vectors(void) {
  static const char *const configs[] = {"0xfffffffa", "0xfffffffb", "0xfffffffc"};
  simulation *s = simulation_create(NULL);
  fill(s);
  for (unsigned n = 2; n <= 4; n++) {
    char text[4096] = DATA_BEGIN
        /* Tuples 20 bytes apart, so that they cross lines of every size. */
        "shl rf4, rf2, 4 ; nop\n"
        "add rf3, rf3, rf4 ; nop\n";
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, sizeof text - used, "mov tmuau, rf3 ; nop\n.uniform %s\n",
                             configs[n - 2]);
    for (unsigned k = 0; k < n; k++)
      used += (size_t)snprintf(text + used, sizeof text - used, "nop ; nop ; ldtmu.rf%u\n", 10 + k);
    /* And back, in reverse order, behind a gap. */
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "nop ; nop ; ldunif\n.uniform 0x1000\nadd rf3, rf3, rf0 ; nop\n");
    for (unsigned k = 0; k < n; k++)
      used += (size_t)snprintf(text + used, sizeof text - used, "mov tmud, rf%u ; nop\n",
                               10 + n - 1 - k);
    snprintf(text + used, sizeof text - used,
             "mov tmuau, rf3 ; nop\n.uniform %s\ntmuwt - ; nop\n" END, configs[n - 2]);
    memset(s->data + 1024, 0xee, 4096);
    simulation_do(s, text);
    for (unsigned lane = 0; lane < 16; lane++)
      for (unsigned k = 0; k < 5; k++)
        CHECK_INT(s->data[1024 + 5 * lane + k], k < n ? s->data[5 * lane + n - 1 - k] : 0xeeeeeeee);
  }
  simulation_destroy(s);
}

/*
 * As tests on hardware have it: the load of a vec3 takes the first byte of the configuration, and
 * so the store after it the second, by which it is of a vec2; one data word is written.  Then one
 * of three words by the type of four.
 */
static void short_stores(void) {
  static const char text[] = DATA_BEGIN
      "nop ; nop ; ldunifrf.tmuc\n"
      "nop ; nop ; ldunifrf.rf4\n"
      ".uniform 0xfffcfafb, 0x00200000\n"
      "mov tmua, rf1 ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
      "nop ; nop ; ldtmu.rf10\nnop ; nop ; ldtmu.rf11\nnop ; nop ; ldtmu.rf12\n"
      "shl rf5, rf2, 4 ; nop\n"
      "add rf4, rf4, rf5 ; nop\n" /* 16 bytes a lane */
      "mov tmud, rf11 ; nop\n"
      "mov tmua, rf4 ; nop\n" /* word 18 */
      "shl rf61, rf61, 2 ; nop\n"
      "add rf4, rf4, rf61 ; nop\n"
      "mov tmud, rf12 ; nop\nmov tmud, rf11 ; nop\nmov tmud, rf10 ; nop\n"
      "mov tmua, rf4 ; nop\n"
      "tmuwt - ; nop\n" END;
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  CHECK_INT(profile.tmu_short_stores, 1);
  simulation *s = simulation_create(&profile);
  fill(s);
  memset(s->out, 0xee, sizeof s->out);
  simulation_do(s, text);
  for (unsigned i = 0; i < 64; i++) {
    CHECK_INT(s->out[i], i % 4 == 0 ? s->data[1] : 0xeeeeeeee);
    CHECK_INT(s->out[64 + i], i % 4 == 3 ? 0xeeeeeeee : s->data[2 - i % 4]);
  }
  CHECK_INT(s->report.counts.tmu_writes, 2);
  s->job.strict = true;
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BROKEN_RULE), DAEDALUS_V3D_BROKEN_RULE);
  CHECK_INT(s->report.rule, DAEDALUS_V3D_RULE_STORE_SHORT);
  CHECK_INT(s->report.pc, CODE + 18 * 8);
  /* What is not written need not lie in a buffer. */
  s->job.strict = false;
  static const char last[] =
      "nop ; nop ; ldunifrf.rf1\n.uniform 0x00103ffc\n"
      "mov tmud, 7 ; nop\nmov tmuau, rf1 ; nop\n.uniform 0xfffffffc\ntmuwt - ; nop\n" END;
  simulation_do(s, last);
  CHECK_INT(s->data[DATA_BYTES / 4 - 1], 7);
  simulation_destroy(s);
  profile.tmu_short_stores = 0;
  s = simulation_create(&profile);
  simulation_load(s, text);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_FIFO), DAEDALUS_V3D_BAD_FIFO);
  CHECK(strstr(s->report.message, "takes 2 data words, and 1 have been written"));
  CHECK_INT(s->report.pc, CODE + 18 * 8);
  simulation_destroy(s);
}

/* Each lookup takes a byte of the configuration; then it is all ones again. */
static void config_bytes(void) {
  simulation *s = simulation_create(NULL);
  fill(s);
  simulation_do(s, DATA_BEGIN
                "nop ; nop ; ldunifrf.tmuc\n"
                "mov tmua, rf3 ; nop\nnop ; nop ; ldtmu.rf10\n"
                "mov tmua, rf3 ; nop\nnop ; nop ; ldtmu.rf11\n"
                "mov tmua, rf3 ; nop\nnop ; nop ; ldtmu.rf12\n"
                "mov tmua, rf3 ; nop\nnop ; nop ; ldtmu.rf13\n"
                "mov tmua, rf3 ; nop\nnop ; nop ; ldtmu.rf14\n"
                ".uniform 0xf9fefdf8\n" STORE("rf10") STORE("rf11") STORE("rf12") STORE("rf13")
                    STORE("rf14") END);
  CHECK_ROW(s, 0, (uint32_t)(int8_t)s->data[lane]);
  CHECK_ROW(s, 1, s->data[lane] & 0xff);
  CHECK_ROW(s, 2, s->data[lane] & 0xffff);
  CHECK_ROW(s, 3, (uint32_t)(int16_t)s->data[lane]);
  CHECK_ROW(s, 4, s->data[lane]);
  simulation_destroy(s);
}

/* One atomic operation a lane: the old value comes back, the new one stays. */
static void atomics(void) {
  static const struct {
    const char *name;
    unsigned config;
    bool operand;
    uint32_t old, data, expected;
  } rows[] = {
      {"add", 0x87, true, 0xfffffffe, 5, 3},
      {"sub", 0x8f, true, 3, 5, 0xfffffffe},
      {"xchg", 0x97, true, 3, 5, 5},
      {"umin", 0xa7, true, 0x80000000, 5, 5},
      {"umax", 0xaf, true, 0x80000000, 5, 0x80000000},
      {"smin", 0xb7, true, 0x80000000, 5, 0x80000000},
      {"smax", 0xbf, true, 0x80000000, 5, 5},
      {"and", 0xc7, true, 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
      {"or", 0xcf, true, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0},
      {"xor", 0xd7, true, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0},
      {"increment", 0xc7, false, 0xffffffff, 0, 0},
      {"decrement", 0xcf, false, 0, 0, 0xffffffff},
      {"not", 0xd7, false, 0x0000ffff, 0, 0xffff0000},
      /* On bytes and halves, the neighbours stay. */
      {"add u8", 0x85, true, 0x123456ff, 0xaaaaaa02, 0x12345601},
      {"smax i8", 0xb8, true, 0x12345680, 0x7f, 0x1234567f},
      {"umin u16", 0xa6, true, 0x12348000, 0x7fff, 0x12347fff},
  };
  simulation *s = simulation_create(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             DATA_BEGIN
             "nop ; nop ; ldunifrf.%s\nmov tmuau, rf3 ; nop\nnop ; nop ; ldtmu.rf10\n"
             ".uniform 0x%x, 0xffffff%02x\n" STORE("rf10") END,
             rows[i].operand ? "tmud" : "rf11", (unsigned)rows[i].data, rows[i].config);
    for (unsigned lane = 0; lane < 16; lane++)
      s->data[lane] = rows[i].old;
    simulation_do(s, text);
    const uint32_t low = rows[i].config & 7;
    const uint32_t mask = low == 7 ? UINT32_MAX : low == 6 ? 0xffff : 0xff;
    const uint32_t old = low == 0 ? (uint32_t)(int8_t)rows[i].old : rows[i].old & mask;
    CHECK_ROW(s, 0, old);
    for (unsigned lane = 0; lane < 16; lane++)
      CHECK_INT(s->data[lane], rows[i].expected);
    CHECK_INT(s->data[16], 0);
  }
  simulation_destroy(s);
}

/* Exchanged where the old value is the one compared with; by tmud, and by tmudref and tmuoff. */
static void compare_and_exchange(void) {
  static const char *const forms[] = {
      "mov tmud, rf5 ; nop\nmov tmud, rf6 ; nop\nmov tmuau, rf3 ; nop\n.uniform 0xffffff9a\n",
      "mov tmudref, rf5 ; nop\nmov tmuoff, rf6 ; nop\nmov tmuau, rf3 ; nop\n"
      ".uniform 0xffffff9f\n"};
  simulation *s = simulation_create(NULL);
  for (unsigned i = 0; i < 2; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             DATA_BEGIN
             "mov rf5, 7 ; nop\nmov rf6, rf61 ; nop\n%s"
             "nop ; nop ; ldtmu.rf10\n" STORE("rf10") END,
             forms[i]);
    for (unsigned lane = 0; lane < 16; lane++)
      s->data[lane] = lane;
    simulation_do(s, text);
    CHECK_ROW(s, 0, lane);
    for (unsigned lane = 0; lane < 16; lane++)
      CHECK_INT(s->data[lane], lane == 7 ? 64 : lane);
  }
  simulation_destroy(s);
}

/* Lanes at one address take turns; of 24 threads nothing is lost. */
static void shared_counter(void) {
  simulation *s = simulation_create(NULL);
  simulation_load(s, DATA_BEGIN
                  "mov tmuau, rf1 ; nop ; thrsw\nnop ; nop\nnop ; nop\nnop ; nop ; ldtmu.rf10\n"
                  "shl rf10, rf10, 2 ; nop\n"
                  "nop ; nop ; ldunif\n"
                  "add rf10, rf10, rf0 ; nop\n"
                  "mov tmuau, rf10 ; nop ; thrsw\nnop ; nop\nnop ; nop\nnop ; nop ; ldtmu.rf11\n"
                  ".uniform 0xffffffc7, 0x00200000, 0xffffffc7\n" END);
  simulation_shape(s, 40, 16, 1);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
  CHECK_INT(s->data[0], 640);
  unsigned wrong = 0;
  for (unsigned i = 0; i < 640; i++)
    wrong += s->out[i] != 1;
  CHECK_INT(wrong, 0);
  simulation_destroy(s);
}

/* Lanes whose condition fails neither read nor write, wherever their address is. */
static void predication(void) {
  simulation *s = simulation_create(NULL);
  fill(s);
  simulation_do(s, DATA_BEGIN
                "and.pushz -, rf2, 1 ; mov rf4, rf2\n"
                "mov.ifa rf4, rf3 ; nop\n" /* odd lanes: a bad address */
                "mov.ifa tmua, rf4 ; nop\n"
                "nop ; nop ; ldtmu.rf5\n"
                "mov tmud, rf5 ; nop\n"
                "mov.ifa tmua, rf60 ; nop\n"
                "mov tmud, rf5 ; nop\n"
                "sub.pushc -, rf2, rf2 ; nop\n"
                "mov.ifa tmua, rf2 ; nop\n" /* no lane at all */
                "tmuwt - ; nop\n" END);
  CHECK_ROW(s, 0, lane % 2 ? 0 : s->data[lane]);
  simulation_destroy(s);
}

/* Results come in the order of the lookups; an ldtmu makes room for a lookup beside it. */
static void queue_order(void) {
  simulation *s = simulation_create(NULL);
  fill(s);
  simulation_do(s, DATA_BEGIN
                "mov tmua, rf3 ; nop\n"
                "mov tmuau, rf3 ; nop\n"
                "add tmua, rf3, 4 ; nop\n"
                "nop ; nop ; ldtmu.rf10\n"
                "nop ; nop ; ldtmu.rf11\n"
                "mov tmua, rf3 ; nop ; ldtmu.rf12\n"
                "nop ; nop ; ldtmu.rf13\n"
                "nop ; nop ; ldtmu.rf14\n"
                ".uniform 0xfffffffa\n" STORE("rf10") STORE("rf11") STORE("rf12") STORE("rf13")
                    STORE("rf14") END);
  CHECK_ROW(s, 0, s->data[lane]);
  CHECK_ROW(s, 1, s->data[lane]);
  CHECK_ROW(s, 2, s->data[lane + 1]);
  CHECK_ROW(s, 3, s->data[lane + 1]);
  CHECK_ROW(s, 4, s->data[lane]);
  simulation_destroy(s);
}

/* A store and an ldtmu of one register: the old value is stored. */
static void store_beside_load(void) {
  simulation *s = simulation_create(NULL);
  fill(s);
  simulation_do(s, DATA_BEGIN
                "mov tmua, rf3 ; nop\n"
                "mov rf4, rf2 ; nop\n"
                "mov tmud, rf4 ; nop ; ldtmu.rf4\n"
                "mov tmua, rf60 ; nop\n"
                "add rf60, rf60, rf61 ; nop\n" STORE("rf4") END);
  CHECK_ROW(s, 0, lane);
  CHECK_ROW(s, 1, s->data[lane]);
  simulation_destroy(s);
}

/* A result goes straight into the next store. */
static void load_to_store(void) {
  simulation *s = simulation_create(NULL);
  fill(s);
  simulation_do(s, DATA_BEGIN
                "mov tmua, rf3 ; nop\n"
                "nop ; nop ; ldtmu.tmud\n"
                "mov tmua, rf60 ; nop\n"
                "tmuwt - ; nop\n" END);
  CHECK_ROW(s, 0, s->data[lane]);
  simulation_destroy(s);
}

/* Lanes that store to one address: the profile says who wins. */
static void conflicts(void) {
  for (unsigned last = 0; last < 2; last++) {
    daedalus_v3d_profile profile = daedalus_v3d_profile_default();
    profile.tmu_store_conflict_last_lane = last;
    simulation *s = simulation_create(&profile);
    simulation_do(s, DATA_BEGIN "mov tmud, rf2 ; nop\nmov tmua, rf1 ; nop\ntmuwt - ; nop\n" END);
    CHECK_INT(s->data[0], last ? 15 : 0);
    simulation_destroy(s);
  }
}

/* One lookup may read from several buffers, if each lane stays in one. */
static void several_buffers(void) {
  simulation *s = simulation_create(NULL);
  fill(s);
  s->out[1000] = 4321;
  simulation_do(s, DATA_BEGIN
                "nop ; nop ; ldunifrf.rf5\n"
                ".uniform 0x00200fa0\n"
                "and.pushz -, rf2, 1 ; nop\n"
                "mov.ifna rf3, rf5 ; nop\n"
                "mov tmua, rf3 ; nop\n"
                "nop ; nop ; ldtmu.rf10\n" STORE("rf10") END);
  CHECK_ROW(s, 0, lane % 2 ? 4321 : s->data[lane]);
  simulation_destroy(s);
}

/* Per quad: by each lane's address, refused, or by the address of each quad's lane 0. */
static void per_quad(void) {
  static const char text[] = DATA_BEGIN
      "mov tmuau, rf3 ; nop\n.uniform 0xffffff7f\nnop ; nop ; ldtmu.rf10\n" STORE("rf10") END;
  simulation *s = simulation_create(NULL);
  fill(s);
  simulation_do(s, text);
  CHECK_ROW(s, 0, s->data[lane]);
  simulation_destroy(s);
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.quad_mode = 0;
  s = simulation_create(&profile);
  simulation_load(s, text);
  CHECK_INT(simulation_run(s, DAEDALUS_V3D_BAD_INSTRUCTION), DAEDALUS_V3D_BAD_INSTRUCTION);
  CHECK(strstr(s->report.message, "quad_mode"));
  simulation_destroy(s);
  profile.quad_mode = 1;
  s = simulation_create(&profile);
  fill(s);
  simulation_do(s, text);
  CHECK_ROW(s, 0, s->data[lane / 4 * 4]);
  simulation_destroy(s);
}

int main(void) {
  RUN(small_loads);
  RUN(small_stores);
  RUN(vectors);
  RUN(short_stores);
  RUN(config_bytes);
  RUN(atomics);
  RUN(compare_and_exchange);
  RUN(shared_counter);
  RUN(predication);
  RUN(queue_order);
  RUN(store_beside_load);
  RUN(load_to_store);
  RUN(conflicts);
  RUN(several_buffers);
  RUN(per_quad);
  return CHECK_RESULT();
}
