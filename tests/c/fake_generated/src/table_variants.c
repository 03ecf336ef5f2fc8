/* SPDX-License-Identifier: BSD-2-Clause */
#define FAKE_WITH_ALL
#include "table.h"
