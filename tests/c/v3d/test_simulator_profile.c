/* SPDX-License-Identifier: BSD-2-Clause */
/* The profile's switches that are the engine's own: each makes a difference, and which. */
#include "check.h"
#include "simulation.h"

/* One program whose first row of out shows a switch. */
static const struct row {
  const char *name, *text;
  size_t offset;
  uint32_t values[2], expected[2]; /* of lane 3 */
} rows[] = {
#define SWITCH(name) #name, .offset = offsetof(daedalus_v3d_profile, name)
    /* -2 * 3, or 254 * 3, in each of four bytes. */
    {SWITCH(nnmode_at_start),
     .text = BEGIN "nop ; nop ; ldunifrf.rf1\n"
                   "nop ; nop ; ldunifrf.rf2\n"
                   ".uniform 0xfefefefe, 0x03030303\n"
                   "nop ; v8dot rf3, rf1, rf2\n" STORE("rf3") END,
     .values = {0, 3}, .expected = {4 * 254 * 3, (uint32_t)(-4 * 2 * 3)}},
    {SWITCH(nnmode_same_instruction),
     .text = BEGIN "nop ; nop ; ldunifrf.rf1\n"
                   "nop ; nop ; ldunifrf.rf2\n"
                   ".uniform 0xfefefefe, 0x03030303\n"
                   "setnnmode_uu ; nop\n"
                   "setnnmode_ss ; v8dot rf3, rf1, rf2\n" STORE("rf3") END,
     .values = {0, 1}, .expected = {4 * 254 * 3, (uint32_t)(-4 * 2 * 3)}},
    /* Lane 0 holds the address of word 14, lane 5 that of word 15. */
    {SWITCH(register_branch_lane),
     .text = BEGIN "eidx rf2 ; nop\n"
                   "nop ; nop ; ldunifrf.rf3\n"
                   ".uniform 0x00010070\n"
                   "mov rf1, 0 ; nop\n"
                   "xor.pushz -, rf2, 5 ; nop\n"
                   "add.ifa rf3, rf3, 8 ; nop\n"
                   "b rf3\n" /* 9 */
                   "nop ; nop\nnop ; nop\nnop ; nop\n"
                   "nop ; nop\n"
                   "add rf1, rf1, 1 ; nop\n" /* 14 */
                   "add rf1, rf1, 2 ; nop\n" STORE("rf1") END,
     .values = {0, 5}, .expected = {3, 2}},
    {SWITCH(link_when_not_taken),
     .text = BEGIN "mov.pushz -, rf61 ; nop\n" /* A nowhere */
                   "b.anya.link over\n"        /* word 5 */
                   "nop ; nop\nnop ; nop\nnop ; nop\n"
                   "over:\n"
                   "lr rf1 ; nop\n" STORE("rf1") END,
     .values = {0, 1}, .expected = {0, CODE + 9 * 8}},
    {SWITCH(msf_of_active_lane), .text = BEGIN "msf rf1 ; nop\n" STORE("rf1") END,
     .values = {1, 15}, .expected = {1, 15}},
    {SWITCH(tmu_signed_extends),
     .text = BEGIN "nop ; nop ; ldunif\n"
                   ".uniform 0x00100000, 0xfffffff8\n"
                   "mov tmuau, rf0 ; nop\n"
                   "nop ; nop ; ldtmu.rf1\n" STORE("rf1") END,
     .values = {0, 1}, .expected = {0x80, 0xffffff80}},
#undef SWITCH
};

static void switches(void) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (unsigned k = 0; k < 2; k++) {
      daedalus_v3d_profile profile = daedalus_v3d_profile_default();
      *(uint32_t *)((char *)&profile + rows[i].offset) = rows[i].values[k];
      simulation *s = simulation_create(&profile);
      s->data[0] = 0x80;
      simulation_do(s, rows[i].text);
      if (s->out[3] != rows[i].expected[k])
        fprintf(stderr, "%s = %lu: %lu\n", rows[i].name, (unsigned long)rows[i].values[k],
                (unsigned long)s->out[3]);
      CHECK_INT(s->out[3], rows[i].expected[k]);
      simulation_destroy(s);
    }
  }
}

/* Boards of other sizes: as many threads as they have. */
static void boards(void) {
  for (unsigned slices = 1; slices <= 4; slices += 3) {
    daedalus_v3d_profile profile = daedalus_v3d_profile_default();
    profile.slices = slices;
    simulation *s = simulation_create(&profile);
    const unsigned qpus = 4 * slices;
    simulation_load(s,
                    "tidx rf10 ; mov rf11, rf3 ; ldunifrf.rf12\n.uniform 0x00200000\n"
                    "nop ; nop ; thrsw\nnop ; nop\nnop ; nop\n"
                    "shl rf11, rf11, 2 ; nop\n"
                    "add rf12, rf11, rf12 ; mov tmud, rf10\n"
                    "mov tmua, rf12 ; nop\n" END);
    simulation_shape(s, 2 * qpus, 16, 1);
    CHECK_INT(simulation_run(s, DAEDALUS_V3D_DONE), DAEDALUS_V3D_DONE);
    for (unsigned i = 0; i < 2 * qpus; i++)
      CHECK_INT(s->out[i], i % qpus * 4 + i / qpus * 2);
    simulation_destroy(s);
  }
}

/* Settings out of range make no machine. */
static void ranges(void) {
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  profile.register_branch_lane = 16;
  CHECK(daedalus_v3d_machine_create(&profile) == NULL);
  profile = daedalus_v3d_profile_default();
  profile.slices = 0;
  CHECK(daedalus_v3d_machine_create(&profile) == NULL);
}

int main(void) {
  RUN(ranges);
  RUN(switches);
  RUN(boards);
  return CHECK_RESULT();
}
