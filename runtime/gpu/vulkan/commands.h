/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command buffers, descriptor sets and fences, used again and again.
 *
 * A submission is put together as a list of operations.  A command buffer
 * remembers the list that was recorded into it: where the same list comes
 * again, as it does in a steady stream of batches, it is submitted as it is.
 */
#ifndef DAEDALUS_VULKAN_COMMANDS_H
#define DAEDALUS_VULKAN_COMMANDS_H

#include "gpu/vulkan/pipeline.h"

typedef enum daedalus_vk_op_kind {
  DAEDALUS_VK_OP_DISPATCH,
  DAEDALUS_VK_OP_BARRIER, /* everything before it is seen by everything behind */
  DAEDALUS_VK_OP_COPY,
  DAEDALUS_VK_OP_FILL,
  DAEDALUS_VK_OP_ACQUIRE, /* a dma-buf, from whoever else uses it */
  DAEDALUS_VK_OP_RELEASE, /* and to them */
  DAEDALUS_VK_OP_TIME_BEGIN,
  DAEDALUS_VK_OP_TIME_END
} daedalus_vk_op_kind;

typedef struct daedalus_vk_dispatch {
  VkPipeline pipeline;
  VkPipelineLayout layout;
  VkDescriptorSet set;
  uint32_t groups; /* along x */
  uint32_t n_push; /* words */
  uint32_t push[DAEDALUS_VK_PUSH_MOST];
} daedalus_vk_dispatch;

/** Made by memset to zero first: lists are compared byte by byte. */
typedef struct daedalus_vk_op {
  daedalus_vk_op_kind kind;
  union {
    daedalus_vk_dispatch dispatch;
    struct {
      VkBuffer from, to;
      uint64_t from_id, to_id;
      VkBufferCopy region;
    } copy;
    struct {
      VkBuffer buffer;
      uint64_t id;
      VkDeviceSize offset, size;
      uint32_t value;
    } fill;
    struct {
      VkBuffer buffer;
      uint64_t id;
    } owned;
  } of;
} daedalus_vk_op;

typedef struct daedalus_vk_binding {
  VkBuffer buffer;
  uint64_t id; /* of its block: handles of destroyed buffers come again */
  VkDeviceSize offset, range;
} daedalus_vk_binding;

typedef struct daedalus_vk_set {
  VkDescriptorSet handle;
  size_t n;
  daedalus_vk_binding bindings[DAEDALUS_VK_BINDINGS_MOST]; /* what it was last updated to */
} daedalus_vk_set;

typedef struct daedalus_vk_submission {
  daedalus_gpu_submission base;
  VkCommandBuffer buffer;
  VkFence fence;
  VkQueryPool queries;   /* made when first asked for */
  daedalus_vec ops;      /* daedalus_vk_op, what is to be done */
  daedalus_vec recorded; /* daedalus_vk_op, what the command buffer does */
  daedalus_vec sets;     /* daedalus_vk_set, of which the first n_sets are in use */
  size_t n_sets;
  bool changed;   /* a set was updated, which spoils what was recorded with it */
  bool submitted; /* and not known to be done */
} daedalus_vk_submission;

typedef struct daedalus_vk_commands {
  daedalus_vk_pipelines *pipelines;
  VkCommandPool pool;
  daedalus_vec descriptor_pools; /* VkDescriptorPool */
  uint32_t sets_left;            /* in the last of them */
  VkFence export_fence;          /* made when first asked for */
  bool export_failed;            /* the fence was submitted and never exported: it is of no use */
  daedalus_vk_submission *kept;  /* the latest first */
} daedalus_vk_commands;

int daedalus_rt_vk_commands_init(daedalus_vk_commands *commands, daedalus_vk_pipelines *pipelines);
void daedalus_rt_vk_commands_close(daedalus_vk_commands *commands);

/** An empty submission.  @return 0 or an error of daedalus_rt_vk_failed() */
int daedalus_rt_vk_submission_take(daedalus_vk_commands *commands,
                                   daedalus_vk_submission **submission);

/** Takes it back; it is done, or was never submitted. */
void daedalus_rt_vk_submission_give(daedalus_vk_commands *commands,
                                    daedalus_vk_submission *submission);

/** @return a zeroed operation at the end of the list, or NULL without memory */
daedalus_vk_op *daedalus_rt_vk_op(daedalus_vk_commands *commands,
                                  daedalus_vk_submission *submission, daedalus_vk_op_kind kind);

/** A set that has these bindings; n is that of a layout.  @return 0 or an error */
int daedalus_rt_vk_bind(daedalus_vk_commands *commands, daedalus_vk_submission *submission,
                        const daedalus_vk_binding *bindings, size_t n, VkDescriptorSet *set);

/** Records what is not recorded already, and submits.  @return 0 or an error */
int daedalus_rt_vk_submit(daedalus_vk_commands *commands, daedalus_vk_submission *submission);

/** @return 0 done, -ETIME not yet, or an error; at most `timeout_ns` nanoseconds later */
int daedalus_rt_vk_fence_wait(daedalus_vk_commands *commands, daedalus_vk_submission *submission,
                              uint64_t timeout_ns);

/** Nanoseconds between the two time operations of these submissions, which are done. */
int daedalus_rt_vk_elapsed(daedalus_vk_commands *commands, const daedalus_vk_submission *first,
                           const daedalus_vk_submission *last, uint64_t *ns);

/** A sync file that signals when all that was submitted is done.  @return 0, -ENOTSUP, or an error
 */
int daedalus_rt_vk_export_fence(daedalus_vk_commands *commands, int *fd);

#endif /* DAEDALUS_VULKAN_COMMANDS_H */
