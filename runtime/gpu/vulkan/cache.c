/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L /* mkstemp, fdopen */
#include "gpu/vulkan/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const char magic[8] = "ddlvkpc1";
static const uint64_t size_most = UINT64_C(64) << 20; /* a larger file is none of ours */

typedef struct header {
  char magic[8];
  uint64_t fingerprint, size, checksum;
} header;

/* FNV-1a: tells damage and mix-ups, which is all that is asked of it. */
static uint64_t hash(uint64_t h, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) {
    h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
  }
  return h;
}
static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

static uint64_t fingerprint_of(const daedalus_vk_device *device) {
  const daedalus_vk_physical *p = device->physical;
  const uint32_t numbers[] = {p->info.vendor_id,      p->info.device_id,
                              p->info.api_version,    p->driver_version_number,
                              (uint32_t)p->driver_id, DAEDALUS_VERSION_MAJOR,
                              DAEDALUS_VERSION_MINOR};
  const char *generator = device->vk->ctx->table->generator;
  uint64_t h = hash(hash_start, numbers, sizeof(numbers));
  h = hash(h, p->cache_uuid, sizeof(p->cache_uuid));
  h = hash(h, p->name, strlen(p->name) + 1);
  h = hash(h, p->driver_version, strlen(p->driver_version) + 1);
  return hash(h, generator, strlen(generator) + 1);
}

/** Makes the folder and its parents; `path` ends with a file's name. */
static bool make_folders(char *path) {
  for (char *at = path + 1; *at != '\0'; at++) {
    if (*at == '/') {
      *at = '\0';
      const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
      *at = '/';
      if (!made) {
        return false;
      }
    }
  }
  return true;
}

static void find_path(daedalus_vk_cache *cache) {
  const char *folder = cache->device->vk->ctx->cache_dir, *tail = "";
  if (folder == NULL) {
    folder = getenv("XDG_CACHE_HOME");
    tail = "/daedalus";
    if (folder == NULL || folder[0] != '/') { /* the standard has relative ones ignored */
      folder = getenv("HOME");
      tail = "/.cache/daedalus";
    }
  }
  if (folder == NULL || folder[0] == '\0') {
    return;
  }
  const int n = snprintf(cache->path, sizeof(cache->path), "%s%s/vulkan-%016" PRIx64 ".bin", folder,
                         tail, cache->fingerprint);
  if (n < 0 || (size_t)n >= sizeof(cache->path) - 16) { /* room for the suffix of a new one */
    cache->path[0] = '\0';
  }
}

/** Vulkan's own header, which a driver need not check: it is to be this device's. */
static bool meant_for(const daedalus_vk_device *device, const unsigned char *data, size_t size) {
  VkPipelineCacheHeaderVersionOne own;
  if (size < sizeof(own)) {
    return false;
  }
  memcpy(&own, data, sizeof(own));
  const daedalus_vk_physical *p = device->physical;
  return own.headerSize >= sizeof(own) && own.headerSize <= size &&
         own.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         own.vendorID == p->info.vendor_id && own.deviceID == p->info.device_id &&
         memcmp(own.pipelineCacheUUID, p->cache_uuid, sizeof(p->cache_uuid)) == 0;
}

/** @return what the file holds, to be released, or NULL, `why` set unless there is no file */
static unsigned char *read_file(const daedalus_vk_cache *cache, size_t *size, const char **why) {
  const daedalus_allocator *allocator = &cache->device->vk->ctx->allocator;
  FILE *file = cache->path[0] == '\0' ? NULL : daedalus_rt_open_regular(cache->path, why);
  if (file == NULL) {
    *why = errno == ENOENT ? NULL : *why;
    return NULL;
  }
  header head;
  unsigned char *data = NULL;
  *why = "it is cut short";
  if (fread(&head, sizeof(head), 1, file) == 1) {
    if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.fingerprint != cache->fingerprint ||
        head.size > size_most || head.size == 0) {
      *why = "it is of another device, driver or release, or no such file at all";
    } else {
      data = allocator->resize(allocator->user, NULL, (size_t)head.size);
      if (data != NULL && fread(data, 1, (size_t)head.size, file) == head.size) {
        *why = fgetc(file) != EOF ? "it is too long"
               : hash(hash_start, data, (size_t)head.size) != head.checksum
                   ? "its checksum is wrong"
               : meant_for(cache->device, data, (size_t)head.size)
                   ? NULL
                   : "it is of another device or driver";
      }
    }
  }
  fclose(file);
  if (*why != NULL) {
    allocator->release(allocator->user, data);
    return NULL;
  }
  *size = (size_t)head.size;
  return data;
}

int daedalus_rt_vk_cache_open(daedalus_vk_cache *cache, daedalus_vk_device *device) {
  *cache = (daedalus_vk_cache){.device = device, .fingerprint = fingerprint_of(device)};
  find_path(cache);
  const char *why = NULL;
  size_t size = 0;
  unsigned char *data = read_file(cache, &size, &why);
  if (why != NULL) {
    daedalus_rt_log(device->vk->ctx, DAEDALUS_LOG_INFO, "pipeline cache %s is not used: %s",
                    cache->path, why);
  }
  VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                    .initialDataSize = size,
                                    .pInitialData = data};
  const daedalus_vk_functions *fn = &device->vk->fn;
  VkResult result = fn->CreatePipelineCache(device->handle, &info, NULL, &cache->handle);
  if (result != VK_SUCCESS && data != NULL) { /* the driver does not like it: an empty one, then */
    info.initialDataSize = 0;
    info.pInitialData = NULL;
    result = fn->CreatePipelineCache(device->handle, &info, NULL, &cache->handle);
  }
  device->vk->ctx->allocator.release(device->vk->ctx->allocator.user, data);
  if (result != VK_SUCCESS) {
    cache->handle = VK_NULL_HANDLE;
    return daedalus_rt_vk_failed(device, "vkCreatePipelineCache", result);
  }
  return 0;
}

/** Writes a new file; `path` ends with XXXXXX, which becomes a name that nobody else has. */
static bool write_file(char *path, const header *head, const unsigned char *data) {
  const int fd = mkstemp(path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
  if (file == NULL) {
    if (fd >= 0) {
      close(fd);
    }
    return false;
  }
  bool good = fwrite(head, sizeof(*head), 1, file) == 1 &&
              fwrite(data, 1, (size_t)head->size, file) == head->size && fflush(file) == 0;
  good = fclose(file) == 0 && good;
  return good;
}

void daedalus_rt_vk_cache_save(daedalus_vk_cache *cache) {
  daedalus_vk_device *device = cache->device;
  if (!cache->grown || cache->path[0] == '\0' || device->backend->lost) {
    return;
  }
  cache->grown = false;
  const daedalus_vk_functions *fn = &device->vk->fn;
  size_t size = 0;
  if (fn->GetPipelineCacheData(device->handle, cache->handle, &size, NULL) != VK_SUCCESS ||
      size == 0 || size > size_most) {
    return;
  }
  const daedalus_allocator *allocator = &device->vk->ctx->allocator;
  unsigned char *data = allocator->resize(allocator->user, NULL, size);
  if (data == NULL ||
      fn->GetPipelineCacheData(device->handle, cache->handle, &size, data) != VK_SUCCESS) {
    allocator->release(allocator->user, data);
    return;
  }
  header head = {
      .fingerprint = cache->fingerprint, .size = size, .checksum = hash(hash_start, data, size)};
  memcpy(head.magic, magic, sizeof(magic));
  char fresh[DAEDALUS_VK_CACHE_PATH + 16];
  snprintf(fresh, sizeof(fresh), "%s.XXXXXX", cache->path);
  if (!make_folders(cache->path) || !write_file(fresh, &head, data) ||
      rename(fresh, cache->path) != 0) {
    daedalus_rt_log(device->vk->ctx, DAEDALUS_LOG_INFO, "pipeline cache %s is not written: %s",
                    cache->path, strerror(errno));
    unlink(fresh);
  }
  allocator->release(allocator->user, data);
}

void daedalus_rt_vk_cache_close(daedalus_vk_cache *cache) {
  if (daedalus_vk_destroyable(cache->device) && cache->handle != VK_NULL_HANDLE) {
    cache->device->vk->fn.DestroyPipelineCache(cache->device->handle, cache->handle, NULL);
    cache->handle = VK_NULL_HANDLE;
  }
}
