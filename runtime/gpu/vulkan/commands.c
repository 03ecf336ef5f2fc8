/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vulkan/commands.h"

#include <errno.h>
#include <string.h>

static const uint32_t sets_a_pool = 64;

static const daedalus_allocator *allocator_of(const daedalus_vk_commands *commands) {
  return &commands->pipelines->device->vk->ctx->allocator;
}

int daedalus_rt_vk_commands_init(daedalus_vk_commands *commands, daedalus_vk_pipelines *pipelines) {
  *commands = (daedalus_vk_commands){.pipelines = pipelines};
  daedalus_vk_device *device = pipelines->device;
  const VkCommandPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
      .queueFamilyIndex = device->physical->queue_family,
  };
  const VkResult result =
      device->vk->fn.CreateCommandPool(device->handle, &info, NULL, &commands->pool);
  if (result != VK_SUCCESS) {
    commands->pool = VK_NULL_HANDLE;
    return daedalus_rt_vk_failed(device, "vkCreateCommandPool", result);
  }
  return 0;
}

static void destroy_submission(daedalus_vk_commands *commands, daedalus_vk_submission *submission) {
  const daedalus_allocator *allocator = allocator_of(commands);
  daedalus_vk_device *device = commands->pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  const bool can = daedalus_vk_destroyable(device);
  if (can && submission->fence != VK_NULL_HANDLE) {
    fn->DestroyFence(device->handle, submission->fence, NULL);
  }
  if (can && submission->queries != VK_NULL_HANDLE) {
    fn->DestroyQueryPool(device->handle, submission->queries, NULL);
  }
  daedalus_rt_vec_free(allocator, &submission->ops);
  daedalus_rt_vec_free(allocator, &submission->recorded);
  daedalus_rt_vec_free(allocator, &submission->sets);
  allocator->release(allocator->user, submission); /* its command buffer goes with the pool */
}

void daedalus_rt_vk_commands_close(daedalus_vk_commands *commands) {
  daedalus_vk_device *device = commands->pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  while (commands->kept != NULL) {
    daedalus_vk_submission *submission = commands->kept;
    commands->kept = (daedalus_vk_submission *)submission->base.next;
    destroy_submission(commands, submission);
  }
  const bool can = daedalus_vk_destroyable(device);
  const VkDescriptorPool *pools = commands->descriptor_pools.data;
  for (size_t i = 0; can && i < commands->descriptor_pools.size; i++) {
    fn->DestroyDescriptorPool(device->handle, pools[i], NULL);
  }
  daedalus_rt_vec_free(allocator_of(commands), &commands->descriptor_pools);
  if (can && commands->export_fence != VK_NULL_HANDLE) {
    fn->DestroyFence(device->handle, commands->export_fence, NULL);
  }
  if (can && commands->pool != VK_NULL_HANDLE) {
    fn->DestroyCommandPool(device->handle, commands->pool, NULL);
  }
}

static int create_submission(daedalus_vk_commands *commands, daedalus_vk_submission **created) {
  const daedalus_allocator *allocator = allocator_of(commands);
  daedalus_vk_device *device = commands->pipelines->device;
  daedalus_vk_submission *submission =
      allocator->resize(allocator->user, NULL, sizeof(*submission));
  if (submission == NULL) {
    return -ENOMEM;
  }
  *submission = (daedalus_vk_submission){0};
  const VkCommandBufferAllocateInfo buffer = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = commands->pool,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1,
  };
  const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  int error = 0;
  VkResult result = device->vk->fn.CreateFence(device->handle, &fence, NULL, &submission->fence);
  if (result != VK_SUCCESS) {
    submission->fence = VK_NULL_HANDLE;
    error = daedalus_rt_vk_failed(device, "vkCreateFence", result);
  } else {
    result = device->vk->fn.AllocateCommandBuffers(device->handle, &buffer, &submission->buffer);
    if (result != VK_SUCCESS) {
      error = daedalus_rt_vk_failed(device, "vkAllocateCommandBuffers", result);
    }
  }
  if (error != 0) {
    destroy_submission(commands, submission);
    return error;
  }
  *created = submission;
  return 0;
}

int daedalus_rt_vk_submission_take(daedalus_vk_commands *commands,
                                   daedalus_vk_submission **submission) {
  if (commands->kept == NULL) {
    return create_submission(commands, submission);
  }
  *submission = commands->kept;
  commands->kept = (daedalus_vk_submission *)(*submission)->base.next;
  (*submission)->base.next = NULL;
  (*submission)->ops.size = 0;
  (*submission)->n_sets = 0;
  return 0;
}

void daedalus_rt_vk_submission_give(daedalus_vk_commands *commands,
                                    daedalus_vk_submission *submission) {
  submission->submitted = false;
  submission->base.next = (daedalus_gpu_submission *)commands->kept;
  commands->kept = submission;
}

daedalus_vk_op *daedalus_rt_vk_op(daedalus_vk_commands *commands,
                                  daedalus_vk_submission *submission, daedalus_vk_op_kind kind) {
  if (daedalus_rt_vec_reserve(allocator_of(commands), &submission->ops, 1,
                              sizeof(daedalus_vk_op)) != 0) {
    return NULL;
  }
  daedalus_vk_op *op = (daedalus_vk_op *)submission->ops.data + submission->ops.size++;
  memset(op, 0, sizeof(*op));
  op->kind = kind;
  return op;
}

/** A set that nothing was ever bound to. */
static int create_set(daedalus_vk_commands *commands, size_t n, daedalus_vk_set *set) {
  daedalus_vk_device *device = commands->pipelines->device;
  const daedalus_vk_functions *fn = &device->vk->fn;
  daedalus_vec *pools = &commands->descriptor_pools;
  if (commands->sets_left == 0) {
    const int error =
        daedalus_rt_vec_reserve(allocator_of(commands), pools, 1, sizeof(VkDescriptorPool));
    if (error != 0) {
      return error;
    }
    const VkDescriptorPoolSize size = {
        .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .descriptorCount = sets_a_pool * DAEDALUS_VK_BINDINGS_MOST,
    };
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = sets_a_pool,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkDescriptorPool pool;
    const VkResult result = fn->CreateDescriptorPool(device->handle, &info, NULL, &pool);
    if (result != VK_SUCCESS) {
      return daedalus_rt_vk_failed(device, "vkCreateDescriptorPool", result);
    }
    ((VkDescriptorPool *)pools->data)[pools->size++] = pool;
    commands->sets_left = sets_a_pool;
  }
  VkDescriptorSetLayout layout;
  const int error = daedalus_rt_vk_set_layout(commands->pipelines, n, &layout);
  if (error != 0) {
    return error;
  }
  const VkDescriptorSetAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = ((VkDescriptorPool *)pools->data)[pools->size - 1],
      .descriptorSetCount = 1,
      .pSetLayouts = &layout,
  };
  *set = (daedalus_vk_set){.n = n};
  const VkResult result = fn->AllocateDescriptorSets(device->handle, &info, &set->handle);
  if (result != VK_SUCCESS) {
    return daedalus_rt_vk_failed(device, "vkAllocateDescriptorSets", result);
  }
  commands->sets_left--;
  return 0;
}

static bool same_bindings(const daedalus_vk_set *set, const daedalus_vk_binding *bindings,
                          size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (set->bindings[i].id != bindings[i].id || set->bindings[i].offset != bindings[i].offset ||
        set->bindings[i].range != bindings[i].range) {
      return false;
    }
  }
  return set->n == n;
}

static void update_set(daedalus_vk_commands *commands, daedalus_vk_set *set,
                       const daedalus_vk_binding *bindings) {
  VkDescriptorBufferInfo infos[DAEDALUS_VK_BINDINGS_MOST];
  VkWriteDescriptorSet writes[DAEDALUS_VK_BINDINGS_MOST];
  for (uint32_t i = 0; i < set->n; i++) {
    set->bindings[i] = bindings[i];
    infos[i] = (VkDescriptorBufferInfo){
        .buffer = bindings[i].buffer, .offset = bindings[i].offset, .range = bindings[i].range};
    writes[i] = (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set->handle,
        .dstBinding = i,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &infos[i],
    };
  }
  daedalus_vk_device *device = commands->pipelines->device;
  device->vk->fn.UpdateDescriptorSets(device->handle, (uint32_t)set->n, writes, 0, NULL);
}

int daedalus_rt_vk_bind(daedalus_vk_commands *commands, daedalus_vk_submission *submission,
                        const daedalus_vk_binding *bindings, size_t n, VkDescriptorSet *found) {
  daedalus_vec *sets = &submission->sets;
  daedalus_vk_set *list = sets->data;
  if (submission->n_sets != 0 && same_bindings(&list[submission->n_sets - 1], bindings, n)) {
    *found = list[submission->n_sets - 1].handle;
    return 0;
  }
  /* The next free set of that layout; those of other layouts are left for later. */
  size_t at = submission->n_sets;
  while (at < sets->size && list[at].n != n) {
    at++;
  }
  if (at == sets->size) {
    int error = daedalus_rt_vec_reserve(allocator_of(commands), sets, 1, sizeof(daedalus_vk_set));
    if (error == 0) {
      error = create_set(commands, n, (daedalus_vk_set *)sets->data + at);
    }
    if (error != 0) {
      return error;
    }
    list = sets->data;
    sets->size++;
  }
  const daedalus_vk_set swap = list[at];
  list[at] = list[submission->n_sets];
  list[submission->n_sets] = swap;
  daedalus_vk_set *set = &list[submission->n_sets++];
  if (!same_bindings(set, bindings, n)) {
    update_set(commands, set, bindings);
    submission->changed = true;
  }
  *found = set->handle;
  return 0;
}
