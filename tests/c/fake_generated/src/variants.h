/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DAEDALUS_FAKE_VARIANTS_H
#define DAEDALUS_FAKE_VARIANTS_H

#include <daedalus/table.h>

daedalus_cpu_fn daedalus_fake_add__c_full;
daedalus_cpu_fn daedalus_fake_add__c_dc;
daedalus_cpu_fn daedalus_fake_copy__c_full;
daedalus_cpu_fn daedalus_fake_copy__neon_full;

#endif /* DAEDALUS_FAKE_VARIANTS_H */
