/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include <daedalus/v3d/profile.h>

#include "check.h"

static unsigned parse(const char *text, daedalus_v3d_profile *profile, char *message) {
  return daedalus_v3d_profile_parse(text, strlen(text), profile, message, 200);
}

/* The profile that comes along states every setting, and each as its default. */
static void check_pi5(void) {
  static char text[16384];
  FILE *file = fopen(DAEDALUS_V3D_PI5_PROFILE, "rb");
  CHECK(file != NULL);
  if (!file)
    return;
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  CHECK(length > 0 && length < sizeof text);
  const daedalus_v3d_profile expected = daedalus_v3d_profile_default();
  daedalus_v3d_profile profile;
  char message[200] = "";
  memset(&profile, 0xee, sizeof profile);
  CHECK_INT(daedalus_v3d_profile_parse(text, length, &profile, message, sizeof message), 0);
  CHECK_STR(message, "");
#define ROW(name, value, min, max, comment) CHECK_INT(profile.name, expected.name);
  DAEDALUS_V3D_SETTINGS(ROW)
#undef ROW
}

int main(void) {
  check_pi5();
  char message[200] = "";
  daedalus_v3d_profile profile = daedalus_v3d_profile_default();
  CHECK(profile.slices == 3 && profile.qpus_per_slice == 4);
  CHECK(parse("# a board\n\n clz_of_zero = 31 # at the end\r\nslices=4", &profile, message) == 0);
  CHECK(profile.clz_of_zero == 31 && profile.slices == 4);
  CHECK(parse("hub_ident3 = 0xffffffff\n", &profile, message) == 0);
  CHECK(profile.hub_ident3 == UINT32_MAX);
  CHECK(parse("slices = 2\nslice = 3\n", &profile, message) == 2);
  CHECK(strstr(message, "`slice`") && profile.slices == 2);
  CHECK(parse("slices = 5", &profile, message) == 1);
  CHECK(strstr(message, "1 to 4"));
  CHECK(parse("slices = -1", &profile, message) == 1);
  CHECK(parse("slices = 99999999999999999999", &profile, message) == 1);
  CHECK(parse("slices = 3 4", &profile, message) == 1);
  CHECK(parse("slices", &profile, message) == 1);
  CHECK(parse("slices =", &profile, message) == 1);
  CHECK(parse("slices many = 4", &profile, message) == 1);
  CHECK(strstr(message, "`slices many`"));
  CHECK(parse(" = 4", &profile, message) == 1);
  CHECK(profile.slices == 2);
  return CHECK_RESULT();
}
