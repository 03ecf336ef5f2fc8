/* SPDX-License-Identifier: BSD-2-Clause */
/* What the submissions of all queues have in common. */
#ifndef DAEDALUS_V3D_DEVICE_SUBMIT_H
#define DAEDALUS_V3D_DEVICE_SUBMIT_H

#include "call.h"

/* Fences to wait for and syncobjs to fill, of one submission; holds references. */
struct dev_syncs {
  bool given; /* a multisync extension was there: the single syncobjs do not count */
  uint32_t wait_stage;
  size_t n_in, n_out;
  struct dev_fence **in; /* NULL: of a syncobj that has none, which waiting for is an error */
  struct dev_syncobj **out;
};

void dev_syncs_drop(struct dev_syncs *syncs);

/* Reads an extension of its id at address; called once each. */
typedef int (*dev_extension_fn)(struct dev_call *call, uint32_t id, uint64_t address, void *self);

/**
 * Walks the list of extensions. Multisync goes into *syncs, others to other (NULL: there may be
 * none), all before multisync takes effect.
 */
int dev_submit_extensions(struct dev_call *call, uint64_t first, struct dev_syncs *syncs,
                          dev_extension_fn other, void *self);

/* Looks up n handles; the job holds references. Waits for their last jobs as well. */
int dev_submit_bos(struct dev_call *call, struct dev_job *job, uint64_t handles, uint32_t n);

/* The multisync waits, if they are for one of these stages (a mask of 1 << ABI_STAGE_). */
int dev_submit_waits(struct dev_job *job, const struct dev_syncs *syncs, uint32_t stages);

/* Puts fence into the syncobjs of the multisync extension, or else into the single one. */
void dev_submit_signals(struct dev_call *call, const struct dev_syncs *syncs, uint32_t out_sync,
                        struct dev_fence *fence);

/* A compute job of *args, without multisync; NULL with *error set. */
struct dev_job *dev_submit_csd_job(struct dev_call *call, const struct abi_submit_csd *args,
                                   int *error);

#endif
