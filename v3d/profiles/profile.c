/* SPDX-License-Identifier: BSD-2-Clause */
#include <daedalus/v3d/profile.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct setting {
  const char *name;
  size_t offset;
  uint32_t min, max;
} settings[] = {
#define ROW(name, value, min, max, text) {#name, offsetof(daedalus_v3d_profile, name), min, max},
    DAEDALUS_V3D_SETTINGS(ROW)
#undef ROW
};

daedalus_v3d_profile daedalus_v3d_profile_default(void) {
  return (daedalus_v3d_profile){
#define MEMBER(name, value, min, max, text) .name = value,
      DAEDALUS_V3D_SETTINGS(MEMBER)
#undef MEMBER
  };
}

static const struct setting *setting_of(const char *name) {
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
    if (!strcmp(settings[i].name, name))
      return &settings[i];
  return NULL;
}

/* One line without its end. Returns whether it is right; otherwise message says what is wrong. */
static int parse_line(char *line, daedalus_v3d_profile *profile, char *message, size_t size) {
  static const char blank[] = " \t\r";
  line[strcspn(line, "#")] = 0;
  line += strspn(line, blank);
  if (!*line)
    return 1;
  char *equals = strchr(line, '=');
  if (!equals) {
    snprintf(message, size, "a setting reads `name = value`");
    return 0;
  }
  *equals = 0;
  for (char *end = equals; end > line && strchr(blank, end[-1]);)
    *--end = 0;
  const struct setting *setting = setting_of(line);
  if (!setting) {
    snprintf(message, size, "there is no setting `%.40s`", line);
    return 0;
  }
  char *value = equals + 1 + strspn(equals + 1, blank), *end;
  errno = 0;
  unsigned long long number = strtoull(value, &end, 0);
  end += strspn(end, blank);
  if (end == value || *end || *value == '-' || errno || number < setting->min ||
      number > setting->max) {
    snprintf(message, size, "`%.40s` takes a whole number from %lu to %lu, not `%.40s`",
             setting->name, (unsigned long)setting->min, (unsigned long)setting->max, value);
    return 0;
  }
  uint32_t set = (uint32_t)number;
  memcpy((char *)profile + setting->offset, &set, sizeof set);
  return 1;
}

unsigned daedalus_v3d_profile_parse(const char *text, size_t length, daedalus_v3d_profile *profile,
                                    char *message, size_t message_size) {
  unsigned number = 0;
  while (length) {
    const char *newline = memchr(text, '\n', length);
    size_t n = newline ? (size_t)(newline - text) : length;
    char line[256];
    number++;
    if (n >= sizeof line || memchr(text, 0, n)) {
      snprintf(message, message_size, "a line has at most %zu characters, and none is NUL",
               sizeof line - 1);
      return number;
    }
    memcpy(line, text, n);
    line[n] = 0;
    if (!parse_line(line, profile, message, message_size))
      return number;
    n += newline != NULL;
    text += n;
    length -= n;
  }
  return 0;
}
