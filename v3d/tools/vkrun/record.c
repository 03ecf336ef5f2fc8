/* SPDX-License-Identifier: BSD-2-Clause */
/* Records a case's commands, submits them and waits. */
#define _GNU_SOURCE
#include "vkrun.h"

#include <stdlib.h>
#include <string.h>

/* What a pipeline's next dispatch uses. */
typedef struct state {
  VkDescriptorBufferInfo bound[MAX_BINDINGS];
  uint8_t push[PUSH_BYTES];
} state;

typedef struct recorder {
  work *w;
  state *states;
  VkCommandBuffer commands; /* NULL: none is being recorded */
  int line;                 /* of its first command */
  unsigned timeout_s;
  bool *lost;
} recorder;

/* What is written before is seen by all that follows; the last one is for the host. */
static void barrier(recorder *r, bool host) {
  VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
      .dstAccessMask = host ? VK_ACCESS_HOST_READ_BIT
                            : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                  VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                  VK_ACCESS_UNIFORM_READ_BIT | VK_ACCESS_INDIRECT_COMMAND_READ_BIT,
  };
  VkPipelineStageFlags device = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT |
                                VK_PIPELINE_STAGE_TRANSFER_BIT |
                                VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
  r->w->g->CmdPipelineBarrier(r->commands, device, host ? VK_PIPELINE_STAGE_HOST_BIT : device, 0, 1,
                              &all, 0, NULL, 0, NULL);
}

static bool begin(recorder *r, int line) {
  gpu *g = r->w->g;
  VkCommandBufferAllocateInfo allocate = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = r->w->commands,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1,
  };
  r->line = line;
  TRY(r->w, line, AllocateCommandBuffers, g->device, &allocate, &r->commands);
  VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  TRY(r->w, line, BeginCommandBuffer, r->commands, &info);
  return true;
}

/* Gives the pipeline what is bound and pushed now; the set is a new one, as others may be in use.
 */
static bool prepare(recorder *r, const op *o) {
  work *w = r->w;
  gpu *g = w->g;
  const pipeline_plan *p = &w->c->pipelines[o->pipeline];
  state *s = &r->states[o->pipeline];
  VkDescriptorSetAllocateInfo allocate = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = w->descriptors,
      .descriptorSetCount = 1,
      .pSetLayouts = &w->set_layouts[o->pipeline],
  };
  VkDescriptorSet set;
  TRY(w, o->line, AllocateDescriptorSets, g->device, &allocate, &set);
  VkWriteDescriptorSet writes[MAX_BINDINGS];
  uint32_t n = 0;
  for (uint32_t b = 0; b < MAX_BINDINGS; ++b) {
    if (s->bound[b].buffer != VK_NULL_HANDLE) {
      writes[n++] = (VkWriteDescriptorSet){
          .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
          .dstSet = set,
          .dstBinding = b,
          .descriptorCount = 1,
          .descriptorType = p->types[b],
          .pBufferInfo = &s->bound[b],
      };
    }
  }
  g->UpdateDescriptorSets(g->device, n, writes, 0, NULL);
  g->CmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, w->pipelines[o->pipeline]);
  g->CmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, w->layouts[o->pipeline], 0,
                           1, &set, 0, NULL);
  if (p->push_end != 0) {
    g->CmdPushConstants(r->commands, w->layouts[o->pipeline], VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        p->push_end, s->push);
  }
  return true;
}

static bool wait_for(recorder *r, int line, VkFence fence) {
  gpu *g = r->w->g;
  VkResult result =
      g->WaitForFences(g->device, 1, &fence, VK_TRUE, (uint64_t)r->timeout_s * 1000000000U);
  if (result == VK_SUCCESS) {
    return true;
  }
  *r->lost = true; /* what still runs could write to memory that is freed */
  return work_failed(r->w, line, "vkWaitForFences", result);
}

/* Submits what was recorded, waiting between one time and the next. */
static bool submit(recorder *r, int line, uint32_t times) {
  work *w = r->w;
  gpu *g = w->g;
  barrier(r, true);
  TRY(w, line, EndCommandBuffer, r->commands);
  VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence *fence = &w->fences[w->n_fences];
  TRY(w, line, CreateFence, g->device, &info, NULL, fence);
  ++w->n_fences;
  VkSubmitInfo work_to_do = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .commandBufferCount = 1,
      .pCommandBuffers = &r->commands,
  };
  for (uint32_t i = 0; i < times; ++i) {
    if (i != 0) {
      if (!wait_for(r, line, *fence)) {
        return false;
      }
      TRY(w, line, ResetFences, g->device, 1, fence);
    }
    const VkResult result = g->QueueSubmit(g->queue, 1, &work_to_do, *fence);
    if (result != VK_SUCCESS) {
      *r->lost = result == VK_ERROR_DEVICE_LOST;
      return work_failed(w, line, "vkQueueSubmit", result);
    }
  }
  r->commands = NULL;
  return true;
}

static bool record(recorder *r, const op *o) {
  work *w = r->w;
  gpu *g = w->g;
  if (o->kind == OP_BIND) {
    r->states[o->pipeline].bound[o->n[0]] =
        (VkDescriptorBufferInfo){w->buffers[o->a], o->offset, o->bytes};
    return true;
  }
  if (o->kind == OP_PUSH) {
    memcpy(r->states[o->pipeline].push + o->offset, o->words, o->bytes);
    return true;
  }
  if (r->commands == NULL && !begin(r, o->line)) {
    return false;
  }
  switch (o->kind) {
    case OP_DISPATCH:
      if (!prepare(r, o)) {
        return false;
      }
      if ((o->n[3] | o->n[4] | o->n[5]) != 0) {
        g->CmdDispatchBase(r->commands, o->n[3], o->n[4], o->n[5], o->n[0], o->n[1], o->n[2]);
      } else {
        g->CmdDispatch(r->commands, o->n[0], o->n[1], o->n[2]);
      }
      return true;
    case OP_INDIRECT:
      if (!prepare(r, o)) {
        return false;
      }
      g->CmdDispatchIndirect(r->commands, w->buffers[o->a], o->offset);
      return true;
    case OP_BARRIER:
      barrier(r, false);
      return true;
    case OP_COPY: {
      VkBufferCopy region = {o->offset, o->offset2, o->bytes};
      g->CmdCopyBuffer(r->commands, w->buffers[o->a], w->buffers[o->b], 1, &region);
      return true;
    }
    case OP_FILL:
      g->CmdFillBuffer(r->commands, w->buffers[o->a], o->offset, o->bytes, o->n[0]);
      return true;
    case OP_UPDATE:
      g->CmdUpdateBuffer(r->commands, w->buffers[o->a], o->offset, o->bytes, o->words);
      return true;
    default:
      return submit(r, o->line, o->n[0]);
  }
}

static bool make_pools(work *w) {
  gpu *g = w->g;
  uint32_t dispatches = 1;
  for (size_t i = 0; i < w->c->n_ops; ++i) {
    dispatches += w->c->ops[i].kind == OP_DISPATCH || w->c->ops[i].kind == OP_INDIRECT;
  }
  w->fences = need(w->c->n_ops + 1, sizeof *w->fences);
  VkDescriptorPoolSize sizes[] = {
      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, MAX_BINDINGS * dispatches},
      {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, MAX_BINDINGS * dispatches},
  };
  VkDescriptorPoolCreateInfo descriptors = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .maxSets = dispatches,
      .poolSizeCount = 2,
      .pPoolSizes = sizes,
  };
  TRY(w, w->c->line, CreateDescriptorPool, g->device, &descriptors, NULL, &w->descriptors);
  VkCommandPoolCreateInfo commands = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .queueFamilyIndex = g->family,
  };
  TRY(w, w->c->line, CreateCommandPool, g->device, &commands, NULL, &w->commands);
  return true;
}

bool work_run(work *w, unsigned timeout_s, bool *lost) {
  recorder r = {.w = w, .timeout_s = timeout_s, .lost = lost};
  *lost = false;
  if (!make_pools(w)) {
    return false;
  }
  r.states = need(w->c->n_pipelines, sizeof *r.states);
  bool good = true;
  for (size_t i = 0; good && i < w->c->n_ops; ++i) {
    good = record(&r, &w->c->ops[i]);
  }
  if (good && r.commands != NULL) {
    good = submit(&r, r.line, 1);
  }
  for (size_t i = 0; !*lost && i < w->n_fences; ++i) {
    good = wait_for(&r, r.line, w->fences[i]) && good;
  }
  free(r.states);
  return good;
}
