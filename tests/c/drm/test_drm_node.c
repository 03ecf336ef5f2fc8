/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the render node is found: among nodes of other drivers, one that may not be opened, one of
 * another version.  Nodes and libdrm's functions are made up.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "gpu/drm/node.h"
#include "../../../v3d/device/abi.h"

enum { NODES = 4 };

/* A node that is made up; `error` is what opening it gives. */
typedef struct made_node {
  const char *driver;
  char *compatible[2];
  int error;
  bool no_render, no_csd;
  uint32_t ident0, ident1, hub_ident3;
} made_node;

static made_node nodes[NODES];
static int n_nodes, n_open;
static char path[] = "/tmp/daedalus-node-XXXXXX"; /* a file, whose group is told */
static char paths[NODES][64];

static const made_node pi5 = {.driver = "v3d",
                              .compatible = {(char *)(uintptr_t)"brcm,2712-v3d"},
                              .ident0 = 0x07443356,
                              .ident1 = 0x81001431,
                              .hub_ident3 = 0x00000700};
static const made_node display = {.driver = "vc4", .compatible = {(char *)(uintptr_t)"brcm,gpu"}};

static int open_node(const char *asked, int flags, ...) {
  CHECK((flags & O_CLOEXEC) != 0);
  for (int i = 0; i < n_nodes; i++) {
    if (strcmp(paths[i], asked) == 0) {
      if (nodes[i].error != 0) {
        errno = nodes[i].error;
        return -1;
      }
      n_open++;
      /* Something that can be closed; its number tells the node. */
      const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
      CHECK_INT(dup2(fd, 100 + i), 100 + i);
      close(fd);
      return 100 + i;
    }
  }
  errno = ENOENT;
  return -1;
}

static int get_devices(uint32_t flags, daedalus_drm_listed **devices, int max) {
  CHECK_INT(flags, 0);
  CHECK(max >= n_nodes);
  for (int i = 0; i < n_nodes; i++) {
    devices[i] = calloc(1, sizeof(**devices));
    devices[i]->nodes = calloc(3, sizeof(char *));
    daedalus_drm_platform *platform = calloc(1, sizeof(*platform));
    platform->compatible = nodes[i].compatible;
    devices[i]->nodes[DAEDALUS_DRM_NODE_RENDER] = paths[i];
    devices[i]->available_nodes = 1 | (nodes[i].no_render ? 0 : 1 << DAEDALUS_DRM_NODE_RENDER);
    devices[i]->bustype = DAEDALUS_DRM_BUS_PLATFORM;
    devices[i]->deviceinfo.platform = platform;
  }
  return n_nodes;
}

static void free_devices(daedalus_drm_listed **devices, int count) {
  for (int i = 0; i < count; i++) {
    free(devices[i]->deviceinfo.platform);
    free(devices[i]->nodes);
    free(devices[i]);
  }
}

static daedalus_drm_version *get_version(int fd) {
  daedalus_drm_version *version = calloc(1, sizeof(*version));
  version->name = (char *)(uintptr_t)nodes[fd - 100].driver;
  version->name_len = (int)strlen(version->name);
  version->version_major = 1;
  return version;
}

static void free_version(daedalus_drm_version *version) {
  free(version);
}

static int drm_ioctl(int fd, unsigned long request, void *arg) {
  const made_node *node = &nodes[fd - 100];
  struct abi_get_param *get = arg;
  CHECK_INT(ABI_NR(request), ABI_V3D_GET_PARAM);
  get->value = get->param == 3   ? node->hub_ident3
               : get->param == 4 ? node->ident0
               : get->param == 5 ? node->ident1
                                 : get->param == 8 && !node->no_csd;
  return 0;
}

static const daedalus_drm_functions functions = {.drmGetDevices2 = get_devices,
                                                 .drmFreeDevices = free_devices,
                                                 .drmGetVersion = get_version,
                                                 .drmFreeVersion = free_version,
                                                 .drmIoctl = drm_ioctl};

/* Looks among these; what is not taken is closed again. */
static int find(const made_node *list, int n, daedalus_drm_node *node, char *why) {
  n_nodes = n;
  n_open = 0;
  for (int i = 0; i < n; i++) {
    nodes[i] = list[i];
    snprintf(paths[i], sizeof(paths[i]), "/dev/dri/renderD%d", 128 + i);
    if (i == 0) {
      snprintf(paths[i], sizeof(paths[i]), "%s", path);
    }
  }
  const int error = daedalus_rt_drm_find(&functions, open_node, node, why, 256);
  for (int i = 0; i < n; i++) {
    const bool taken = error == 0 && node->fd == 100 + i;
    CHECK((fcntl(100 + i, F_GETFD) >= 0) == taken);
  }
  if (error == 0) {
    close(node->fd);
  }
  return error;
}

static void test_the_one_among_others(void) {
  daedalus_drm_node node;
  char why[256] = "";
  made_node none = display;
  none.no_render = true;
  const made_node list[] = {display, none, pi5, pi5};
  CHECK_INT(find(list, 4, &node, why), 0);
  CHECK_STR(node.path, "/dev/dri/renderD130");
  CHECK_STR(node.name, "V3D 7.1.7");
  CHECK_STR(node.driver, "v3d 1.0.0");
  CHECK_INT(node.n_qpus, 12);
  CHECK_INT(n_open, 2);
}

static void test_none(void) {
  daedalus_drm_node node;
  char why[256] = "";
  CHECK_INT(find(&display, 1, &node, why), -ENODEV);
  CHECK_STR(why, "none of the 1 DRM devices has the driver v3d");
  CHECK_INT(find(NULL, 0, &node, why), -ENODEV);
  CHECK_STR(why, "there is no DRM device");
}

/* The group that may open it is named; a node of another driver that is closed too is no matter. */
static void test_one_that_may_not_be_opened(void) {
  daedalus_drm_node node;
  char why[256] = "", expected[256];
  struct stat status;
  CHECK_INT(chmod(path, 0660), 0);
  CHECK_INT(stat(path, &status), 0);
  const struct group *group = getgrgid(status.st_gid);
  CHECK(group != NULL);
  made_node list[] = {pi5, display};
  list[0].error = EACCES;
  list[1].error = EACCES;
  CHECK_INT(find(list, 2, &node, why), -ENODEV);
  snprintf(expected, sizeof(expected),
           "%s may not be opened: it is for the group %s; sudo usermod -aG %s $USER, and log in "
           "again",
           path, group->gr_name, group->gr_name);
  CHECK_STR(why, expected);
  CHECK_INT(chmod(path, 0640), 0); /* no group is of any use */
  CHECK_INT(find(list, 2, &node, why), -ENODEV);
  snprintf(expected, sizeof(expected), "%s may not be opened: its mode 640 is for no group", path);
  CHECK(strncmp(why, expected, strlen(expected)) == 0);
  list[0].error = EMFILE;
  CHECK_INT(find(list, 2, &node, why), -ENODEV);
  snprintf(expected, sizeof(expected), "%s cannot be opened: %s", path, strerror(EMFILE));
  CHECK_STR(why, expected);
}

/* Whoever opens a node to a group wants to know of all of them. */
static void test_each_that_is_refused(void) {
  daedalus_drm_node node;
  char why[256] = "", expected[256];
  made_node list[] = {pi5, display, pi5, pi5};
  list[0].error = EMFILE;
  list[2].error = ENXIO;
  list[3].no_csd = true;
  CHECK_INT(find(list, 4, &node, why), -ENODEV);
  snprintf(expected, sizeof(expected),
           "%s cannot be opened: %s; and /dev/dri/renderD130 cannot be opened: %s; and the "
           "kernel's driver of /dev/dri/renderD131 (v3d 1.0.0) has no compute",
           path, strerror(EMFILE), strerror(ENXIO));
  CHECK_STR(why, expected);
}

static void test_one_that_cannot_run_it(void) {
  daedalus_drm_node node;
  char why[256] = "", expected[256];
  made_node pi4 = pi5;
  pi4.ident0 = 0x04443356;
  pi4.ident1 = 0x81001422;
  pi4.hub_ident3 = 0;
  CHECK_INT(find(&pi4, 1, &node, why), -ENODEV);
  snprintf(expected, sizeof(expected), "%s is a V3D 4.2.0; the QPU code is for V3D 7.1", path);
  CHECK_STR(why, expected);
  made_node old = pi5;
  old.no_csd = true;
  CHECK_INT(find(&old, 1, &node, why), -ENODEV);
  CHECK(strstr(why, "(v3d 1.0.0) has no compute") != NULL);
  const made_node list[] = {pi4, pi5};
  CHECK_INT(find(list, 2, &node, why), 0);
}

int main(void) {
  const int fd = mkstemp(path);
  CHECK(fd >= 0);
  RUN(test_the_one_among_others);
  RUN(test_none);
  RUN(test_one_that_may_not_be_opened);
  RUN(test_each_that_is_refused);
  RUN(test_one_that_cannot_run_it);
  close(fd);
  unlink(path);
  return CHECK_RESULT();
}
