/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What waits make of the times of fences: a submission that took as long as only a reset makes it
 * take, and ones that were noticed late, stood behind others or were waited for before them.  Times
 * are milliseconds since the test's beginning, which lies in the past.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "check.h"
#include "gpu/drm/submit.h"
#include "../../../v3d/device/abi.h"

enum { SYNCS = 8, AGO = 5000, RESET = 400 };

static const uint64_t ms = 1000000;
static uint64_t beginning;
static uint64_t ended[SYNCS]; /* of each syncobj's fence */
static uint32_t asked;        /* the syncobj that was exported last */
static int n_files;           /* that are open */

static int wait_for(int fd, uint32_t *handles, unsigned n, int64_t until, unsigned flags,
                    uint32_t *first) {
  (void)fd, (void)handles, (void)n, (void)until, (void)flags, (void)first;
  return 0;
}

static int export_file(int fd, uint32_t sync, int *file) {
  (void)fd;
  asked = sync;
  *file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  n_files++;
  return 0;
}

static int answer(int fd, unsigned long request, void *arg) {
  (void)fd;
  if (ABI_TYPE_OF(request) == ABI_TYPE_SYNC_FILE) {
    struct abi_sync_file_info *info = arg;
    struct abi_sync_fence_info *fence = (struct abi_sync_fence_info *)(uintptr_t)info->fences;
    fence->timestamp_ns = ended[asked];
    n_files--;
  }
  return 0;
}

static daedalus_drm device(void) {
  beginning = daedalus_rt_gpu_now() - AGO * ms;
  return (daedalus_drm){.fn = {.drmSyncobjWait = wait_for,
                               .drmSyncobjExportSyncFile = export_file,
                               .drmIoctl = answer},
                        .reset_ns = RESET * ms};
}

static daedalus_drm_submission submitted(uint32_t sync, uint64_t at, uint64_t end) {
  ended[sync] = beginning + end * ms;
  return (daedalus_drm_submission){
      .submitted = true, .awaited = sync, .submitted_ns = beginning + at * ms};
}

static int wait_of(daedalus_drm *drm, daedalus_drm_submission *submission) {
  return daedalus_rt_drm_wait(&drm->base, &submission->base, 0);
}

static void test_one(void) {
  daedalus_drm drm = device();
  daedalus_drm_submission late = submitted(1, 0, 399), reset = submitted(2, 1000, 1400);
  CHECK_INT(wait_of(&drm, &late), 0);
  CHECK_INT(wait_of(&drm, &reset), -EIO);
  CHECK(drm.base.was_reset && !drm.base.copies_reset && !drm.base.lost);
  CHECK_INT(wait_of(&drm, &reset), -EIO); /* it stays so */
  drm = device();
  drm.reset_ns = 0;
  reset = submitted(2, 0, 4000);
  CHECK_INT(wait_of(&drm, &reset), 0);
  CHECK_INT(n_files, 0);
}

static void test_behind_another(void) {
  daedalus_drm drm = device();
  daedalus_drm_submission first = submitted(1, 0, 300), second = submitted(2, 1, 600),
                          third = submitted(3, 2, 1000);
  CHECK_INT(wait_of(&drm, &first), 0);
  CHECK_INT(wait_of(&drm, &second), 0);
  CHECK_INT(wait_of(&drm, &third), -EIO);
}

/* The end of what was submitted later is no beginning. */
static void test_waited_for_before(void) {
  daedalus_drm drm = device();
  daedalus_drm_submission reset = submitted(1, 0, 500), later = submitted(2, 400, 510),
                          last = submitted(3, 401, 900);
  CHECK_INT(wait_of(&drm, &later), 0);
  CHECK_INT(wait_of(&drm, &reset), -EIO);
  CHECK_INT(wait_of(&drm, &last), 0); /* it began where the later one ended */
}

static void test_copies(void) {
  static const struct {
    uint64_t copied;
    bool reset;
  } cases[] = {{20, false}, {399, false}, {450, true}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    daedalus_drm drm = device();
    daedalus_drm_submission submission = submitted(1, 0, 500);
    submission.copied = true;
    submission.copies_sync = 2;
    ended[2] = beginning + cases[i].copied * ms;
    CHECK_INT(wait_of(&drm, &submission), -EIO);
    CHECK_INT(drm.base.copies_reset, cases[i].reset);
  }
}

int main(void) {
  RUN(test_one);
  RUN(test_behind_another);
  RUN(test_waited_for_before);
  RUN(test_copies);
  return CHECK_RESULT();
}
