/* SPDX-License-Identifier: BSD-2-Clause */
/* Written by hand: stands in for generated code in the runtime's own tests. */
#ifndef DAEDALUS_H
#define DAEDALUS_H

#include <daedalus/core.h>
#include <daedalus/fake.h>

#endif /* DAEDALUS_H */
