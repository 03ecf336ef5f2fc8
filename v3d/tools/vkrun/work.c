/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a case's buffers and pipelines, and takes them away. */
#define _GNU_SOURCE
#include "vkrun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool work_failed(const work *w, int line, const char *call, VkResult result) {
  printf("failed %s %s:%d: %s: %s\n", w->c->name, w->in->path, line, call, gpu_result_name(result));
  return false;
}

/* The splitmix64 generator; a word is the upper half of one step. */
static uint32_t random_word(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

static bool fill_buffer(const work *w, const buffer_plan *b, uint8_t *to) {
  memset(to, 0, b->bytes);
  if (b->kind == FILL_FILE) {
    size_t bytes;
    uint8_t *data = read_file(b->path, &bytes);
    if (data == NULL || bytes > b->bytes) {
      printf("failed %s %s:%d: %s: %s\n", w->c->name, w->in->path, b->line, b->path,
             data == NULL ? strerror(errno) : "it is larger than the buffer");
      free(data);
      return false;
    }
    memcpy(to, data, bytes);
    free(data);
    return true;
  }
  uint64_t state = b->seed;
  for (uint64_t i = 0; b->kind != FILL_ZERO && i < b->bytes; i += 4) {
    uint32_t word = b->kind == FILL_WORD ? (uint32_t)b->seed : random_word(&state);
    memcpy(to + i, &word, 4);
  }
  return true;
}

static bool make_buffer(work *w, size_t i) {
  gpu *g = w->g;
  const buffer_plan *b = &w->c->buffers[i];
  VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = b->bytes,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT,
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
  };
  TRY(w, b->line, CreateBuffer, g->device, &info, NULL, &w->buffers[i]);
  VkMemoryRequirements needs;
  g->GetBufferMemoryRequirements(g->device, w->buffers[i], &needs);
  if ((needs.memoryTypeBits >> g->memory_type & 1) == 0) {
    return work_failed(w, b->line, "no memory type fits", VK_ERROR_UNKNOWN);
  }
  VkMemoryAllocateInfo allocate = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .allocationSize = needs.size,
      .memoryTypeIndex = g->memory_type,
  };
  TRY(w, b->line, AllocateMemory, g->device, &allocate, NULL, &w->memories[i]);
  TRY(w, b->line, BindBufferMemory, g->device, w->buffers[i], w->memories[i], 0);
  void *address;
  TRY(w, b->line, MapMemory, g->device, w->memories[i], 0, VK_WHOLE_SIZE, 0, &address);
  w->mapped[i] = address;
  return fill_buffer(w, b, w->mapped[i]);
}

static bool make_layouts(work *w, size_t i) {
  gpu *g = w->g;
  const pipeline_plan *p = &w->c->pipelines[i];
  VkDescriptorSetLayoutBinding bindings[MAX_BINDINGS];
  uint32_t n = 0;
  for (uint32_t b = 0; b < MAX_BINDINGS; ++b) {
    if (p->types[b] != VK_DESCRIPTOR_TYPE_MAX_ENUM) {
      bindings[n++] = (VkDescriptorSetLayoutBinding){
          .binding = b,
          .descriptorType = p->types[b],
          .descriptorCount = 1,
          .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
      };
    }
  }
  VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = n,
      .pBindings = bindings,
  };
  TRY(w, p->line, CreateDescriptorSetLayout, g->device, &set, NULL, &w->set_layouts[i]);
  VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, p->push_end};
  VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .setLayoutCount = 1,
      .pSetLayouts = &w->set_layouts[i],
      .pushConstantRangeCount = p->push_end != 0,
      .pPushConstantRanges = &push,
  };
  TRY(w, p->line, CreatePipelineLayout, g->device, &layout, NULL, &w->layouts[i]);
  return true;
}

static bool make_module(work *w, size_t i) {
  const pipeline_plan *p = &w->c->pipelines[i];
  size_t bytes;
  uint8_t *code = read_file(p->path, &bytes);
  uint32_t magic = 0;
  if (code != NULL && bytes >= 4) {
    memcpy(&magic, code, 4);
  }
  if (magic != 0x07230203U || bytes % 4 != 0) {
    printf("failed %s %s:%d: %s: %s\n", w->c->name, w->in->path, p->line, p->path,
           code == NULL ? strerror(errno) : "it is no SPIR-V");
    free(code);
    return false;
  }
  VkShaderModuleCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
      .codeSize = bytes,
      .pCode = (const uint32_t *)(const void *)code, /* from malloc: aligned */
  };
  VkResult result = w->g->CreateShaderModule(w->g->device, &info, NULL, &w->modules[i]);
  free(code);
  return result == VK_SUCCESS || work_failed(w, p->line, "vkCreateShaderModule", result);
}

static bool make_pipeline(work *w, size_t i, bool statistics) {
  gpu *g = w->g;
  const pipeline_plan *p = &w->c->pipelines[i];
  if (!make_layouts(w, i) || !make_module(w, i)) {
    return false;
  }
  VkSpecializationMapEntry entries[MAX_SPEC];
  for (uint32_t s = 0; s < p->n_spec; ++s) {
    entries[s] = (VkSpecializationMapEntry){p->spec_id[s], 4 * s, 4};
  }
  VkSpecializationInfo constants = {p->n_spec, entries, 4 * (size_t)p->n_spec, p->spec_value};
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .requiredSubgroupSize = p->subgroup,
  };
  VkPipelineCreateFlags flags = VK_PIPELINE_CREATE_DISPATCH_BASE;
  if (statistics && g->GetPipelineExecutableProperties != NULL) {
    flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  }
  VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .flags = flags,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = p->subgroup != 0 && p->subgroup != g->subgroup ? &size : NULL,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = w->modules[i],
                .pName = "main",
                .pSpecializationInfo = p->n_spec != 0 ? &constants : NULL},
      .layout = w->layouts[i],
  };
  TRY(w, p->line, CreateComputePipelines, g->device, VK_NULL_HANDLE, 1, &info, NULL,
      &w->pipelines[i]);
  return true;
}

static void print_statistic(const VkPipelineExecutableStatisticKHR *s) {
  switch (s->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      printf(" %s=%d;", s->name, s->value.b32 != 0);
      break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      printf(" %s=%" PRId64 ";", s->name, s->value.i64);
      break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      printf(" %s=%" PRIu64 ";", s->name, s->value.u64);
      break;
    default:
      printf(" %s=%g;", s->name, s->value.f64);
  }
}

/* Prints `statistics CASE PIPELINE NAME=VALUE; ...`. */
static bool print_statistics(work *w, size_t i) {
  gpu *g = w->g;
  const pipeline_plan *p = &w->c->pipelines[i];
  enum { MAX_STATISTICS = 64 };
  VkPipelineExecutableStatisticKHR statistics[MAX_STATISTICS];
  for (size_t s = 0; s < MAX_STATISTICS; ++s) {
    statistics[s] = (VkPipelineExecutableStatisticKHR){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
  }
  VkPipelineExecutableInfoKHR info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
      .pipeline = w->pipelines[i],
  };
  uint32_t n = MAX_STATISTICS;
  VkResult result = g->GetPipelineExecutableStatistics(g->device, &info, &n, statistics);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
    return work_failed(w, p->line, "vkGetPipelineExecutableStatisticsKHR", result);
  }
  printf("statistics %s %s", w->c->name, p->name);
  for (uint32_t s = 0; s < n; ++s) {
    print_statistic(&statistics[s]);
  }
  printf("\n");
  return true;
}

bool work_make(work *w, bool statistics) {
  size_t buffers = w->c->n_buffers, pipelines = w->c->n_pipelines;
  w->buffers = need(buffers, sizeof *w->buffers);
  w->memories = need(buffers, sizeof *w->memories);
  w->mapped = need(buffers, sizeof *w->mapped);
  w->modules = need(pipelines, sizeof *w->modules);
  w->set_layouts = need(pipelines, sizeof *w->set_layouts);
  w->layouts = need(pipelines, sizeof *w->layouts);
  w->pipelines = need(pipelines, sizeof *w->pipelines);
  for (size_t i = 0; i < buffers; ++i) {
    if (!make_buffer(w, i)) {
      return false;
    }
  }
  for (size_t i = 0; i < pipelines; ++i) {
    if (!make_pipeline(w, i, statistics)) {
      return false;
    }
    bool can = w->g->GetPipelineExecutableProperties != NULL;
    if (statistics && can && !print_statistics(w, i)) {
      return false;
    }
  }
  return true;
}

void work_free(work *w) {
  gpu *g = w->g;
  for (size_t i = 0; i < w->n_fences; ++i) {
    g->DestroyFence(g->device, w->fences[i], NULL);
  }
  g->DestroyCommandPool(g->device, w->commands, NULL);
  g->DestroyDescriptorPool(g->device, w->descriptors, NULL);
  for (size_t i = 0; w->pipelines != NULL && i < w->c->n_pipelines; ++i) {
    g->DestroyPipeline(g->device, w->pipelines[i], NULL);
    g->DestroyPipelineLayout(g->device, w->layouts[i], NULL);
    g->DestroyDescriptorSetLayout(g->device, w->set_layouts[i], NULL);
    g->DestroyShaderModule(g->device, w->modules[i], NULL);
  }
  for (size_t i = 0; w->buffers != NULL && i < w->c->n_buffers; ++i) {
    g->DestroyBuffer(g->device, w->buffers[i], NULL);
    g->FreeMemory(g->device, w->memories[i], NULL);
  }
  void *lists[] = {w->fences,  w->pipelines, w->layouts,  w->set_layouts,
                   w->modules, w->buffers,   w->memories, w->mapped};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
    free(lists[i]);
  }
}
