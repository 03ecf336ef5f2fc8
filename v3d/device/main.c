/* SPDX-License-Identifier: BSD-2-Clause */
#include "main.h"

int main(int argc, char **argv) {
  return dev_main(argc, argv, dev_make_simulator);
}
