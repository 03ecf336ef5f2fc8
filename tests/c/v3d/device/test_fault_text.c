/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults as text: what is understood, what is refused and why, and when each strikes. */
#include <errno.h>

#include "check.h"
#include "fault.h"

static void numbers(void) {
  struct dev_faults faults = {0};
  char message[200];
  CHECK_INT(dev_faults_add(&faults, "hang@3", message, sizeof message), 0);
  CHECK_INT(dev_faults_add(&faults, "slow@4-6:factor=3", message, sizeof message), 0);
  CHECK_INT(dev_faults_add(&faults, "flip@*:bits=9,seed=5", message, sizeof message), 0);
  CHECK_INT(dev_faults_add(&faults, "no-memory@2:of=submit", message, sizeof message), 0);
  CHECK_INT(dev_faults_add(&faults, "lost@1:of=client", message, sizeof message), 0);
  CHECK_INT(faults.n, 5);
  for (unsigned n = 1; n < 10; n++) {
    CHECK((dev_fault_at(&faults, DEV_FAULT_HANG, n) != NULL) == (n == 3));
    CHECK((dev_fault_at(&faults, DEV_FAULT_SLOW, n) != NULL) == (n >= 4 && n <= 6));
    CHECK((dev_fault_at(&faults, DEV_FAULT_LOST, n) != NULL) == (n == 1));
    CHECK(dev_fault_at(&faults, DEV_FAULT_FLIP, n) == &faults.items[2]);
    CHECK((dev_fault_at_call(&faults, DEV_FAULT_SUBMIT, n) != NULL) == (n == 2));
    CHECK(dev_fault_at_call(&faults, DEV_FAULT_BUFFER, n) == NULL);
  }
  CHECK_INT(faults.items[1].factor, 3);
  CHECK_INT(faults.items[2].bits, 9);
  CHECK_INT(faults.items[2].seed, 5);
  CHECK(faults.items[4].one_client && !faults.items[4].reopens);
  CHECK_STR(faults.items[2].text, "flip@*:bits=9,seed=5");
  dev_faults_free(&faults);
  CHECK_INT(faults.n, 0);
}

/* One in so many, the same ones each time, others by another seed. */
static void at_random(void) {
  struct dev_faults faults = {0};
  char message[200];
  int n[2] = {0}, n_differ = 0;
  CHECK_INT(
      dev_faults_add_list(&faults, "hang@1/10;;slow@1/10:ms=1,seed=1;", message, sizeof message),
      0);
  CHECK_INT(faults.n, 2);
  for (unsigned i = 1; i <= 10000; i++) {
    const bool a = dev_fault_at(&faults, DEV_FAULT_HANG, i) != NULL;
    const bool b = dev_fault_at(&faults, DEV_FAULT_SLOW, i) != NULL;
    CHECK_INT(dev_fault_at(&faults, DEV_FAULT_HANG, i) != NULL, a);
    n[0] += a;
    n[1] += b;
    n_differ += a != b;
  }
  CHECK(n[0] > 850 && n[0] < 1150 && n[1] > 850 && n[1] < 1150);
  CHECK(n_differ > 1500);
  dev_faults_free(&faults);
}

static void refused(void) {
  static const char *const texts[][2] = {
      {"", "at '': expected a kind (no-memory, hang, lost, slow, flip) and @"},
      {"hangs@1", "at 'hangs@1': expected a kind (no-memory, hang, lost, slow, flip) and @"},
      {"hang", "at '': expected @"},
      {"hang@", "at '': expected a number from 1, a range N-M, * or 1/P"},
      {"hang@0", "at '0': expected a number from 1, a range N-M, * or 1/P"},
      {"hang@99999999999", "at '99999999999': expected a number from 1, a range N-M, * or 1/P"},
      {"hang@2/3", "at '2/3': expected a number from 1, a range N-M, * or 1/P"},
      {"hang@1/0", "at '1/0': expected a number from 1, a range N-M, * or 1/P"},
      {"hang@5-4", "at '5-4': expected a number from 1, a range N-M, * or 1/P"},
      {"hang@5x", "at 'x': expected a colon, or the end"},
      {"hang@5:", "at '': expected one of seed= ms= batches="},
      {"hang@5:bits=2", "at 'bits=2': expected one of seed= ms= batches="},
      {"hang@5:ms=0", "at '0': expected 1 to 3600000 ms"},
      {"hang@5:ms=3600001", "at '3600001': expected 1 to 3600000 ms"},
      {"hang@5:ms=1,", "at '': expected one of seed= ms= batches="},
      {"hang@5:ms=1 ", "at ' ': expected a comma, or the end"},
      {"hang@5:ms=1,ms=1", "at 'ms=1': expected each argument once"},
      {"slow@5", "at '': expected ms= or factor=, one of them"},
      {"slow@5:ms=1,factor=2", "at '': expected ms= or factor=, one of them"},
      {"slow@5:factor=1", "at '1': expected a factor of 2 to 1000000"},
      {"flip@5:bits=0", "at '0': expected 1 to 1048576 bits"},
      {"flip@5:seed=4294967296", "at '4294967296': expected a seed of 32 bits"},
      {"no-memory@5:of=device", "at 'device': expected buffer, syncobj, submit"},
      {"no-memory@5:of=submits", "at 'submits': expected buffer, syncobj, submit"},
      {"lost@5:of=all", "at 'all': expected device, client"},
      {"lost@5:reopen=maybe", "at 'maybe': expected yes, no"},
      {"lost@5:of=client,reopen=yes",
       "at '': expected reopen= without of=client: the client can open the device again"},
  };
  struct dev_faults faults = {0};
  char message[200];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    CHECK_INT(dev_faults_add(&faults, texts[i][0], message, sizeof message), -EINVAL);
    CHECK_STR(message, texts[i][1]);
  }
  CHECK_INT(faults.n, 0);
  /* Of a list the good ones before stay, to be freed. */
  CHECK_INT(dev_faults_add_list(&faults, "hang@1;hang@0", message, sizeof message), -EINVAL);
  CHECK_STR(message, "at '0': expected a number from 1, a range N-M, * or 1/P");
  dev_faults_free(&faults);
}

int main(void) {
  RUN(numbers);
  RUN(at_random);
  RUN(refused);
  return CHECK_RESULT();
}
